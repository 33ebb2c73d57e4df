// Who is logged in, the platform's server, and what its one stream of events tells.
import { signal } from '../ui/lib.js';
import { api } from '../ui/api.js';
import { stream } from '../ui/stream.js';
import { go, address, ownPath } from '../ui/router.js';
import { refusal, startSaid } from './said.js';

export const session = signal(undefined); // undefined: not asked yet; null: nobody is logged in
export const admin = () => session.value?.role === 'admin';
export const server = api({
  prefix: '/api',
  refusal,
  unauthorized: async () => {
    if (session.peek()) leave();
    return false;
  },
});
// ask gives the data of an answer, which the platform wraps.
export const ask = async (method, path, body) => (await server.call(method, path, body)).data?.data;

export const sites = signal(null); // as the stream tells them; null: not yet

// The cookie is for no script to read, so that there is one is noted apart: who was never here need not be asked about.
const here = 'session';

let line;
export const link = signal(signal({ state: 'opening' }));
function listen() {
  line?.end();
  line = stream({
    url: '/api/events',
    handle: {
      sites: (all) => {
        sites.value = all;
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
    session.value = (await server.get('/auth/me', { again: false })).data;
  } catch (p) {
    if (p.status !== 401) throw p;
    session.value = null;
  }
}

// enter begins after a log-in, or with the session that a browser has still.
export function enter(who) {
  localStorage.setItem(here, '1');
  session.value = who;
  listen();
}

// logOut ends the session. Nothing is listened to from then on: the server ends the stream, too, and the page would ask why.
export async function logOut() {
  line?.end();
  line = undefined;
  try {
    await server.post('/auth/logout', {});
  } catch {
    /* then the session ends by itself */
  }
  leave();
}

// leave shows the log-in, and comes back to where one was afterwards.
export function leave() {
  line?.end();
  line = undefined;
  localStorage.removeItem(here);
  session.value = null;
  sites.value = null;
  const { path, query } = address.peek();
  if (path !== '/login')
    go('/login' + (path === '/' ? '' : '?to=' + encodeURIComponent(path + (query.size ? '?' + query : ''))), { replace: true });
}

export async function start() {
  await startSaid();
  if (address.peek().path.startsWith('/panel/')) return; // for whoever has its link
  const { query } = address.peek();
  if (localStorage.getItem(here) || query.get('signon') === 'done') await askSession(); // the provider vouched for somebody
  if (!session.peek()) {
    leave();
    return;
  }
  enter(session.peek());
  if (address.peek().path === '/login') go(ownPath(query.get('to')), { replace: true });
}
