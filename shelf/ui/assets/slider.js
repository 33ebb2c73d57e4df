// A range with a touch rule of its own. Browsers set a range on touch-down, so that a thumb which only scrolls
// switches lights; here a touch acts after it has moved sideways, or as a tap. The range below stays for
// keyboards and screen readers.
import { html, useRef, within } from './lib.js';

/** @typedef {{ min: number, max: number, step: number }} Range */

// shareOf is where a value lies on a range, in percent; what lies outside is at its end.
/** @type {(v: number, range: Range) => number} */
export const shareOf = (v, { min, max }) => ((within(v, min, max) - min) * 100) / (max - min);

// stepOf is the step of a range that is nearest to a value.
/** @type {(v: number, range: Range) => number} */
export const stepOf = (v, { min, max, step }) => within(Math.round(v / step) * step, min, max);

const keys = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
  Home: -Infinity,
  End: Infinity,
};
// afterKey is where a key leads from a value; undefined: the key is not the slider's.
/** @type {(key: string, from: number, range: Range) => number | undefined} */
export const afterKey = (key, from, { min, max, step }) =>
  Object.hasOwn(keys, key) ? within(from + keys[key] * step, min, max) : undefined;

const tremble = 8; // px that a finger moves without meaning to
// sideways tells that a touch which went so far is meant for the slider, and no scrolling.
/** @type {(dx: number, dy: number) => boolean} */
export const sideways = (dx, dy) => Math.abs(dx) > tremble && Math.abs(dx) > Math.abs(dy);
// still tells that a touch was a tap.
/** @type {(dx: number, dy: number) => boolean} */
export const still = (dx, dy) => Math.abs(dx) <= tremble && Math.abs(dy) <= tremble;

// Slider: value is what is confirmed, asked what somebody wants (or null). low and high are those of the members.
// plain: it only shows, as the words beside it say the same. onAsk(v, done) is called while it moves and, with done, at its end.
export function Slider({
  label,
  value,
  asked,
  low,
  high,
  min = 0,
  max = 100,
  step = 1,
  text,
  kind = 'light',
  colour,
  off,
  plain,
  onAsk,
}) {
  const box = useRef(null);
  const touch = useRef(null);
  const shown = asked ?? value ?? min;
  const scale = { min, max, step };
  const share = (v) => shareOf(v, scale);

  const at = (e) => {
    const r = box.current.getBoundingClientRect();
    return min + within((e.clientX - r.left - 5) / (r.width - 10), 0, 1) * (max - min);
  };
  const snap = (v) => stepOf(v, scale);
  const down = (e) => {
    if (off || e.button > 0) return;
    touch.current = { x: e.clientX, y: e.clientY, from: shown, id: e.pointerId, acts: e.pointerType === 'mouse', moved: false };
    if (e.pointerType === 'mouse') {
      e.preventDefault();
      box.current.setPointerCapture(e.pointerId);
      box.current.querySelector('input').focus({ preventScroll: true });
      touch.current.from = at(e);
      box.current.dataset.drag = '';
      onAsk(snap(touch.current.from), false);
    }
  };
  const move = (e) => {
    const p = touch.current;
    if (!p || p.id !== e.pointerId) return;
    const dx = e.clientX - p.x;
    if (!p.acts) {
      if (!sideways(dx, e.clientY - p.y)) return;
      p.acts = true;
      box.current.setPointerCapture(e.pointerId);
      box.current.dataset.drag = '';
    }
    p.moved = true;
    p.last = snap(p.from + (dx / (box.current.clientWidth - 10)) * (max - min));
    onAsk(p.last, false);
  };
  const up = (e) => {
    const p = touch.current;
    if (!p || p.id !== e.pointerId) return;
    end();
    if (p.moved) onAsk(p.last, true);
    else if (p.acts) onAsk(snap(p.from), true);
    else if (still(e.clientX - p.x, e.clientY - p.y)) onAsk(snap(at(e)), true);
  };
  const end = () => {
    touch.current = null;
    delete box.current.dataset.drag;
  };
  const key = (e) => {
    const goal = afterKey(e.key, shown, scale);
    if (goal === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    if (!off) onAsk(goal, true);
  };

  const style = { '--m': share(value ?? min), '--a': share(shown), '--lo': share(low ?? min), '--hi': share(high ?? min) };
  if (colour) style['--c'] = colour;
  const range = low != null && high > low && html`<i class="span"></i>`;
  if (plain)
    return html`
      <div class="slider" aria-hidden="true" style=${style} data-kind=${kind} data-plain
        data-zero=${share(value ?? min) === 0 || undefined} data-off=${off || undefined}>
        <i class="fill"></i>
        ${range}
      </div>`;
  return html`
    <div class="slider" ref=${box} style=${style} data-kind=${kind} data-asked=${asked != null || undefined}
      data-zero=${share(value ?? min) === 0 || undefined} data-off=${off || undefined} onPointerDown=${down} onPointerMove=${move}
      onPointerUp=${up} onPointerCancel=${end}>
      <i class="fill"></i>
      ${range}
      <i class="thumb"></i>
      <input type="range" min=${min} max=${max} step=${step} value=${shown} disabled=${off} aria-label=${label}
        aria-valuetext=${text} onKeyDown=${key} onInput=${(e) => onAsk(snap(+e.target.value), true)} />
    </div>`;
}

// Switch says what is so, not what was asked.
export const Switch = ({ label, on, off, onClick }) => html`
  <button type="button" class="switch" role="switch" aria-checked=${on ? 'true' : 'false'} aria-label=${label} disabled=${off}
    onClick=${onClick}>
    <span></span>
  </button>`;
