// What surrounds every page: header, tabs, banner, announcements, keys; and how a program starts.
import { html, render, signal, useEffect, useState } from './lib.js';
import { startTexts, t, time } from './i18n.js';
import { Icon } from './icons.js';
import { address, go, match, startRouter, Lazy } from './router.js';

// leadsTo tells whether a path is a tab's own, or below it or what it stands for also.
/** @type {(tab: { href: string, also?: string[] }, path: string) => boolean} */
export const leadsTo = ({ href, also = [] }, path) =>
  path === href || [href, ...also].some((p) => p !== '/' && (path === p || path.startsWith(p + '/')));

// Tabs: rows of {href, icon, text, also: [prefixes]}; the one whose address we are at is current.
export function Tabs({ tabs }) {
  const path = address.value.path;
  return html`
    <nav class="tabs" aria-label=${t('nav')}>
      <ul>
        ${tabs.map(
          (tab) => html`
            <li key=${tab.href}>
              <a href=${tab.href} aria-current=${leadsTo(tab, path) ? 'page' : undefined}>
                <span><${Icon} name=${tab.icon} size=${24} /></span>
                <span>${tab.text}</span>
              </a>
            </li>`,
        )}
      </ul>
    </nav>`;
}

// Header: the program's name, whether what one sees is live, and what the program adds.
// link is that of stream.js, or undefined before anybody is logged in.
export function Header({ name, link, children }) {
  const state = link?.value.state;
  const lost = state === 'lost' || state === 'elsewhere';
  return html`
    <header class="topbar">
      <a class="brand" href="/"><bdi>${name}</bdi></a>
      ${link && html`
        <span class="live" data-lost=${lost || undefined}>
          ${state === 'elsewhere' ? t('link.paused') : lost ? t('link.lost') : state === 'live' ? t('link.live') : t('link.opening')}
        </span>`}
      ${children}
    </header>`;
}

// Banner tells, after five seconds without the server, from when the values are.
export function Banner({ link }) {
  const [late, setLate] = useState(false);
  const lost = link.value.state === 'lost';
  useEffect(() => {
    if (!lost) {
      setLate(false);
      return undefined;
    }
    const timer = setTimeout(() => setLate(true), 5000);
    return () => clearTimeout(timer);
  }, [lost]);
  return html`
    <div role="alert">
      ${lost && late && html`
        <p class="banner">
          <${Icon} name="plug" />
          ${link.value.since ? t('link.since', { time: time(link.value.since) }) : t('link.never')}
        </p>`}
      ${link.value.state === 'elsewhere' && html`
        <p class="banner">
          <${Icon} name="plug" />
          ${t('link.elsewhere')}
          <button class="button" onClick=${link.value.again}>${t('link.again')}</button>
        </p>`}
    </div>`;
}

const said = signal('');
const toast = signal(null);
let ending;

// say tells screen readers about an action of one's own; changes by others are not spoken.
export function say(text) {
  said.value = said.value === text ? text + '\u00a0' : text;
}

// done says that something has happened, and lets it be undone for ten seconds where that is possible.
export function done(text, undo) {
  say(text);
  toast.value = { text, undo };
  clearTimeout(ending);
  ending = setTimeout(
    () => {
      toast.value = null;
    },
    undo ? 10000 : 4000,
  );
}

export function Announcements() {
  const shown = toast.value;
  const undo = async () => {
    toast.value = null;
    await shown.undo();
    say(t('undone'));
  };
  return html`
    <div class="reader" role="status">${said}</div>
    <aside class="toast" aria-label=${t('notice')}>
      ${shown && html`
        <div><span>${shown.text}</span>${shown.undo && html`<button class="button" onClick=${undo}>${t('undo')}</button>`}</div>`}
    </aside>`;
}

// keysOn remembers whether single keys do something (WCAG 2.1.4).
export const keysOn = signal(localStorage.getItem('keys') !== 'off');
export function setKeys(on) {
  keysOn.value = on;
  localStorage.setItem('keys', on ? 'on' : 'off');
}

// useKeys makes g then a letter lead to pages, / to the search field, ? to help().
export function useKeys(places, help) {
  useEffect(() => {
    let g = -Infinity; // when g was pressed
    const press = (e) => {
      if (
        !keysOn.value ||
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== 'range') ||
        document.querySelector('dialog[open]')
      )
        return;
      const after = performance.now() - g < 1500;
      g = -Infinity;
      if (after && places[e.key]) go(places[e.key]);
      else if (e.key === 'g') g = performance.now();
      else if (e.key === '?') help();
      else if (e.key === '/') /** @type {HTMLElement} */ (document.querySelector('input[type=search]'))?.focus();
      else return;
      e.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

// Empty is a page or list with nothing in it: why, and what to do.
export const Empty = ({ icon, text, children }) => html`
  <div class="empty"><${Icon} name=${icon} size=${40} /><p>${text}</p>${children}</div>`;

// Notice: a sentence that matters, kind "fault", "warn" or none.
export const Notice = ({ kind = '', icon, children }) => html`
  <div class=${'notice ' + kind}><${Icon} name=${icon || (kind ? 'triangle' : 'info')} /><div>${children}</div></div>`;

// Table may be wider than the window: then it scrolls by itself, with keys too.
export const Table = ({ label, children }) => html`
  <div class="table" role="region" aria-label=${label} tabindex="0"><table>${children}</table></div>`;

// Starting stands there until it is known who is logged in.
export const Starting = () => html`<main class="alone" aria-busy="true"><div class="skeleton"></div></main>`;

// Alone is a page with nothing around it.
export const Alone = ({ load, params = undefined }) => html`
  <${Lazy} key=${address.value.path} load=${load} params=${params} /><${Announcements} />`;

// Frame: found is what match gave for the address, first the page that is there from the start, if one is, and
// children stand below every page.
export function Frame({ name, link, tabs, found, first = undefined, children }) {
  const View = found?.route[1];
  return html`
    <${Header} name=${name} link=${link.value} />
    ${!found
      ? html`
        <main>
          <h1 class="reader">${t('page.none')}</h1>
          <${Empty} icon="search" text=${t('page.none')}><a class="button primary" href="/">${tabs[0].text}</a><//>
        </main>`
      : View === first
      ? html`<${View} />`
      : html`<${Lazy} key=${address.value.path} load=${View} params=${found.params} />`}
    <div class="below"><${Banner} link=${link.value} />${children}</div>
    <${Tabs} tabs=${tabs} />
    <${Announcements} />`;
}

// run starts a program: its texts (texts loads those of a language), its pages, and what start asks of the server; failed says
// that it does not answer.
export async function run({ routes, texts, start, failed, App }) {
  const broken = signal(null);
  const begin = async () => {
    try {
      broken.value = null;
      await start();
    } catch (p) {
      broken.value = p;
    }
  };
  function Root() {
    if (!broken.value) return html`<${App} />`;
    return html`
      <main class="alone">
        <h1>${failed()}</h1>
        <p>${broken.value.message}</p>
        <button class="button primary" onClick=${begin}>${t('start.again')}</button>
      </main>`;
  }
  await startTexts(texts);
  startRouter((path) => !!match(routes, path));
  render(html`<${Root} />`, document.getElementById('app'));
  begin();
}
