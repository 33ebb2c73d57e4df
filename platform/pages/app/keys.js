// My API keys. A key is shown once, on a page that stays until one has it.
import { html, useEffect, useState } from '../ui/lib.js';
import { t, day, age, now, byName } from '../ui/i18n.js';
import { Page, beforeLeaving } from '../ui/router.js';
import { Notice, Empty } from '../ui/shell.js';
import { useForm, Summary, Field, Check, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { ask } from './session.js';
import { useServer } from './useserver.js';
import { Snippet } from './copy.js';
import { Clients } from './connect.js';

export const lives = () => [
  ['', t('life.none')],
  ['30', t('life.days', { n: 30 })],
  ['90', t('life.days', { n: 90 })],
  ['365', t('life.days', { n: 365 })],
];
export const endOf = (days) => (days ? new Date(Date.now() + days * 86400e3).toISOString() : undefined);
const kinds = { Active: 'ok', Expired: 'warn', Revoked: 'fault' },
  icons = { Active: 'check', Expired: 'clock', Revoked: 'close' };
export const KeyState = ({ of }) => html`
  <span class=${'badge ' + kinds[of]}><${Icon} name=${icons[of]} size=${16} />${t('key.' + of.toLowerCase())}</span>`;
const used = (k) => (k.lastUsedAt ? t('key.used', { age: age(Date.parse(k.lastUsedAt), now.peek()) }) : t('key.unused'));
export const checkLimit = (v) => (/^\d+$/.test(v) && +v >= 1 && +v <= 100000 ? {} : { rateLimit: t('key.limit.wrong') });

export default function Keys() {
  const { data, wrong, again } = useServer('/api-keys');
  const [made, setMade] = useState(null);
  const form = useForm(
    { name: '', life: '90', rateLimit: '100', control: false },
    async (v) => {
      setMade(
        await ask('POST', '/api-keys', {
          name: v.name.trim(),
          expiresAt: endOf(v.life),
          rateLimit: +v.rateLimit,
          permissions: v.control ? { control: true } : {},
        }),
      );
      form.set('name', '');
    },
    (v) => ({ ...(!v.name.trim() && { name: t('needed') }), ...checkLimit(v.rateLimit) }),
  );
  if (made)
    return html`
      <${Made} made=${made}
        onDone=${() => {
          setMade(null);
          again();
        }} />`;
  const keys = (data || []).slice().sort((a, b) => b.isActive - a.isActive || byName(a, b));
  return html`
    <${Page} title=${t('keys')} sub=${t('keys.sub')} actions=${html`<a class="button" href="/usage">${t('usage')}</a>`}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      <div class="columns">
        ${!data
          ? !wrong && html`<div class="skeleton"></div>`
          : keys.length
          ? html`
            <ul class="list panel flush">
              ${keys.map(
                (k) => html`
                  <li key=${k.id}>
                    <a href=${'/keys/' + k.id}>
                      <${Icon} name="key" size=${24} />
                      <span class="main">
                        <span class="name"><bdi>${k.name}</bdi></span>
                        <span class="sub">
                          <code>svc_${k.prefix}…</code> · ${k.permissions.control ? t('key.controls') : t('key.reads')}
                          <br />
                          ${used(k)}
                          ${k.expiresAt
                            ? ' · ' + t(k.status === 'Expired' ? 'key.ended' : 'key.ends', { day: day(Date.parse(k.expiresAt)) })
                            : ''}
                        </span>
                      </span>
                      <${KeyState} of=${k.status} />
                    </a>
                  </li>`,
              )}
            </ul>`
          : html`<${Empty} icon="key" text=${t('keys.none')} />`}
        <section class="panel">
          <h2>${t('key.new')}</h2>
          <form class="form" onSubmit=${form.submit} noValidate>
            <${Summary} form=${form} labels=${{ name: t('name'), rateLimit: t('key.limit') }} />
            <${Field} form=${form} name="name" label=${t('name')} hint=${t('key.name.hint')} autocomplete="off" maxlength="100" />
            <${Field} form=${form} name="life" label=${t('key.life')} options=${lives()} />
            <${Field} form=${form} name="rateLimit" label=${t('key.limit')} hint=${t('key.limit.hint')} inputmode="numeric"
              autocomplete="off" />
            <${Check} form=${form} name="control" label=${t('key.control')} hint=${t('key.control.hint')} />
            <div class="actions start"><${Submit} form=${form}>${t('key.make')}<//></div>
          </form>
        </section>
      </div>
    <//>`;
}

// Made shows the value of a key, which nobody can show again, and what to do with it.
export function Made({ made, note, onDone }) {
  useEffect(() => {
    beforeLeaving(() => window.confirm(t('key.leave')));
    return () => beforeLeaving(null);
  }, []);
  const leave = () => {
    beforeLeaving(null);
    onDone();
  };
  return html`
    <${Page} title=${t('key.made', { name: made.name })}>
      <section class="panel">
        <${Notice} kind="warn">${t('key.once')}<//>
        ${note && html`<p>${note}</p>`}
        <${Snippet} label=${t('key.value')} text=${made.key} />
        <div class="actions start"><button class="button primary" onClick=${leave}>${t('key.saved')}</button></div>
      </section>
      <${Clients} value=${made.key} />
    <//>`;
}
