// Macro and panel onto many RoomOS devices, or off them, by their own xAPI; and what became of each.
import './texts.js';
import { html, useEffect, useRef, useState, sheet } from '../../ui/lib.js';
import { t, byName, list } from '../../ui/i18n.js';
import { Page, beforeLeaving } from '../../ui/router.js';
import { Notice, Empty, say } from '../../ui/shell.js';
import { Dialog } from '../../ui/dialog.js';
import { useForm, Summary, Field, Check, Password, Submit } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { events } from '../feed.js';
import { macroOf } from '../roomkit.js';
import { said } from '../said.js';
import { admin, ask, server } from '../session.js';
import { useServer } from '../useserver.js';

import { begin, ended, fits, next, take, words } from './stages.js';

/** @import { Stage } from './stages.js' */

await sheet(new URL('rollout.css', import.meta.url).href);
const base = '/conferencing/devices';
const nameOf = (d) => d.workspaceName || d.deviceId;
// pairs writes a fingerprint as browsers and devices show it.
const pairs = (print) => print.toUpperCase().match(/../g).join(':');

export default function RollOut() {
  const { data, wrong: missing, again } = useServer(base);
  const { data: reach, wrong = missing } = useServer('/conferencing/rollout');
  const back = { href: '/rooms', text: t('rooms') };
  if (!admin()) return html`<${Page} title=${t('rollout')}><${Empty} icon="shield" text=${t('admins')} /><//>`;
  return html`
    <${Page} title=${t('rollout')} sub=${t('rollout.sub')} back=${back}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!data || !reach
        ? !wrong && html`<div class="skeleton"></div>`
        : !reach.networks.length
        ? html`<${Notice} kind="warn">${t('rollout.closed')}<//>`
        : !data.length
        ? html`<${Empty} icon="group" text=${t('rooms.none')} />`
        : html`<${Fleet} devices=${data} networks=${reach.networks} again=${again} />`}
    <//>`;
}

const labels = () => ({
  action: t('rollout.devices'),
  username: t('rollout.user'),
  password: t('rollout.password'),
  platform: t('rollout.platform'),
});

function Fleet({ devices, networks, again }) {
  const [stages, setStages] = useState(/** @type {Record<string, Stage>} */ ({}));
  // what somebody ticked or not, by device
  const [picked, setPicked] = useState({});
  // the device whose address is typed
  const [reached, setReached] = useState(null);
  // how a roll-out ended before its end
  const [left, setLeft] = useState('');
  const stop = useRef(null);
  const form = useForm(
    { action: 'install', username: '', password: '', platform: location.origin, allowHost: false, forget: false },
    async (v) => {
      const ids = chosen.map((d) => d.deviceId);
      stop.current = new AbortController();
      const { signal } = stop.current;
      const answer = await server.call('POST', '/conferencing/rollout', { ...v, deviceIds: ids }, { raw: true });
      let now = begin(ids);
      setLeft('');
      setStages(now);
      let over = false;
      try {
        await events(answer, (name, stage) => {
          over ||= name === 'end';
          if (name === 'device') setStages((now = take(now, stage)));
        }, signal);
      } catch {
        /* what was not heard is told below */
      }
      if (!over) setLeft(t(signal.aborted ? 'rollout.stopped' : 'rollout.cut'));
      setPicked({});
      // the next ones are not forgotten without being asked
      if (v.forget) form.set('forget', false);
      say(words(now));
      again();
    },
    (v) => ({
      ...(!v.username.trim() && { username: t('needed') }),
      ...(!v.password && { password: t('needed') }),
      ...(v.action === 'install' && !/^https:\/\/[^/]+\/?$/.test(v.platform.trim()) && { platform: t('rollout.platform.wrong') }),
      ...(!chosen.length && { action: t('rollout.nobody') }),
    }),
  );
  const { action } = form.values;
  const chosen = devices.filter((d) => fits(d, action) && (picked[d.deviceId] ?? next(d, stages[d.deviceId], action)));
  useEffect(() => {
    if (!form.busy) return undefined;
    const stay = (e) => e.preventDefault();
    beforeLeaving(() => window.confirm(t('rollout.leave')));
    addEventListener('beforeunload', stay);
    return () => {
      beforeLeaving(null);
      removeEventListener('beforeunload', stay);
    };
  }, [form.busy]);
  useEffect(() => () => stop.current?.abort(), []);
  const trust = async (d, fingerprint) => {
    await ask('PUT', `${base}/${encodeURIComponent(d.deviceId)}`, { fingerprint });
    setStages(({ [d.deviceId]: _, ...others }) => others);
    again();
  };
  const sorted = devices.map((d) => ({ ...d, name: nameOf(d) })).sort(byName);
  const told = Object.values(stages);
  return html`
    <section class="panel flush" aria-labelledby="fleet">
      <h2 class="padded" id="fleet">${t('rollout.devices')}</h2>
      <ul class="list">
        ${sorted.map(
          (d) => html`
            <${Row} key=${d.deviceId} d=${d} action=${action} stage=${stages[d.deviceId]} busy=${form.busy}
              on=${chosen.some((c) => c.deviceId === d.deviceId)}
              onPick=${(on) => setPicked({ ...picked, [d.deviceId]: on })} onReach=${() => setReached(d)}
              onTrust=${(print) => trust(d, print)} />`,
        )}
      </ul>
      <p class="sub padded">${t('rollout.networks', { networks: list(networks) })}</p>
    </section>
    <section class="panel narrow" aria-labelledby="run">
      <h2 id="run">${t('rollout.run')}</h2>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${labels()} />
        <${Field} form=${form} name="action" label=${t('rollout.action')}
          options=${['install', 'remove'].map((a) => [a, t('rollout.action.' + a)])} />
        ${action === 'remove' && html`
          <${Check} form=${form} name="forget" label=${t('rollout.forget')} hint=${t('rollout.forget.hint')} />`}
        <${Field} form=${form} name="username" label=${t('rollout.user')} hint=${t('rollout.user.hint')} autocomplete="off"
          autocapitalize="none" spellcheck="false" />
        <${Password} form=${form} name="password" label=${t('rollout.password')} hint=${t('rollout.password.hint')}
          autocomplete="off" />
        ${action === 'install' && html`
          <${Field} form=${form} name="platform" label=${t('rollout.platform')} hint=${t('rollout.platform.hint')} type="url"
            autocomplete="off" />
          <${Check} form=${form} name="allowHost" label=${t('rollout.host')} hint=${t('rollout.host.hint')} />`}
        <div class="actions start">
          <${Submit} form=${form} danger=${action === 'remove'}>${t('rollout.do.' + action, { n: chosen.length })}<//>
          ${form.busy && html`
            <button type="button" class="button" onClick=${() => stop.current?.abort()}>${t('rollout.stop')}</button>`}
        </div>
      </form>
      ${told.length > 0 && html`
        <div class="stack tight">
          <progress max=${told.length} value=${told.filter(ended).length} aria-label=${t('rollout.run')}></progress>
          <p>${words(stages)}</p>
          ${left && html`<${Notice} kind="warn">${left}<//>`}
        </div>`}
    </section>
    ${reached && html`
      <${Reach} d=${reached} onClose=${() => setReached(null)}
        onDone=${() => {
          setReached(null);
          again();
        }} />`}`;
}

