import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
const { countFrom } = await import('../app/many.js');
const { clusterOf } = await import('../app/nameless.js');
const taken = (...names) => (name) => names.includes(name);

describe('names that count on', () => {
  for (const [first, n, has, want] of [
    ['Corridor 1', 3, [], ['Corridor 1', 'Corridor 2', 'Corridor 3']],
    ['Corridor 09', 2, [], ['Corridor 09', 'Corridor 10']],
    ['Corridor', 2, [], ['Corridor 1', 'Corridor 2']],
    ['Corridor 1', 2, ['Corridor 1', 'Corridor 3'], ['Corridor 2', 'Corridor 4']],
    ['3.14', 2, [], ['3.14', '3.15']],
    ['7', 2, [], ['7', '8']],
  ])
    it(`${first}, ${has}`, () => assert.deepEqual(countFrom(first, n, taken(...has)), want));
});

describe('what is named at once', () => {
  it('shares the cluster that was made with the first', () => {
    const of = (lists) => lists.map((clusters) => ({ clusters }));
    const made = (nodes, shades) => clusterOf({ nodes: of(nodes), shades: of(shades) });
    assert.equal(made([[2, 7]], []), 7);
    assert.equal(made([[]], [[7]]), 7); // a motor gives no light
    assert.equal(made([[]], [[]]), undefined);
  });
});
