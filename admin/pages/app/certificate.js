// The certificate that the controller shows: what stands in it, as a file to trust, and another in its place.
import './operate/texts.js';
import { html } from '../ui/lib.js';
import { t, day, now, list } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Submit } from '../ui/form.js';
import { server, may } from './house.js';
import { Fingerprint } from './login.js';
import { FileField } from './filefield.js';
import { useServer } from './useserver.js';

const apart = (name) => name.replaceAll(',', ', ');
const soon = 30 * 86400e3; // before its end it is told of

function Replace({ again }) {
  const form = useForm(
    { certificate: null, key: null },
    async (v) => {
      await server.put('/certificate', { certificate: await v.certificate.text(), key: await v.key.text() });
      done(t('certificate.done'));
      again();
    },
    (v) => ({ ...(!v.certificate && { certificate: t('needed') }), ...(!v.key && { key: t('needed') }) }),
  );
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ certificate: t('certificate.file'), key: t('certificate.key') }} />
      <${FileField} form=${form} name="certificate" label=${t('certificate.file')} hint=${t('certificate.file.hint')}
        accept=".pem,.crt,.cer" />
      <${FileField} form=${form} name="key" label=${t('certificate.key')} hint=${t('certificate.key.hint')} accept=".pem,.key" />
      <div class="actions start"><${Submit} form=${form}>${t('certificate.do')}<//></div>
    </form>`;
}

export default function Certificate() {
  const { data: c, wrong, again } = useServer('/certificate');
  const ends = c && Date.parse(c.notAfter);
  return html`
    <${Page} title=${t('certificate')} sub=${t('certificate.sub')} back=${{ href: '/more', text: t('more') }}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!c
        ? !wrong && html`<div class="skeleton"></div>`
        : html`
          ${ends - now.peek() < soon && html`<${Notice} kind="warn">${t('certificate.ends', { at: day(ends) })}<//>`}
          <div class="columns">
            <section class="panel">
              <h2>${t('certificate.shown')}</h2>
              <dl class="facts">
                <dt>${t('certificate.subject')}</dt><dd>${apart(c.subject)}</dd>
                <dt>${t('certificate.issuer')}</dt><dd>${c.selfSigned ? t('certificate.selfsigned') : apart(c.issuer)}</dd>
                <dt>${t('certificate.names')}</dt><dd>${list(c.names)}</dd>
                <dt>${t('certificate.from')}</dt><dd>${day(Date.parse(c.notBefore))}</dd>
                <dt>${t('certificate.until')}</dt><dd>${day(ends)}</dd>
              </dl>
              <${Fingerprint} text=${c.fingerprint} open />
              <p class="sub">${t('certificate.trust')}</p>
              <div class="actions start">
                <a class="button" href="/api/v1/certificate/pem" download="controller.pem">
                  <${Icon} name="download" />
                  ${t('certificate.download')}
                </a>
              </div>
            </section>
            ${may('administer') && html`
              <section class="panel">
                <h2>${t('certificate.replace')}</h2>
                ${c.canReplace
                  ? html`<p>${t('certificate.replace.text')}</p><${Replace} key=${c.fingerprint} again=${again} />`
                  : html`<p>${t('certificate.fixed')}</p>`}
              </section>`}
          </div>`}
    <//>`;
}
