import { answers, asked, clock, place, Source } from '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';
import { address, go } from '../ui/router.js';
import {
  ask,
  command,
  enter,
  history,
  house,
  isOld,
  leave,
  link,
  may,
  nodeAges,
  session,
  shadeAges,
  start,
} from '../app/house.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));

const at = '2026-06-01T12:00:00Z';
const node = (id, more) => ({
  id,
  name: `Lamp ${id}`,
  online: true,
  level: { value: 40, at, source: 'measured' },
  lastSeen: at,
  ...more,
});
const whole = {
  time: at,
  version: '1',
  site: { name: 'House', faults: [] },
  clusters: [{ id: 3, name: 'Lobby', nodes: [51, 52], shades: [5001] }],
  nodes: [node(51), node(52)],
  shades: [{ id: 5001, name: 'South', online: true, position: { value: 70, at }, lastSeen: at }],
  buses: [
    { name: 'east', uuid: 'u-east' },
    { name: 'west', uuid: 'u-west' },
  ],
  jobs: [],
};
const caretaker = { username: 'ana', role: 'operator', may: ['read', 'operate'], version: '1' };

let time;
beforeEach(() => {
  time = clock();
  answers({ body: [] });
  go('/');
  enter(caretaker);
  Source.last.tell('picture', whole);
});
afterEach(() => {
  leave();
  time.stop();
});
const ids = (family) => [...family.ids.value];
const tell = (change) => Source.last.tell('change', { time: at, ...change });

describe('the picture', () => {
  it('is the house', () => {
    assert.equal(link.value.value.state, 'live');
    assert.equal(house.whole.value, true);
    assert.deepEqual(
      [ids(house.clusters), ids(house.nodes), ids(house.shades), ids(house.buses)],
      [[3], [51, 52], [5001], ['east', 'west']],
    );
    assert.equal(house.nodes.peek(51).name, 'Lamp 51');
    assert.equal(nodeAges(51).level, Date.parse(at));
    assert.equal(shadeAges(5001).position, Date.parse(at));
  });
  it('that comes anew takes away what is gone', () => {
    const lamp = house.nodes.get(52);
    Source.last.tell('picture', { ...whole, nodes: [node(51, { name: 'Entrance' })] });
    assert.deepEqual(ids(house.nodes), [51]);
    assert.equal(lamp.value, undefined);
    assert.equal(house.nodes.peek(51).name, 'Entrance');
  });
});

describe('a change', () => {
  it('draws only what it is about', () => {
    const [before, other] = [house.nodes.get(51), house.nodes.peek(52)];
    tell({ nodes: [node(51, { level: { value: 80, at } })] });
    assert.equal(before.value.level.value, 80);
    assert.equal(house.nodes.peek(52), other);
    assert.deepEqual(ids(house.nodes), [51, 52]);
  });
  it('brings what is new in its place, and takes what was removed', () => {
    tell({ nodes: [node(7)], clusters: [{ id: 1, name: 'Atrium', nodes: [], shades: [] }] });
    assert.deepEqual(
      [ids(house.nodes), ids(house.clusters)],
      [
        [7, 51, 52],
        [1, 3],
      ],
    );
    tell({ removed: { nodes: [51], clusters: [3], shades: [5001], buses: ['u-east'] } });
    assert.deepEqual([ids(house.nodes), ids(house.clusters), ids(house.shades), ids(house.buses)], [[7, 52], [1], [], ['west']]);
    assert.equal(house.nodes.peek(51), undefined);
  });
  it('of ages alone leaves the records, and what is not in it', () => {
    const record = house.nodes.peek(51);
    tell({ ages: { nodes: [{ id: 51, lastSeen: 5000 }] } });
    assert.equal(house.nodes.peek(51), record);
    assert.deepEqual([nodeAges(51).lastSeen, nodeAges(51).level], [5000, Date.parse(at)]);
  });
  it('of the site asks for the scenes again', async () => {
    await time.pass(0);
    answers({ body: [{ id: 1, name: 'Evening', cluster: 0 }] });
    tell({ site: { name: 'New', faults: [] } });
    await time.pass(0);
    assert.equal(asked[0].url, '/api/v1/scenes');
    assert.equal(house.scenes.value[0].name, 'Evening');
  });
  it('of a level is a point of its line; the same value again is none, silence is a gap', () => {
    tell({ nodes: [node(52)] });
    const before = history(52).length;
    tell({ nodes: [node(52, { level: { value: 80, at } })] });
    tell({ nodes: [node(52, { level: { value: 80, at } })] });
    tell({ nodes: [node(52, { online: false })] });
    assert.deepEqual(
      history(52)
        .slice(before)
        .map(([, v]) => v),
      [80, null],
    );
    for (let i = 0; i < 150; i++) tell({ nodes: [node(52, { level: { value: i % 100, at } })] });
    assert.equal(history(52).length, 120);
  });
});

