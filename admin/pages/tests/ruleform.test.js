import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';
import { bodyOf, check, days, startOf } from '../app/rules/ruleform.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));

const rule = (more) => ({
  name: 'Evening',
  yieldMinutes: 30,
  when: { kind: 'time', time: '22:00' },
  actions: [{ kind: 'light-off', target: { scope: 'all' } }],
  ...more,
});
const changed = (r, to) => bodyOf({ ...startOf(r), ...to });

describe('the form of a rule', () => {
  for (const [what, r] of Object.entries({
    'a time': rule(),
    'some days': rule({ when: { kind: 'time', time: '07:30', days: ['mon', 'fri'] } }),
    'the sun': rule({ when: { kind: 'sunset', offset: -20 } }),
    'a power': rule({ when: { kind: 'value', node: 51, quantity: 'power', above: 120, forSeconds: 90 } }),
    'a level of 0': rule({ when: { kind: 'value', node: 51, quantity: 'level', below: 0, forSeconds: 0 } }),
    'a cluster': rule({ actions: [{ kind: 'light-level', target: { scope: 'cluster', id: 3 }, level: 0 }] }),
    'a shade': rule({ actions: [{ kind: 'shade-move-to', target: { scope: 'cluster', id: 3 }, position: 70 }] }),
    'a scene': rule({ actions: [{ scene: 4 }] }),
    'no waiting': rule({ yieldMinutes: 0 }),
    'one lamp and one shade': rule({
      actions: [
        { kind: 'light-off', target: { scope: 'node', id: 51 } },
        { kind: 'shade-open', target: { scope: 'shade', id: 5001 }, afterSeconds: 300 },
      ],
    }),
    'a scene, later': rule({ actions: [{ scene: 4, afterSeconds: 90 }] }),
    'lights that take their time': rule({
      actions: [
        { kind: 'light-level', target: { scope: 'cluster', id: 3 }, level: 80, afterSeconds: 60, overSeconds: 1800 },
        { kind: 'light-off', target: { scope: 'all' }, overSeconds: 45 },
      ],
    }),
    'a warning': rule({
      actions: [
        { kind: 'light-level', target: { scope: 'cluster', id: 3 }, level: 30 },
        { kind: 'light-off', target: { scope: 'cluster', id: 3 }, afterSeconds: 60 },
        { kind: 'shade-close', target: { scope: 'all' } },
      ],
    }),
    'holidays and exceptions': rule({ when: { kind: 'time', time: '07:30', holidays: 'not', except: ['2026-12-24', '12-27..01-02'] } }),
  }))
    it(`gives back a rule for ${what} as it was`, () => {
      assert.deepEqual(changed(r), r);
      assert.deepEqual(check(startOf(r)), {});
    });

  it('leaves alone what it cannot show', () => {
    for (const actions of [
      [{ kind: 'light-level', target: { scope: 'all' }, channel: 2, level: 4 }],
      [{ kind: 'light-rgbw', target: { scope: 'all' }, rgbw: {} }, { kind: 'light-off', target: { scope: 'all' } }],
    ])
      assert.deepEqual(changed(rule({ actions })).actions, actions);
  });
  it('shows a warning before lights go off as one step', () => {
    const warn = [
      { kind: 'light-level', target: { scope: 'all' }, level: 30 },
      { kind: 'light-off', target: { scope: 'all' }, afterSeconds: 60 },
    ];
    assert.deepEqual(
      startOf(rule({ actions: warn })).steps.map((s) => s.does),
      ['warn-off'],
    );
    const elsewhere = [warn[0], { ...warn[1], target: { scope: 'cluster', id: 3 } }];
    assert.deepEqual(
      startOf(rule({ actions: elsewhere })).steps.map((s) => s.does),
      ['light-level', 'light-off'],
    );
    const slow = rule({ actions: [warn[0], { ...warn[1], overSeconds: 60 }] });
    assert.deepEqual(changed(slow), slow);
    assert.equal(startOf(slow).steps.length, 2);
  });
  it('lets nothing take a time but lights to a level and off', () => {
    const steps = startOf(rule({ actions: [{ kind: 'light-off', target: { scope: 'all' }, overSeconds: 60 }] })).steps;
    for (const does of ['light-off', 'light-level', 'light-on', 'shade-open', 'warn-off']) {
      const over = does === 'light-off' || does === 'light-level' ? 60 : undefined;
      assert.equal(bodyOf({ ...startOf(rule()), steps: [{ ...steps[0], does }] }).actions.at(-1).overSeconds, over, does);
    }
  });
  it('begins with lights off at six, every day', () => {
    const v = startOf(null);
    assert.deepEqual(bodyOf({ ...v, name: ' Evening ' }), {
      name: 'Evening',
      yieldMinutes: 60,
      when: { kind: 'time', time: '18:00' },
      actions: [{ kind: 'light-off', target: { scope: 'all' } }],
    });
  });
  it('wants a name, a time, a device and a limit, a scene', () => {
    const wrong = (to) => Object.keys(check({ ...startOf(rule()), ...to }));
    assert.deepEqual(wrong(), []);
    assert.deepEqual(wrong({ name: '  ' }), ['name']);
    assert.deepEqual(wrong({ time: '' }), ['time']);
    assert.deepEqual(wrong({ kind: 'value', node: '', limit: '' }), ['node', 'limit']);
    assert.deepEqual(wrong({ kind: 'value', node: '51', limit: 'much' }), ['limit']);
    assert.deepEqual(wrong({ kind: 'value', node: '51', limit: '0' }), []);
    assert.deepEqual(wrong({ kind: 'sunset', time: '' }), []);
    assert.deepEqual(wrong({ except: 'Christmas' }), ['except']);
    assert.deepEqual(wrong({ except: '12-24 12-27..01-02, 2026-05-14' }), []);
    const step = (to) => wrong({ steps: [{ ...startOf(rule()).steps[0], ...to }] });
    assert.deepEqual(step({ does: 'scene', scene: '' }), ['scene.0']);
    assert.deepEqual(step({ does: 'light-level', value: '101' }), ['value.0']);
    assert.deepEqual(step({ does: 'warn-off', after: '0' }), ['after.0']);
    assert.deepEqual(wrong({ steps: [] }), ['steps']);
  });
  it('wants a day: a rule without days would act on all of them', () => {
    const none = Object.fromEntries(days.map((d) => [d, false]));
    assert.deepEqual(Object.keys(check({ ...startOf(rule()), ...none })), ['days']);
    assert.deepEqual(check({ ...startOf(rule()), ...none, sun: true }), {});
  });
});
