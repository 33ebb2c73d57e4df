// Logging in: which controller this is, and its fingerprint to compare.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go, address, ownPath } from '../ui/router.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Icon, Sign } from '../ui/icons.js';
import { house, server, enter } from './house.js';

export function Fingerprint({ text, open }) {
  const bytes = (text || '').split(':');
  return html`
    <details open=${open}>
      <summary><${Icon} name="right" />${t('fingerprint')}</summary>
      <p class="sub">${t('fingerprint.why')}</p>
      <p class="fingerprint">${bytes.map((b, i) => b + (i % 8 === 7 ? ' ' : ' '))}</p>
    </details>`;
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
