// The network of the box: what its ports have, and another setting, which is tried and goes back by itself unless somebody keeps it over
// the new address. This page may not ask another address than its own, so that the person opens it there.
import './operate/texts.js';
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import { t, list } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, done } from '../ui/shell.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { house, server } from './house.js';
import { Fingerprint } from './login.js';

/** @import { Network, NetworkPort, NetworkSetting } from '../records' */
/** @import { Problem } from '../ui/api.js' */

const lookEvery = 2000,
  patience = 4000; // a box that has left its address does not answer at all
const trial = 120; // seconds, as the box's own system has it

const isV4 = (a) => !a.includes(':');
const addressOf = (cidr) => cidr.split('/')[0];

// lengthOf reads 24, /24 or 255.255.255.0.
export function lengthOf(mask) {
  const text = mask.trim().replace(/^\//, '');
  if (/^\d{1,2}$/.test(text)) return +text <= 32 ? +text : undefined;
  const parts = text.split('.').map((p) => (/^\d{1,3}$/.test(p) ? +p : NaN));
  if (parts.length !== 4 || !parts.every((p) => p <= 255)) return undefined;
  const bits = parts.map((p) => p.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.replaceAll('0', '').length : undefined;
}

// useNetwork looks again and again; what was told last stays while nobody answers.
function useNetwork() {
  const [state, setState] = useState(/** @type {{ now?: Network, at?: number, wrong?: Problem }} */ ({}));
  const take = (now) => setState({ now, at: Date.now() });
  useEffect(() => {
    let here = true,
      timer;
    const look = async () => {
      try {
        const now = document.hidden ? null : await server.get('/network', { signal: AbortSignal.timeout(patience) });
        if (here && now) take(now);
      } catch (wrong) {
        if (here) setState((old) => ({ ...old, wrong }));
      }
      if (here) timer = setTimeout(look, lookEvery);
    };
    look();
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, []);
  return { ...state, take };
}

/** @param {{ port: NetworkPort }} props */
const Port = ({ port: p }) => html`
  <h3 class="row">
    <bdi>${p.vlan ? t('network.vlan.of', { n: p.vlan }) : p.name}</bdi>
    ${!p.up && html`<span class="badge warn">${t('network.down')}</span>`}
  </h3>
  <dl class="facts">
    <dt>${t('network.addresses')}</dt>
    <dd>${p.addresses.length ? p.addresses.map((a) => html`<code class="pre" key=${a}>${a}</code> `) : t('network.none')}</dd>
    <dt>${t('network.gateway')}</dt><dd>${p.gateway ? html`<code>${p.gateway}</code>` : t('network.none')}</dd>
    <dt>${t('network.dns')}</dt><dd>${p.dns.length ? list(p.dns) : t('network.none')}</dd>
    <dt>${t('network.mac')}</dt><dd><code>${p.mac}</code></dd>
  </dl>`;

// says is a setting in a line.
/** @param {NetworkSetting} s */
const says = (s) =>
  [s.address ? t('network.static', { address: s.address }) : t('network.dhcp'), s.vlan && t('network.vlan.of', { n: s.vlan })]
    .filter(Boolean)
    .join(', ');

function Form({ now, take }) {
  const set = now.setting,
    own = now.ports.filter((p) => !p.vlan);
  const port = now.ports.find((p) => p.gateway) || now.ports[0],
    has = set.address || port?.addresses.find(isV4) || '';
  const labels = {
    how: t('network.how'),
    address: t('network.address'),
    mask: t('network.mask'),
    gateway: t('network.gateway'),
    dns: t('network.dns'),
    vlan: t('network.vlan'),
    port: t('network.port'),
  };
  const form = useForm(
    {
      how: set.address ? 'static' : 'dhcp',
      address: addressOf(has),
      mask: has.split('/')[1] || '24',
      gateway: set.address ? set.gateway || '' : port?.gateway || '',
      dns: (set.address ? set.dns || [] : port?.dns || []).join(' '),
      vlan: String(set.vlan || ''),
      port: set.port || (own.length > 1 ? own[0].name : ''),
    },
    async (v) => {
      take(
        await server.put('/network', {
          ...(v.how === 'static' && {
            address: v.address.trim() + '/' + lengthOf(v.mask),
            gateway: v.gateway.trim(),
            dns: v.dns.split(/[\s,]+/).filter(Boolean),
          }),
          ...(v.vlan.trim() && { vlan: +v.vlan }),
          ...(own.length > 1 && { port: v.port }),
        }),
      );
    },
    (v) => ({
      ...(v.how === 'static' && !v.address.trim() && { address: t('needed') }),
      ...(v.how === 'static' && lengthOf(v.mask) === undefined && { mask: t('network.mask.hint') }),
      ...(v.vlan.trim() && !/^\d{1,4}$/.test(v.vlan.trim()) && { vlan: t('network.vlan.hint') }),
    }),
  );
  const plain = { code: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' };
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${labels} />
      ${own.length > 1 && html`
        <${Field} form=${form} name="port" label=${labels.port} hint=${t('network.port.hint')}
          options=${own.map((p) => [p.name, `${p.name} (${p.mac})`])} />`}
      <${Field} form=${form} name="how" label=${labels.how}
        options=${[['dhcp', t('network.how.dhcp')], ['static', t('network.how.static')]]} />
      ${form.values.how === 'static' && html`
        <${Field} form=${form} name="address" label=${labels.address} hint=${t('network.address.hint')} ...${plain} inputmode="decimal" />
        <${Field} form=${form} name="mask" label=${labels.mask} hint=${t('network.mask.hint')} ...${plain} inputmode="decimal" />
        <${Field} form=${form} name="gateway" label=${labels.gateway} hint=${t('network.gateway.hint')} ...${plain} inputmode="decimal" />
        <${Field} form=${form} name="dns" label=${labels.dns} hint=${t('network.dns.hint')} ...${plain} />`}
      <${Field} form=${form} name="vlan" label=${labels.vlan} hint=${t('network.vlan.hint')} autocomplete="off" inputmode="numeric" />
      <p class="sub">${t('network.safe')}</p>
      <div class="actions start"><${Submit} form=${form}>${t('network.try')}<//></div>
    </form>`;
}

// Left counts down what is left of a trial.
function Left({ until }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const n = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  return html`
    <p><b>${t('network.left', { n })}</b></p><progress max=${trial} value=${n} aria-label=${t('network.left', { n })}></progress>`;
}

// Trial is what there is to do while a setting is tried.
function Trial({ now, at, wrong, take }) {
  const [busy, setBusy] = useState(false);
  const [begun] = useState(Date.now());
  const of = now.setting,
    address = of.address && addressOf(of.address);
  const trying = now.state === 'trying';
  const until = trying ? at + (now.secondsLeft || 0) * 1000 : begun + trial * 1000;
  const port = location.port && ':' + location.port;
  const there = (host) => `${location.protocol}//${host}${port}/more/network`;
  const keep = async () => {
    setBusy(true);
    try {
      take(await server.post('/network/keep'));
    } catch (p) {
      done(p.message);
      setBusy(false);
    }
  };
  const here = trying && !now.cannotKeep && !wrong;
  return html`
    <p role="status">${t('network.trying', { what: says(of) })}</p>
    <${Left} until=${until} />
    ${here
      ? html`
        <p>${t('network.works')}</p>
        <div class="actions start">
          <button type="button" class="button primary" disabled=${busy} onClick=${keep}>${t('network.keep')}</button>
        </div>`
      : html`
        ${wrong && html`<${Notice} kind="warn">${t('network.gone')}<//>`}
        <p>${t('network.open')} ${of.vlan ? t('network.open.vlan', { n: of.vlan }) : ''}</p>
        <div class="actions start">
          ${address && html`<a class="button primary" href=${there(address)}><bdi>${t('network.open.at', { at: address })}</bdi></a>`}
          <a class=${address ? 'button' : 'button primary'} href=${there(now.name)}><bdi>${t('network.open.at', { at: now.name })}</bdi></a>
        </div>
        <p class="sub">${t('network.open.warns')}</p>
        <${Fingerprint} text=${house.claim?.fingerprint} />`}`;
}

export default function NetworkPage() {
  const { now, at, wrong, take } = useNetwork();
  const open = now?.state === 'asked' || now?.state === 'trying';
  const was = useRef(false);
  useEffect(() => {
    if (was.current && now?.state === 'kept') done(t('network.kept'));
    was.current = open;
  }, [open]);
  return html`
    <${Page} title=${t('network')} sub=${t('network.sub')} back=${{ href: '/more', text: t('more') }}>
      ${wrong && !open && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!now
        ? !wrong && html`<div class="skeleton"></div>`
        : html`
          <div class="columns">
            <section class="panel stack">
              <h2>${t(open ? 'network.tried' : 'network.set')}</h2>
              ${!now.canSet
                ? html`<p>${t('network.others')}</p>`
                : open
                ? html`<${Trial} now=${now} at=${at} wrong=${wrong} take=${take} />`
                : html`
                  ${now.state === 'undone' && html`<${Notice} kind="warn">${t('network.undone')}<//>`}
                  ${now.state === 'refused' && html`<${Notice} kind="fault">${t('network.refused')}<//>`}
                  <${Form} now=${now} take=${take} key=${now.state} />`}
            </section>
            <section class="panel stack">
              <h2>${t('network.now')}</h2>
              ${now.name && html`<dl class="facts"><dt>${t('name')}</dt><dd><code class="pre">${now.name}</code></dd></dl>`}
              ${now.ports.map((p) => html`<${Port} key=${p.name} port=${p} />`)}
              ${!now.ports.length && html`<p>${t('network.noports')}</p>`}
            </section>
          </div>`}
    <//>`;
}
