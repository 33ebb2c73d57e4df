import './browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atFields } from '../assets/form.js';
import { afterKey, shareOf, sideways, stepOf, still } from '../assets/slider.js';
import { Spark } from '../assets/spark.js';
import { find } from './tree.js';

const percent = { min: 0, max: 100, step: 1 };
const kelvin = { min: 2700, max: 6500, step: 50 };

describe('a slider', () => {
  it('stands on its steps and within its ends', () => {
    assert.deepEqual(
      [-3, 0, 41.4, 41.5, 100.2].map((v) => stepOf(v, percent)),
      [0, 0, 41, 42, 100],
    );
    assert.deepEqual(
      [0, 2724, 2725, 4010, 9999].map((v) => stepOf(v, kelvin)),
      [2700, 2700, 2750, 4000, 6500],
    );
  });
  it('is filled by the share of its range', () => {
    assert.deepEqual(
      [2700, 4600, 6500, 0, 9999].map((v) => shareOf(v, kelvin)),
      [0, 50, 100, 0, 100],
    );
  });
  it('goes by steps with the keys, and to its ends', () => {
    const after = (from, ...keys) => keys.map((k) => afterKey(k, from, kelvin));
    assert.deepEqual(after(4000, 'ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown'), [4050, 4050, 3950, 3950]);
    assert.deepEqual(after(4000, 'PageUp', 'PageDown', 'Home', 'End'), [4500, 3500, 2700, 6500]);
    assert.deepEqual(after(6500, 'ArrowRight', 'PageUp'), [6500, 6500]);
    assert.deepEqual(after(4000, 'Tab', 'a', 'toString'), [undefined, undefined, undefined]);
  });
  it('takes a touch that goes sideways, and none that scrolls', () => {
    assert.equal(sideways(9, 0), true);
    assert.equal(sideways(-9, 3), true);
    assert.equal(sideways(8, 0), false);
    assert.equal(sideways(20, 20), false);
    assert.equal(sideways(20, -60), false);
  });
  it('takes a tap that trembled', () => {
    assert.equal(still(8, -8), true);
    assert.equal(still(0, 9), false);
    assert.equal(still(-9, 0), false);
  });
});

describe('a form', () => {
  it('shows what the server finds wrong at the fields that it has', () => {
    const errors = [
      { pointer: '/name', detail: 'taken' },
      { pointer: '/actions/0/level', detail: 'too much' },
      { pointer: '/constructor', detail: 'odd' },
      { pointer: '', detail: 'all of it' },
    ];
    assert.deepEqual(atFields(errors, { name: 'x', actions: [] }), { name: 'taken', actions: 'too much' });
  });
});

describe('a line of values', () => {
  const path = (points) => find(Spark({ points, show: String, label: 'Level' }), 'path')?.d;
  it('spans its time and its range', () =>
    assert.equal(
      path([
        [0, 0],
        [5, 10],
        [10, 5],
      ]),
      'M0.0 58.0L150.0 6.0L300.0 32.0',
    ));
  it('is broken where nothing is known', () =>
    assert.equal(
      path([
        [0, 0],
        [5, null],
        [10, 10],
      ]),
      'M0.0 58.0M300.0 6.0',
    ));
  it('of values that are the same is level', () =>
    assert.equal(
      path([
        [0, 7],
        [10, 7],
      ]),
      'M0.0 58.0L300.0 58.0',
    ));
  it('is none of one value', () =>
    assert.equal(
      path([
        [0, 7],
        [10, null],
      ]),
      undefined,
    ));
});
