import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts, t } from '../ui/i18n.js';
import { life, percentOf, shown, sliderOf, start, step } from '../app/room.js';
import { at, off, one, state, value } from '../app/roomwords.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));

const lamps = (...levels) => levels.map((level, i) => ({ name: `Lamp ${i + 1}`, online: level !== null, ...(level != null && { level }) }));
const panes = (...positions) =>
  positions.map((position, i) => ({ name: `Pane ${i + 1}`, online: position !== null, ...(position != null && { position }) }));
const view = (lights, shades, more) => ({ online: true, widgets: {}, lights, shades, ...more });
const run = (...events) => events.reduce((s, e) => step(s, e), start);
const live = { is: 'link', state: 'live', at: 0 };
const seen = (v, when = 0) => ({ is: 'view', view: v, at: when });
const tap = (of, goal, when, id = 1) => ({ is: 'tap', of, goal, id, at: when });
const answer = (of, status, when, why, id = 1) => ({ is: 'answer', of, status, why, id, at: when });
const time = (when) => ({ is: 'time', at: when });
const room = view(lamps(0, 0, 90, 0, 0, 0), panes(70, 70));

describe('the slider of a panel', () => {
  it('gives every percent back as it was', () => {
    for (let p = 0; p <= 100; p++) assert.equal(percentOf(sliderOf(p)), p);
    assert.deepEqual([0, 100].map(sliderOf), [0, 255]);
  });
});

describe('the words for a room', () => {
  const says = (of, v) => value(shown(run(live, seen(v)), of), of);
  it('tell of lights how many shine and from where to where, never a mean', () => {
    for (const [levels, words] of [
      [[40, 40], '40%'],
      [[0, 0], 'Off'],
      [[0, 0, 90, 0, 0, 0], '1 of 6 on, at 90%'],
      [[0, 20, 90], '2 of 3 on, 20% to 90%'],
      [[20, 90], '20% to 90%'],
      [[40, 40, null], '40%'],
      [[0, 40, null], '1 of 2 on, at 40%'],
      [[undefined, 40], '40%'],
      [[undefined], t('panel.unknown')],
      [[null, null], t('room.none')],
    ])
      assert.equal(says('lights', view(lamps(...levels), [])), words, JSON.stringify(levels));
  });
  it('tell of shades how far they are open', () => {
    for (const [positions, words] of [
      [[70, 70], '70% open'],
      [[0], 'closed'],
      [[100, 100], 'open'],
      [[0, 70], '0% to 70% open'],
      [[null], t('room.none')],
      [[undefined], t('panel.unknown')],
    ])
      assert.equal(says('shades', view([], panes(...positions))), words, JSON.stringify(positions));
  });
  it('tell of a controller that reports no single things what its widgets say', () => {
    const old = view(undefined, undefined, { widgets: { light_power: 'on', light_brightness: '102' } });
    assert.equal(says('lights', old), '40%');
    assert.equal(shown(run(live, seen(old)), 'shades'), null);
    assert.equal(says('lights', view(undefined, undefined)), t('panel.unknown'));
  });
  it('name who does not answer, and which way shades move', () => {
    const below = (of, v) => state(shown(run(live, seen(v)), of), of)[0];
    assert.equal(below('lights', view(lamps(40, null, 40), [])), t('room.silent', { n: 1, all: 3 }));
    const moving = (...motions) => view([], motions.map((motion) => ({ name: '', online: true, position: 50, motion })));
    assert.equal(below('shades', moving('closing', 'closing')), t('room.closing'));
    assert.equal(below('shades', moving('closing', 'opening')), t('room.moving'));
    assert.equal(below('shades', moving('opening', undefined)), t('room.opening'));
    assert.equal(one(lamps(null)[0], 'lights'), 'Lamp 1: ' + t('room.noanswer'));
    assert.equal(one(panes(70)[0], 'shades'), 'Pane 1: 70% open');
  });
  it('mark the preset that all stand at', () => {
    const marked = (of, v, events = []) => [25, 33, 50, 67].filter((p) => at(shown(run(live, seen(v), ...events), of), of, p));
    assert.deepEqual(marked('lights', view(lamps(50, 50), [])), [50]);
    assert.deepEqual(marked('lights', view(lamps(50, 0), [])), []);
    assert.deepEqual(marked('lights', view(lamps(50, 51), [])), []);
    assert.deepEqual(marked('shades', view([], panes(66, 68))), [67]);
    assert.deepEqual(marked('shades', view([], panes(66, 33))), []);
    assert.deepEqual(marked('shades', view([], panes(67)), [tap('shades', 33, 1)]), []);
    assert.deepEqual(marked('shades', view([], panes(null))), []);
  });
});

