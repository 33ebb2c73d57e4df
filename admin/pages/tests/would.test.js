import { answers, clock, Source } from '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';
import { enter, leave } from '../app/house.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
const { bringsOf } = await import('../app/plan/would.js');

const lamp = (id) => ({ id, name: `Lamp ${id}`, online: true, abilities: ['switch', 'dim'], level: { value: 40, at: '' } });
let time;
before(() => {
  time = clock();
  answers({ body: [] });
  enter({ username: 'ana', role: 'operator', may: ['read', 'operate'], version: '1' });
  Source.last.tell('picture', {
    time: '2026-06-01T12:00:00Z',
    version: '1',
    site: { name: 'House', faults: [] },
    clusters: [{ id: 3, name: 'Lobby', nodes: [51, 52, 60], shades: [5001] }],
    nodes: [lamp(51), lamp(52), { id: 60, name: 'Relays of a shade', tag: 'PERIPHERAL', abilities: ['switch'] }],
    shades: [{ id: 5001, name: 'South', online: true }],
    buses: [],
    jobs: [],
  });
});
after(() => {
  leave();
  time.stop();
});

const now = Date.parse('2026-06-01T12:00:00Z');
const lobby = { scope: 'cluster', id: 3 };
const told = (actions, hands = [], yieldMinutes = 60) =>
  Object.fromEntries(
    [...bringsOf({ actions, yieldMinutes }, hands, now)].map(([k, b]) => [k, b.held || `${b.action.kind} ${b.action.level ?? ''}`.trim()]),
  );

describe('what a rule would do', () => {
  it('is for the lights or the shades of its target, and no relays of shades', () => {
    const slow = { kind: 'light-level', target: lobby, level: 80, overSeconds: 60 };
    assert.deepEqual(told([slow]), { n51: 'light-level 80', n52: 'light-level 80' });
    assert.deepEqual(told([{ kind: 'shade-close', target: { scope: 'all' } }]), { s5001: 'shade-close' });
    assert.deepEqual(told([{ kind: 'light-off', target: { scope: 'node', id: 52 } }]), { n52: 'light-off' });
    assert.deepEqual(told([{ kind: 'light-off', target: { scope: 'cluster', id: 99 } }, { scene: 77 }]), {});
  });
  it('is, of several steps, what comes last', () => {
    const warn = [
      { kind: 'light-off', target: lobby, afterSeconds: 120 },
      { kind: 'light-level', target: lobby, level: 30 },
    ];
    assert.deepEqual(told(warn), { n51: 'light-off', n52: 'light-off' });
  });
  it('leaves alone what somebody set by hand, as long as the rule yields', () => {
    const hands = [{ node: 51, at: '2026-06-01T11:30:00Z', who: 'ben' }],
      off = [{ kind: 'light-off', target: lobby }];
    assert.deepEqual(told(off, hands), { n51: 'ben', n52: 'light-off' });
    assert.deepEqual(told(off, hands, 30), { n51: 'light-off', n52: 'light-off' });
    assert.deepEqual(told(off, hands, 0), { n51: 'light-off', n52: 'light-off' });
    assert.deepEqual(told([{ ...off[0], afterSeconds: 1800 }], hands), { n51: 'light-off', n52: 'light-off' });
  });
});
