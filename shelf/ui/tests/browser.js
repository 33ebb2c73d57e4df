// What the modules of the pages find in a browser, for tests that run in Node: as little as they need, and a clock of our
// own. Import it before any module of the pages.
import { webcrypto } from 'node:crypto';
import { mock } from 'node:test';

process.env.TZ = 'UTC';
const window = new EventTarget();
export const page = Object.assign(new EventTarget(), {
  documentElement: {},
  hidden: false,
  title: '',
  activeElement: null,
  querySelector: () => null,
  createElement: () => ({}),
  head: { append: (link) => link.onload() },
  getElementById: () => null,
});
export const place = { pathname: '/', search: '', origin: 'https://house.example', reload: mock.fn() };
const stored = new Map();

// put gives the global scope something, also where Node has its own.
const put = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
put('addEventListener', window.addEventListener.bind(window));
put('removeEventListener', window.removeEventListener.bind(window));
put('document', page);
put('location', place);
put('navigator', { languages: ['en-GB', 'de'] });
put('scrollTo', () => {});
put('crypto', webcrypto);
put('localStorage', {
  getItem: (k) => stored.get(k) ?? null,
  setItem: (k, v) => stored.set(k, v),
  removeItem: (k) => stored.delete(k),
});
const moved = (_, __, href) => {
  const to = new URL(href, place.origin);
  place.pathname = to.pathname;
  place.search = to.search;
};
put('history', { pushState: moved, replaceState: moved });
const every = setInterval;
put('setInterval', (...of) => every(...of).unref()); // a clock on a page keeps no test from ending

// clock makes time stand still, in timers, Date and performance, until the test lets it go on.
export function clock(from = Date.parse('2026-06-01T12:00:00Z')) {
  const timers = new Map();
  let now = from,
    count = 0;
  const real = { setTimeout, clearTimeout, Date, performance };
  put('setTimeout', (f, after = 0) => (timers.set(++count, { f, at: now + after }), count));
  put('clearTimeout', (id) => timers.delete(id));
  put('performance', { now: () => now });
  put(
    'Date',
    class extends real.Date {
      constructor(...of) {
        if (of.length) super(...of);
        else super(now);
      }

      static now() {
        return now;
      }
    },
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    // pass lets so many milliseconds go by, timer after timer.
    async pass(ms) {
      const end = now + ms;
      for (await settled(); ; await settled()) {
        const [id, next] = [...timers].sort((a, b) => a[1].at - b[1].at)[0] || [];
        if (!next || next.at > end) break;
        timers.delete(id);
        now = Math.max(now, next.at);
        next.f();
      }
      now = end;
    },
    now: () => now,
    stop: () => Object.entries(real).forEach(([name, value]) => put(name, value)),
  };
}

// Source is an EventSource that the test speaks through.
export class Source extends EventTarget {
  static all = [];

  constructor(url) {
    super();
    this.url = url;
    this.closed = false;
    Source.all.push(this);
  }

  static get last() {
    return Source.all.at(-1);
  }

  close() {
    this.closed = true;
  }

  tell(name, data) {
    this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data) }));
  }
}
put('EventSource', Source);

// answers makes fetch give one answer of a list after the other; what was asked is in asked.
export const asked = [];
export function answers(...list) {
  asked.length = 0;
  put('fetch', async (url, how) => {
    asked.push({ url, ...how });
    if (!list.length) throw new Error(`nobody answers ${url}`);
    const next = list.length > 1 ? list.shift() : list[0];
    if (next instanceof Error) throw next;
    const { status = 200, body, headers = {} } = typeof next === 'function' ? next(url, how) : next;
    return new Response(body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
  });
}
