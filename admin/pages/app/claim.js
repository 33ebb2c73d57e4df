// Claiming a controller that has no user yet: the code from its label, console or log makes the first one.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { go } from '../ui/router.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Sign } from '../ui/icons.js';
import { house, server, enter } from './house.js';
import { Fingerprint } from './login.js';

export default function Claim() {
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
    <main class="alone">
      <${Sign} />
      <div><h1>${t('claim')}</h1><p class="sub">${t('claim.sub')}</p></div>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ code: t('claim.code'), username: t('username'), password: t('password') }} />
        <${Field} form=${form} name="code" label=${t('claim.code')} hint=${t('claim.code.hint')} code autocomplete="one-time-code"
          autocapitalize="characters" spellcheck="false" />
        <${Field} form=${form} name="username" label=${t('username')} autocomplete="username" autocapitalize="none"
          spellcheck="false" />
        <${Password} form=${form} name="password" label=${t('password')} hint=${t('password.hint')} autocomplete="new-password" />
        <${Submit} form=${form} big>${t('claim')}<//>
      </form>
      <${Fingerprint} text=${house.claim?.fingerprint} />
    </main>`;
}
