import { answers, clock, Source } from '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { serverTime, startTexts, t } from '../ui/i18n.js';
import { freshnessOf, stateOf } from '../app/buses.js';
import { colourOf, conditionOf, motionWords, sinceWhen } from '../app/cards.js';
import { filters as ofDevices, hrefOf } from '../app/devices.js';
import { whatOf, whomOf } from '../app/entries.js';
import { filters as ofClusters, summary, titleOf as homeTitle } from '../app/home.js';
import { enter } from '../app/house.js';
import { whenOf } from '../app/rules/rules.js';
import { newOf } from '../app/found.js';
import { begin, jobOf, over, titleOf, shows, Works } from '../app/works.js';

const time = clock();
after(() => time.stop());
const now = time.now();
const ago = (seconds) => now - seconds * 1000;
const stamp = (seconds) => new Date(ago(seconds)).toISOString();
await startTexts((l) => import(`../app/i18n/${l}.js`));
answers({ body: [{ id: 4, name: 'Evening', cluster: 0, actions: [] }] });
enter({ username: 'ana', role: 'operator', may: ['read', 'operate'], version: '1' });

const lamp = (id, more) => ({
  id,
  name: `Lamp ${id}`,
  tag: 'NODE',
  bus: 'east',
  online: true,
  clusters: [3],
  lastSeen: stamp(1),
  ...more,
});
Source.last.tell('picture', {
  time: stamp(0),
  version: '1',
  site: { name: 'House', faults: ['cluster Lobby: no such node'] },
  clusters: [
    { id: 3, name: 'Lobby', nodes: [51], shades: [], lights: 1, level: 40 },
    { id: 4, name: 'Hall', nodes: [52], shades: [5001], lights: 1, level: 0 },
    { id: 5, name: 'Front', nodes: [], shades: [5001], lights: 0, level: null },
  ],
  nodes: [lamp(51), lamp(52, { online: false }), lamp(53, { fault: 'two motors answer', tag: 'PERIPHERAL', clusters: [] })],
  shades: [{ id: 5001, name: 'South', online: true, motion: 'stopped', clusters: [4] }],
  buses: [
    { name: 'east', uuid: 'e', driver: 'dali', up: true },
    { name: 'west', uuid: 'w', driver: 'modbus', up: false },
    { name: 'spare', uuid: 's', driver: 'modbus', up: false, disabled: true },
  ],
  attention: {
    concerns: [
      { kind: 'device-trouble', bus: 'east', device: '4', nodes: [60], what: 'lamp failure' },
      { kind: 'device-silent', bus: 'east', device: '5', nodes: [61], what: 'no answer' },
      { kind: 'bus-fault', bus: 'west', what: 'noise' },
    ],
    more: 0,
  },
});

describe('members of a cluster', () => {
  const member = (record, ages = { level: ago(1), lastSeen: ago(1) }) => ({
    record: { online: true, name: 'Lamp', ...record },
    ages,
  });
  const said = (...members) => conditionOf(members, 'lights');

  it('that are well are counted', () => assert.deepEqual(said(member(), member()), { words: '2 lights' }));
  it('that are all silent are off, since the last was heard', () => {
    const c = said(member({ online: false }, { lastSeen: ago(7200) }), member({ online: false }, { lastSeen: ago(600) }));
    assert.equal(c.off, true);
    assert.equal(c.icon, 'plug');
    assert.match(c.words, /11:50/);
  });
  it('that were never heard say so', () => assert.match(said(member({ online: false }, {})).words, /never/));
  it('of which some are silent are told as such, and can be commanded', () => {
    const c = said(member(), member({ online: false }));
    assert.equal(c.words, '1 of 2 lights answer');
    assert.equal(c.off, undefined);
  });
  it('at fault go before some that are silent', () => {
    const c = said(member({ fault: 'lamp failure' }), member({ online: false }));
    assert.deepEqual([c.fault, c.words], [true, 'Lamp: lamp failure']);
  });
  it('are at fault with what their device reports', () => {
    assert.equal(said(member({ id: 60 })).words, 'Lamp: lamp failure');
    assert.equal(said(member({ id: 7, node: 60 })).words, 'Lamp: lamp failure');
    assert.equal(said(member({ id: 61 })).words, '1 light');
    assert.equal(said(member({ id: 60, node: 7 })).words, '1 light'); // a shade has numbers of its own
  });
  it('that are all silent go before a fault', () => assert.equal(said(member({ online: false, fault: 'x' })).off, true));
  it('are stale with the oldest of their values', () => {
    const c = said(member(), member({}, { level: ago(240) }));
    assert.deepEqual([c.stale, c.words], [true, 'read 4 min ago']);
    assert.equal(said(member({}, { level: ago(55) })).stale, undefined);
  });
  it('that cannot be read back say so', () => {
    assert.equal(said(member({ level: { source: 'sent' } })).icon, 'plane');
    assert.equal(said(member({ level: { source: 'measured' } })).icon, undefined);
  });
  it('are none in an empty cluster', () => assert.deepEqual(said(), { words: '0 lights' }));
});

