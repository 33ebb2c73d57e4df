// All devices: what is wrong first, then everything by floor and room, folded, or what a search finds.
import './plan/texts.js';
import { html, useState } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Page, address, go } from '../ui/router.js';
import { Empty } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { openness } from '../ui/shade.js';
import { levelWords } from '../ui/light.js';
import { house, nodeAges, shadeAges, wrongWith } from './house.js';
import { sinceWhen } from './cards.js';
import { NewCluster } from './edit.js';

export const filters = {
  all: () => true,
  trouble: (d) => !d.online || !!wrongWith(d),
  lights: (d) => d.tag === 'NODE',
  shades: (d) => 'motion' in d,
  others: (d) => d.tag === 'PERIPHERAL',
  loose: (d) => !d.clusters.length && d.tag !== 'PERIPHERAL',
};

export const hrefOf = (d) => ('motion' in d ? '/shades/' : '/devices/') + d.id;

const unfolded = 6; // so many that are wrong are shown at once
const searched = 200; // rows that a search shows

// opened are the parts that somebody has unfolded, so that they are so when one comes back.
const opened = new Set();

function Fold({ id, title, sub, badge, children, level = 2 }) {
  const [open, setOpen] = useState(opened.has(id));
  const flip = (e) => {
    setOpen(e.currentTarget.open);
    if (e.currentTarget.open) opened.add(id);
    else opened.delete(id);
  };
  return html`
    <details class=${'fold level' + level} open=${open} onToggle=${flip}>
      <summary>
        <${Icon} name="right" />
        <span class="grow"><bdi>${title}</bdi> <span class="sub">${sub}</span></span>
        ${badge}
      </summary>
      ${open && children()}
    </details>`;
}

const rows = (list) => html`<ul class="list panel flush">${list.map((d) => html`<${Row} key=${hrefOf(d)} device=${d} />`)}</ul>`;

const bad = (list) => {
  const n = list.filter(filters.trouble).length;
  return n > 0 && html`
    <span class="badge warn"><${Icon} name="plug" size=${16} />${n}<span class="reader">${t('devices.bad', { n })}</span></span>`;
};

// Rooms of a floor, or of none: each folded, with what is in it and how many of that do not answer.
function Rooms({ id, parts }) {
  return parts.map(
    ([name, list, key]) => html`
      <${Fold} key=${key} id=${id + key} title=${name} sub=${t('devices.n', { n: list.length })} badge=${bad(list)} level=${3}>
        ${() => rows(list)}
      <//>`,
  );
}

export default function Devices() {
  const q = address.value.query.get('q') || '',
    state = address.value.query.get('state') || 'all';
  const [typed, setTyped] = useState(q);
  const set = (next) => {
    const p = new URLSearchParams(address.peek().query);
    for (const [k, v] of Object.entries(next))
      if (v && v !== 'all') p.set(k, v);
      else p.delete(k);
    go('/devices' + (p.size ? '?' + p : ''), { replace: true });
  };
  const all = [...house.nodes.all(), ...house.shades.all()];
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const floorOf = (c) => house.site.value?.floors.find((f) => f.clusters.includes(c))?.name;
  const text = (d) =>
    [
      d.name,
      nodeOf(d)?.bus,
      nodeOf(d)?.address,
      d.profile,
      d.id,
      ...d.clusters.flatMap((c) => [house.clusters.peek(c)?.name, floorOf(c)]),
    ]
      .join(' ')
      .toLowerCase();
  const found = words.length ? all.filter((d) => words.every((w) => text(d).includes(w))) : all;
  const shown = found.filter(filters[state] || filters.all).sort(byName);
  const wrong = shown.filter(filters.trouble);
  return html`
    <${Page} title=${t('devices')} actions=${html`<${NewCluster} />`}
      sub=${t('devices.sub', { n: all.length, online: all.filter((d) => d.online).length })}>
      <div class="stack">
        <div class="search">
          <${Icon} name="search" />
          <input type="search" class="input" aria-label=${t('devices.search')} placeholder=${t('devices.search')} value=${typed}
            onInput=${(e) => {
              setTyped(e.target.value);
              set({ q: e.target.value });
            }} />
        </div>
        <div class="chips">
          ${Object.keys(filters).map((f) => {
            const n = found.filter(filters[f]).length;
            return (
              (n > 0 || f === state || f === 'all') &&
              html`
                <button type="button" class="chip" aria-pressed=${f === state ? 'true' : 'false'}
                  onClick=${() => set({ state: f })}>
                  ${t('devices.' + f)} <span>${n}</span>
                </button>`
            );
          })}
        </div>
      </div>
      ${!house.whole.value
        ? html`<div class="skeleton"></div>`
        : !shown.length
        ? html`
          <${Empty} icon="devices" text=${all.length ? t('devices.none') : t('devices.empty')}>
            ${all.length > 0
              ? html`
                <button class="button"
                  onClick=${() => {
                    setTyped('');
                    set({ q: '', state: '' });
                  }}>
                  ${t('devices.showall')}
                </button>`
              : html`<a class="button primary" href="/buses">${t('home.tobuses')}</a>`}
          <//>`
        : words.length || state === 'trouble'
        ? html`
          ${rows(shown.slice(0, searched))}
          ${shown.length > searched && html`<p class="sub">${t('devices.more', { n: shown.length - searched })}</p>`}`
        : html`<${Wrong} list=${wrong} /><${Places} list=${shown} />`}
    <//>`;
}

