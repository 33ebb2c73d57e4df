// Logging in: which controller this is, and its fingerprint to compare.
import { html, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go, address, ownPath } from '../ui/router.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { house, server, enter } from './house.js';

export function Sign() {
  return html`
    <svg class="sign" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path d="M9 20.5a7.5 7.5 0 1 1 14 0" fill="none" stroke="#ffd696" stroke-width="3" stroke-linecap="round" />
      <path d="M10 26h12" stroke="#fff" stroke-width="3" stroke-linecap="round" />
    </svg>`;
}

export function Fingerprint({ text, open }) {
  const bytes = (text || '').split(':');
  return html`
    <details open=${open}>
      <summary><${Icon} name="right" />${t('fingerprint')}</summary>
      <p class="sub">${t('fingerprint.why')}</p>
      <p class="fingerprint">${bytes.map((b, i) => b + (i % 8 === 7 ? ' ' : ' '))}</p>
    </details>`;
}

// Password can be looked at while it is typed.
export function Password({ form, name, label, hint, autocomplete }) {
  const [seen, setSeen] = useState(false);
  return html`
    <div class="stack tight">
      <${Field} form=${form} name=${name} label=${label} hint=${hint} type=${seen ? 'text' : 'password'}
        autocomplete=${autocomplete} />
      <label class="check">
        <input type="checkbox" checked=${seen} onChange=${(e) => setSeen(e.target.checked)} />
        <span>${t('password.show')}</span>
      </label>
    </div>`;
}

export default function Login() {
  const form = useForm(
    { username: '', password: '' },
    async (v) => {
      const to = ownPath(address.peek().query.get('to'));
      const s = await server.post('/auth/login', { ...v, browser: true }, { again: false });
      enter(s);
      go(to, { replace: true });
    },
    (v) => ({
      ...(!v.username && { username: t('login.username.missing') }),
      ...(!v.password && { password: t('login.password.missing') }),
    }),
  );
  return html`
    <main class="alone">
      <${Sign} />
      <div><h1>${house.claim?.site || t('login')}</h1><p class="sub">${t('login.sub')}</p></div>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ username: t('username'), password: t('password') }} />
        <${Field} form=${form} name="username" label=${t('username')} autocomplete="username" autocapitalize="none"
          spellcheck="false" />
        <${Password} form=${form} name="password" label=${t('password')} autocomplete="current-password" />
        <${Submit} form=${form} big>${t('login')}<//>
      </form>
      <${Fingerprint} text=${house.claim?.fingerprint} />
    </main>`;
}
