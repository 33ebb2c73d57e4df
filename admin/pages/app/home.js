// Home: what needs somebody, what is lit, and every room on its floor with its level.
import { html, useEffect, useState, computed, signal } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, may } from './house.js';
import { ClusterLights, ClusterShades } from './cards.js';
import { Scenes } from './scenes.js';

// later is what home fetches when it is there.
/** @type {import('../ui/lib.js').Signal<{ Attention?: any, AllOff?: any, used?: any }>} */
const later = signal({});
// fetchLater reports whether it is there now.
async function fetchLater(name, load) {
  try {
    if (!later.peek()[name]) {
      const m = await load();
      later.value = { ...later.peek(), [name]: m.default || m };
    }
    return true;
  } catch {
    return false; // the controller is away
  }
}

// useLater fetches a part once it is wanted, and tries again while the controller is away.
function useLater(name, wanted, load) {
  useEffect(() => {
    if (!wanted) return undefined;
    let timer;
    const get = async () => {
      if (!(await fetchLater(name, load))) timer = setTimeout(get, 5000);
    };
    get();
    return () => clearTimeout(timer);
  }, [wanted]);
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
  const floors = house.site.value.floors.map((f) => ({ ...f, rooms: shown.filter((c) => f.clusters.includes(c.id)) }));
  const others = shown.filter((c) => !floors.some((f) => f.clusters.includes(c.id)));
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
    ${floors.map((f) => f.rooms.length > 0 && html`<${Floor} key=${f.name} floor=${f} filter=${filter} />`)}
    ${others.length > 0 && html`
      <section class="stack floor">
        <h2 class=${floors.length ? undefined : 'reader'}>${t(floors.length ? 'home.nofloor' : 'home.rooms')}</h2>
        <${Rooms} rooms=${others} filter=${filter} />
      </section>`}
    ${!shown.length && html`<${Empty} icon="search" text=${q ? t('search.nothing', { q }) : t('home.nothing')} />`}`;
}

const Rooms = ({ rooms, filter }) => html`
  <div class="cards shades">
    ${rooms.map((c) =>
      filter === 'shades' || !c.lights
        ? html`<${ClusterShades} key=${c.id} id=${c.id} />`
        : html`
          <${ClusterLights} key=${c.id} id=${c.id}>
            ${filter === 'all' && c.shades.length > 0 && html`<${ClusterShades} id=${c.id} half />`}
          <//>`,
    )}
  </div>`;

function Floor({ floor: f, filter }) {
  return html`
    <section class="stack floor">
      <div class="row">
        <h2 class="plain grow"><bdi>${f.name}</bdi></h2>
        <span class="sub">${later.value.used?.usedOn(f.name)}</span>
        ${f.plan && html`
          <a class="chip" href=${'/plan?floor=' + encodeURIComponent(f.name)} aria-label=${t('home.plan.of', { name: f.name })}>
            <${Icon} name="plan" size=${18} />
            ${t('home.plan')}
          </a>`}
      </div>
      <${Rooms} rooms=${f.rooms} filter=${filter} />
    </section>`;
}

// summary is what one wants to know first. A room is dark if all of its lights are known to be off, and unknown if one may be on.
export const summary = computed(() => {
  const rooms = house.clusters.all().filter(filters.lights);
  const silent = (c) => c.nodes.some((id) => house.nodes.get(id).value?.tag === 'NODE' && !house.nodes.get(id).value.online);
  const lit = rooms.filter(filters.lit).length;
  return { lit, of: rooms.length, unknown: rooms.filter((c) => c.level == null || (!c.level && silent(c))).length };
});
const answers = computed(() => {
  const all = [...house.nodes.all(), ...house.shades.all()];
  return { n: all.length, online: all.filter((d) => d.online).length };
});

export function titleOf({ lit, of, unknown }) {
  if (unknown === of) return of ? t('home.unknown') : t('home');
  if (!unknown) return lit ? t('home.lit', { n: lit, of }) : t('home.dark');
  return lit ? t('home.litpartly', { n: lit, of, unknown }) : t('home.darkpartly', { n: of - unknown, unknown });
}

export default function Home() {
  const [asking, setAsking] = useState(false);
  const whole = house.whole.value,
    { Attention, AllOff, used } = later.value;
  const concerned = house.attention.value.concerns.length > 0;
  useLater('Attention', concerned, () => import('./now/attention.js'));
  useLater('used', whole, () => import('./now/used.js'));
  useEffect(() => used?.follow(), [used]);
  if (!whole)
    return html`
      <main aria-busy="true">
        <h1 class="reader">${t('home')}</h1>
        <div class="cards">${[1, 2, 3, 4].map(() => html`<div class="skeleton"></div>`)}</div>
      </main>`;
  const ask = async () => {
    if (await fetchLater('AllOff', () => import('./now/alloff.js'))) setAsking(true);
    else done(t('page.notloaded'));
  };
  const empty = !house.clusters.ids.value.length;
  const site = house.site.value;
  const { n, online } = answers.value;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const sub = [
    online === n ? t('home.all', { n }) : t('home.silent', { n: n - online }),
    used?.usedInAll(),
    site.timeZone && site.timeZone !== own && t('home.zone', { zone: site.timeZone.replaceAll('_', ' ') }),
  ];
  return html`
    <${Page} title=${empty ? site.name || t('home') : titleOf(summary.value)} sub=${empty ? null : sub.filter(Boolean).join(' · ')}
      actions=${may('operate') && !empty && html`<button class="button" onClick=${ask}>${t('home.alloff')}</button>`}>
      ${concerned && Attention && html`<${Attention} />`}
      <${Scenes} />
      ${asking && AllOff && html`<${AllOff} onClose=${() => setAsking(false)} />`}
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