// Wrong is what needs somebody: a few at once, many by bus.
function Wrong({ list }) {
  if (!list.length) return null;
  const buses = [...new Set(list.map((d) => nodeOf(d)?.bus || ''))].sort();
  return html`
    <section class="stack tight">
      <h2>${t('devices.wrong', { n: list.length })}</h2>
      ${list.length <= unfolded
        ? rows(list)
        : html`
          <div class="panel flush">
            <${Rooms} id="wrong" parts=${buses.map((b) => [b || t('dev.unbound'), list.filter((d) => (nodeOf(d)?.bus || '') === b), b])} />
          </div>`}
    </section>`;
}

// Places are all devices where they are.
function Places({ list }) {
  const within = (/** @type {number[]} */ ids) =>
    ids
      .map((id) => [house.clusters.get(id).value?.name, list.filter((d) => d.clusters.includes(id)), id])
      .filter(([name, devices]) => name && devices.length)
      .sort((a, b) => byName({ name: a[0] }, { name: b[0] }));
  const floors = house.site.value.floors
    .map((f) => ({ name: f.name, plan: f.plan, parts: within(f.clusters) }))
    .filter((f) => f.parts.length);
  const on = new Set(house.site.value.floors.flatMap((f) => f.clusters));
  const rest = within(house.clusters.ids.value.filter((id) => !on.has(id)));
  const loose = list.filter((d) => !d.clusters.length);
  if (loose.length) rest.push([t('devices.noroom'), loose, 'none']);
  return html`
    ${floors.map(
      (f) => html`
        <section class="stack tight" key=${f.name}>
          <div class="row">
            <h2 class="grow"><bdi>${f.name}</bdi></h2>
            ${f.plan && html`
              <a class="chip" href=${'/plan?floor=' + encodeURIComponent(f.name)} aria-label=${t('home.plan.of', { name: f.name })}>
                <${Icon} name="plan" size=${18} />
                ${t('home.plan')}
              </a>`}
          </div>
          <div class="panel flush"><${Rooms} id=${f.name} parts=${f.parts} /></div>
        </section>`,
    )}
    ${rest.length > 0 && html`
      <section class="stack tight">
        <h2>${t(floors.length ? 'home.nofloor' : 'home.rooms')}</h2>
        <div class="panel flush"><${Rooms} id="rest" parts=${rest} /></div>
      </section>`}`;
}

const nodeOf = (d) => ('motion' in d ? house.nodes.peek(d.node) : d);

function Row({ device: d }) {
  const shade = 'motion' in d,
    node = nodeOf(d);
  const seen = () => (shade ? shadeAges : nodeAges)(d.id).lastSeen;
  const where = [
    node?.bus && t('dev.at', { bus: node.bus, address: node.address }),
    ...d.clusters.map((c) => house.clusters.peek(c)?.name),
  ]
    .filter(Boolean)
    .join(' · ');
  const value = !d.online
    ? null
    : shade
      ? openness(d.position?.value)
      : d.level
        ? levelWords(d.level.value)
        : d.power
          ? `${d.power.value.toFixed(0)}\u00a0W`
          : null;
  return html`
    <li>
      <a href=${hrefOf(d)}>
        <${Icon} name=${shade ? 'shade' : d.tag === 'NODE' ? 'devices' : 'pulse'} />
        <span class="main">
          <span class="name"><bdi>${d.name}</bdi></span>
          <span class="sub">${where || t('dev.unbound')}</span>
        </span>
        <span class="end">
          ${wrongWith(d)
            ? html`<span class="badge fault"><${Icon} name="triangle" size=${16} />${t('fault')}</span>`
            : !d.online
            ? html`<span class="badge warn"><${Icon} name="plug" size=${16} />${sinceWhen(seen())}</span>`
            : value}
        </span>
      </a>
    </li>`;
}
