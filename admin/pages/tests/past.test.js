import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dayOf, daysOn, hourOfWeek, isDay, lengthOf, mondayOf } from '../app/past/when.js';

const zurich = 'Europe/Zurich';
const seconds = (text) => Date.parse(text) / 1000;

describe('days of a building', () => {
  it('begin at its own midnight', () => {
    assert.equal(dayOf(Date.parse('2026-11-02T23:30:00Z'), zurich), '2026-11-03');
    assert.equal(dayOf(Date.parse('2026-11-02T23:30:00Z'), 'UTC'), '2026-11-02');
    assert.equal(dayOf(Date.parse('2026-11-02T23:30:00Z'), ''), '2026-11-02');
  });
  it('are counted over the ends of months', () => {
    assert.equal(daysOn('2026-02-27', 2), '2026-03-01');
    assert.equal(daysOn('2026-01-01', -1), '2025-12-31');
  });
  it('have 23 hours in spring and 25 in autumn', () => {
    assert.equal(lengthOf(seconds('2026-03-28T23:00:00Z'), zurich), 23 * 3600);
    assert.equal(lengthOf(seconds('2026-10-24T22:00:00Z'), zurich), 25 * 3600);
    assert.equal(lengthOf(seconds('2026-11-02T23:00:00Z'), zurich), 24 * 3600);
  });
  it('are told from what else is in an address', () => {
    assert.deepEqual(['2026-11-03', '2026-13-03', 'today', null].map(isDay), [true, false, false, false]);
  });
});

describe('weeks', () => {
  it('begin on Monday', () => {
    assert.equal(mondayOf('2026-11-26'), '2026-11-23');
    assert.equal(mondayOf('2026-11-23'), '2026-11-23');
    assert.equal(mondayOf('2026-11-29'), '2026-11-23');
  });
  it('are compared by what the clock showed, also when it was changed', () => {
    assert.equal(hourOfWeek(Date.parse('2026-11-23T07:00:00Z'), zurich, '2026-11-23'), 8);
    assert.equal(hourOfWeek(Date.parse('2026-10-25T07:00:00Z'), zurich, '2026-10-19'), 6 * 24 + 8); // winter time since 3 h
    assert.equal(hourOfWeek(Date.parse('2026-10-24T06:00:00Z'), zurich, '2026-10-19'), 5 * 24 + 8);
  });
});
