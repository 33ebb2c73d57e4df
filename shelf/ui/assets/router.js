// Addresses to pages without reload: a reload would fetch everything again wherever the certificate is not trusted.
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { t } from './i18n.js';

// address is where we are: {path, query}.
export const address = signal(read());
function read() {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** @type {(path: string) => boolean} */
let known = () => false;

// go shows another page; with replace it takes the place of this one in the history.
/**
 * @param {string} href
 * @param {{ replace?: boolean }} [how]
 */
export function go(href, { replace } = {}) {
  if (leave && !leave()) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', href);
  address.value = read();
  if (!replace) scrollTo(0, 0);
}

let leave = null;
// beforeLeaving asks a page whether it may be left; null: always.
export function beforeLeaving(ask) {
  leave = ask;
}

// startRouter takes over links to addresses that matches knows; others are the browser's.
export function startRouter(matches) {
  known = matches;
  addEventListener('popstate', () => {
    address.value = read();
  });
  document.addEventListener('click', (e) => {
    /** @type {HTMLAnchorElement} */
    const a = /** @type {Element} */ (e.target).closest?.('a[href]');
    if (
      !a ||
      e.defaultPrevented ||
      e.button ||
      e.metaKey ||
      e.ctrlKey ||
      e.shiftKey ||
      e.altKey ||
      a.target ||
      a.hasAttribute('download')
    )
      return;
    const to = new URL(a.href);
    if (to.origin !== location.origin || !known(to.pathname)) return;
    if (to.pathname === location.pathname && to.hash) return;
    e.preventDefault();
    go(to.pathname + to.search);
  });
}

// ownPath is an address of ours that came from outside, or home: nobody is led elsewhere by a link to the log-in.
/** @type {(to: string) => string} */
export const ownPath = (to) => (/^\/(?![/\\])/.test(to) ? to : '/');

// match finds the route of a path among [pattern, …] rows; :name takes what stands there.
export function match(routes, path) {
  const parts = path.replace(/\/$/, '').split('/');
  for (const route of routes) {
    const want = route[0].replace(/\/$/, '').split('/');
    if (want.length !== parts.length) continue;
    const params = {};
    if (want.every((w, i) => (w[0] === ':' ? (params[w.slice(1)] = decoded(parts[i])) : w === parts[i])))
      return { route, params };
  }
  return null;
}

// decoded is a part of a path in plain text; nothing, if it has a % that is none of an address.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

// Page has a title, which is also the window's, and takes the focus when it appears, as a new document would.
export function Page({ title, brand, back, children, actions, sub, wide, focus = true }) {
  const head = useRef(null);
  useEffect(() => {
    document.title = brand ? `${title} · ${brand}` : title;
  }, [title, brand]);
  useEffect(() => {
    if (focus && shown++) head.current.focus({ preventScroll: true });
  }, []);
  return html`
    <main class=${wide ? 'wide' : undefined}>
      ${back && html`
        <a class="back" href=${back.href}>
          <svg width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
            <path d="M14 6l-6 6 6 6" />
          </svg>
          ${back.text}
        </a>`}
      <div class="title">
        <div class="grow"><h1 tabindex="-1" ref=${head}><bdi>${title}</bdi></h1>${sub && html`<p class="sub">${sub}</p>`}</div>
        ${actions}
      </div>
      ${children}
    </main>`;
}
let shown = 0; // the first page is where the browser puts the focus itself

// Lazy draws a page whose module is loaded when it is first needed.
export function Lazy({ load, ...props }) {
  const [view, setView] = useState(() => ready.get(load));
  const [wrong, setWrong] = useState(null);
  useEffect(() => {
    let here = true;
    if (ready.has(load)) {
      setView(() => ready.get(load));
      return undefined;
    }
    setView(undefined);
    load().then(
      (m) => {
        ready.set(load, m.default);
        if (here) setView(() => m.default);
      },
      (e) => here && setWrong(e),
    );
    return () => {
      here = false;
    };
  }, [load]);
  if (wrong)
    return html`
      <main>
        <div class="empty" role="alert">
          <p>${t('page.notloaded')}</p>
          <button class="button primary" onClick=${() => location.reload()}>${t('page.reload')}</button>
        </div>
      </main>`;
  const View = view || ready.get(load);
  return View ? html`<${View} ...${props} />` : html`<main aria-busy="true"><div class="skeleton"></div></main>`;
}
const ready = new Map();
