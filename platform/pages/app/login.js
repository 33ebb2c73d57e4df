// Logging in.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go, address, ownPath } from '../ui/router.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Sign } from '../ui/icons.js';
import { Notice } from '../ui/shell.js';
import { server, enter } from './session.js';
import { useServer } from './useserver.js';

// How a log-in at the identity provider ended, if it did not let one in.
const ends = ['failed', 'refused', 'unknown'];

export default function Login() {
  const { data: ways } = useServer('/auth/ways');
  const { query } = address.value;
  const end = ends.find((e) => e === query.get('signon'));
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
      ${end && html`<${Notice} kind="fault">${t('login.signon.' + end)}<//>`}
      ${ways?.signOn && html`
        <a class="button big" href=${'/api/auth/sso?to=' + encodeURIComponent(ownPath(query.get('to')))}>${t('login.signon')}</a>
        <p class="sub">${t('login.signon.or')}</p>`}
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ username: t('username'), password: t('password') }} />
        <${Field} form=${form} name="username" label=${t('username')} autocomplete="username" autocapitalize="none"
          spellcheck="false" />
        <${Password} form=${form} name="password" label=${t('password')} autocomplete="current-password" />
        <${Submit} form=${form} big>${t('login')}<//>
      </form>
    </main>`;
}
