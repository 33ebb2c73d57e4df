// The marks on a plan: one canvas, drawn anew at most once a frame, when something that is on it has changed.
import { radius, shown } from './view.js';

/** @import { Size, View } from './view.js' */
/** @typedef {{ key: string, kind: 'light' | 'shade' | 'room' | 'other', id: number, name: string, x: number, y: number,
 *   look?: Look, wide?: number }} Item wide: half of a room's label, px */
/** @typedef {{ m?: number, colour?: string, off?: boolean, fault?: boolean, words: string, motion?: string,
 *  would?: 'goes' | 'held' | 'stays', goal?: string }} Look m: level or openness, percent; off: it does not answer; colour:
 *  "r g b"; would: what a rule that is looked at would do with it, goal: where it would be then */

const tokens = ['bg', 'surface', 'sunken', 'edge', 'text', 'text2', 'accent', 'fault', 'warn', 'warn-tint', 'fabric', 'sky'];

// inks are the colours of the page as they are now.
/** @type {(of: Element) => Record<string, string>} */
export function inks(of) {
  const style = getComputedStyle(of);
  return Object.fromEntries(tokens.map((n) => [n, style.getPropertyValue('--' + n).trim()]));
}

/** @type {(ctx: CanvasRenderingContext2D, x: number, y: number, r: number) => void} */
function cross(ctx, x, y, r) {
  ctx.beginPath();
  ctx.moveTo(x - r * 0.5, y - r * 0.5);
  ctx.lineTo(x + r * 0.5, y + r * 0.5);
  ctx.moveTo(x + r * 0.5, y - r * 0.5);
  ctx.lineTo(x - r * 0.5, y + r * 0.5);
  ctx.stroke();
}

/** @type {(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, r: number, ink: string) => void} */
function sign(ctx, text, x, y, r, ink) {
  ctx.fillStyle = ink;
  ctx.font = `650 ${Math.max(9, r * 1.35)}px system-ui, sans-serif`;
  ctx.fillText(text, x, y + 0.5);
}

function light(ctx, ink, l, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7);
  ctx.fillStyle = l.off ? ink['warn-tint'] : l.m > 0 ? `rgb(${l.colour})` : ink.surface;
  ctx.fill();
  ctx.setLineDash(l.off ? [3, 2.5] : []);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = l.off ? ink.warn : ink.edge;
  ctx.stroke();
  ctx.setLineDash([]);
  if (l.fault) {
    // outside the ring, which is the level
    ctx.beginPath();
    ctx.arc(x, y, r + 3, 0, 7);
    ctx.lineWidth = 3;
    ctx.strokeStyle = ink.fault;
    ctx.stroke();
  }
  if (l.off) {
    ctx.strokeStyle = ink.warn;
    ctx.lineWidth = 2;
    cross(ctx, x, y, r);
  } else if (l.m > 0) {
    // the part of the ring that is drawn is the level
    ctx.beginPath();
    ctx.arc(x, y, r, -Math.PI / 2, -Math.PI / 2 + (Math.PI * 2 * l.m) / 100);
    ctx.lineWidth = 3;
    ctx.strokeStyle = ink.text;
    ctx.stroke();
  } else if (l.m == null) sign(ctx, '?', x, y, r, ink.text);
}

function shade(ctx, ink, l, x, y, r) {
  const d = r * 0.95;
  ctx.fillStyle = l.off ? ink['warn-tint'] : ink.sky;
  ctx.fillRect(x - d, y - d, 2 * d, 2 * d);
  if (!l.off && l.m != null) {
    const covered = (2 * d * (100 - l.m)) / 100;
    ctx.fillStyle = ink.fabric;
    ctx.fillRect(x - d, y - d, 2 * d, covered);
    ctx.fillStyle = ink.text;
    ctx.fillRect(x - d, y - d + covered - 1, 2 * d, 2);
  }
  ctx.setLineDash(l.off ? [3, 2.5] : []);
  ctx.lineWidth = l.fault ? 3 : 1.5;
  ctx.strokeStyle = l.fault ? ink.fault : l.off ? ink.warn : ink.text;
  ctx.strokeRect(x - d, y - d, 2 * d, 2 * d);
  ctx.setLineDash([]);
  if (l.off) {
    ctx.lineWidth = 2;
    cross(ctx, x, y, r);
  } else if (l.m == null) sign(ctx, '?', x, y, r, ink.text);
  else if (l.motion) {
    ctx.fillStyle = ink.accent;
    ctx.beginPath();
    const up = l.motion === 'opening' ? -1 : 1;
    ctx.moveTo(x + r * 1.6, y + up * r * 0.7);
    ctx.lineTo(x + r * 1.2, y - up * r * 0.5);
    ctx.lineTo(x + r * 2, y - up * r * 0.5);
    ctx.fill();
  }
}

function other(ctx, ink, l, x, y, r) {
  ctx.beginPath();
  ctx.moveTo(x, y - r);
  ctx.lineTo(x + r, y);
  ctx.lineTo(x, y + r);
  ctx.lineTo(x - r, y);
  ctx.closePath();
  ctx.fillStyle = l.off ? ink['warn-tint'] : ink.surface;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = l.off ? ink.warn : ink.edge;
  ctx.stroke();
  if (l.off) cross(ctx, x, y, r * 0.8);
}