describe('times', () => {
  it('of today are told by the clock, earlier ones by their age', () => {
    assert.match(sinceWhen(ago(3600)), /since 11:00/);
    assert.match(sinceWhen(ago(13 * 3600)), /13 h/);
    assert.match(sinceWhen(0), /never/);
  });
});

describe('colour', () => {
  it('is mixed where there is any, else white', () => {
    assert.equal(colourOf(2700, { r: 255, g: 0, b: 0, w: 0 }), '255 0 0');
    assert.equal(colourOf(2700, { r: 0, g: 0, b: 0, w: 255 }), '255 196 107');
    assert.equal(colourOf(2700, null), '255 196 107');
  });
});

describe('a shade', () => {
  it('moves, stands, or is about where it is thought to be', () => {
    assert.equal(motionWords({ motion: 'opening' }), t('motion.opening'));
    assert.equal(motionWords({ motion: 'stopped', position: { source: 'measured' }, uncertainty: 9 }), t('motion.stopped'));
    assert.equal(motionWords({ motion: 'stopped', position: { source: 'estimated' }, uncertainty: 2 }), t('motion.stopped'));
    assert.match(motionWords({ motion: 'stopped', position: { source: 'estimated' }, uncertainty: 9 }), /± 9/);
  });
});

describe('a bus', () => {
  const bus = (more) => ({ up: true, demand: 0.4, online: 5, nodes: 5, ...more });
  it('is as its worst trouble', () => {
    const state = (more) => [stateOf(bus(more)).words, stateOf(bus(more)).badge];
    assert.deepEqual(state(), [t('bus.up'), 'ok']);
    assert.deepEqual(state({ online: 3 }), ['2 silent', 'warn']);
    assert.deepEqual(state({ online: 3, demand: 1.5 }), [t('bus.slow'), 'warn']);
    assert.deepEqual(state({ demand: 1.5, fault: 'x' }), [t('fault'), 'fault']);
    assert.deepEqual(state({ fault: 'x', up: false }), [t('bus.down'), 'fault']);
    assert.deepEqual(state({ up: false, disabled: true }), [t('bus.disabled'), '']);
  });
  it('is as fresh as it should be, or late by so much', () => {
    assert.match(freshnessOf(bus()), /40%/);
    assert.match(freshnessOf(bus({ demand: 1 })), /100%/);
    assert.match(freshnessOf(bus({ demand: 2.345 })), /2\.3 times/);
  });
});

describe('a command', () => {
  const words = (e) => `${whomOf(e)}: ${whatOf(e)}`;
  it('is told by whom it is for and what it is', () => {
    assert.equal(words({ kind: 'light-level', level: 40, target: { scope: 'node', id: 51 } }), 'Lamp 51: to 40%');
    assert.equal(words({ kind: 'light-off', target: { scope: 'all' } }), 'All lights: off');
    assert.equal(words({ kind: 'shade-open', target: { scope: 'all' } }), 'All shades: open');
    assert.equal(words({ kind: 'shade-move-to', position: 100, target: { scope: 'shade', id: 5001 } }), 'South: to open');
    assert.match(words({ kind: 'light-kelvin', kelvin: 3000, target: { scope: 'cluster', id: 3 } }), /^Lobby: to 3,?000\u00a0K$/);
    assert.equal(
      words({ kind: 'light-rgbw', rgbw: { r: 1, g: 2, b: 3, w: 4 }, target: { scope: 'cluster', id: 99 } }),
      'Cluster 99: to colour 1:2:3:4',
    );
  });
});

describe('a rule', () => {
  it('waits for a time, on some days', () => {
    assert.match(whenOf({ kind: 'time', time: '18:00' }), /^6:00\sPM$/);
    assert.match(whenOf({ kind: 'time', time: '18:00', days: ['fri', 'mon'] }), /PM · Mon Fri$/);
    assert.match(
      whenOf({ kind: 'time', time: '18:00', holidays: 'not', except: ['12-24', '2027-03-26'] }),
      /PM · not on holidays · not on 12-24, 2027-03-26$/,
    );
    assert.match(whenOf({ kind: 'time', time: '18:00', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }), /PM$/);
  });
  it('waits for the sun', () => {
    assert.equal(whenOf({ kind: 'sunset' }), 'at sunset');
    assert.equal(whenOf({ kind: 'sunset', offset: -20 }), '20 min before sunset');
    assert.equal(whenOf({ kind: 'sunrise', offset: 5 }), '5 min after sunrise');
  });
  it('waits for a value', () => {
    assert.equal(whenOf({ kind: 'value', node: 51, quantity: 'power', above: 120 }), 'power of Lamp 51 above 120\u00a0W');
    assert.equal(
      whenOf({ kind: 'value', node: 9, quantity: 'level', below: 0, forSeconds: 90 }),
      'level of 9 below 0% for 90\u00a0s',
    );
    assert.match(whenOf({ kind: 'value', node: 9, quantity: 'level', below: 5, forSeconds: 120 }), /for 2\u00a0min$/);
  });
});

