// All devices: who is silent since when, who is at fault, what is where.
import { html, useState } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Page, address, go } from '../ui/router.js';
import { Empty } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { openness } from '../ui/shade.js';
import { levelWords } from '../ui/light.js';
import { house, nodeAges, shadeAges } from './house.js';
import { sinceWhen } from './cards.js';
import { NewCluster } from './edit.js';

export const filters = {
  all: () => true,
  trouble: (d) => !d.online || !!d.fault,
  lights: (d) => d.tag === 'NODE',
  shades: (d) => 'motion' in d,
  others: (d) => d.tag === 'PERIPHERAL',
  loose: (d) => !d.clusters.length && d.tag !== 'PERIPHERAL',
};

export const hrefOf = (d) => ('motion' in d ? '/shades/' : '/devices/') + d.id;

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
  const all = [
    ...house.nodes.ids.value.map((id) => house.nodes.get(id).value),
    ...house.shades.ids.value.map((id) => house.shades.get(id).value),
  ].filter(Boolean);
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const nodeOf = (d) => ('motion' in d ? house.nodes.peek(d.node) : d);
  const text = (d) =>
    [d.name, nodeOf(d)?.bus, nodeOf(d)?.address, d.profile, d.id, ...d.clusters.map((c) => house.clusters.peek(c)?.name)]
      .join(' ')
      .toLowerCase();
  const found = words.length ? all.filter((d) => words.every((w) => text(d).includes(w))) : all;
  const shown = found.filter(filters[state] || filters.all).sort(byName);
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
        : shown.length
        ? html`
          <ul class="list panel flush">${shown.map((d) => html`<${Row} key=${hrefOf(d)} device=${d} node=${nodeOf(d)} />`)}</ul>`
        : html`
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
          <//>`}
    <//>`;
}

function Row({ device: d, node }) {
  const shade = 'motion' in d;
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
          ${d.fault
            ? html`<span class="badge fault"><${Icon} name="triangle" size=${16} />${t('fault')}</span>`
            : !d.online
            ? html`<span class="badge warn"><${Icon} name="plug" size=${16} />${sinceWhen(seen())}</span>`
            : value}
        </span>
      </a>
    </li>`;
}
