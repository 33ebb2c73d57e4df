// What was typed while the controller could not be reached: names and notes, kept in this browser where one sees them, and sent
// when it answers again. Nothing that moves or switches anything is ever kept: it would come late.
import { html, signal, effect } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Notice } from '../ui/shell.js';
import { house, server, session, link, heldBack } from './house.js';

/**
 * @typedef {object} Entry
 * @property {number} id
 * @property {string} user whose it is; another who logs in here does not send it
 * @property {string} text what it is, for people
 * @property {'post' | 'patch'} method
 * @property {string} path
 * @property {any} body
 * @property {string} [etag] of what it changes
 * @property {string} [wrong] why the controller did not take it
 */

const most = 100; // entries
const patience = 8000; // for an answer
const again = 3000;
// what may come late: naming a device that nobody has named, and a note
const harmless = (e) =>
  (e.method === 'post' && /^\/buses\/[^/]+\/devices$/.test(e.path) && e.body.new) ||
  (e.method === 'patch' && /^\/nodes\/\d+$/.test(e.path) && Object.keys(e.body).every((k) => k === 'note' || k === 'wholeDevice'));

/** @type {() => Entry[]} */
const kept = () => {
  try {
    return JSON.parse(localStorage.getItem('outbox')) || [];
  } catch {
    return [];
  }
};
const outbox = signal(kept());
const keep = (entries) => {
  outbox.value = entries;
  try {
    if (entries.length) localStorage.setItem('outbox', JSON.stringify(entries));
    else localStorage.removeItem('outbox');
  } catch {
    /* it is kept as long as the page is open */
  }
};
export const mine = () => outbox.value.filter((e) => e.user === session.value?.username);
const waiting = () => mine().filter((e) => !e.wrong);

const ask = (e) => server[e.method](e.path, e.body, { etag: e.etag, signal: AbortSignal.timeout(patience) });

// deliver sends something now, or keeps it if nobody answers: then it gives undefined.
/** @type {(e: Pick<Entry, 'text' | 'method' | 'path' | 'body' | 'etag'>) => Promise<any>} */
export async function deliver(e) {
  try {
    if (waiting().length) throw { status: 0 }; // in order
    return await ask(e);
  } catch (p) {
    if (p.status || !harmless(e) || mine().length >= most) throw p;
    keep([...outbox.peek(), { ...e, id: Date.now() + Math.random(), user: session.peek().username }]);
    soon();
    return undefined;
  }
}

let timer, sending;
const soon = () => {
  clearTimeout(timer);
  timer = setTimeout(send, again);
};

// send sends what waits, in order, until nobody answers. A cluster that several make is made once.
async function send() {
  if (sending) return;
  sending = true;
  try {
    for (let e; (e = waiting()[0]); ) {
      const name = e.body.newCluster;
      const made = name && house.clusters.all().find((c) => c.name === name);
      const { newCluster, ...rest } = e.body;
      try {
        await ask(made ? { ...e, body: { ...rest, cluster: made.id } } : e);
        keep(outbox.peek().filter((x) => x.id !== e.id));
      } catch (p) {
        if (!p.status || p.status === 401 || p.status >= 500) break;
        keep(outbox.peek().map((x) => (x.id === e.id ? { ...x, wrong: p.message } : x)));
      }
      if (name && !made) await new Promise((r) => setTimeout(r, 300)); // until it is told of
    }
  } finally {
    sending = false;
    if (waiting().length) soon();
  }
}

effect(() => {
  if (link.value.value.state === 'live' && session.value) send();
});

const drop = (e) => keep(outbox.peek().filter((x) => x.id !== e.id));

function Outbox() {
  const wait = waiting(),
    wrong = mine().filter((e) => e.wrong);
  if (!wait.length && !wrong.length) return null;
  return html`
    <section class="jobs" aria-label=${t('outbox')}>
      ${wait.length > 0 && html`
        <div role="status">
          <b>${t('outbox.waits', { n: wait.length })}</b>
          <span class="sub"> ${wait.map((e) => e.text).join(', ')}</span>
        </div>`}
      ${wrong.map(
        (e) => html`
          <${Notice} kind="fault" key=${e.id}>
            <p><b>${t('outbox.wrong', { what: e.text })}</b></p>
            <p>${e.wrong}</p>
            <button class="button" onClick=${() => drop(e)}>${t('outbox.drop')}</button>
          <//>`,
      )}
    </section>`;
}
heldBack.value = Outbox;