function room(ctx, ink, item, x, y, r) {
  const l = item.look,
    half = r < 9 ? 10 : 13;
  ctx.font = `600 ${half === 10 ? 11 : 13}px system-ui, sans-serif`;
  const name = item.name.length > 24 ? item.name.slice(0, 23) + '…' : item.name;
  const text = `${name}  ${l.words}`;
  const w = ctx.measureText(text).width + half + 3;
  item.wide = w / 2;
  ctx.beginPath();
  ctx.roundRect(x - w / 2, y - half, w, 2 * half, half);
  ctx.fillStyle = l.off ? ink['warn-tint'] : ink.surface;
  ctx.fill();
  ctx.setLineDash(l.off ? [3, 2.5] : []);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = l.fault ? ink.fault : l.off ? ink.warn : ink.edge;
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.fillStyle = l.off ? ink.warn : ink.text;
  ctx.fillText(text, x, y + 0.5);
}

// change marks what a rule would do with a thing: a ring and where it goes, or a dashed one around what it leaves alone.
/** @type {(ctx: CanvasRenderingContext2D, ink: Record<string, string>, l: Look, at: { x: number, y: number }, r: number) => void} */
function change(ctx, ink, l, at, r) {
  const held = l.would === 'held';
  ctx.beginPath();
  ctx.arc(at.x, at.y, r * 1.5 + 2, 0, 7);
  ctx.setLineDash(held ? [4, 4] : []);
  ctx.lineWidth = 2;
  ctx.strokeStyle = held ? ink.warn : ink.accent;
  ctx.stroke();
  ctx.setLineDash([]);
  if (held || !l.goal || r < 8) return; // no room for words: the list has them
  ctx.font = '650 11px system-ui, sans-serif';
  const w = ctx.measureText(l.goal).width + 10,
    y = at.y + r * 1.5 + 11;
  ctx.beginPath();
  ctx.roundRect(at.x - w / 2, y - 8, w, 16, 8);
  ctx.fillStyle = ink.surface;
  ctx.fill();
  ctx.lineWidth = 1;
  ctx.strokeStyle = ink.accent;
  ctx.stroke();
  ctx.fillStyle = ink.text;
  ctx.fillText(l.goal, at.x, y + 0.5);
}

const drawn = { light, shade, other };

// Marks that look the same are drawn once, and then copied: a plan of 1,000 lights has some dozens of looks.
/** @type {Map<string, HTMLCanvasElement>} */
const stamps = new Map();
let stampedWith = {}; // inks
const stampsMost = 800;

/** @type {(item: Item, ink: Record<string, string>, r: number, sharp: number) => HTMLCanvasElement} */
function stampOf(item, ink, r, sharp) {
  const l = { ...item.look, m: item.look.m == null ? null : Math.ceil(item.look.m / 5) * 5 }; // a ring of 13 px shows no less
  const key = [item.kind, l.m, l.m > 0 && l.colour, l.off, l.fault, l.motion, r, sharp].join();
  if (ink !== stampedWith || stamps.size > stampsMost) stamps.clear();
  stampedWith = ink;
  const had = stamps.get(key);
  if (had) return had;
  const stamp = document.createElement('canvas');
  const half = l.motion ? 2.2 * r : r + 5; // nothing is drawn further away
  stamp.width = stamp.height = Math.ceil(2 * half * sharp);
  const ctx = stamp.getContext('2d');
  ctx.scale(sharp, sharp);
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  drawn[item.kind](ctx, ink, l, half, half, r);
  stamps.set(key, stamp);
  return stamp;
}

// draw shows all items; the chosen one has a ring around it and its name beside it.
/**
 * @type {(canvas: HTMLCanvasElement, items: Item[], view: View, pic: Size, box: Size, ink: Record<string, string>,
 *   chosen: string) => void}
 */
export function draw(canvas, items, view, pic, box, ink, chosen) {
  const sharp = Math.min(devicePixelRatio || 1, 2);
  const w = Math.round(box.w * sharp),
    h = Math.round(box.h * sharp);
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = canvas.getContext('2d');
  ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
  ctx.clearRect(0, 0, box.w, box.h);
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  const r = Math.round(radius(items.length, pic, view));
  for (const rooms of [false, true])
    for (const item of items) {
      const at = shown(view, pic, item);
      const seen = at.x > -150 && at.y > -40 && at.x < box.w + 150 && at.y < box.h + 40;
      if (!item.look || (item.kind === 'room') !== rooms || !seen) continue;
      ctx.globalAlpha = item.look.would === 'stays' ? 0.35 : 1;
      if (rooms) room(ctx, ink, item, at.x, at.y, r);
      else {
        const stamp = stampOf(item, ink, r, sharp);
        const wide = stamp.width / sharp;
        const on = (/** @type {number} */ v) => Math.round((v - wide / 2) * sharp) / sharp; // whole pixels: copied, not drawn
        ctx.drawImage(stamp, on(at.x), on(at.y), wide, wide);
      }
    }
  ctx.globalAlpha = 1;
  for (const item of items) if (item.look?.would && item.look.would !== 'stays') change(ctx, ink, item.look, shown(view, pic, item), r);
  const one = items.find((i) => i.key === chosen);
  if (!one?.look) return;
  const at = shown(view, pic, one);
  ctx.lineWidth = 3;
  ctx.strokeStyle = ink.accent;
  ctx.beginPath();
  if (one.kind === 'room') ctx.roundRect(at.x - one.wide - 4, at.y - 17, 2 * one.wide + 8, 34, 17);
  else ctx.arc(at.x, at.y, r + 6, 0, 7);
  ctx.stroke();
}
