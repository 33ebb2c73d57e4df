// Enrolling a controller: a name, a code that is good once, and then waiting until it is there.
import { html, useState } from '../ui/lib.js';
import { t, moment } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Empty } from '../ui/shell.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { ask, admin, sites } from './session.js';
import { Snippet } from './copy.js';

export function Invitation({ made }) {
  const there = sites.value?.find((s) => s.id === made.controllerId)?.state === 'online';
  const command = `controllerd cloud enroll --platform ${location.origin} --code ${made.code}`;
  return html`
    <section class="panel">
      <h2>${t('enrol.code')}</h2>
      <p class="fingerprint" id="code">${made.code}</p>
      <p class="sub">${t('enrol.until', { at: moment(Date.parse(made.validUntil)) })}</p>
      <p>${t('enrol.run')}</p>
      <${Snippet} label=${t('enrol.command')} text=${command} />
      <p class="sub">${t('enrol.ca')}</p>
      <div role="status">
        ${there
          ? html`<p class="with-icon ok"><${Icon} name="check" /><b>${t('enrol.there')}</b></p>`
          : html`<p class="with-icon"><${Icon} name="clock" />${t('enrol.waiting')}</p>`}
      </div>
      ${there && html`
        <div class="actions start">
          <a class="button primary" href=${'/sites/' + encodeURIComponent(made.controllerId)}>${t('enrol.show')}</a>
        </div>`}
    </section>`;
}

export default function Enrol() {
  const [made, setMade] = useState(null);
  const form = useForm(
    { name: '' },
    async (v) => setMade(await ask('POST', '/controllers', v)),
    (v) => (v.name.trim() ? {} : { name: t('needed') }),
  );
  const back = { href: '/sites', text: t('sites') };
  if (!admin()) return html`<${Page} title=${t('enrol')} back=${back}><${Empty} icon="shield" text=${t('admins')} /><//>`;
  return html`
    <${Page} title=${t('enrol')} sub=${t('enrol.sub')} back=${back}>
      ${made
        ? html`<${Invitation} made=${made} /><${Notice}>${t('enrol.once')}<//>`
        : html`
          <section class="panel">
            <form class="form" onSubmit=${form.submit} noValidate>
              <${Summary} form=${form} labels=${{ name: t('name') }} />
              <${Field} form=${form} name="name" label=${t('name')} hint=${t('enrol.name')} autocomplete="off" />
              <div class="actions start"><${Submit} form=${form}>${t('enrol.make')}<//></div>
            </form>
          </section>`}
    <//>`;
}
