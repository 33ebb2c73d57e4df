import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';
import { begin, ended, fits, next, take, words } from '../app/kit/stages.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
const { versions } = await import('../app/roomkit.js');

const d = (more) => ({ address: '10.0.0.5', deployed: true, macroVersion: 1, macroNewest: 2, ...more });

describe('a roll-out', () => {
  it('goes to devices whose address is known, and whose panel has a code', () => {
    assert.ok(fits(d(), 'install'));
    assert.ok(!fits(d({ address: undefined }), 'install'));
    assert.ok(!fits(d({ deployed: false }), 'install'));
    assert.ok(fits(d({ deployed: false }), 'remove'));
  });
  it('is proposed to those that lack the newest macro, and to those that were not done', () => {
    assert.ok(next(d(), undefined, 'install'));
    assert.ok(next(d({ macroVersion: undefined }), undefined, 'install'));
    assert.ok(!next(d({ macroVersion: 2 }), undefined, 'install'));
    for (const is of ['failed', 'untrusted', 'quiet', 'waits', 'begun']) assert.ok(next(d({ macroVersion: 2 }), { is }, 'install'), is);
    assert.ok(!next(d(), { is: 'asks' }, 'install'));
    assert.ok(!next(d(), undefined, 'remove'));
  });
  it('tells how far it is', () => {
    let stages = begin(['a', 'b', 'c']);
    assert.equal(words(stages), '0 of 3 done.');
    stages = take(stages, { deviceId: 'a', is: 'begun' });
    stages = take(stages, { deviceId: 'a', is: 'installed' });
    assert.equal(Object.values(stages).filter(ended).length, 0);
    stages = take(stages, { deviceId: 'a', is: 'asks', macroVersion: 2 });
    assert.equal(words(stages), '1 of 3 done.');
    stages = take(take(stages, { deviceId: 'b', is: 'failed', error: 'no' }), { deviceId: 'c', is: 'quiet' });
    assert.equal(words(stages), '1 of 3 done. 2 not.');
    assert.equal(Object.values(stages).filter(ended).length, 3);
  });
});

describe('the versions of macros', () => {
  it('are counted among the devices that run one', () => {
    const all = [d(), d({ macroVersion: 2 }), d({ macroVersion: undefined }), d({ macroVersion: 1 })];
    assert.deepEqual(versions(all), { all: 3, old: 2 });
  });
});
