// The building as the server's events tell it: a signal for each thing, so that a change draws only what shows it.
import { signal, computed, batch } from '../ui/lib.js';
import { api, Problem } from '../ui/api.js';
import { stream } from '../ui/stream.js';
import { serverTime, timesIn, now, t } from '../ui/i18n.js';
import { asking } from '../ui/asked.js';
import { go, address } from '../ui/router.js';

/** @import * as Records from '../records' */
/** @import { Asking } from '../ui/api.js' */
/** @import { Signal } from '../ui/lib.js' */

/** @type {Signal<Records.Session>} */
export const session = signal(undefined); // undefined: not asked yet; null: nobody is logged in
/** @type {(what: 'read' | 'operate' | 'administer') => boolean} */
export const may = (what) => !!session.value?.may.includes(what);
/** @type {ReturnType<typeof api> & { get: <P extends keyof Records.Got>(path: P, how?: Asking) => Promise<Records.Got[P]> }} */
export const server = api({
  prefix: '/api/v1',
  unauthorized: async () => {
    if (session.value) leave();
    return false;
  },
});

/**
 * @template {{ uuid?: string }} R a record
 * @template {string | number} K its key
 */
function family() {
  /** @type {Map<K, Signal<R>>} */
  const of = new Map();
  return {
    ids: signal(/** @type {K[]} */ ([])),
    /** @type {(id: K) => Signal<R>} */
    get(id) {
      if (!of.has(id)) of.set(id, signal(undefined));
      return of.get(id);
    },
    /** @type {(id: K) => R} */
    peek(id) {
      return of.get(id)?.peek();
    },
    all() {
      return this.ids.value.map((id) => of.get(id).value).filter(Boolean);
    },
    /** @type {(records: R[], key: string) => void} */
    fill(records, key) {
      const there = new Set(records.map((r) => r[key]));
      for (const [id, s] of of) if (!there.has(id)) s.value = undefined;
      for (const r of records) this.get(r[key]).value = r;
      this.ids.value = [...there];
    },
    /** @type {(records: R[], key: string) => void} */
    merge(records, key) {
      let more = false;
      for (const r of records) {
        if (!this.peek(r[key])) {
          more = true;
          for (const s of of.values()) if (r.uuid && s.peek()?.uuid === r.uuid) s.value = undefined; // it was renamed
        }
        this.get(r[key]).value = r;
      }
      if (more) this.ids.value = [...of.keys()].filter((id) => of.get(id).peek() !== undefined).sort((a, b) => (a > b ? 1 : -1));
    },
    /** @type {(ids: K[]) => void} */
    drop(ids) {
      for (const id of ids) this.get(id).value = undefined;
      this.ids.value = this.ids.peek().filter((id) => !ids.includes(id));
    },
  };
}

export const house = {
  /** @type {Records.ClaimState} */
  claim: null, // not asked yet
  /** @type {Signal<Records.Site>} */
  site: signal(null),
  /** @type {ReturnType<typeof family<Records.Cluster, number>>} */
  clusters: family(),
  /** @type {ReturnType<typeof family<Records.Node, number>>} */
  nodes: family(),
  /** @type {ReturnType<typeof family<Records.Shade, number>>} */
  shades: family(),
  /** @type {ReturnType<typeof family<Records.Bus, string>>} */
  buses: family(),
  /** @type {Signal<Records.Port[]>} */
  ports: signal([]),
  /** @type {Signal<Records.Job[]>} */
  jobs: signal([]),
  /** @type {Signal<Records.Scene[]>} */
  scenes: signal([]),
  /** @type {Signal<Records.Entry[]>} */
  entries: signal([]), // newest first, since this page is open
  /** @type {Signal<Records.Attention>} */
  attention: signal({ concerns: [], more: 0 }),
  whole: signal(false), // the picture has come
};

// heldBack shows what waits for the controller, once there is something: see outbox.js.
export const heldBack = signal(null);

