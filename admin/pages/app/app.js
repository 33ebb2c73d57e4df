// Starts the pages: language, session, then the page that the address names.
import { html, render, signal } from '../ui/lib.js';
import { startTexts, t } from '../ui/i18n.js';
import { address, go, match, startRouter, Lazy } from '../ui/router.js';
import { Header, Tabs, Banner, Announcements, Empty, useKeys } from '../ui/shell.js';
import { house, session, link, start } from './house.js';
import { Works } from './works.js';
import Home from './home.js';

const login = () => import('./login.js');
// The same addresses are in pages.go.
const routes = [
  ['/', Home],
  ['/login', login],
  ['/claim', () => import('./claim.js')],
  ['/clusters/:id', () => import('./cluster.js')],
  ['/devices', () => import('./devices.js')],
  ['/devices/:id', () => import('./device.js')],
  ['/shades/:id', () => import('./shadepage.js')],
  ['/rules', () => import('./rules.js')],
  ['/buses', () => import('./buses.js')],
  ['/buses/:name', () => import('./bus.js')],
  ['/commission/shade/:id', () => import('./calibrate.js')],
  ['/more', () => import('./more.js')],
  ['/commission/:bus', () => import('./commission.js')],
  ['/more/users', () => import('./users.js')],
  ['/more/keys', () => import('./keys.js')],
  ['/more/backup', () => import('./backup.js')],
  ['/more/migrate', () => import('./migrate.js')],
  ['/more/settings', () => import('./settings.js')],
  ['/more/certificate', () => import('./certificate.js')],
  ['/more/diagnostics', () => import('./diagnostics.js')],
  ['/more/account', () => import('./account.js')],
  ['/more/audit', () => import('./audit.js')],
  ['/more/report', () => import('./report.js')],
  ['/more/help', () => import('./help.js')],
  ['/more/ledger/:id', () => import('./ledger.js')],
];

const tabs = () => [
  { href: '/', icon: 'home', text: t('home'), also: ['/clusters'] },
  { href: '/devices', icon: 'devices', text: t('devices'), also: ['/shades', '/commission'] },
  { href: '/rules', icon: 'rules', text: t('rules') },
  { href: '/buses', icon: 'buses', text: t('buses') },
  { href: '/more', icon: 'more', text: t('more') },
];

function App() {
  const s = session.value;
  const found = match(routes, address.value.path);
  useKeys({ h: '/', d: '/devices', r: '/rules', b: '/buses', m: '/more' }, () => go('/more/help'));
  if (s === undefined) return html`<main class="alone" aria-busy="true"><div class="skeleton"></div></main>`;
  if (!s) {
    const page = found?.route[0] === '/claim' ? found.route[1] : login;
    return html`<${Lazy} load=${page} /><${Announcements} />`;
  }
  const View = found?.route[1];
  return html`
    <${Header} name=${house.site.value?.name || s.site || t('controller')} link=${link.value} />
    ${!found
      ? html`
        <main>
          <h1 class="reader">${t('page.none')}</h1>
          <${Empty} icon="search" text=${t('page.none')}><a class="button primary" href="/">${t('home')}</a><//>
        </main>`
      : View === Home
      ? html`<${Home} />`
      : html`<${Lazy} key=${address.value.path} load=${View} params=${found.params} />`}
    <div class="below"><${Banner} link=${link.value} /><${Works} /></div>
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
