// Home: what is lit, what needs attention, and every cluster with its level.
import { html, useState, computed } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, may, command } from './house.js';
import { ClusterLights, ClusterShades } from './cards.js';
import { Scenes } from './scenes.js';

// troubles counts what needs somebody: devices that are silent or at fault, buses that are down, entries set aside.
export const troubles = computed(() => ({
  devices: [...house.nodes.all(), ...house.shades.all()].filter((d) => !d.online || d.fault).length,
  buses: house.buses.all().filter((b) => !b.disabled && (!b.up || b.fault)).length,
  entries: house.site.value?.faults.length || 0,
}));

export function Attention() {
  const { devices, buses, entries } = troubles.value;
  if (!devices && !buses && !entries) return null;
  return html`
    <${Notice} kind="warn">
      <p>
        ${buses > 0 && html`<a href="/buses">${t('home.buses', { n: buses })}</a> `}
        ${devices > 0 && html`<a href="/devices?state=trouble">${t('home.devices', { n: devices })}</a> `}
        ${entries > 0 && html`<a href="/more">${t('home.entries', { n: entries })}</a>`}
      </p>
    <//>`;
}

export const filters = {
  all: () => true,
  lit: (c) => c.lights > 0 && c.level > 0,
  lights: (c) => c.lights > 0,
  shades: (c) => c.shades.length > 0,
};

function Cards() {
  const [q, setQ] = useState('');
  const [filter, setFilter] = useState('all');
  const clusters = house.clusters.ids.value
    .map((id) => (filter === 'lit' ? house.clusters.get(id).value : house.clusters.peek(id)))
    .filter(Boolean)
    .sort(byName);
  const shown = clusters.filter((c) => c.name.toLowerCase().includes(q.toLowerCase())).filter(filters[filter]);
  const lights = filter === 'shades' ? [] : shown.filter(filters.lights),
    shades = filter === 'lights' || filter === 'lit' ? [] : shown.filter(filters.shades);
  return html`
    ${clusters.length > 8 && html`
      <div class="row">
        <div class="search">
          <${Icon} name="search" />
          <input type="search" class="input" aria-label=${t('home.search')} placeholder=${t('home.search')} value=${q}
            onInput=${(e) => setQ(e.target.value)} />
        </div>
        <div class="chips">
          ${Object.keys(filters).map(
            (f) => html`
              <button type="button" class="chip" key=${f} aria-pressed=${f === filter ? 'true' : 'false'}
                onClick=${() => setFilter(f)}>
                ${t('home.filter.' + f)}
              </button>`,
          )}
        </div>
      </div>`}
    ${lights.length > 0 && html`
      <section class="stack floor">
        <h2>${t('home.lights')}</h2>
        <div class="cards">${lights.map((c) => html`<${ClusterLights} key=${c.id} id=${c.id} />`)}</div>
      </section>`}
    ${shades.length > 0 && html`
      <section class="stack floor">
        <h2>${t('home.shades')}</h2>
        <div class="cards shades">${shades.map((c) => html`<${ClusterShades} key=${c.id} id=${c.id} />`)}</div>
      </section>`}
    ${!shown.length && html`<${Empty} icon="search" text=${q ? t('search.nothing', { q }) : t('home.nothing')} />`}`;
}

// summary is what one wants to know first.
export const summary = computed(() => {
  const lights = house.clusters.all().filter(filters.lights);
  return { lit: lights.filter(filters.lit).length, of: lights.length };
});
const answers = computed(() => {
  const all = [...house.nodes.all(), ...house.shades.all()];
  return { n: all.length, online: all.filter((d) => d.online).length };
});

export default function Home() {
  if (!house.whole.value)
    return html`
      <main aria-busy="true">
        <h1 class="reader">${t('home')}</h1>
        <div class="cards">${[1, 2, 3, 4].map(() => html`<div class="skeleton"></div>`)}</div>
      </main>`;
  const off = async () => {
    try {
      await command('light-off', { scope: 'all' });
      done(t('home.alloff.done'));
    } catch (p) {
      done(p.message);
    }
  };
  const empty = !house.clusters.ids.value.length;
  const { lit, of } = summary.value,
    { n, online } = answers.value;
  const title = empty ? house.site.value.name || t('home') : lit ? t('home.lit', { n: lit, of }) : t('home.dark');
  return html`
    <${Page} title=${title} sub=${empty ? null : online === n ? t('home.all', { n }) : t('home.some', { n, online })}
      actions=${may('operate') && !empty && html`<button class="button" onClick=${off}>${t('home.alloff')}</button>`}>
      <${Attention} />
      <${Scenes} />
      ${empty
        ? html`
          <${Empty} icon="home" text=${t('home.empty')}>
            ${may('operate') &&
            (house.nodes.ids.value.length
              ? html`<a class="button primary" href="/devices">${t('home.todevices')}</a>`
              : html`<a class="button primary" href="/buses">${t('home.tobuses')}</a>`)}
          <//>`
        : html`<${Cards} />`}
    <//>`;
}