describe('a job', () => {
  it('comes first, keeps its place, and what it found where that is left out', () => {
    const tellJob = (j) => Source.last.tell('job', j);
    tellJob({ id: 'a', state: 'running', items: [1, 2] });
    tellJob({ id: 'b', state: 'running' });
    tellJob({ id: 'a', state: 'done' });
    assert.deepEqual(house.jobs.value, [
      { id: 'b', state: 'running' },
      { id: 'a', state: 'done', items: [1, 2] },
    ]);
    for (let i = 0; i < 80; i++) tellJob({ id: `j${i}`, state: 'queued' });
    assert.equal(house.jobs.value.length, 64);
    assert.equal(house.jobs.value[0].id, 'j79');
    for (let i = 0; i < 80; i++) tellJob({ id: `i${i}`, kind: 'identify', state: 'queued' });
    assert.deepEqual([house.jobs.value.length, house.jobs.value[0].id, house.jobs.value[63].id], [64, 'i79', 'j17']);
  });
});

describe('entries', () => {
  it('are there once each, the newest first', () => {
    for (const id of ['1', '2', '1']) Source.last.tell('entry', { id });
    assert.deepEqual(
      house.entries.value.slice(0, 2).map((e) => e.id),
      ['1', '2'],
    );
    for (let i = 0; i < 250; i++) Source.last.tell('entry', { id: `e${i}` });
    assert.equal(house.entries.value.length, 200);
  });
});

describe('who is logged in', () => {
  it('may do what the session says, and nobody anything', () => {
    assert.deepEqual(['read', 'operate', 'administer'].map(may), [true, true, false]);
    session.value = null;
    assert.deepEqual(['read', 'operate', 'administer'].map(may), [false, false, false]);
  });
  it('comes to the log-in and back to the same place', () => {
    go('/devices?q=lobby');
    leave();
    assert.equal(address.value.path, '/login');
    assert.equal(address.value.query.get('to'), '/devices?q=lobby');
    assert.equal(session.value, null);
    assert.equal(Source.last.closed, true);
    leave();
    assert.equal(address.value.query.get('to'), '/devices?q=lobby');
  });
  it('is asked for a claim first where nobody was ever here', async () => {
    answers({ body: { claimed: false } });
    await start();
    assert.equal(address.value.path, '/claim');
    assert.equal(session.value, null);
  });
  it('is let in with the session that a browser has, and else logs in', async () => {
    answers((url) => ({ body: url.endsWith('/claim') ? { claimed: true, loggedIn: true } : caretaker }));
    await start();
    assert.equal(session.value.username, 'ana');
    answers((url) => (url.endsWith('/claim') ? { body: { claimed: true, loggedIn: true } } : { status: 401 }));
    await start();
    assert.equal(address.value.path, '/login');
  });
  it('whose session has ended is led to the log-in by the next request', async () => {
    answers({ status: 401 });
    await assert.rejects(command('light-on', { scope: 'all' }), { status: 401 });
    assert.equal(address.value.path, '/login');
  });
});

describe('a command', () => {
  it('that not everybody did fails, with why and where to read more', async () => {
    answers({ body: { id: 'e-7', ok: false, error: 'Lamp 51 did not answer' } });
    await assert.rejects(command('light-off', { scope: 'all' }), { message: 'Lamp 51 did not answer', href: '/more/ledger/e-7' });
    answers({ body: { id: 'e-8', ok: true } });
    assert.equal((await command('light-level', { scope: 'node', id: 51 }, { level: 5 })).id, 'e-8');
    assert.equal(asked[0].body, '{"kind":"light-level","target":{"scope":"node","id":51},"level":5}');
  });
  it('that was asked is the same wherever it is shown, and ends with what the stream confirms', async () => {
    const a = ask('node', 51, 'level');
    assert.equal(ask('node', 51, 'level'), a);
    assert.notEqual(ask('cluster', 51, 'level'), a);
    await time.pass(0);
    answers({ body: { id: 'e', ok: true } });
    a.ask(80);
    await time.pass(100);
    assert.deepEqual(JSON.parse(asked[0].body), { kind: 'light-level', target: { scope: 'node', id: 51 }, level: 80 });
    assert.equal(a.asked.value, 80);
    tell({ nodes: [node(51, { level: { value: 80, at } })] });
    await time.pass(100);
    assert.equal(a.asked.value, null);
  });
  it('moves shades and mixes colours by their own names', async () => {
    await time.pass(0);
    for (const [scope, id, what, v, kind] of [
      ['shade', 5001, 'position', 20, 'shade-move-to'],
      ['cluster', 3, 'kelvin', 3000, 'light-kelvin'],
      ['node', 52, 'rgbw', { r: 1, g: 2, b: 3, w: 4 }, 'light-rgbw'],
    ]) {
      answers({ body: { id: 'e', ok: true } });
      ask(scope, id, what).ask(v);
      await time.pass(10);
      assert.deepEqual(JSON.parse(asked[0].body), { kind, target: { scope, id }, [what]: v });
    }
  });
});

describe('a value', () => {
  it('is old after a minute, and never where it is not known when it was read', () => {
    const now = Date.parse(at);
    assert.equal(isOld(now - 59000), false);
    assert.equal(isOld(now - 61000), true);
    assert.equal(isOld(0), false);
    assert.equal(isOld(undefined), false);
  });
});

describe('a new version of the program', () => {
  it('is taken when nobody types', async () => {
    document.activeElement = { tagName: 'INPUT' };
    Source.last.tell('picture', { ...whole, version: '2' });
    await time.pass(4000);
    assert.equal(place.reload.mock.callCount(), 0);
    document.activeElement = null;
    await time.pass(2000);
    assert.equal(place.reload.mock.callCount(), 1);
  });
});
