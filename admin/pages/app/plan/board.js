// The plan itself: the picture, the marks on it, and the thumb, mouse or keys that move over it.
import { html, useEffect, useRef, useState, effect, sheet } from '../../ui/lib.js';
import { t } from '../../ui/i18n.js';
import { Icon } from '../../ui/icons.js';
import { say } from '../../ui/shell.js';
import { still } from '../../ui/slider.js';
import { beside, centred, fit, kept, near, pinched, shown, spotAt, zoomed } from './view.js';
import { draw, inks } from './draw.js';
import { keyOf, thingOf } from './things.js';

/** @import { Plan, Spot } from '../../records' */
/** @import { Item, Look } from './draw.js' */

const reach = 22; // px around a finger: 44 px across
const ways = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };
await sheet(new URL('plan.css', import.meta.url).href);

/**
 * Board shows a plan. chosen is the key of what is chosen; onChoose(keys) is called with what is near where somebody tapped,
 * the nearest first. With onMove things can be moved: onMove(key, spot); hand: the key of what is to be put down next.
 * look(spot) is how a thing is to be shown.
 * @param {{ plan: Plan, address: string, name: string, look: (s: Spot) => Look, chosen: string, onChoose: (keys: string[]) => void,
 *   onMove?: (key: string, spot: { x: number, y: number }) => void, hand?: string,
 *   drop?: { spotUnder?: (e: { clientX: number, clientY: number }) => { x: number, y: number } | null },
 *   below?: any, children?: any }} props
 * below stands right under the plan, children beside the buttons that zoom. drop gets a function that tells where on the plan
 * somebody lets go of something.
 */
