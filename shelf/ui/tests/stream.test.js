import { clock, page, Source } from './browser.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { now } from '../assets/i18n.js';
import { stream } from '../assets/stream.js';

let time, line, told, may;
beforeEach(() => {
  time = clock();
  Source.all = [];
  told = [];
  may = async () => true;
  page.hidden = false;
  line = stream({ url: '/events', handle: { change: (c) => told.push(c) }, ask: () => may() });
});
afterEach(() => {
  line.end();
  time.stop();
});
const state = () => line.link.value.state;
const tick = () => Source.last.tell('tick', { time: new Date(time.now()).toISOString() });

describe('the stream', () => {
  it('is live with the first word, and hands on what it is told', () => {
    assert.equal(state(), 'opening');
    Source.last.tell('change', { site: 1 });
    assert.equal(state(), 'live');
    assert.deepEqual(told, [{ site: 1 }]);
  });
  it("sets the clock of the page to the server's", () => {
    Source.last.tell('tick', { time: '2030-01-01T00:00:00Z' });
    assert.equal(now.value, Date.parse('2030-01-01T00:00:00Z'));
  });
  it('that ticks stays live; silent for 35 s it is lost since the last word', async () => {
    for (let i = 0; i < 8; i++) {
      tick();
      await time.pass(15000);
    }
    assert.equal(state(), 'live');
    const last = time.now();
    tick();
    await time.pass(34999);
    assert.equal(state(), 'live');
    await time.pass(1);
    assert.deepEqual(line.link.value, { state: 'lost', since: last });
    assert.equal(Source.all[0].closed, true);
  });
  it('that breaks is tried again, ever more slowly, and from the start after it was live', async () => {
    tick();
    Source.last.onerror();
    assert.equal(state(), 'lost');
    const waits = [];
    for (let i = 0; i < 7; i++) {
      const from = time.now(),
        before = Source.all.length;
      while (Source.all.length === before) await time.pass(25);
      waits.push(time.now() - from);
      Source.last.onerror();
    }
    waits.forEach((w, i) => {
      const want = Math.min(8000, 500 * 2 ** i);
      assert.ok(w >= want * 0.75 - 25 && w <= want * 1.25 + 25, `try ${i + 1} after ${w} ms, want about ${want}`);
    });
    await time.pass(10000);
    tick();
    assert.equal(state(), 'live');
    Source.last.onerror();
    const before = Source.all.length;
    await time.pass(650);
    assert.equal(Source.all.length, before + 1);
  });
  it('ends where nobody is logged in any more', async () => {
    may = async () => false;
    Source.last.onerror();
    await time.pass(60000);
    assert.equal(Source.all.length, 1);
  });
  it('goes on trying while the server cannot even say who is logged in', async () => {
    may = async () => {
      throw new Error('no answer');
    };
    Source.last.onerror();
    await time.pass(20000);
    assert.equal(Source.all.length, 1);
    may = async () => true;
    await time.pass(11000);
    assert.equal(Source.all.length, 2);
  });
  it('of a page that nobody sees is closed after 30 s, and opened when it is seen', async () => {
    tick();
    page.hidden = true;
    page.dispatchEvent(new Event('visibilitychange'));
    await time.pass(29000);
    assert.equal(Source.last.closed, false);
    await time.pass(2000);
    assert.equal(Source.last.closed, true);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    assert.equal(Source.all.length, 2);
  });
  it('that was ended opens no more', async () => {
    line.end();
    page.dispatchEvent(new Event('visibilitychange'));
    await time.pass(60000);
    assert.equal(Source.all.length, 1);
    assert.equal(Source.last.closed, true);
  });
});