describe('what a panel shows', () => {
  const done = view(lamps(40, 40, 40, 40, 40, 40), panes(30, 30));
  const talk = { scene: 'Talk' };
  const closing = view([], [{ name: '', online: true, position: 60, motion: 'closing' }]);
  const seconds = (from, to) => Array.from({ length: to - from }, (_, i) => time((from + i) * 1000));
  const rows = [
    ['nothing yet', [], 'lights', 'unknown', undefined],
    ['what is so', [seen(room)], 'lights', 'done', undefined],
    ['what was asked', [seen(room), tap('lights', 40, 10)], 'lights', 'asked', 40],
    ['that nobody answered yet', [seen(room), tap('lights', 40, 0), time(1900)], 'lights', 'asked', 40],
    ['that nobody answered', [seen(room), tap('lights', 40, 0), time(life)], 'lights', 'not', undefined, t('panel.late')],
    ['what is on its way', [seen(room), tap('lights', 40, 0), answer('lights', 'applied', 90)], 'lights', 'way', 40],
    ['what was done before it was answered',
      [seen(room), tap('lights', 40, 0), seen(done, 50), answer('lights', 'applied', 90)],
      'lights', 'done'],
    ['what is done', [seen(room), tap('lights', 40, 0), answer('lights', 'applied', 90), seen(done, 300)], 'lights', 'done'],
    ['lamps that are on again',
      [seen(view(lamps(0), [])), tap('lights', 'on', 0), answer('lights', 'applied', 90), seen(done, 300)],
      'lights', 'done'],
    ['what is so, where it is said to be done and is not',
      [seen(room), tap('lights', 40, 0), answer('lights', 'applied', 90), time(3000)],
      'lights', 'done'],
    ['why it was not done',
      [seen(room), tap('lights', 40, 0), answer('lights', 'failed', 90, 'Lamp 3 does not answer.')],
      'lights', 'not', undefined, 'Lamp 3 does not answer.'],
    ['that no more, after a while',
      [seen(room), tap('lights', 40, 0), answer('lights', 'failed', 90, 'No.'), time(10_090)],
      'lights', 'done'],
    ['that nothing was heard of it, and what is so',
      [seen(room), tap('lights', 40, 0), answer('lights', undefined, 1600)],
      'lights', 'not', undefined, t('panel.late')],
    ['that others were newer', [seen(room), tap('lights', 40, 0), answer('lights', 'stale', 90)], 'lights', 'done'],
    ['the newest of two taps',
      [seen(room), tap('lights', 40, 0), tap('lights', 60, 50, 2), answer('lights', 'failed', 90, 'No.')],
      'lights', 'asked', 60],
    ['what a slow bus is at', [seen(room), tap('shades', 30, 0), answer('shades', 'accepted', 1500), time(8000)], 'shades', 'way', 30],
    ['how that ended',
      [seen(room), tap('shades', 30, 0), answer('shades', 'accepted', 1500), seen({ ...room, message: 'Shades: Done.' }, 4000)],
      'shades', 'done'],
    ['a shade as long as it moves',
      [seen(room), tap('shades', 30, 0), answer('shades', 'applied', 90), seen(closing, 4000), ...seconds(4, 60)],
      'shades', 'way', 30],
    ['a shade that is said to move for ever as it is',
      [seen(room), tap('shades', 30, 0), answer('shades', 'applied', 90), seen(closing, 4000), ...seconds(4, 190)],
      'shades', 'done'],
    ['no goal of a shade that stands', [seen(room), tap('shades', 30, 0), answer('shades', 'applied', 90), time(5090)], 'shades', 'done'],
    ['a shade that was stopped', [seen(room), tap('shades', 'stop', 0), answer('shades', 'applied', 90)], 'shades', 'done'],
    ['a scene that was asked for', [seen(room), tap('lights', talk, 0)], 'lights', 'asked', talk],
    ['nothing of a scene that is done', [seen(room), tap('scenes', talk, 0), answer('scenes', 'applied', 90)], 'scenes', 'done'],
    ['a scene that a slow bus is at',
      [seen(room), tap('scenes', talk, 0), answer('scenes', 'accepted', 900), seen(room, 1500)],
      'scenes', 'way', talk],
    ['how a scene ended',
      [seen(room), tap('scenes', talk, 0), answer('scenes', 'accepted', 900), seen({ ...room, message: 'Scene: Done.' }, 4000)],
      'scenes', 'done'],
    ['why a scene was not done',
      [seen(room), tap('scenes', talk, 0), answer('scenes', 'failed', 90, 'Lamp 3 does not answer.')],
      'scenes', 'not', undefined, 'Lamp 3 does not answer.'],
    ['that nothing answers a scene',
      [seen(view(lamps(null), panes(null))), tap('scenes', talk, 0)],
      'scenes', 'silent', undefined, t('room.refused', { why: t('room.silent.scenes') })],
    ['a controller that is away', [seen({ ...room, online: false })], 'lights', 'away', undefined],
    ['nothing under way at one that went away',
      [seen(room), tap('shades', 30, 0), answer('shades', 'applied', 90), seen({ ...room, online: false }, 200)],
      'shades', 'away', undefined],
    ['why a tap there does nothing',
      [seen({ ...room, online: false }), tap('lights', 40, 0)],
      'lights', 'away', undefined, t('room.refused', { why: t('room.away') })],
    ['that a dead bus does nothing',
      [seen(view(lamps(null, null), panes(70))), tap('lights', 40, 0)],
      'lights', 'silent', undefined, t('room.refused', { why: t('room.silent.lights') })],
    ['the rest of a room with a dead bus', [seen(view(lamps(null, null), panes(70)))], 'shades', 'done'],
    ['nothing of a line that is lost for a moment', [seen(room), { is: 'link', state: 'lost', at: 0 }, time(1900)], 'lights', 'done'],
    ['that the line is lost', [seen(room), { is: 'link', state: 'lost', at: 0 }, time(2000)], 'lights', 'cut', undefined],
    ['what is so when it is back',
      [seen(room), { is: 'link', state: 'lost', at: 0 }, time(9000), { is: 'link', state: 'live', at: 9100 }],
      'lights', 'done'],
    ['that it was opened elsewhere', [seen(room), { is: 'link', state: 'elsewhere', at: 0 }], 'lights', 'cut'],
  ];
  for (const [name, events, of, phase, goal, why] of rows)
    it(name, () => {
      const x = shown(run(live, ...events), of);
      assert.deepEqual([x.phase, x.goal, x.why], [phase, goal, why]);
    });
  it('are the scenes of its lights, of its shades, and of both', () => {
    const [lights, shades] = [true, true];
    const scenes = [{ id: 1, name: 'A', lights }, { id: 2, name: 'B', shades }, { id: 3, name: 'C', lights, shades }];
    const s = run(live, seen({ ...room, scenes }));
    assert.deepEqual(['lights', 'shades', 'scenes'].map((of) => shown(s, of).scenes.map((x) => x.id)), [[1], [2], [3]]);
    assert.deepEqual(shown(run(live, seen(room)), 'lights').scenes, []); // of a controller that tells none
    assert.deepEqual(state(shown(s, 'scenes'), 'scenes'), ['', '', '']);
    assert.equal(state(shown(run(live, seen(room), tap('scenes', talk, 0)), 'scenes'), 'scenes')[0], t('room.asked', { goal: 'Talk' }));
  });
  it('of a sentence goes away by itself, or with the next tap', () => {
    const told = (...events) => run(live, seen({ ...room, message: 'Lights: Done.' }), ...events).told?.text;
    assert.equal(told(), 'Lights: Done.');
    assert.equal(told(seen({ ...room, message: 'Lights: Done.' }, 9000), time(9900)), 'Lights: Done.');
    assert.equal(told(seen({ ...room, message: 'Lights: Done.' }, 9000), time(10_000)), undefined);
    assert.equal(told(tap('shades', 0, 10)), undefined);
    assert.equal(told({ is: 'heard', text: 'Shades closed.', ok: true, at: 10 }), 'Shades closed.');
  });
  it('is drawn anew only when it is something else', () => {
    const s = run(live, seen(room), time(10));
    assert.equal(step(s, time(5000)), s);
    assert.equal(step(s, { is: 'link', state: 'live', at: 5000 }), s);
    assert.equal(step(s, answer('lights', 'failed', 5000, 'No.', 7)), s);
  });
});