// wrongWith says what is wrong with a light or a shade: why its entry is set aside, or what its device says of itself.
const troubles = computed(
  () => new Map(house.attention.value.concerns.flatMap((c) => (c.kind === 'device-trouble' ? c.nodes || [] : []).map((n) => [n, c.what]))),
);
export const wrongWith = (record) => record.fault || troubles.value.get(record.node ?? record.id);

// When values were read, apart from the values: they change every few seconds, and are told only where they are looked at.
const ages = { nodes: new Map(), shades: new Map() };
function ageSignal(kind, id) {
  const of = ages[kind];
  if (!of.has(id)) of.set(id, signal({}));
  return of.get(id);
}
export const nodeAges = (id) => ageSignal('nodes', id).value;
export const shadeAges = (id) => ageSignal('shades', id).value;
const ms = (text) => (text ? Date.parse(text) : 0);
function noteAges(kind, records) {
  for (const r of records) {
    const a = { lastSeen: ms(r.lastSeen) };
    for (const k of ['level', 'kelvin', 'rgbw', 'power', 'position']) if (r[k]) a[k] = ms(r[k].at);
    ageSignal(kind, r.id).value = a;
  }
}

// What the level of a node was since this page is open, for its sparkline.
const past = new Map();
export const history = (id) => past.get(id) || [];
function notePast(nodes) {
  for (const n of nodes) {
    const v = n.online && n.level ? n.level.value : null;
    const line = past.get(n.id) || past.set(n.id, []).get(n.id);
    if (!line.length || line[line.length - 1][1] !== v) line.push([now.peek(), v]);
    if (line.length > 120) line.shift();
  }
}

// Scenes are not in the events: they change with the site, which is.
async function fetchScenes() {
  try {
    house.scenes.value = await server.get('/scenes');
  } catch {
    /* the next picture asks again */
  }
}

// noteSite takes over the site; times are told by the building's clock, wherever the reader is.
/** @type {(site: Records.Site) => void} */
function noteSite(site) {
  timesIn(site.timeZone);
  house.site.value = site;
}

/** @param {Records.Picture} p */
function picture(p) {
  fetchScenes();
  batch(() => {
    serverTime(Date.parse(p.time));
    reloadIfOther(p.version);
    noteSite(p.site);
    house.attention.value = p.attention;
    house.clusters.fill(p.clusters, 'id');
    house.nodes.fill(p.nodes, 'id');
    house.shades.fill(p.shades, 'id');
    house.buses.fill(p.buses, 'name');
    house.ports.value = p.ports || [];
    house.jobs.value = p.jobs || [];
    noteAges('nodes', p.nodes);
    noteAges('shades', p.shades);
    notePast(p.nodes);
    house.whole.value = true;
  });
}

/** @param {Records.Change} c */
function change(c) {
  if (c.site) fetchScenes();
  batch(() => {
    if (c.site) noteSite(c.site);
    if (c.attention) house.attention.value = c.attention;
    if (c.clusters) house.clusters.merge(c.clusters, 'id');
    if (c.nodes) {
      house.nodes.merge(c.nodes, 'id');
      noteAges('nodes', c.nodes);
      notePast(c.nodes);
    }
    if (c.shades) {
      house.shades.merge(c.shades, 'id');
      noteAges('shades', c.shades);
    }
    if (c.buses) house.buses.merge(c.buses, 'name');
    if (c.removed) {
      for (const kind of ['clusters', 'nodes', 'shades']) if (c.removed[kind]) house[kind].drop(c.removed[kind]);
      if (c.removed.buses)
        house.buses.drop(
          house.buses
            .all()
            .filter((b) => c.removed.buses.includes(b.uuid))
            .map((b) => b.name),
        );
    }
    for (const kind of ['nodes', 'shades'])
      for (const { id, ...a } of c.ages?.[kind] || []) ageSignal(kind, id).value = { ...ageSignal(kind, id).peek(), ...a };
  });
}

