// Claiming a controller that has no user yet: the code from its label, console or log makes the first one, or lets it become what
// a backup says.
import { html, useEffect, useState } from '../ui/lib.js';
import { t, moment } from '../ui/i18n.js';
import { go } from '../ui/router.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Notice } from '../ui/shell.js';
import { Sign } from '../ui/icons.js';
import { house, server, enter } from './house.js';
import { Fingerprint } from './login.js';
import { FileField } from './filefield.js';

const Code = ({ form }) => html`
  <${Field} form=${form} name="code" label=${t('claim.code')} hint=${t('claim.code.hint')} code autocomplete="one-time-code"
    autocapitalize="characters" spellcheck="false" />`;

function New() {
  const form = useForm(
    { code: '', username: 'admin', password: '' },
    async (v) => {
      const s = await server.post('/claim', { ...v, browser: true }, { again: false });
      house.claim = { ...house.claim, claimed: true };
      enter(s);
      go('/', { replace: true });
    },
    (v) => ({
      ...(!v.code && { code: t('claim.code.missing') }),
      ...(!v.username && { username: t('login.username.missing') }),
      ...(v.password.length < 10 && { password: t('password.short') }),
    }),
  );
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ code: t('claim.code'), username: t('username'), password: t('password') }} />
      <${Code} form=${form} />
      <${Field} form=${form} name="username" label=${t('username')} autocomplete="username" autocapitalize="none"
        spellcheck="false" />
      <${Password} form=${form} name="password" label=${t('password')} hint=${t('password.hint')} autocomplete="new-password" />
      <${Submit} form=${form} big>${t('claim')}<//>
    </form>`;
}

const lookEvery = 2000; // whether the controller is back

// Begun tells what comes now, and goes to the log-in once the controller is back.
function Begun({ made }) {
  useEffect(() => {
    const timer = setInterval(async () => {
      const now = await server.get('/claim').catch(() => null);
      if (now?.claimed) location.replace('/login');
    }, lookEvery);
    return () => clearInterval(timer);
  }, []);
  return html`
    <div class="stack" role="status">
      <${Notice} kind="warn">${t('claim.restore.begun', { at: moment(Date.parse(made)) })}<//>
      <p>${t('claim.restore.certificate')}</p>
      <button type="button" class="button" onClick=${() => location.replace('/login')}>${t('claim.restore.again')}</button>
    </div>`;
}

function Restore({ onBegun }) {
  const form = useForm(
    { code: '', file: null, key: '' },
    async (v) => {
      const headers = { 'Claim-Code': v.code, ...(v.key && { 'Backup-Passphrase': encodeURIComponent(v.key) }) };
      onBegun((await server.call('POST', '/claim/restore', v.file, { headers, again: false })).data.made);
    },
    (v) => ({ ...(!v.code && { code: t('claim.code.missing') }), ...(!v.file && { file: t('needed') }) }),
  );
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ code: t('claim.code'), file: t('claim.restore.file') }} />
      <${Code} form=${form} />
      <${FileField} form=${form} name="file" label=${t('claim.restore.file')} />
      <${Password} form=${form} name="key" label=${t('claim.restore.key')} hint=${t('claim.restore.key.hint')} autocomplete="off" />
      <${Submit} form=${form} big>${t('claim.restore')}<//>
    </form>`;
}

export default function Claim() {
  const [restoring, setRestoring] = useState(false);
  const [begun, setBegun] = useState(null); // when the backup was made
  return html`
    <main class="alone">
      <${Sign} />
      <div>
        <h1>${t(restoring ? 'claim.restore' : 'claim')}</h1>
        <p class="sub">${t(restoring ? 'claim.restore.sub' : 'claim.sub')}</p>
      </div>
      ${begun ? html`<${Begun} made=${begun} />` : restoring ? html`<${Restore} onBegun=${setBegun} />` : html`<${New} />`}
      ${!begun && html`
        <button type="button" class="button" onClick=${() => setRestoring(!restoring)}>
          ${t(restoring ? 'claim.instead' : 'claim.restore')}
        </button>`}
      <${Fingerprint} text=${house.claim?.fingerprint} />
    </main>`;
}
