import { test } from 'node:test';
import assert from 'node:assert/strict';
import { beside, centred, fit, kept, near, pinched, radius, shown, spotAt, zoomed } from '../app/plan/view.js';

const box = { w: 360, h: 300 },
  pic = { w: 1000, h: 500 };

test('a picture is seen whole, and in the middle', () => {
  assert.deepEqual(fit(box, pic), { k: 0.36, x: 0, y: 60 });
});

test('what is at a point stays there while one zooms, and zooming has ends', () => {
  const all = fit(box, pic),
    at = { x: 100, y: 150 };
  const before = spotAt(all, pic, at);
  const near3 = zoomed(all, 3, at, box, pic);
  const after = spotAt(near3, pic, at);
  assert.ok(Math.abs(before.x - after.x) < 1e-9 && Math.abs(before.y - after.y) < 1e-9);
  assert.deepEqual(zoomed(near3, 1e-6, at, box, pic), all);
  assert.ok(Math.abs(zoomed(all, 1e6, at, box, pic).k - all.k * 12) < 1e-9);
});

test('two fingers that go apart zoom, and together they pan', () => {
  const v = zoomed(fit(box, pic), 4, { x: 180, y: 150 }, box, pic);
  const a = { x: 100, y: 100 },
    b = { x: 200, y: 100 };
  assert.ok(Math.abs(pinched(v, a, b, { x: 50, y: 100 }, { x: 250, y: 100 }, box, pic).k - v.k * 2) < 1e-9);
  const panned = pinched(v, a, b, { x: 90, y: 95 }, { x: 190, y: 95 }, box, pic);
  assert.ok(Math.abs(panned.k - v.k) + Math.abs(panned.x - v.x + 10) + Math.abs(panned.y - v.y + 5) < 1e-9);
});

test('no room is left beside a picture that is larger than its box', () => {
  assert.deepEqual(kept({ k: 1, x: 50, y: -900 }, box, pic), { k: 1, x: 0, y: -200 });
  const c = centred({ k: 1, x: 0, y: 0 }, pic, { x: 0.5, y: 0.5 }, box);
  assert.deepEqual(shown(c, pic, { x: 0.5, y: 0.5 }), { x: 180, y: 150 });
});

test('a spot is within the picture, wherever one lets go', () => {
  assert.deepEqual(spotAt(fit(box, pic), pic, { x: 9999, y: -5 }), { x: 1, y: 0 });
});

test('a tap finds what is within reach, the nearest first; a label counts as wide as it is', () => {
  const items = [{ x: 10, y: 0 }, { x: 5, y: 0 }, { x: 60, y: 0, wide: 45 }, { x: 90, y: 0 }];
  const found = near(items, { x: 0, y: 0 }, 22, (i) => i, (i) => i.wide || 0);
  assert.deepEqual(found.map((i) => i.x), [5, 10, 60]);
});

test('an arrow key goes to what lies that way', () => {
  const items = [{ x: 100, y: 5 }, { x: 40, y: 60 }, { x: -20, y: 0 }];
  assert.equal(beside(items, { x: 0, y: 0 }, { x: 1, y: 0 }, (i) => i), items[0]);
  assert.equal(beside(items, { x: 0, y: 0 }, { x: 0, y: 1 }, (i) => i), items[1]);
  assert.equal(beside(items, { x: 0, y: 0 }, { x: 0, y: -1 }, (i) => i), undefined);
});

test('marks are as large as the room between them lets them, and can always be seen', () => {
  const all = fit(box, pic);
  assert.equal(radius(3, pic, all), 13);
  assert.equal(radius(5000, pic, all), 4.5);
  assert.ok(radius(150, pic, all) > 4.5 && radius(150, pic, all) < 13);
});
