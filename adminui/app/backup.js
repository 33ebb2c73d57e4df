// Backup: everything as one file, and trying whether such a file can be restored.
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import { t, moment, number } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { server, may } from './house.js';

const counts = [['buses', 'buses'], ['nodes', 'report.nodes'], ['shades', 'shades.title'], ['clusters', 'clusters'], ['users', 'users'], ['keys', 'apikeys'], ['profiles', 'backup.profiles']];

// Report is what a drill found out.
function Report({ of }) {
  const box = useRef();
  useEffect(() => box.current.focus(), [of]);
  return html`<div class="stack" role="status" tabindex="-1" ref=${box}>
  ${of.unreadable.length ? html`<${Notice} kind="fault"><b>${t('backup.drill.partly')}</b><ul>${of.unreadable.map((u) => html`<li>${u}</li>`)}</ul><//>`
    : html`<p class="row"><${Icon} name="shield" /><b>${t('backup.drill.whole')}</b></p>`}
  <dl class="facts"><dt>${t('backup.made')}</dt><dd>${moment(Date.parse(of.made))}</dd>
    ${counts.map(([k, text]) => html`<dt>${t(text)}</dt><dd>${number(of[k])}</dd>`)}
    <dt>${t('backup.certificate')}</dt><dd>${of.ownCertificate ? t('yes') : t('no')}</dd></dl></div>`;
}

function Drill() {
  const [file, setFile] = useState(null);
  const [found, setFound] = useState(null);
  const form = useForm({ passphrase: '' }, async (v) => {
    setFound(null);
    setFound((await server.call('POST', '/backup/drill', file, { headers: v.passphrase ? { 'Backup-Passphrase': encodeURIComponent(v.passphrase) } : {} })).data);
  }, () => (file ? {} : { file: t('needed') }));
  const id = form.id + 'file', wrong = form.errors.file;
  return html`<form class="form" onSubmit=${form.submit} noValidate><${Summary} form=${form} labels=${{ file: t('backup.file'), passphrase: t('backup.passphrase') }} />
    <div class="field"><label for=${id}>${t('backup.file')}</label>${wrong && html`<span class="wrong" id=${id + 'e'}><${Icon} name="triangle" />${wrong}</span>`}
      <input id=${id} class="input" type="file" aria-invalid=${wrong ? 'true' : undefined} aria-describedby=${wrong ? id + 'e' : undefined} onChange=${(e) => { setFile(e.target.files[0] || null); setFound(null); }} /></div>
    <${Field} form=${form} name="passphrase" type="password" label=${t('backup.passphrase')} hint=${t('backup.passphrase.hint')} autocomplete="off" />
    <div class="actions start"><${Submit} form=${form}>${t('backup.drill.do')}<//></div>
    ${found && html`<${Report} of=${found} />`}</form>`;
}

export default function Backup() {
  return html`<${Page} title=${t('backup')} sub=${t('backup.sub')} back=${{ href: '/more', text: t('more') }}>
    ${!may('administer') ? html`<${Notice} kind="warn">${t('backup.forbidden')}<//>` : html`<div class="columns">
      <section class="panel"><h2>${t('backup.make')}</h2><p>${t('backup.make.text')}</p><div class="actions start"><a class="button primary" href="/api/v1/backup" download><${Icon} name="download" />${t('backup.download')}</a></div><p class="sub">${t('backup.nightly')}</p></section>
      <section class="panel"><h2>${t('backup.drill')}</h2><p>${t('backup.drill.text')}</p><${Drill} /></section>
      <section class="panel"><h2>${t('backup.restore')}</h2><p>${t('backup.restore.text')}</p><div class="snippet"><pre>systemctl stop controllerd
controllerd restore FILE
systemctl start controllerd</pre></div></section></div>`}
  <//>`;
}