describe('home', () => {
  it('counts what is lit, and what needs somebody', () => {
    assert.deepEqual(summary.value, { lit: 1, of: 2, unknown: 1 });
    assert.equal(homeTitle({ lit: 0, of: 2, unknown: 0 }), t('home.dark'));
    assert.equal(homeTitle({ lit: 0, of: 2, unknown: 2 }), t('home.unknown'));
    assert.equal(homeTitle({ lit: 0, of: 3, unknown: 1 }), t('home.darkpartly', { n: 2, unknown: 1 }));
  });
  it('shows clusters by what they have', () => {
    const lit = { lights: 2, level: 5, shades: [] },
      dark = { lights: 2, level: 0, shades: [1] },
      shady = { lights: 0, level: null, shades: [1] };
    const which = (f) => [lit, dark, shady].map(ofClusters[f]);
    assert.deepEqual(which('lit'), [true, false, false]);
    assert.deepEqual(which('lights'), [true, true, false]);
    assert.deepEqual(which('shades'), [false, true, true]);
  });
});

describe('devices', () => {
  const sensor = { id: 9, tag: 'PERIPHERAL', online: true, clusters: [] },
    loose = { id: 8, tag: 'NODE', online: true, clusters: [] },
    silent = { id: 7, tag: 'NODE', online: false, clusters: [3] },
    broken = { id: 6, motion: 'stopped', online: true, fault: 'x', clusters: [3] };
  const all = [sensor, loose, silent, broken];
  for (const [filter, want] of Object.entries({
    all,
    trouble: [silent, broken],
    lights: [loose, silent],
    shades: [broken],
    others: [sensor],
    loose: [loose],
  }))
    it(`are ${filter}`, () => assert.deepEqual(all.filter(ofDevices[filter]), want));
  it('have pages of their kind', () =>
    assert.deepEqual(all.map(hrefOf), ['/devices/9', '/devices/8', '/devices/7', '/shades/6']));
});

describe('a scan', () => {
  it('offers what is new and can be named', () => {
    const device = (more) => ({ finding: 'device', address: '1', kind: 'dali-dt8', new: true, ...more });
    const items = [
      device(),
      device({ nodes: [51], new: false }),
      device({ gateway: true }),
      device({ kind: undefined }),
      device({ finding: 'silent' }),
      device({ nodes: [] }),
    ];
    assert.deepEqual(newOf({ items }), [items[0], items[5]]);
    assert.deepEqual(newOf(undefined), []);
  });
});

describe('long work', () => {
  it('is over when it is done, failed or cancelled', () => {
    assert.deepEqual(
      ['queued', 'running', 'done', 'failed', 'cancelled'].map((state) => over({ state })),
      [false, false, true, true, true],
    );
  });
  it('is over, however late the answer says that it began', async () => {
    Source.last.tell('job', { id: 'quick', state: 'done' });
    answers({ body: { id: 'quick', state: 'running' } });
    await begin({ kind: 'identify' });
    assert.equal(jobOf((j) => j.id === 'quick').state, 'done');
    answers({ body: { id: 'slow', state: 'running' } });
    await begin({ kind: 'identify' });
    assert.equal(jobOf((j) => j.id === 'slow').state, 'running');
    Source.last.tell('job', { id: 'slow', state: 'done' });
  });
  it('has a title, a page and how far it is', () => {
    assert.equal(titleOf({ kind: 'calibrate', shade: 5001, subject: 'x' }), t('job.calibrate', { what: 'South' }));
    assert.equal(titleOf({ kind: 'calibrate', shade: 99, subject: 'x' }), t('job.calibrate', { what: 'x' }));
    assert.equal(titleOf({ kind: 'identify', bus: 'east', address: '5' }), t('job.identify', { what: 'east 5' }));
    Source.last.tell('job', {
      id: 'a',
      kind: 'scan',
      bus: '2nd floor',
      state: 'running',
      found: 3,
      progress: { text: '32 of 64', share: 0.5 },
    });
    Source.last.tell('job', { id: 'b', kind: 'direction', shade: 5001, state: 'running', found: 0, progress: { text: '' } });
    Source.last.tell('job', { id: 'c', kind: 'scan', bus: 'east', state: 'done', found: 3, progress: { text: '' } });
    const bar = [Works()].flat().find((v) => v?.props?.jobs);
    const jobs = bar.props.jobs.map(({ id, href, words, done, total, canCancel }) => ({
      id,
      href,
      words,
      done,
      total,
      canCancel,
    }));
    assert.deepEqual(jobs, [
      { id: 'b', href: '/commission/shade/5001', words: '', done: 0, total: 0, canCancel: true },
      { id: 'a', href: '/buses/2nd%20floor', words: '32 of 64 · 3 found', done: 50, total: 100, canCancel: true },
    ]);
  });
  it('can show devices where their bus can', () => assert.deepEqual(['east', 'west', 'none'].map(shows), [true, false, false]));
});

serverTime(now);
