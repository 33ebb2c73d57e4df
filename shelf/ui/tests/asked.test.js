import { clock } from './browser.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { asking } from '../assets/asked.js';

let time, sent, real;
beforeEach(() => {
  time = clock();
  sent = [];
  real = 40;
});
afterEach(() => time.stop());

// lamp takes a command in 50 ms and is then so; its stream tells at once.
const lamp = () =>
  asking(
    async (v) => {
      sent.push([time.now(), v]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      real = v;
    },
    () => real,
  );

describe('what was asked', () => {
  it('is sent at once, shows until it is confirmed, and is then gone', async () => {
    const a = lamp();
    a.ask(70);
    assert.equal(a.asked.value, 70);
    await time.pass(20);
    assert.deepEqual(
      sent.map(([, v]) => v),
      [70],
    );
    assert.equal(a.asked.value, 70);
    await time.pass(500);
    assert.equal(a.asked.value, null);
    assert.equal(a.failure.value, null);
  });
  it('goes out five times a second at most while a slider moves, the last value always', async () => {
    const a = lamp();
    for (let v = 0; v <= 100; v++) {
      a.ask(v, false);
      await time.pass(10);
    }
    await time.pass(1000);
    assert.ok(sent.length <= 6 + 1, `${sent.length} commands in a second`);
    for (let i = 1; i < sent.length; i++)
      assert.ok(sent[i][0] - sent[i - 1][0] >= 200, `${sent[i][0] - sent[i - 1][0]} ms apart`);
    assert.equal(sent.at(-1)[1], 100);
    assert.equal(a.asked.value, null);
  });
  it('is not sent again when the finger leaves the slider where it was', async () => {
    const a = lamp();
    a.ask(70, false);
    await time.pass(30);
    a.ask(70, true);
    await time.pass(1000);
    assert.equal(sent.length, 1);
  });
  it('that is never confirmed is shown no longer than the stream may take', async () => {
    const a = asking(
      async () => {},
      () => 40,
    );
    a.ask(70);
    await time.pass(2400);
    assert.equal(a.asked.value, 70);
    await time.pass(300);
    assert.equal(a.asked.value, null);
  });
  it('that failed is gone, and the failure stays until one asks anew', async () => {
    const a = asking(
      async (v) => {
        if (v === 70) throw new Error('no answer');
      },
      () => 40,
    );
    a.ask(70);
    await time.pass(10);
    assert.equal(a.asked.value, null);
    assert.equal(a.failure.value.message, 'no answer');
    a.ask(40);
    assert.equal(a.failure.value, null);
  });
  it('earlier does not speak when something newer is under way', async () => {
    const a = asking(
      async (v) => {
        await new Promise((resolve) => setTimeout(resolve, v === 10 ? 1000 : 50));
        if (v === 10) throw new Error('too late to matter');
        real = v;
      },
      () => real,
    );
    a.ask(10);
    await time.pass(300);
    a.ask(90);
    await time.pass(3000);
    assert.equal(a.failure.value, null);
    assert.equal(a.asked.value, null);
  });
});

describe('an act without a value', () => {
  it('overtakes what waits to be sent', async () => {
    const a = lamp();
    a.ask(70);
    await time.pass(10);
    a.ask(80, false);
    let acts = 0;
    const done = a.run(async () => acts++);
    assert.equal(a.busy.value, true);
    assert.equal(a.asked.value, null);
    await done;
    assert.equal(a.busy.value, false);
    await time.pass(3000);
    assert.deepEqual(
      sent.map(([, v]) => v),
      [70],
    );
    assert.equal(acts, 1);
  });
  it('tells why it failed', async () => {
    const a = lamp();
    await a.run(async () => {
      throw new Error('the bus is down');
    });
    assert.equal(a.failure.value.message, 'the bus is down');
    assert.equal(a.busy.value, false);
  });
});
