// The site as a whole: a file to be edited elsewhere, and what one would change, before it is taken over.
import { html, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, number } from '../ui/i18n.js';
import { Notice, Table, done } from '../ui/shell.js';
import { Confirm } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Check, Submit } from '../ui/form.js';
import { FileField } from './filefield.js';
import { server, may } from './house.js';

const kinds = ['created', 'returned', 'changed', 'retired'];
const most = 200; // rows that are shown of each kind

export const SiteFile = () => html`
  <section class="panel">
    <h2>${t('sitefile')}</h2>
    <p>${t('sitefile.text')}</p>
    <div class="actions start">
      <a class="button" href="/api/v1/site/file" download><${Icon} name="download" />${t('sitefile.download')}</a>
    </div>
    ${may('administer') && html`<${Import} />`}
  </section>`;

function Import() {
  const [found, setFound] = useState(null);
  const [asking, setAsking] = useState(false);
  const send = (method, path, { file, replace }, o) => server.call(method, path + (replace ? '?replace=true' : ''), file, o);
  const form = useForm(
    { file: null, replace: false },
    async (v) => {
      setFound(null);
      const { data, etag } = await send('POST', '/site/file/preview', v);
      setFound({ ...v, data, etag });
    },
    (v) => (v.file ? {} : { file: t('needed') }),
  );
  const now = found?.file === form.values.file && found?.replace === form.values.replace ? found : null;
  const take = async () => {
    await send('PUT', '/site/file', now, { etag: now.etag });
    setFound(null);
    done(t('sitefile.done'));
  };
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ file: t('sitefile.file') }} />
      <${FileField} form=${form} name="file" label=${t('sitefile.file')} accept=".yaml,.yml" />
      <${Check} form=${form} name="replace" label=${t('sitefile.replace')} hint=${t('sitefile.replace.hint')} />
      <div class="actions start"><${Submit} form=${form}>${t('sitefile.preview')}<//></div>
    </form>
    ${now && html`
      <${Report} of=${now.data} />
      ${changes(now.data) && html`
        <div class="actions start">
          <button type="button" class="button" onClick=${() => setAsking(true)}>${t('sitefile.take')}</button>
        </div>`}`}
    ${asking && now && html`
      <${Confirm} title=${t('sitefile.ask')} verb=${t('sitefile.take')} onDo=${take} onClose=${() => setAsking(false)}>
        <p>${t('sitefile.ask.text')}</p>
        ${now.data.retired.length > 0 && html`<p><b>${t('sitefile.ask.retired', { n: now.data.retired.length })}</b></p>`}
      <//>`}`;
}

const changes = (report) => report.settings || kinds.some((k) => report[k].length);

const Report = ({ of }) => html`
  <div class="stack" role="status">
    <p>
      <b>${changes(of) ? t('sitefile.would') : t('sitefile.nothing')}</b> ${t('sitefile.unchanged', { n: of.unchanged.length })}
    </p>
    ${of.retired.length > 0 && html`<${Notice} kind="warn">${t('sitefile.ask.retired', { n: of.retired.length })}<//>`}
    ${of.settings && html`<p>${t('sitefile.settings')}</p>`}
    ${kinds.map(
      (k) =>
        of[k].length > 0 &&
        html`
          <h3>${t('sitefile.' + k)} (${number(of[k].length)})</h3>
          <${Table} label=${t('sitefile.' + k)}>
            <thead>
              <tr>
                <th>${t('sitefile.family')}</th><th class="num">${t('sitefile.id')}</th><th>${t('name')}</th>
                ${k === 'changed' && html`<th>${t('sitefile.change')}</th>`}
              </tr>
            </thead>
            <tbody>
              ${of[k].slice(0, most).map(
                (it) => html`
                  <tr>
                    <td>${t('sitefile.family.' + it.family)}</td><td class="num">${it.id || '–'}</td>
                    <td dir="auto">${it.name}</td>
                    ${k === 'changed' && html`
                      <td>${(it.changes || []).map((c) => html`<div>${c.key}: ${c.old || '–'} → ${c.new || '–'}</div>`)}</td>`}
                  </tr>`,
              )}
            </tbody>
          <//>
          ${of[k].length > most && html`<p class="sub">${t('sitefile.more', { n: of[k].length - most })}</p>`}`,
    )}
  </div>`;
