// What a tablet on a wall does by itself: it stays awake, goes dark when nobody is there, and takes the newest version of the page.
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import { time, now } from '../ui/i18n.js';

// wall is where the panel lies as on a wall, as in panel.css.
export const wall = '(min-width: 900px) and (min-height: 560px) and (orientation: landscape)';
// dark after so long without a touch
const dark = 60_000;
// after which nobody is in the middle of something
const idle = 10_000;

// asleep tells whether a panel that was touched last at a time is dark.
/** @type {(touched: number, at: number, onWall: boolean) => boolean} */
export const asleep = (touched, at, onWall) => onWall && at - touched >= dark;

// mayLeave tells whether the page may be loaded anew: nobody would notice.
/** @type {(touched: number, at: number) => boolean} */
export const mayLeave = (touched, at) => at - touched >= idle;

// buildIn is the version of the pages in a shell.
export const buildIn = (text) => /<html[^>]* data-build="(\w+)"/.exec(text)?.[1];

// when somebody touched last, or woke the panel
let touched = performance.now();
let sleeping = false;

// useWall keeps a panel on a wall going: it tells whether it is asleep, and how to wake it. link is the state of the line to the
// platform: with each new line the platform may be another one.
/** @type {(link: string) => { asleep: boolean, wake: () => void }} */
export function useWall(link) {
  const [sleeps, setSleeps] = useState(false);
  const fall = (is) => {
    sleeping = is;
    setSleeps(is);
  };
  const wake = () => {
    touched = performance.now();
    fall(false);
  };
  useEffect(() => {
    const big = matchMedia(wall);
    const touch = () => {
      // what wakes it ends on the night itself
      if (!sleeping) touched = performance.now();
    };
    const tick = setInterval(() => fall(asleep(touched, performance.now(), big.matches)), 500);
    for (const kind of touches) addEventListener(kind, touch, true);
    return () => {
      clearInterval(tick);
      for (const kind of touches) removeEventListener(kind, touch, true);
    };
  }, []);
  useEffect(() => stayAwake(), []);
  useEffect(() => (link === 'live' ? renew() : undefined), [link]);
  return { asleep: sleeps, wake };
}
const touches = ['pointerdown', 'keydown'];

// stayAwake asks the browser to leave the screen on, again whenever the page is seen anew.
function stayAwake() {
  /** @type {{ release: () => Promise<void> }} */
  let lock;
  const ask = async () => {
    try {
      if (!document.hidden && matchMedia(wall).matches) lock = await navigator.wakeLock?.request('screen');
    } catch {
      /* a battery that is low, for instance: the tablet's own settings hold then */
    }
  };
  document.addEventListener('visibilitychange', ask);
  ask();
  return () => {
    document.removeEventListener('visibilitychange', ask);
    lock?.release();
  };
}

// renew loads the page anew once the platform has another version of it and nobody is at it, and gives what ends the waiting.
export function renew() {
  let timer,
    ended = false;
  const own = document.documentElement.dataset?.build;
  const leave = () => {
    if (ended) return;
    if (mayLeave(touched, performance.now())) location.reload();
    else timer = setTimeout(leave, 1000);
  };
  fetch(location.pathname, { cache: 'no-store' })
    .then(async (r) => {
      const build = r.ok && buildIn(await r.text());
      if (build && own && build !== own) leave();
    })
    .catch(() => {}); // with the next line
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

// Night lies over a panel that is asleep: the first touch, or key, wakes it and does nothing else.
export function Night({ wall: { asleep: sleeps, wake }, name }) {
  const lift = useRef(undefined);
  useEffect(() => {
    if (!sleeps) return undefined;
    const key = (e) => {
      e.preventDefault();
      e.stopPropagation();
      wake();
    };
    addEventListener('keydown', key, true);
    return () => {
      removeEventListener('keydown', key, true);
      clearTimeout(lift.current);
    };
  }, [sleeps]);
  if (!sleeps) return null;
  // A finger that only touched is a click; one that slid is over when it is lifted, and no click follows that could land below.
  const lifted = () => {
    lift.current = setTimeout(wake, 400);
  };
  return html`
    <div class="night" aria-hidden="true" onClick=${wake} onPointerUp=${lifted} onPointerCancel=${lifted}>
      <p>${time(now.value)}</p>
      <p><bdi>${name}</bdi></p>
    </div>`;
}
