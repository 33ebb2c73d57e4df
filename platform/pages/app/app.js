// Starts the pages: language, session, then the page that the address names.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { address, match } from '../ui/router.js';
import { Alone, Frame, Starting, run, useKeys } from '../ui/shell.js';
import { session, admin, link, start } from './session.js';

const login = () => import('./login.js');
const chat = () => import('./chat.js');
// beside the question who is logged in; a panel needs none of it
if (['/', '/chat'].includes(location.pathname)) chat();
// The same addresses are in pages.go.
const routes = [
  ['/', chat],
  ['/login', login],
  ['/chat', chat],
  ['/sites', () => import('./sites.js')],
  ['/sites/:id', () => import('./site.js')],
  ['/enrol', () => import('./enrol.js')],
  ['/keys', () => import('./keys.js')],
  ['/keys/:id', () => import('./key.js')],
  ['/usage', () => import('./usage.js')],
  ['/connect', () => import('./connect.js')],
  ['/rooms', () => import('./rooms.js')],
  ['/rollout', () => import('./kit/rollout.js')],
  ['/rooms/:device', () => import('./tablet.js')],
  ['/panel/:device', () => import('./panel.js')],
  ['/panel/:device/talk', () => import('./talk/talk.js')],
  ['/more', () => import('./more.js')],
];

const tabs = () => [
  { href: '/', icon: 'chat', text: t('chat'), also: ['/chat'] },
  { href: '/sites', icon: 'building', text: t('sites'), also: ['/enrol'] },
  { href: '/keys', icon: 'key', text: t('keys') },
  ...(admin() ? [{ href: '/rooms', icon: 'group', text: t('rooms'), also: ['/rollout'] }] : []),
  { href: '/more', icon: 'more', text: t('more'), also: ['/usage', '/connect'] },
];

function App() {
  const s = session.value;
  const found = match(routes, address.value.path);
  useKeys({ c: '/', s: '/sites', k: '/keys', r: '/rooms', m: '/more' }, () => {});
  // The panel, and talking there, is for whoever has its link.
  if (found?.route[0].startsWith('/panel/')) return html`<${Alone} load=${found.route[1]} params=${found.params} />`;
  if (s === undefined) return html`<${Starting} />`;
  if (!s) return html`<${Alone} load=${login} />`;
  return html`<${Frame} name=${t('platform')} link=${link} tabs=${tabs()} found=${found} />`;
}

await run({ routes, texts: (l) => import(`./i18n/${l}.js`), start, failed: () => t('start.failed'), App });
