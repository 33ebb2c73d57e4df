// The control panel of a room, for a phone or a tablet on its wall: lights, shades, and a box for what one would say.
import { html, signal, useEffect, useRef, useState, sheet } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { address } from '../ui/router.js';
import { api, Problem } from '../ui/api.js';
import { stream } from '../ui/stream.js';
import { Notice, say } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { feed } from './feed.js';
import { Night, useWall } from './kiosk.js';
import { reckon } from './reckon.js';
import { life, shown, start, step } from './room.js';
import { refusal, said } from './said.js';
import { Lights, Scenes, Shades } from './tiles.js';

await sheet(new URL('panel.css', import.meta.url).href);
// at most five commands a second while a slider moves
const rhythm = 200;

// taps numbers taps, and sends each by post as long as it counts. hear takes the platform's time, by which it tells when the finger
// was there: our own clock may be wrong, and may jump. tap gives what became of it: applied, accepted, stale, or nothing heard.
export function taps(post) {
  const source = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, '0')).join('');
  const { hear, at: reckoned } = reckon();
  let seq = 0;
  const tap = async (widgetId, type, value) => {
    const at = reckoned();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), life);
    let got;
    try {
      got = await post('/widget', { widgetId, type, value, source, seq: ++seq, at }, { signal: late.signal });
    } catch (p) {
      throw late.signal.aborted ? new Problem(0, { detail: t('panel.late') }) : p;
    } finally {
      clearTimeout(timer);
    }
    // we reckoned wrongly, perhaps: our clock stood still while we slept
    if (got.time) hear(got.time);
    if (!got.success && got.status !== 'stale') throw new Problem(200, { detail: said(got.message) });
    return got.status;
  };
  return { hear, tap };
}

// asker tells a room what is asked of it, and asks it of the building: the newest wins, and the last one is always sent. tell takes the
// events of room.js, room is a signal of its state.
export function asker(room, tell, tap) {
  let id = 0;
  // by family: when one was sent last, and which one waits
  const ways = { lights: { sent: -rhythm }, shades: { sent: -rhythm }, scenes: { sent: -rhythm } };
  const send = async (of, mine, how) => {
    ways[of].sent = performance.now();
    ways[of].timer = undefined;
    try {
      tell({ is: 'answer', of, id: mine, status: await tap(...how) });
    } catch (p) {
      tell({ is: 'answer', of, id: mine, status: 'failed', why: p.message });
    }
    const now = room.peek()[of];
    if (now?.phase === 'not') say(now.why);
  };
  // slides tells that more follows.
  return (of, [goal, ...how], slides) => {
    const way = ways[of],
      was = room.peek()[of];
    const guided = how[1] === 'released';
    if (guided && was?.phase === 'asked' && was.goal === goal && (slides || way.timer || performance.now() - way.sent < rhythm)) return;
    const mine = ++id;
    // what waited is overtaken
    clearTimeout(way.timer);
    way.timer = undefined;
    tell({ is: 'tap', of, id: mine, goal });
    const now = room.peek()[of];
    if (now?.id !== mine) {
      say(now.why);
      return;
    }
    const wait = way.sent + rhythm - performance.now();
    if (wait <= 0 || !guided) send(of, mine, how);
    else way.timer = setTimeout(() => send(of, mine, how), wait);
  };
}

// open makes all that a panel needs: what it shows, how it asks, and the line to the platform.
export function open(device, code) {
  const room = signal(start);
  // the code opens nothing
  const stranger = signal(false);
  const tell = (e) => {
    room.value = step(room.peek(), { ...e, at: performance.now() });
  };
  const headers = () => ({ Authorization: 'Bearer ' + code });
  const prefix = '/api/conferencing/panels/' + encodeURIComponent(device);
  const server = api({ prefix, headers, refusal });
  const { hear, tap } = taps(server.post);
  // views that came by the line
  let came = 0;
  const view = (v) => {
    hear(v.time);
    tell({ is: 'view', view: v });
  };
  const ask = async () => {
    const before = came;
    try {
      const v = await server.get('');
      // what the line brought meanwhile is newer
      if (came === before) view(v);
      stranger.value = false;
    } catch (p) {
      if (p.status !== 401) throw p;
      stranger.value = true;
    }
    return !stranger.peek();
  };
  const line = stream({
    url: prefix + '/events',
    handle: {
      values: (v) => {
        came++;
        view(v);
      },
      tick: (v) => hear(v.time),
    },
    ask,
    Source: feed(headers),
  });
  ask().then(
    (may) => may || line.end(),
    () => {},
  ); // without an answer the line tries again by itself
  const unheard = line.link.subscribe(({ state }) => tell({ is: 'link', state }));
  const clock = setInterval(() => tell({ is: 'time' }), rhythm);
  return {
    room,
    stranger,
    link: line.link,
    put: asker(room, tell, tap),
    end: () => {
      clearInterval(clock);
      unheard();
      line.end();
    },
    hear: async (text) => {
      let got;
      try {
        got = await server.post('/say', { text });
      } catch (p) {
        got = { success: false, reply: p.message };
      }
      tell({ is: 'heard', text: got.reply, ok: got.success });
    },
  };
}

