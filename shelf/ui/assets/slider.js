// A range with a touch rule of its own. Browsers set a range on touch-down, so that a thumb which only scrolls
// switches lights; here a touch acts after it has moved sideways, or as a tap. The range below stays for
// keyboards and screen readers.
import { html, useRef, within } from './lib.js';

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
  const share = (v) => ((within(v, min, max) - min) * 100) / (max - min);

  const at = (e) => {
    const r = box.current.getBoundingClientRect();
    return min + within((e.clientX - r.left - 5) / (r.width - 10), 0, 1) * (max - min);
  };
  const snap = (v) => within(Math.round(v / step) * step, min, max);
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
      if (Math.abs(dx) <= 8 || Math.abs(dx) <= Math.abs(e.clientY - p.y)) return;
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
    else if (Math.abs(e.clientX - p.x) <= 8 && Math.abs(e.clientY - p.y) <= 8) onAsk(snap(at(e)), true);
  };
  const end = () => {
    touch.current = null;
    delete box.current.dataset.drag;
  };
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
  const key = (e) => {
    const by = keys[e.key];
    if (by === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    if (!off) onAsk(within(shown + by * step, min, max), true);
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
