// A sheet of paper to take up the ladder: how a box becomes a building, and a code that leads to it.
import './operate/texts.js';
import { html, sheet } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Icon } from '../ui/icons.js';
import { Code } from '../ui/qr.js';
import { house } from './house.js';

await sheet(new URL('ladder.css', import.meta.url).href);
const steps = ['open', 'bus', 'scan', 'name', 'shade', 'rooms', 'keep'];
const wrong = ['silent', 'all', 'damaged', 'twice', 'way'];

export default function Ladder() {
  return html`
    <${Page} title=${t('ladder.of', { site: house.site.value?.name || location.hostname })} back=${{ href: '/more', text: t('more') }}
      actions=${html`
        <button class="button primary no-print" onClick=${() => print()}><${Icon} name="print" />${t('print')}</button>`}>
      <section class="panel ladder">
        <${Code} text=${location.origin} label=${location.origin} />
        <div class="stack tight">
          <p>${t('ladder.code')}</p>
          <p class="break"><b>${location.origin}</b></p>
          <p class="sub">${t('ladder.warning')}</p>
        </div>
      </section>
      <section class="panel">
        <ol class="steps">
          ${steps.map((k) => html`<li><b>${t('ladder.' + k)}</b> ${t('ladder.' + k + '.how')}</li>`)}
        </ol>
      </section>
      <section class="panel">
        <h2>${t('ladder.wrong')}</h2>
        <dl class="facts">
          ${wrong.map((k) => html`<dt>${t('ladder.' + k)}</dt><dd>${t('ladder.' + k + '.do')}</dd>`)}
        </dl>
      </section>
    <//>`;
}
