// Who may log in, here and through the public API.
import { html, useState } from '../ui/lib.js';
import { t, day, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, done } from '../ui/shell.js';
import { Dialog, Confirm } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit, Password } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { server, session } from './house.js';
import { useServer } from './useserver.js';

const roles = ['admin', 'operator', 'viewer', 'api_service'];
const choices = () => roles.map((r) => [r, t('role.' + r)]);

export default function Users() {
  const { data, wrong, again } = useServer('/auth/users');
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null),
    changed = () => {
      close();
      again();
    };
  const users = (data || []).map((u) => ({ ...u, name: u.username })).sort(byName);
  return html`
    <${Page} title=${t('users')} back=${{ href: '/more', text: t('more') }}
      actions=${html`
        <button class="button primary" onClick=${() => setOpen({ add: true })}>
          <${Icon} name="plus" />
          ${t('users.add')}
        </button>`}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!data
        ? html`<div class="skeleton"></div>`
        : html`
          <ul class="list panel flush">
            ${users.map(
              (u) => html`
                <li key=${u.uuid}>
                  <div class="item wraps">
                    <${Icon} name="user" size=${24} />
                    <span class="main">
                      <span class="name"><bdi>${u.username}</bdi></span>
                      <span class="sub">${t('role.' + u.role)} · ${t('since.day', { day: day(Date.parse(u.createdAt)) })}</span>
                    </span>
                    <div class="actions">
                      <button class="button" aria-label=${t('users.change.of', { name: u.username })}
                        onClick=${() => setOpen({ change: u })}>
                        ${t('change')}
                      </button>
                      ${u.username !== session.value.username && html`
                        <button class="button danger" aria-label=${t('remove.verb', { name: u.username })}
                          onClick=${() => setOpen({ remove: u })}>
                          ${t('remove')}
                        </button>`}
                    </div>
                  </div>
                </li>`,
            )}
          </ul>`}
      ${open?.add && html`<${Add} onClose=${close} onDone=${changed} />`}
      ${open?.change && html`<${Change} user=${open.change} onClose=${close} onDone=${changed} />`}
      ${open?.remove && html`
        <${Confirm} title=${t('remove.of', { name: open.remove.username })}
          verb=${t('remove.verb', { name: open.remove.username })} onClose=${close}
          onDo=${async () => {
            await server.del('/auth/users/' + open.remove.uuid);
            done(t('removed', { name: open.remove.username }));
            again();
          }}>
          <p>${t('users.remove.text', { name: open.remove.username })}</p>
        <//>`}
    <//>`;
}

const labels = () => ({ username: t('username'), password: t('password'), role: t('role') });

function Add({ onClose, onDone }) {
  const form = useForm(
    { username: '', password: '', role: 'operator' },
    async (v) => {
      await server.post('/auth/users', v);
      done(t('users.added', { name: v.username }));
      onDone();
    },
    (v) => ({ ...(!v.username && { username: t('needed') }), ...(v.password.length < 10 && { password: t('password.short') }) }),
  );
  return html`
    <${Dialog} title=${t('users.add')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${labels()} />
        <${Field} form=${form} name="username" label=${t('username')} autocomplete="off" autocapitalize="none" spellcheck="false" />
        <${Field} form=${form} name="role" label=${t('role')} options=${choices()} />
        <${Password} form=${form} name="password" label=${t('password')} hint=${t('password.hint')} autocomplete="new-password" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('users.add')}<//>
        </div>
      </form>
    <//>`;
}

function Change({ user, onClose, onDone }) {
  const form = useForm(
    { role: user.role, password: '' },
    async (v) => {
      await server.patch('/auth/users/' + user.uuid, {
        ...(v.role !== user.role && { role: v.role }),
        ...(v.password && { password: v.password }),
      });
      done(t('saved', { name: user.username }));
      onDone();
    },
    (v) => (v.password && v.password.length < 10 ? { password: t('password.short') } : {}),
  );
  return html`
    <${Dialog} title=${t('users.change.of', { name: user.username })} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <input type="text" name="username" autocomplete="username" value=${user.username} hidden readonly />
        <${Summary} form=${form} labels=${labels()} />
        <${Field} form=${form} name="role" label=${t('role')} options=${choices()} />
        <${Password} form=${form} name="password" label=${t('password.new')} hint=${t('password.new.hint')}
          autocomplete="new-password" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
