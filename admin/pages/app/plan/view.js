// Where the picture of a plan lies in its box, and what is near a point: figures only, nothing is drawn here.
import { within } from '../../ui/lib.js';

/** @typedef {{ w: number, h: number }} Size */
/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ k: number, x: number, y: number }} View k: px for each unit of the picture; x, y: of its corner in the box */

const closest = 12; // times as large as where all of it is seen

// fit shows all of a picture.
/** @type {(box: Size, pic: Size) => View} */
export function fit(box, pic) {
  const k = Math.min(box.w / pic.w, box.h / pic.h);
  return { k, x: (box.w - pic.w * k) / 2, y: (box.h - pic.h * k) / 2 };
}

// kept leaves no room beside a picture that is larger than its box, and centres one that is smaller.
/** @type {(v: View, box: Size, pic: Size) => View} */
export function kept(v, box, pic) {
  /** @type {(at: number, has: number, needs: number) => number} */
  const along = (at, has, needs) => (needs <= has ? (has - needs) / 2 : within(at, has - needs, 0));
  return { k: v.k, x: along(v.x, box.w, pic.w * v.k), y: along(v.y, box.h, pic.h * v.k) };
}

// zoomed is so many times as large; what is at a point of the box stays there.
/** @type {(v: View, by: number, at: Point, box: Size, pic: Size) => View} */
export function zoomed(v, by, at, box, pic) {
  const all = fit(box, pic).k;
  const k = within(v.k * by, all, all * closest);
  return kept({ k, x: at.x - ((at.x - v.x) * k) / v.k, y: at.y - ((at.y - v.y) * k) / v.k }, box, pic);
}

// pinched follows two fingers that were at a and b and are at c and d.
/** @type {(v: View, a: Point, b: Point, c: Point, d: Point, box: Size, pic: Size) => View} */
export function pinched(v, a, b, c, d, box, pic) {
  const was = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
    is = { x: (c.x + d.x) / 2, y: (c.y + d.y) / 2 };
  const by = Math.hypot(d.x - c.x, d.y - c.y) / Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
  return zoomed({ k: v.k, x: v.x + is.x - was.x, y: v.y + is.y - was.y }, by, is, box, pic);
}

// shown is where a spot is in the box, and spotAt the other way round, within the picture.
/** @type {(v: View, pic: Size, spot: Point) => Point} */
export const shown = (v, pic, spot) => ({ x: v.x + spot.x * pic.w * v.k, y: v.y + spot.y * pic.h * v.k });
/** @type {(v: View, pic: Size, at: Point) => Point} */
export const spotAt = (v, pic, at) => ({
  x: within((at.x - v.x) / (pic.w * v.k), 0, 1),
  y: within((at.y - v.y) / (pic.h * v.k), 0, 1),
});

// centred has a spot in the middle of the box.
/** @type {(v: View, pic: Size, spot: Point, box: Size) => View} */
export function centred(v, pic, spot, box) {
  const at = shown(v, pic, spot);
  return kept({ k: v.k, x: v.x + box.w / 2 - at.x, y: v.y + box.h / 2 - at.y }, box, pic);
}

// near are the items of which some part is within reach of a point, the nearest first. at(item) is where one is, wide(item) how
// far it goes to either side.
/** @type {<T>(items: T[], point: Point, reach: number, at: (item: T) => Point, wide?: (item: T) => number) => T[]} */
export function near(items, point, reach, at, wide = () => 0) {
  return items
    .map((item) => {
      const p = at(item);
      return { item, far: Math.hypot(Math.max(0, Math.abs(p.x - point.x) - wide(item)), p.y - point.y) };
    })
    .filter((i) => i.far <= reach)
    .sort((a, b) => a.far - b.far)
    .map((i) => i.item);
}

// beside is the nearest item in a direction, such as x: 1, y: 0 for the right; what lies off to the side counts as farther away.
/** @type {<T>(items: T[], from: Point, way: Point, at: (item: T) => Point) => T | undefined} */
export function beside(items, from, way, at) {
  let best,
    least = Infinity;
  for (const item of items) {
    const p = at(item),
      dx = p.x - from.x,
      dy = p.y - from.y;
    const along = dx * way.x + dy * way.y,
      across = Math.abs(dx * way.y - dy * way.x);
    if (along > 0.5 && along + 2.5 * across < least) {
      least = along + 2.5 * across;
      best = item;
    }
  }
  return best;
}

// radius is how large marks are: as the room between them lets them, and never smaller than one can see.
/** @type {(n: number, pic: Size, v: View) => number} */
export const radius = (n, pic, v) => within(0.3 * Math.sqrt((pic.w * pic.h * v.k * v.k) / Math.max(1, n)), 4.5, 13);
