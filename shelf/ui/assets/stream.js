// The server's events. Browsers give up for good on some answers, say nothing of a line that died, and hide comments
// from scripts; so the retry, and the watch over a tick that the server sends, are ours.
import { signal } from './lib.js';
import { serverTime } from './i18n.js';

// a server ticks every 15 s
const silent = 35000;
const hiddenFor = 30000;

// stream opens url while the page can be seen. handle maps event names to functions of their data; tick is ours.
// ask() is called before each retry: it may say that nobody is logged in, by returning false, which ends the stream. Source is what
// speaks as an EventSource does.
// link tells {state: "opening" | "live" | "lost" | "elsewhere", since}: since is the server time of the last word from
// it. "elsewhere": others were opened in its place. It stays so until somebody looks at this page anew or calls
// again(), which is there then, lest two pages push each other out for ever.
/** @param {{ url: string, handle: Record<string, (data: any) => void>, ask: () => Promise<boolean>, Source?: any }} of */
export function stream({ url, handle, ask, Source = EventSource }) {
  /** @type {import('./lib.js').Signal<{ state: 'opening' | 'live' | 'lost' | 'elsewhere', since?: number, again?: () => void }>} */
  const link = signal({ state: 'opening' });
  let source,
    watch,
    retry,
    hide,
    tries = 0,
    heard = 0,
    ended = false;

  const hear = () => {
    heard = Date.now();
    clearTimeout(watch);
    watch = setTimeout(lose, silent);
    if (link.value.state !== 'live') link.value = { state: 'live' };
    tries = 0;
  };
  const shut = () => {
    source?.close();
    source = undefined;
    clearTimeout(watch);
    clearTimeout(retry);
  };
  const open = () => {
    if (ended || source) return;
    source = new Source(url);
    source.onerror = () => {
      if (source) lose();
    };
    source.addEventListener('tick', (e) => {
      serverTime(Date.parse(JSON.parse(e.data).time));
      hear();
    });
    source.addEventListener('displaced', () => {
      shut();
      link.value = { state: 'elsewhere', since: heard, again: open };
    });
    for (const [name, f] of Object.entries(handle))
      source.addEventListener(name, (e) => {
        hear();
        f(JSON.parse(e.data));
      });
  };
  const lose = () => {
    shut();
    if (ended) return;
    if (link.value.state !== 'lost') link.value = { state: 'lost', since: heard };
    const wait = Math.min(8000, 500 * 2 ** tries++) * (0.75 + Math.random() / 2);
    retry = setTimeout(async () => {
      let may = true;
      try {
        may = await ask();
      } catch {
        lose();
        return;
      }
      if (may) open();
      else end();
    }, wait);
  };
  const seen = () => {
    clearTimeout(hide);
    if (document.hidden) hide = setTimeout(shut, hiddenFor);
    else if (!source) open();
  };
  const end = () => {
    ended = true;
    shut();
    removeEventListener('pagehide', shut);
    removeEventListener('pageshow', seen);
    document.removeEventListener('visibilitychange', seen);
  };
  addEventListener('pagehide', shut);
  addEventListener('pageshow', seen);
  document.addEventListener('visibilitychange', seen);
  open();
  return { link, end };
}