// noteJob takes over a job. What it found is left out where it has not changed.
/** @param {Records.Job} j */
export function noteJob(j) {
  const old = house.jobs.peek().find((x) => x.id === j.id);
  const whole = old && !j.items ? { ...j, items: old.items } : j;
  const all = old ? house.jobs.peek().map((x) => (x.id === j.id ? whole : x)) : [whole, ...house.jobs.peek()];
  // the oldest device that showed itself goes first: what a scan found is still being named
  if (all.length > 64) all.splice(all.findLastIndex((x, i) => i > 0 && x.kind === 'identify'), 1);
  house.jobs.value = all;
}

// A new version of the program has new pages: take them when nobody is in the middle of something.
let version;
function reloadIfOther(v) {
  version ??= v;
  if (v === version) return;
  const idle = () =>
    document.querySelector('dialog[open]') || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)
      ? setTimeout(idle, 2000)
      : location.reload();
  idle();
}

let line;
export const link = signal(signal({ state: 'opening' }));
function listen() {
  line?.end();
  line = stream({
    url: '/api/v1/events',
    handle: {
      picture,
      change,
      entry: (e) => {
        house.entries.value = [e, ...house.entries.peek().filter((x) => x.id !== e.id)].slice(0, 200);
      },
      job: noteJob,
      ports: (l) => {
        house.ports.value = l.ports;
      },
    },
    ask: async () => {
      await askSession();
      return !!session.peek();
    },
  });
  link.value = line.link;
}

async function askSession() {
  try {
    session.value = await server.get('/session', { again: false });
  } catch (p) {
    if (p.status !== 401) throw p;
    session.value = null;
  }
}

// enter begins after a log-in, or with the session that a browser has still.
export function enter(s) {
  session.value = s;
  reloadIfOther(s.version);
  listen();
}

// hush ends listening.
export function hush() {
  line?.end();
  line = undefined;
}

// leave shows the log-in, and comes back to where one was afterwards.
export function leave() {
  hush();
  session.value = null;
  house.whole.value = false;
  const { path, query } = address.peek();
  if (path !== '/login')
    go('/login' + (path === '/' ? '' : '?to=' + encodeURIComponent(path + (query.size ? '?' + query : ''))), { replace: true });
}

// start finds out who is logged in, and whether the controller has been claimed at all.
export async function start() {
  const claim = await server.get('/claim');
  house.claim = claim;
  if (!claim.claimed) {
    session.value = null;
    if (address.peek().path !== '/claim') go('/claim', { replace: true });
    return;
  }
  if (address.peek().path === '/claim') go('/', { replace: true });
  if (claim.loggedIn) await askSession();
  if (session.peek()) enter(session.peek());
  else leave();
}

// command does something, and fails with the reason, and a link to what happened, if not everybody who was meant did.
export async function command(kind, target, values = {}) {
  const e = await server.post('/commands', { kind, target, ...values });
  if (!e.ok)
    throw Object.assign(new Problem(200, { detail: e.error || t('command.failed') }), { href: '/more/ledger/' + e.id, entry: e });
  return e;
}

// asks keeps what is asked of each thing, so that it is the same on every page.
const asks = new Map();
export function ask(scope, id, what) {
  const key = scope + id + what;
  if (!asks.has(key)) {
    const target = { scope, id };
    const of = house[scope + 's'].get(id);
    const value = () => {
      const v = of.peek()?.[what];
      return v != null && typeof v === 'object' && 'value' in v ? v.value : v;
    };
    const kinds = { level: 'light-level', kelvin: 'light-kelvin', position: 'shade-move-to', rgbw: 'light-rgbw' };
    asks.set(
      key,
      asking((v) => command(kinds[what], target, { [what]: v }), value),
    );
  }
  return asks.get(key);
}

// Is a value too old to be called present? Polling promises seconds; a minute has missed it by far.
const old = 60000;
const slow = computed(() => Math.floor(now.value / 10000) * 10000);
export const isOld = (at) => !!at && slow.value - at > old;
