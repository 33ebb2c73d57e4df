// Logging in.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go, address, ownPath } from '../ui/router.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Sign } from '../ui/icons.js';
import { server, enter } from './session.js';

export default function Login() {
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
        <${Password} form=${form} name="password" label=${t('password')} autocomplete="current-password" />
        <${Submit} form=${form} big>${t('login')}<//>
      </form>
    </main>`;
}
