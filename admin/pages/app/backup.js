// Backup: everything as one file, trying whether such a file can be restored, and restoring it.
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, moment, number } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { FileField } from './filefield.js';
import { Confirm } from '../ui/dialog.js';
import { useServer } from './useserver.js';
import Offsite from './offsite.js';
import { house, server, session, may } from './house.js';

const counts = [
  ['buses', 'buses'],
  ['nodes', 'report.nodes'],
  ['shades', 'shades.title'],
  ['clusters', 'clusters'],
  ['users', 'users'],
  ['keys', 'apikeys'],
  ['profiles', 'backup.profiles'],
];

// Report is what a drill found out.
function Report({ of }) {
  const box = useRef(null);
  useEffect(() => box.current.focus(), [of]);
  return html`
    <div class="stack" role="status" tabindex="-1" ref=${box}>
      ${of.unreadable.length
        ? html`
          <${Notice} kind="fault"><b>${t('backup.drill.partly')}</b><ul>${of.unreadable.map((u) => html`<li>${u}</li>`)}</ul><//>`
        : html`<p class="with-icon"><${Icon} name="shield" /><b>${t('backup.drill.whole')}</b></p>`}
      <dl class="facts">
        <dt>${t('backup.made')}</dt><dd>${moment(Date.parse(of.made))}</dd>
        ${counts.map(([k, text]) => html`<dt>${t(text)}</dt><dd>${number(of[k])}</dd>`)}
        <dt>${t('backup.certificate')}</dt><dd>${of.ownCertificate ? t('yes') : t('no')}</dd>
      </dl>
    </div>`;
}

// Restore asks for the name of the building before everything here is replaced.
function Restore({ send, onBegun }) {
  const [open, setOpen] = useState(false);
  return html`
    <p>${t('backup.restore.after')}</p>
    <div class="actions start">
      <button type="button" class="button danger" onClick=${() => setOpen(true)}>${t('backup.restore.do')}</button>
    </div>
    ${open && html`
      <${Confirm} title=${t('backup.restore.ask')} verb=${t('backup.restore.do')}
        typed=${house.site.value?.name || session.value.username} onClose=${() => setOpen(false)}
        onDo=${async () => {
          await send('/backup/restore');
          onBegun();
        }}>
        <p>${t('backup.restore.ends')}</p>
        <p>${t('backup.restore.stays')}</p>
      <//>`}`;
}

// Take tries a backup, and restores one that was tried.
function Take() {
  const [found, setFound] = useState(null); // what is in a file
  const [begun, setBegun] = useState(false);
  const send = (path, { file, passphrase }) =>
    server.call('POST', path, file, { headers: passphrase ? { 'Backup-Passphrase': encodeURIComponent(passphrase) } : {} });
  const form = useForm(
    { file: null, passphrase: '' },
    async (v) => {
      setFound(null);
      setFound({ ...v, report: (await send('/backup/drill', v)).data });
    },
    (v) => (v.file ? {} : { file: t('needed') }),
  );
  const now = found?.file === form.values.file ? found : null;
  if (begun) return html`<div role="status"><${Notice} kind="warn">${t('backup.restore.begun')}<//></div>`;
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ file: t('backup.file'), passphrase: t('backup.passphrase') }} />
      <${FileField} form=${form} name="file" label=${t('backup.file')} />
      <${Field} form=${form} name="passphrase" type="password" label=${t('backup.passphrase')} hint=${t('backup.passphrase.hint')}
        autocomplete="off" />
      <div class="actions start"><${Submit} form=${form}>${t('backup.drill.do')}<//></div>
    </form>
    ${now && html`
      <${Report} of=${now.report} />
      <${Restore} send=${(path) => send(path, now)} onBegun=${() => setBegun(true)} />`}`;
}

// Nightly tells of the backups that are made by themselves.
function Nightly() {
  const { data: n, wrong } = useServer('/backup/nightly');
  return html`
    <h3>${t('backup.nightly.title')}</h3>
    <p class="sub">${t('backup.nightly')}</p>
    ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
    ${n?.failed && html`<${Notice} kind="fault"><b>${t('backup.nightly.failed')}</b> ${n.failed}<//>`}
    ${n && html`
      <dl class="facts">
        <dt>${t('backup.nightly.last')}</dt>
        <dd>
          ${n.last
            ? html`${moment(Date.parse(n.last))} ${!n.failed && html`<span class="badge ok">${t('backup.nightly.well')}</span>`}`
            : t('backup.nightly.none')}
        </dd>
        <dt>${t('backup.nightly.kept')}</dt><dd>${number(n.kept)}</dd>
        <dt>${t('backup.nightly.folder')}</dt><dd><code>${n.folder}</code></dd>
      </dl>`}`;
}

export default function Backup() {
  return html`
    <${Page} title=${t('backup')} sub=${t('backup.sub')} back=${{ href: '/more', text: t('more') }}>
      ${!may('administer')
        ? html`<${Notice} kind="warn">${t('backup.forbidden')}<//>`
        : html`
          <div class="columns">
            <section class="panel">
              <h2>${t('backup.make')}</h2>
              <p>${t('backup.make.text')}</p>
              <div class="actions start">
                <a class="button primary" href="/api/v1/backup" download><${Icon} name="download" />${t('backup.download')}</a>
              </div>
              <${Nightly} />
            </section>
            <section class="panel"><h2>${t('offsite')}</h2><p>${t('offsite.text')}</p><${Offsite} /></section>
            <section class="panel"><h2>${t('backup.drill')}</h2><p>${t('backup.drill.text')}</p><${Take} /></section>
          </div>`}
    <//>`;
}
