import './browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addTexts, age, byName, has, language, number, percent, startTexts, t, timeOfDay, unit } from '../assets/i18n.js';

await startTexts();
addTexts({ lamps: { one: '{n} lamp of {room}', other: '{n} lamps of {room}' } });

describe('texts', () => {
  it('are in the first language of the browser that there is', async () => {
    assert.equal(language, 'en');
    for (const [languages, want] of [
      [['fr', 'de-AT', 'en'], 'de'],
      [['fr'], 'en'],
      [['en-GB', 'de'], 'en'],
    ]) {
      navigator.languages = languages;
      await startTexts();
      assert.equal(language, want, languages.join());
      assert.equal(document.documentElement.lang, want);
    }
  });
  it('have one and other', () => {
    assert.equal(t('lamps', { n: 1, room: 'Lobby' }), '1 lamp of Lobby');
    assert.equal(t('lamps', { n: 0, room: 'Lobby' }), '0 lamps of Lobby');
    assert.equal(t('lamps', { n: 12345, room: 7.25 }), '12,345 lamps of 7.3');
  });
  it('that are missing are a fault of the program', () => {
    assert.throws(() => t('no.such'), /no text "no\.such"/);
    assert.equal(has('no.such'), false);
    assert.equal(has('lamps'), true);
  });
});

describe('values', () => {
  it('are written as the language does', () => {
    assert.equal(number(123), '123');
    assert.equal(number(12345.67), '12,345.7');
    assert.equal(percent(0), '0%');
    assert.equal(percent(65.4), '65%');
    assert.equal(unit(120, 'W'), '120\u00a0W');
    assert.match(timeOfDay('22:30'), /^10:30\sPM$/);
  });
  it('are told by their age in the coarsest unit that is not zero', () => {
    const at = Date.parse('2026-06-01T12:00:00Z');
    for (const [seconds, want] of [
      [0, '0 s'],
      [59, '59 s'],
      [60, '1 min'],
      [3599, '60 min'],
      [3600, '1 h'],
      [86399, '24 h'],
      [86400, '1 day'],
      [200000, '2 days'],
      [-5, '0 s'], // a clock that is ahead
    ])
      assert.equal(age(at, at + seconds * 1000), want + ' ago', `${seconds} s`);
  });
  it('are sorted as people count', () => {
    const names = ['Room 10', 'room 9', 'Atrium', 'Room 1'].map((name) => ({ name }));
    assert.deepEqual(names.sort(byName).map((n) => n.name), ['Atrium', 'Room 1', 'room 9', 'Room 10']);
  });
});