// codeOf finds the panel's code: behind the # of its link, which nobody's log has, or as older links have it.
export const codeOf = (hash, query) => new URLSearchParams(hash.replace(/^#/, '')).get('code') || query.get('code') || '';

export default function Panel({ params }) {
  const [panel, setPanel] = useState(null);
  useEffect(() => {
    const made = open(params.device, codeOf(location.hash || '', address.peek().query));
    setPanel(made);
    return made.end;
  }, [params.device]);
  const s = panel?.room.value;
  const v = s?.view;
  const wall = useWall(panel?.link.value.state);
  useEffect(() => {
    document.title = v?.workspaceName || t('panel');
  }, [v?.workspaceName]);
  if (panel?.stranger.value)
    return html`<main class="alone"><h1>${t('panel')}</h1><${Notice} kind="warn">${t('panel.code')}<//></main>`;
  if (!v)
    return html`
      <main class="alone" aria-busy="true">
        <h1 class="reader">${t('panel')}</h1>
        ${s?.cut ? html`<${Notice} kind="fault" icon="plug">${t('room.cut')}<//>` : html`<div class="skeleton"></div>`}
      </main>`;
  return html`
    <main class="alone room">
      <h1><bdi>${v.workspaceName || v.deviceId}</bdi></h1>
      <${Told} s=${s} link=${panel.link} />
      <div class="tiles">
        ${[['lights', Lights], ['shades', Shades], ['scenes', Scenes]].map(([of, Card]) => {
          const x = shown(s, /** @type {import('./room.js').Family} */ (of));
          return x && html`<${Card} key=${of} x=${x} put=${(tap, slides) => panel.put(of, tap, slides)} />`;
        })}
      </div>
      ${v.voice && html`<${Say} hear=${panel.hear} />`}
    </main>
    <${Night} wall=${wall} name=${v.workspaceName || v.deviceId} />`;
}

// Told is one sentence above the tiles: what hinders all of it, else what became of the last thing.
function Told({ s, link }) {
  const { told } = s;
  const { state: line, again } = link.value;
  const hinders = s.cut ? (line === 'elsewhere' ? 'link.elsewhere' : 'room.cut') : !s.view.online && 'panel.offline';
  return html`
    <div class="told" role="status">
      ${hinders
        ? html`
          <${Notice} kind="fault" icon="plug">
            ${t(hinders)}${' '}${again && html`<button class="button" onClick=${again}>${t('link.again')}</button>`}
          <//>`
        : told && html`
          <${Notice} kind=${told.ok === false ? 'fault' : ''} icon=${told.ok ? 'check' : undefined}>
            <span id="heard">${said(told.text)}</span>
          <//>`}
    </div>`;
}

// Say takes a sentence.
function Say({ hear }) {
  const [text, setText] = useState('');
  const busy = useRef(false);
  const submit = async (e) => {
    e.preventDefault();
    if (busy.current || !text.trim()) return;
    busy.current = true;
    await hear(text.trim());
    busy.current = false;
    setText('');
  };
  return html`
    <form class="say" onSubmit=${submit}>
      <label class="reader" for="say">${t('panel.say')}</label>
      <input id="say" class="input" autocomplete="off" maxlength="500" placeholder=${t('panel.say.hint')} value=${text}
        onInput=${(e) => setText(e.target.value)} />
      <button type="submit" class="button primary" aria-disabled=${!text.trim() ? 'true' : undefined}>
        <${Icon} name="chat" />
        ${t('panel.send')}
      </button>
      <a class="button square" href=${location.pathname + '/talk' + location.search + location.hash} target="_self"
        aria-label=${t('panel.talk')}>
        <${Icon} name="mic" />
      </a>
    </form>`;
}
