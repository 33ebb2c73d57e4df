// One's own password. Changing it ends all sessions, this one too.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { done } from '../ui/shell.js';
import { useForm, Summary, Submit, Password } from '../ui/form.js';
import { server, session, leave } from './house.js';

export default function Account() {
  const form = useForm(
    { old: '', new: '' },
    async (v) => {
      await server.post('/auth/password', v);
      done(t('account.done'));
      leave();
    },
    (v) => ({ ...(!v.old && { old: t('needed') }), ...(v.new.length < 10 && { new: t('password.short') }) }),
  );
  return html`
    <${Page} title=${t('account')} back=${{ href: '/more', text: t('more') }}>
      <section class="panel narrow">
        <form class="form" onSubmit=${form.submit} noValidate>
          <input type="text" name="username" autocomplete="username" value=${session.value.username} hidden readonly />
          <${Summary} form=${form} labels=${{ old: t('password.old'), new: t('password.new') }} />
          <${Password} form=${form} name="old" label=${t('password.old')} autocomplete="current-password" />
          <${Password} form=${form} name="new" label=${t('password.new')} hint=${t('account.hint')} autocomplete="new-password" />
          <div class="actions start"><${Submit} form=${form}>${t('account')}<//></div>
        </form>
      </section>
    <//>`;
}
