import { answers, asked, clock } from '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startTexts, t } from '../ui/i18n.js';
import { joined, life, listener, longest } from '../app/talk/listen.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
const { room } = await import('../app/talk/talk.js');

let time, ear;
// Ear is a browser's, of which the test says what it hears, and when.
class Ear {
  constructor() {
    ear = this;
    this.calls = [];
  }

  start() {
    this.calls.push('start');
  }

  stop() {
    this.calls.push('stop');
  }

  abort() {
    this.calls.push('abort');
  }

  hears(...parts) {
    this.onresult({ results: parts.map((transcript) => [{ transcript }]) });
  }
}

beforeEach(() => {
  time = clock();
  globalThis.webkitSpeechRecognition = Ear;
});
afterEach(() => time.stop());

const open = () => {
  const told = [],
    got = [],
    not = [];
  return { told, got, not, ...listener((x) => told.push(x), (...x) => got.push(x), (why) => not.push(why)) };
};

describe('a button that is held', () => {
  it('gives what was heard, and when it was let go', async () => {
    const l = open();
    l.start('de-DE');
    assert.equal(ear.lang, 'de-DE');
    ear.hears('licht auf');
    ear.hears('licht auf', ' 40 Prozent');
    await time.pass(2000);
    const moment = performance.now();
    l.stop();
    await time.pass(800);
    ear.onend();
    assert.deepEqual(l.got, [['licht auf 40 Prozent', moment]]);
    assert.deepEqual(l.told.map((x) => x.state), ['listen', 'listen', 'listen', 'wait', 'rest']);
    assert.deepEqual(ear.calls, ['start', 'stop']);
  });
  it('says nothing that was understood three seconds after it was let go', async () => {
    const l = open();
    l.start('en-US');
    l.stop();
    await time.pass(life);
    ear.hears('lights off');
    ear.onend();
    assert.deepEqual([l.got, l.not], [[], ['late']]);
    assert.deepEqual(ear.calls, ['start', 'stop', 'abort']);
  });
  it('is let go of by itself in the end', async () => {
    const l = open();
    l.start('en-US');
    ear.hears('lights on and so on');
    await time.pass(longest);
    ear.onend();
    assert.equal(l.got[0][0], 'lights on and so on');
  });
  it('tells why nothing was heard', () => {
    const reasons = { 'not-allowed': 'denied', network: 'network', 'no-speech': 'silent', 'bad-grammar': 'other', '': 'silent' };
    for (const [error, why] of Object.entries(reasons)) {
      const l = open();
      l.start('en-US');
      if (error) ear.onerror({ error });
      ear.onend();
      assert.deepEqual([l.got, l.not], [[], [why]], error);
      assert.ok(t('talk.not.' + why));
    }
  });
  it('forgets what was being said when one leaves', () => {
    const l = open();
    l.start('en-US');
    ear.hears('lights off');
    l.drop();
    ear.onend();
    assert.deepEqual([l.got, l.not], [[], []]);
  });
  it('takes browsers that tell the whole again with each part', () => {
    assert.equal(joined(['lights', 'lights to 40', 'lights to 40 percent']), 'lights to 40 percent');
    assert.equal(joined(['lights on', 'blinds down']), 'lights on blinds down');
  });
});

describe('a sentence', () => {
  it('is sent with the moment at which it was said, by the time of the platform', async () => {
    const r = room('a b', 'CODE');
    answers({ body: { time: '2030-01-01T00:00:10Z', voice: true } });
    await r.view();
    const moment = performance.now();
    await time.pass(1500);
    answers({ body: { success: true, reply: 'Lights at 40 percent.', speak: 'Lights at 40 percent.' } });
    assert.deepEqual(await r.say('lights to 40', moment), { text: 'Lights at 40 percent.', spoken: 'Lights at 40 percent.', ok: true });
    assert.equal(asked[0].url, '/api/conferencing/panels/a%20b/say');
    assert.equal(asked[0].headers.Authorization, 'Bearer CODE');
    assert.deepEqual(JSON.parse(asked[0].body), { text: 'lights to 40', at: '2030-01-01T00:00:10.000Z' });
  });
  it('of which nothing was heard is told as such', async () => {
    answers(new TypeError('no network'));
    assert.deepEqual(await room('a', 'CODE').say('lights off', 0), { text: t('talk.lost'), spoken: t('talk.lost'), ok: false });
  });
  it('that is refused is told in words', async () => {
    answers({ status: 429, body: { message: 'Too many requests; try again in 12 s' } });
    assert.equal((await room('a', 'CODE').say('lights off', 0)).text, 'Too many requests; try again in 12 s');
  });
});