export function Board({ plan, address, name, look, chosen, onChoose, onMove, hand, drop = {}, below, children }) {
  const box = useRef(null),
    canvas = useRef(null),
    img = useRef(null);
  // what is drawn is no state of the component: it changes too often
  const at = useRef(/** @type {any} */ ({ items: [], view: null, size: { w: 0, h: 0 }, fingers: new Map() })).current;
  const [lost, setLost] = useState(false);
  const pic = { w: 1000, h: (1000 * plan.height) / plan.width };
  Object.assign(at, { pic, chosen, onChoose, onMove, hand });

  const place = (/** @type {Item} */ i) => shown(at.view, at.pic, i);
  const paint = () => {
    at.due = 0;
    if (!at.view || !canvas.current) return;
    Object.assign(img.current.style, {
      transform: `translate(${at.view.x}px, ${at.view.y}px) scale(${at.view.k})`,
      visibility: 'visible',
    });
    draw(canvas.current, at.items, at.view, at.pic, at.size, at.ink, at.chosen);
  };
  const soon = () => (at.due ||= requestAnimationFrame(paint));
  const see = (v) => {
    at.view = v;
    soon();
  };

  useEffect(() => {
    const measure = () => {
      if (!box.current) return; // the page has gone since its size changed
      const r = box.current.getBoundingClientRect();
      const all = at.view && at.view.k <= fit(at.size, at.pic).k * 1.001;
      at.size = { w: r.width, h: r.height };
      see(at.view && !all ? kept(at.view, at.size, at.pic) : fit(at.size, at.pic));
    };
    const theme = () => {
      at.ink = inks(canvas.current);
      soon();
    };
    at.ink = inks(canvas.current);
    const sizes = new ResizeObserver(measure);
    sizes.observe(box.current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', theme);
    const wheel = (e) => {
      e.preventDefault();
      see(zoomed(at.view, Math.exp(-e.deltaY / (e.ctrlKey ? 100 : 400)), pointOf(e), at.size, at.pic));
    };
    canvas.current.addEventListener('wheel', wheel, { passive: false });
    return () => {
      sizes.disconnect();
      dark.removeEventListener('change', theme);
      cancelAnimationFrame(at.due);
    };
  }, [plan.picture]);

  // Each thing has an effect of its own, so that a change works out that thing anew and no other.
  useEffect(() => {
    at.items = plan.spots.map((s) => ({ key: keyOf(s), id: thingOf(s).id, x: s.x, y: s.y, spot: s }));
    const ends = at.items.map((item) =>
      effect(() => {
        const { kind, record } = thingOf(item.spot);
        Object.assign(item, { kind, name: record?.name || '', look: look(item.spot) });
        soon();
      }),
    );
    return () => {
      for (const end of ends) end();
    };
  }, [plan, look]);
  useEffect(() => {
    const one = at.items.find((i) => i.key === chosen);
    if (one && at.view) {
      const p = place(one);
      if (p.x < 0 || p.y < 0 || p.x > at.size.w || p.y > at.size.h) see(centred(at.view, at.pic, one, at.size));
    }
    soon();
  }, [chosen, plan]);

  const pointOf = (e) => {
    const r = box.current.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  drop.spotUnder = (e) => {
    const p = pointOf(e);
    return p.x >= 0 && p.y >= 0 && p.x <= at.size.w && p.y <= at.size.h ? spotAt(at.view, at.pic, p) : null;
  };
  const under = (p) => near(at.items.filter((i) => i.look), p, reach, place, (i) => i.wide || 0);
  const down = (e) => {
    if (e.button || !at.view) return;
    canvas.current.setPointerCapture?.(e.pointerId);
    const p = pointOf(e);
    at.fingers.set(e.pointerId, { start: p, p });
    at.moved = at.fingers.size > 1;
    at.held = at.onMove && at.fingers.size === 1 && under(p)[0];
  };
  const move = (e) => {
    const f = at.fingers.get(e.pointerId);
    if (!f) return;
    const p = pointOf(e),
      was = f.p;
    if (!at.moved && still(p.x - f.start.x, p.y - f.start.y)) return;
    at.moved = true;
    f.p = p;
    const others = [...at.fingers.values()].filter((o) => o !== f);
    if (others.length) {
      at.held = null;
      see(pinched(at.view, others[0].p, was, others[0].p, p, at.size, at.pic));
    } else if (at.held) {
      Object.assign(at.held, spotAt(at.view, at.pic, p));
      soon();
    } else see(kept({ ...at.view, x: at.view.x + p.x - was.x, y: at.view.y + p.y - was.y }, at.size, at.pic));
  };
  const up = (e) => {
    const f = at.fingers.get(e.pointerId);
    at.fingers.delete(e.pointerId);
    if (!f || at.fingers.size) return;
    const held = at.held;
    at.held = null;
    if (e.type === 'pointercancel') return;
    if (at.moved) {
      if (held) at.onMove(held.key, { x: held.x, y: held.y });
    } else if (at.hand) at.onMove(at.hand, spotAt(at.view, at.pic, f.start));
    else at.onChoose(under(f.start).map((i) => i.key));
  };
  const zoom = (by) => at.view && see(zoomed(at.view, by, { x: at.size.w / 2, y: at.size.h / 2 }, at.size, at.pic));
  const key = (e) => {
    const way = ways[e.key],
      one = at.items.find((i) => i.key === at.chosen);
    if (e.ctrlKey || e.metaKey || e.altKey || !at.view) return;
    if (way && e.shiftKey && at.onMove && one) {
      const step = 0.005;
      Object.assign(one, spotAt(at.view, at.pic, place({ ...one, x: one.x + way.x * step, y: one.y + way.y * step })));
      soon();
      clearTimeout(at.saving);
      at.saving = setTimeout(() => at.onMove(one.key, { x: one.x, y: one.y }), 700);
    } else if (way) {
      const seen = at.items.filter((i) => i.look && i !== one);
      const next = beside(seen, one ? place(one) : { x: at.size.w / 2 - way.x, y: at.size.h / 2 - way.y }, way, place);
      if (next) {
        at.onChoose([next.key]);
        say(`${next.name}: ${next.look.words}`);
      }
    } else if (e.key === '+' || e.key === '=') zoom(1.4);
    else if (e.key === '-') zoom(1 / 1.4);
    else if (e.key === '0') see(fit(at.size, at.pic));
    else if (e.key === 'Enter' && at.hand) at.onMove(at.hand, spotAt(at.view, at.pic, { x: at.size.w / 2, y: at.size.h / 2 }));
    else if (e.key === 'Enter' && one) /** @type {HTMLElement} */ (document.querySelector('.plan-chosen :is(a, button, input)'))?.focus();
    else if (e.key === 'Escape') at.onChoose([]);
    else return;
    e.preventDefault();
  };
  return html`
    <div class="plan" ref=${box} style=${{ '--form': plan.height / plan.width }}>
      <img ref=${img} src=${address} alt="" width=${pic.w} height=${pic.h} draggable=${false} onError=${() => setLost(true)}
        onLoad=${() => setLost(false)} />
      <canvas ref=${canvas} tabindex="0" role="application" aria-label=${t('floor.board', { name })} onPointerDown=${down}
        onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up} onKeyDown=${key}></canvas>
    </div>
    ${below}
    <div class="row tight">
      <button type="button" class="button square" aria-label=${t('floor.closer')}
        onClick=${() => zoom(1.6)}>
        <${Icon} name="plus" />
      </button>
      <button type="button" class="button square" aria-label=${t('floor.farther')}
        onClick=${() => zoom(1 / 1.6)}>
        <${Icon} name="minus" />
      </button>
      <button type="button" class="button square" aria-label=${t('floor.all')}
        onClick=${() => see(fit(at.size, at.pic))}>
        <${Icon} name="fit" />
      </button>
      ${children}
    </div>
    ${lost && html`<p class="fault" role="alert">${t('floor.lost')}</p>`}`;
}
