import { place } from './browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { address, beforeLeaving, go, match, ownPath } from '../assets/router.js';
import { leadsTo } from '../assets/shell.js';

const routes = [['/'], ['/devices'], ['/devices/:id'], ['/commission/shade/:id'], ['/commission/:bus']];
const found = (path) => {
  const m = match(routes, path);
  return m && [m.route[0], m.params];
};

describe('an address', () => {
  it('leads to the page whose pattern it has', () => {
    assert.deepEqual(found('/'), ['/', {}]);
    assert.deepEqual(found('/devices/'), ['/devices', {}]);
    assert.deepEqual(found('/devices/59'), ['/devices/:id', { id: '59' }]);
    assert.deepEqual(found('/commission/shade/5001'), ['/commission/shade/:id', { id: '5001' }]);
    assert.deepEqual(found('/commission/2nd%20floor%2Feast'), ['/commission/:bus', { bus: '2nd floor/east' }]);
  });
  it('that nobody has leads nowhere', () => {
    for (const path of ['/device', '/devices/59/level', '/devices//', '/commission/shade', '/Devices'])
      if (path !== '/commission/shade') assert.equal(found(path), null, path);
    assert.deepEqual(found('/commission/shade'), ['/commission/:bus', { bus: 'shade' }]);
  });
  it('with a % that means nothing leads nowhere', () => assert.equal(found('/devices/100%'), null));
  it('is gone to unless the page is not to be left', () => {
    go('/devices?q=lobby');
    assert.deepEqual([address.value.path, address.value.query.get('q')], ['/devices', 'lobby']);
    beforeLeaving(() => false);
    go('/');
    assert.equal(place.pathname, '/devices');
    beforeLeaving(null);
    go('/');
    assert.equal(address.value.path, '/');
  });
});

describe('after a log-in one comes', () => {
  for (const [to, want] of [
    ['/devices?q=1', '/devices?q=1'],
    ['/', '/'],
    [null, '/'],
    ['', '/'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['javascript:alert(1)', '/'],
  ])
    it(`from ${to} to ${want}`, () => assert.equal(ownPath(to), want));
});

describe('a tab', () => {
  it('is current at its own address, below it, and where it stands for something else', () => {
    const devices = { href: '/devices', also: ['/shades'] };
    for (const path of ['/devices', '/devices/59', '/shades/1']) assert.equal(leadsTo(devices, path), true, path);
    for (const path of ['/', '/deviceslist', '/shadesof']) assert.equal(leadsTo(devices, path), false, path);
    assert.equal(leadsTo({ href: '/', also: ['/clusters'] }, '/clusters/3'), true);
    assert.equal(leadsTo({ href: '/' }, '/'), true);
    assert.equal(leadsTo({ href: '/' }, '/more'), false);
  });
});
