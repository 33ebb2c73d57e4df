// Logging in.
import { html, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go, address, ownPath } from '../ui/router.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { server, enter } from './session.js';

const Sign = () => html`
  <svg class="sign" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <path d="M9 20.5a7.5 7.5 0 1 1 14 0" fill="none" stroke="#ffd696" stroke-width="3" stroke-linecap="round" />
    <path d="M10 26h12" stroke="#fff" stroke-width="3" stroke-linecap="round" />
  </svg>`;

export default function Login() {
  const [seen, setSeen] = useState(false);
  const form = useForm(
    { username: '', password: '' },
    async (v) => {
      const to = ownPath(address.peek().query.get('to'));
      const { data } = await server.post('/auth/login', { ...v, browser: true }, { again: false });
      enter(data);
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
      <div><h1>${t('login')}</h1><p class="sub">${t('login.sub')}</p></div>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ username: t('username'), password: t('password') }} />
        <${Field} form=${form} name="username" label=${t('username')} autocomplete="username" autocapitalize="none"
          spellcheck="false" />
        <div class="stack tight">
          <${Field} form=${form} name="password" label=${t('password')} type=${seen ? 'text' : 'password'}
            autocomplete="current-password" />
          <label class="check">
            <input type="checkbox" checked=${seen} onChange=${(e) => setSeen(e.target.checked)} />
            <span>${t('password.show')}</span>
          </label>
        </div>
        <${Submit} form=${form} big>${t('login')}<//>
      </form>
    </main>`;
}