function Row({ d, action, stage, busy, on, onPick, onReach, onTrust }) {
  const may = fits(d, action);
  const runs = !d.deployed ? 'rollout.undeployed' : d.macroVersion ? macroOf(d) : 'rollout.nomacro';
  return html`
    <li>
      <div class="item wraps">
        <label class="check pick">
          <input type="checkbox" checked=${on} disabled=${busy || !may} onChange=${(e) => onPick(e.target.checked)} />
          <span class="main">
            <span class="name"><bdi>${d.name}</bdi></span>
            <span class="sub">
              ${d.address ? html`<code>${d.address}</code> · ` : t('rollout.noaddress') + ' '}
              ${t(runs, { n: d.macroVersion, newest: d.macroNewest })}
            </span>
          </span>
        </label>
        <button class="button quiet" disabled=${busy} aria-label=${t('rollout.address.of', { name: d.name })} onClick=${onReach}>
          ${t('rollout.address')}
        </button>
      </div>
      ${stage && html`<${Became} d=${d} stage=${stage} onTrust=${onTrust} />`}
    </li>`;
}

const looks = {
  asks: ['ok', 'check'],
  removed: ['ok', 'check'],
  failed: ['fault', 'triangle'],
  untrusted: ['warn', 'shield'],
  quiet: ['warn', 'clock'],
};

// Became tells how far a device is.
function Became({ d, stage, onTrust }) {
  const [kind, icon] = looks[stage.is] || ['', 'arrow'];
  const is = stage.is === 'untrusted' && d.fingerprint ? 'changed' : stage.is;
  return html`
    <div class="stack tight became">
      <p class=${'with-icon ' + kind}>
        <${Icon} name=${icon} />
        <span>${t('rollout.is.' + is, { n: stage.macroVersion, why: said(stage.error || '') })}</span>
      </p>
      ${stage.is === 'untrusted' && html`
        <p class="fingerprint">${pairs(stage.fingerprint)}</p>
        <p class="sub">${t('rollout.untrusted')}</p>
        <div class="actions start">
          <button class="button" aria-label=${t('rollout.trust.of', { name: d.name })} onClick=${() => onTrust(stage.fingerprint)}>
            ${t('rollout.trust')}
          </button>
        </div>`}
    </div>`;
}

// Reach takes the address of a device, and by what it is known.
function Reach({ d, onClose, onDone }) {
  const known = d.fingerprint ? pairs(d.fingerprint) : '';
  const form = useForm({ address: d.address || '', fingerprint: known }, async ({ address, fingerprint }) => {
    // another address drops what the one before was known by
    const print = fingerprint === known ? {} : { fingerprint };
    await ask('PUT', `${base}/${encodeURIComponent(d.deviceId)}`, { address, ...print });
    onDone();
  });
  return html`
    <${Dialog} title=${t('rollout.address.of', { name: d.name })} onClose=${onClose}>
      <form class="stack" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} />
        <${Field} form=${form} name="address" label=${t('rollout.address.label')} hint=${t('rollout.address.hint')} autocomplete="off"
          autocapitalize="none" spellcheck="false" />
        <${Field} form=${form} name="fingerprint" label=${t('rollout.print')} hint=${t('rollout.print.hint')} autocomplete="off"
          spellcheck="false" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
