// Keys of programs for the public API. A key is shown once, on a page of its own that stays until one has it.
import { html, useState } from '../ui/lib.js';
import { t, day, age, now, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Empty, done } from '../ui/shell.js';
import { Confirm } from '../ui/dialog.js';
import { useForm, Summary, Field, Check, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { server } from './house.js';
import { useServer } from './useserver.js';

export default function Keys() {
  const { data, wrong, again } = useServer('/auth/keys');
  const [made, setMade] = useState(null);
  const [removing, setRemoving] = useState(null);
  const form = useForm(
    { name: '', write: false },
    async (v) => {
      setMade(await server.post('/auth/keys', v));
      form.set('name', '');
    },
    (v) => (v.name.trim() ? {} : { name: t('needed') }),
  );
  if (made)
    return html`
      <${Made} key=${made.uuid} made=${made}
        onDone=${() => {
          setMade(null);
          again();
        }} />`;
  const keys = (data || []).slice().sort(byName);
  return html`
    <${Page} title=${t('apikeys')} sub=${t('apikeys.sub')} back=${{ href: '/more', text: t('more') }}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      <div class="columns">
        <section class="panel">
          <h2>${t('apikeys.new')}</h2>
          <form class="form" onSubmit=${form.submit} noValidate>
            <${Summary} form=${form} labels=${{ name: t('name') }} />
            <${Field} form=${form} name="name" label=${t('name')} hint=${t('apikeys.name.hint')} autocomplete="off" />
            <${Check} form=${form} name="write" label=${t('apikeys.write')} hint=${t('apikeys.write.hint')} />
            <div class="actions start"><${Submit} form=${form}>${t('apikeys.make')}<//></div>
          </form>
        </section>
        ${!data
          ? html`<div class="skeleton"></div>`
          : keys.length
          ? html`
            <ul class="list panel flush">
              ${keys.map(
                (k) => html`
                  <li key=${k.uuid}>
                    <div class="item wraps">
                      <${Icon} name="key" size=${24} />
                      <span class="main">
                        <span class="name"><bdi>${k.name}</bdi></span>
                        <span class="sub">
                          <code>ctl_${k.prefix}…</code> · ${k.write ? t('apikeys.writes') : t('apikeys.reads')}
                          <br />
                          ${t('since.day', { day: day(Date.parse(k.createdAt)) })} · ${k.lastUsed
                            ? t('apikeys.used', { age: age(Date.parse(k.lastUsed), now.peek()) })
                            : t('apikeys.unused')}
                        </span>
                      </span>
                      <button class="button danger" aria-label=${t('remove.verb', { name: k.name })}
                        onClick=${() => setRemoving(k)}>
                        ${t('remove')}
                      </button>
                    </div>
                  </li>`,
              )}
            </ul>`
          : html`<${Empty} icon="key" text=${t('apikeys.none')} />`}
      </div>
      ${removing && html`
        <${Confirm} title=${t('remove.of', { name: removing.name })} verb=${t('remove.verb', { name: removing.name })}
          onClose=${() => setRemoving(null)}
          onDo=${async () => {
            await server.del('/auth/keys/' + removing.uuid);
            done(t('removed', { name: removing.name }));
            again();
          }}>
          <p>${t('apikeys.remove.text')}</p>
        <//>`}
    <//>`;
}

function Made({ made, onDone }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.key);
      done(t('copied'));
    } catch {
      done(t('copy.failed'));
    }
  };
  return html`
    <${Page} title=${t('apikeys.made', { name: made.name })}>
      <section class="panel">
        <${Notice} kind="warn">${t('apikeys.once')}<//>
        <p class="fingerprint" id="key">${made.key}</p>
        <div class="actions start">
          <button class="button" onClick=${copy}><${Icon} name="copy" />${t('copy')}</button>
          <button class="button primary" onClick=${onDone}>${t('apikeys.saved')}</button>
        </div>
      </section>
    <//>`;
}
