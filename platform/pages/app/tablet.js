// How a tablet becomes the panel of a room: a code to hold its camera to, and what to set on it.
import './kit/texts.js';
import { html, sheet } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Empty } from '../ui/shell.js';
import { Code } from '../ui/qr.js';
import { Snippet } from './copy.js';
import { admin } from './session.js';
import { missing, panelOf } from './rooms.js';
import { useServer } from './useserver.js';

await sheet(new URL('tablet.css', import.meta.url).href);
const kinds = ['ipad', 'android', 'chromium'];

export default function Tablet({ params }) {
  const { data: d, wrong } = useServer('/conferencing/devices/' + encodeURIComponent(params.device));
  const back = { href: '/rooms', text: t('rooms') };
  if (!admin()) return html`<${Page} title=${t('tablet')}><${Empty} icon="shield" text=${t('admins')} /><//>`;
  if (!d)
    return html`
      <${Page} title=${t('tablet')} back=${back}>
        ${wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`}
      <//>`;
  const name = d.workspaceName || d.deviceId;
  if (missing(d)) return html`<${Page} title=${t('tablet.of', { name })} back=${back}><${Notice} kind="warn">${t(missing(d))}<//><//>`;
  const link = location.origin + panelOf(d);
  return html`
    <${Page} title=${t('tablet.of', { name })} sub=${t('tablet.sub')} back=${back}
      actions=${html`<button class="button no-print" onClick=${() => print()}>${t('tablet.print')}</button>`}>
      <section class="panel tablet">
        <${Code} text=${link} label=${t('tablet.code')} />
        <div class="stack">
          <p>${t('tablet.scan')}</p>
          <p>${t('rooms.link.text')}</p>
          <div class="no-print stack">
            <${Snippet} label=${t('rooms.link')} text=${link} />
            <h2>${t('rooms.code')}</h2>
            <${Snippet} label=${t('rooms.code')} text=${d.panelCode} />
          </div>
        </div>
      </section>
      <div class="columns">
        ${kinds.map(
          (kind) => html`
            <section class="panel" key=${kind}>
              <h2 class="plain">${t('tablet.' + kind)}</h2>
              <ol class="steps">${[1, 2, 3].map((n) => html`<li key=${n}>${t(`tablet.${kind}.${n}`)}</li>`)}</ol>
            </section>`,
        )}
      </div>
    <//>`;
}
