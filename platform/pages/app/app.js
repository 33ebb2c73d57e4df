// Starts the pages: language, session, then the page that the address names.
import { html, render, signal } from '../ui/lib.js';
import { startTexts, t } from '../ui/i18n.js';
import { address, match, startRouter, Lazy } from '../ui/router.js';
import { Header, Tabs, Banner, Announcements, Empty, useKeys } from '../ui/shell.js';
import { session, admin, link, start } from './session.js';
import Chat from './chat.js';

const login = () => import('./login.js');
// The same addresses are in pages.go.
const routes = [
  ['/', Chat],
  ['/login', login],
  ['/chat', Chat],
  ['/sites', () => import('./sites.js')],
  ['/sites/:id', () => import('./site.js')],
  ['/enrol', () => import('./enrol.js')],
  ['/keys', () => import('./keys.js')],
  ['/keys/:id', () => import('./key.js')],
  ['/usage', () => import('./usage.js')],
  ['/connect', () => import('./connect.js')],
  ['/rooms', () => import('./rooms.js')],
  ['/panel/:device', () => import('./panel.js')],
  ['/more', () => import('./more.js')],
];

const tabs = () => [
  { href: '/', icon: 'chat', text: t('chat'), also: ['/chat'] },
  { href: '/sites', icon: 'building', text: t('sites'), also: ['/enrol'] },
  { href: '/keys', icon: 'key', text: t('keys') },
  ...(admin() ? [{ href: '/rooms', icon: 'group', text: t('rooms') }] : []),
  { href: '/more', icon: 'more', text: t('more'), also: ['/usage', '/connect'] },
];

function App() {
  const s = session.value;
  const found = match(routes, address.value.path);
  useKeys({ c: '/', s: '/sites', k: '/keys', r: '/rooms', m: '/more' }, () => {});
  if (found?.route[0] === '/panel/:device')
    // for whoever has its link
    return html`<${Lazy} key=${address.value.path} load=${found.route[1]} params=${found.params} /><${Announcements} />`;
  if (s === undefined) return html`<main class="alone" aria-busy="true"><div class="skeleton"></div></main>`;
  if (!s) return html`<${Lazy} load=${login} /><${Announcements} />`;
  const View = found?.route[1];
  return html`
    <${Header} name=${t('platform')} link=${link.value} />
    ${!found
      ? html`
        <main>
          <h1 class="reader">${t('page.none')}</h1>
          <${Empty} icon="search" text=${t('page.none')}><a class="button primary" href="/">${t('chat')}</a><//>
        </main>`
      : View === Chat
      ? html`<${Chat} />`
      : html`<${Lazy} key=${address.value.path} load=${View} params=${found.params} />`}
    <div class="below"><${Banner} link=${link.value} /></div>
    <${Tabs} tabs=${tabs()} />
    <${Announcements} />`;
}

const broken = signal(null);
function Root() {
  if (!broken.value) return html`<${App} />`;
  return html`
    <main class="alone">
      <h1>${t('start.failed')}</h1>
      <p>${broken.value.message}</p>
      <button class="button primary" onClick=${begin}>${t('start.again')}</button>
    </main>`;
}
async function begin() {
  try {
    broken.value = null;
    await start();
  } catch (p) {
    broken.value = p;
  }
}

await startTexts((l) => import(`./i18n/${l}.js`));
startRouter((path) => !!match(routes, path));
render(html`<${Root} />`, document.getElementById('app'));
begin();
