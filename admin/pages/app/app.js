// Starts the pages: language, session, then the page that the address names.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { address, go, match } from '../ui/router.js';
import { Alone, Frame, Starting, run, useKeys } from '../ui/shell.js';
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
  ['/devices/:id/outputs', () => import('./outputs.js')],
  ['/shades/:id', () => import('./shadepage.js')],
  ['/plan', () => import('./plan/plan.js')],
  ['/rules', () => import('./rules/rules.js')],
  ['/buses', () => import('./buses.js')],
  ['/buses/:name', () => import('./bus.js')],
  ['/add/bus', () => import('./addbus.js')],
  ['/commission/shade/:id', () => import('./calibrate.js')],
  ['/more', () => import('./more.js')],
  ['/commission/:bus', () => import('./commission.js')],
  ['/more/users', () => import('./users.js')],
  ['/more/keys', () => import('./keys.js')],
  ['/more/backup', () => import('./backup.js')],
  ['/more/network', () => import('./network.js')],
  ['/more/migrate', () => import('./migrate.js')],
  ['/more/settings', () => import('./settings.js')],
  ['/more/certificate', () => import('./certificate.js')],
  ['/more/diagnostics', () => import('./diagnostics.js')],
  ['/more/account', () => import('./account.js')],
  ['/more/audit', () => import('./audit.js')],
  ['/more/report', () => import('./report.js')],
  ['/more/ladder', () => import('./ladder.js')],
  ['/more/help', () => import('./help.js')],
  ['/more/history', () => import('./past/history.js')],
  ['/more/ledger/:id', () => import('./ledger.js')],
];

const tabs = () => [
  { href: '/', icon: 'home', text: t('home'), also: ['/clusters', '/plan'] },
  { href: '/devices', icon: 'devices', text: t('devices'), also: ['/shades', '/commission'] },
  { href: '/rules', icon: 'rules', text: t('rules') },
  { href: '/buses', icon: 'buses', text: t('buses'), also: ['/add/bus'] },
  { href: '/more', icon: 'more', text: t('more') },
];

function App() {
  const s = session.value;
  const found = match(routes, address.value.path);
  useKeys({ h: '/', d: '/devices', r: '/rules', b: '/buses', m: '/more' }, () => go('/more/help'));
  if (s === undefined) return html`<${Starting} />`;
  if (!s) return html`<${Alone} load=${found?.route[0] === '/claim' ? found.route[1] : login} />`;
  const name = house.site.value?.name || s.site || t('controller');
  return html`<${Frame} name=${name} link=${link} tabs=${tabs()} found=${found} first=${Home}><${Works} /><//>`;
}

await run({ routes, texts: (l) => import(`./i18n/${l}.js`), start, failed: () => t('start.failed'), App });
