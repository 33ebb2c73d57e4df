import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts, t } from '../ui/i18n.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
const { choices, Macro, macroOf, toggled } = await import('../app/roomkit.js');

describe('the zones of a room', () => {
  it('are picked one by one, and let go of again', () => {
    assert.equal(toggled('', 3), '3');
    assert.equal(toggled('1, 3', 2), '1, 3, 2');
    assert.equal(toggled('1, 3', 1), '3');
    assert.equal(toggled('3', 3), '');
  });
  it('are those of the controller, and those that it lost', () => {
    const zones = [
      { id: 1, name: 'Lobby', floor: 'Ground' },
      { id: 2, name: 'Office', floor: 'Ground' },
    ];
    assert.deepEqual(choices(zones, '2, 9'), [
      { id: 1, name: 'Lobby', floor: '' },
      { id: 2, name: 'Office', floor: '' },
      { id: 9, strange: true },
    ]);
    const high = [...zones, { id: 3, name: 'Office', floor: 'First' }];
    assert.deepEqual(choices(high, '').map((z) => z.floor), ['Ground', 'Ground', 'First']);
  });
});

describe('the macro of a device', () => {
  const d = (macroVersion, macroNewest) => ({ deviceId: 'a/b', workspaceName: 'Lobby', macroVersion, macroNewest });
  it('is told as current, old or not heard of', () => {
    assert.equal(macroOf(d(undefined, 3)), 'rooms.macro.none');
    assert.equal(macroOf(d(2, 3)), 'rooms.macro.old');
    assert.equal(macroOf(d(3, 3)), 'rooms.macro.current');
    assert.equal(macroOf(d(4, 3)), 'rooms.macro.current'); // the platform went back to an older release
  });
  it('has its files offered, for the address that the page has', () => {
    const text = JSON.stringify(Macro({ d: d(2, 3) }));
    assert.ok(text.includes(t('rooms.macro.old', { n: 2, newest: 3 })));
    assert.ok(text.includes('/api/conferencing/devices/a%2Fb/bundle?platform=' + encodeURIComponent(location.origin)));
  });
});