// Whatever happens, in whatever order: one word for all that is shown, and nothing beside it says another.
describe('states of a panel', () => {
  const dice = (seed) => () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const pick = (roll, list) => list[Math.floor(roll() * list.length)];
  const levels = [0, 1, 40, 40, 90, 100, null, undefined];
  const talk = { scene: 'Talk' };
  const goals = { lights: [0, 40, 'on', talk], shades: [0, 67, 'stop', talk], scenes: [talk] };
  const event = (roll, now, id) => {
    const of = pick(roll, ['lights', 'shades', 'scenes']);
    return pick(roll, [
      () => ({ is: 'link', state: pick(roll, ['opening', 'live', 'live', 'lost', 'elsewhere']) }),
      () =>
        seen(
          view(
            lamps(...Array.from({ length: 1 + Math.floor(roll() * 6) }, () => pick(roll, levels))),
            panes(...Array.from({ length: Math.floor(roll() * 3) }, () => pick(roll, levels))).map((p) => ({
              ...p,
              motion: p.online ? pick(roll, [undefined, undefined, 'opening', 'closing', 'moving']) : undefined,
            })),
            { online: roll() < 0.8, message: pick(roll, [undefined, 'Lights: Done.', 'Shades: 1 of 2 done.']) },
          ),
        ),
      () => tap(of, pick(roll, goals[of]), now, id),
      () => answer(of, pick(roll, ['applied', 'accepted', 'stale', 'failed', undefined]), now, 'No.', id - Math.floor(roll() * 3)),
      () => ({ is: 'heard', text: 'Hm.', ok: roll() < 0.5 }),
      () => ({ is: 'time' }),
    ])();
  };
  const check = (s, now, tapped) => {
    for (const of of ['lights', 'shades']) {
      const x = shown(s, of);
      if (!x) continue;
      const [words] = state(x, of),
        says = value(x, of),
        lit = x.things.filter((thing) => thing.online && (thing.level ?? thing.position) > 0).length;
      if (off(x)) {
        assert.deepEqual([says, x.goal, lit, x.motion, x.silent], [t('room.none'), undefined, 0, undefined, 0]);
        assert.ok(x.things.every((thing) => !thing.online && [thing.level, thing.position, thing.motion].every((v) => v === undefined)));
      }
      assert.equal(x.phase === 'asked' || x.phase === 'way', x.goal !== undefined, x.phase); // a goal is under way, and nothing else is
      if (x.phase === 'asked') assert.ok(now - tapped[of] < life + 1000, 'asked for ever');
      if (['done', 'unknown'].includes(x.phase)) assert.equal(x.why, undefined);
      if (x.phase === 'not') assert.ok(x.why && words === x.why);
      if (of === 'lights' && !off(x)) {
        assert.equal(x.on, lit); // words and pictures count the same
        if (x.high !== undefined) assert.equal(says === t('light.off'), lit === 0);
      }
      for (const v of [0, 25, 67, 100])
        if (at(x, of, v)) assert.ok(!off(x) && x.goal === undefined && [x.low, x.high].every((is) => Math.abs(is - v) <= 2));
      const silent = x.things.length > 0 && !x.things.some((thing) => thing.online);
      assert.equal(off(x), s.cut || (s.view && (!s.view.online || silent)) || false);
    }
  };
  it('never contradict each other', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const roll = dice(seed);
      let s = start,
        now = 0;
      const tapped = {};
      for (let i = 0; i < 80; i++) {
        now += Math.floor(roll() * 1000);
        const e = { ...event(roll, now, i), at: now };
        if (e.is === 'tap') tapped[e.of] = now;
        s = step(step(s, e), { is: 'time', at: now });
        check(s, now, tapped);
      }
      for (let more = 0; more < 4; more++) s = step(s, { is: 'time', at: (now += 100_000) });
      for (const of of ['lights', 'shades', 'scenes']) assert.equal(s[of], null, `seed ${seed}: something is under way for ever`);
      assert.equal(s.told, null);
    }
  });
});
