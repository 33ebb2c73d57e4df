// One key: how it is used, and what may be done with it.
import { html, useState } from '../ui/lib.js';
import { t, age, day, moment, now, number } from '../ui/i18n.js';
import { Page, go } from '../ui/router.js';
import { Notice, done } from '../ui/shell.js';
import { Confirm, Dialog } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { ask } from './session.js';
import { useServer } from './useserver.js';
import { KeyState, Made, checkLimit } from './keys.js';
import { Use } from './usage.js';

export default function Key({ params }) {
  const path = '/api-keys/' + encodeURIComponent(params.id);
  const { data: k, wrong, again } = useServer(path);
  const usage = useServer('/usage');
  const [open, setOpen] = useState(null);
  const [made, setMade] = useState(null);
  const close = () => setOpen(null);
  const back = { href: '/keys', text: t('keys') };
  if (made)
    return html`
      <${Made} made=${made.key} note=${t('rotate.until', { at: moment(made.until) })}
        onDone=${() => {
          setMade(null);
          go('/keys');
        }} />`;
  if (!k)
    return html`
      <${Page} title=${wrong ? t('page.none') : t('keys')} back=${back}>
        ${wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`}
      <//>`;
  const act = async (method, p, body, text) => {
    await ask(method, p, body);
    done(text);
    again();
  };
  const count = usage.data?.keys.find((u) => u.id === k.id);
  return html`
    <${Page} title=${k.name} sub=${html`<code>svc_${k.prefix}…</code>`} back=${back}>
      <div class="columns">
        <section class="panel">
          <h2>${t('key')}</h2>
          <p><${KeyState} of=${k.status} /></p>
          <dl class="facts">
            <dt>${t('key.may')}</dt><dd>${k.permissions.control ? t('key.controls') : t('key.reads')}</dd>
            <dt>${t('key.since')}</dt><dd>${day(Date.parse(k.createdAt))}</dd>
            <dt>${t('key.last')}</dt><dd>${k.lastUsedAt ? age(Date.parse(k.lastUsedAt), now.value) : t('key.unused')}</dd>
            <dt>${t('key.until')}</dt><dd>${k.expiresAt ? moment(Date.parse(k.expiresAt)) : t('life.none')}</dd>
            <dt>${t('key.limit')}</dt><dd>${number(k.rateLimit)}</dd>
          </dl>
          <div class="actions start">
            ${k.isActive && html`<button class="button primary" onClick=${() => setOpen('rotate')}>${t('rotate')}</button>`}
            <button class="button" onClick=${() => setOpen('edit')}>${t('change')}</button>
            ${k.isActive && html`<button class="button danger" onClick=${() => setOpen('revoke')}>${t('revoke')}</button>`}
            <button class="button danger" onClick=${() => setOpen('delete')}>${t('delete')}</button>
          </div>
        </section>
        <section class="panel">
          <h2>${t('usage')}</h2>
          ${count ? html`<${Use} name=${k.name} of=${count} />` : html`<div class="skeleton"></div>`}
        </section>
      </div>
      ${open === 'rotate' && html`
        <${Rotate} k=${k} onClose=${close}
          onMade=${(m) => {
            close();
            setMade(m);
          }} />`}
      ${open === 'edit' && html`
        <${Edit} k=${k} onClose=${close}
          onDone=${() => {
            close();
            again();
          }} />`}
      ${open === 'revoke' && html`
        <${Confirm} title=${t('revoke.of', { name: k.name })} verb=${t('revoke.of', { name: k.name })} onClose=${close}
          onDo=${() => act('DELETE', path, undefined, t('revoked', { name: k.name }))}>
          <p>${t('revoke.text')}</p>
        <//>`}
      ${open === 'delete' && html`
        <${Confirm} title=${t('delete.of', { name: k.name })} verb=${t('delete.of', { name: k.name })} onClose=${close}
          onDo=${async () => {
            await ask('DELETE', path + '?permanent=true');
            done(t('deleted', { name: k.name }));
            go('/keys');
          }}>
          <p>${t('delete.text')}</p>
        <//>`}
    <//>`;
}

// Rotate makes the next key, and lets this one work for a while yet.
function Rotate({ k, onClose, onMade }) {
  const form = useForm({ overlap: '24' }, async (v) => {
    const life = k.expiresAt && Date.parse(k.expiresAt) - Date.parse(k.createdAt);
    const key = await ask('POST', '/api-keys', {
      name: k.name,
      rateLimit: k.rateLimit,
      permissions: k.permissions,
      expiresAt: life ? new Date(Date.now() + life).toISOString() : undefined,
    });
    let until = Date.now() + +v.overlap * 3600e3;
    if (k.expiresAt) until = Math.min(until, Date.parse(k.expiresAt));
    try {
      await ask('PUT', '/api-keys/' + k.id, { expiresAt: new Date(until).toISOString() });
    } catch (p) {
      done(t('rotate.kept', { why: p.message }));
    }
    onMade({ key, until });
  });
  return html`
    <${Dialog} title=${t('rotate.of', { name: k.name })} onClose=${onClose}>
      <form class="stack" onSubmit=${form.submit}>
        <${Summary} form=${form} />
        <p>${t('rotate.text')}</p>
        <${Field} form=${form} name="overlap" label=${t('rotate.overlap')}
          options=${[
            ['0', t('rotate.now')],
            ['1', t('rotate.hours', { n: 1 })],
            ['24', t('rotate.hours', { n: 24 })],
            ['168', t('life.days', { n: 7 })],
          ]} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('rotate')}<//>
        </div>
      </form>
    <//>`;
}

function Edit({ k, onClose, onDone }) {
  const form = useForm(
    { name: k.name, rateLimit: String(k.rateLimit), expiresAt: k.expiresAt?.slice(0, 10) || '' },
    async (v) => {
      const expiresAt =
        v.expiresAt === (k.expiresAt?.slice(0, 10) || '') ? undefined : v.expiresAt ? v.expiresAt + 'T23:59:59Z' : null;
      await ask('PUT', '/api-keys/' + k.id, { name: v.name.trim(), rateLimit: +v.rateLimit, expiresAt });
      onDone();
    },
    (v) => ({ ...(!v.name.trim() && { name: t('needed') }), ...checkLimit(v.rateLimit) }),
  );
  return html`
    <${Dialog} title=${t('change.of', { name: k.name })} onClose=${onClose}>
      <form class="stack" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ name: t('name'), rateLimit: t('key.limit') }} />
        <${Field} form=${form} name="name" label=${t('name')} maxlength="100" autocomplete="off" />
        <${Field} form=${form} name="rateLimit" label=${t('key.limit')} hint=${t('key.limit.hint')} inputmode="numeric" />
        <${Field} form=${form} name="expiresAt" label=${t('key.until')} hint=${t('key.until.hint')} type="date" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
