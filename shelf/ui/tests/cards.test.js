import './browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts } from '../assets/i18n.js';
import { signal } from '../assets/lib.js';
import { Head, LightCard, levelWords, ofKelvin, ofRGBW } from '../assets/light.js';
import { openness, ShadeCard, ShadeRow } from '../assets/shade.js';
import { find, nodes } from './tree.js';

await startTexts();
const asking = ({ asked = null, failure = null, busy = false } = {}) => ({
  asked: signal(asked),
  failure: signal(failure),
  busy: signal(busy),
  ask: () => {},
});

describe('colours', () => {
  it('of white go from warm to cold', () => {
    assert.equal(ofKelvin(2700), '255 196 107');
    assert.equal(ofKelvin(6500), '208 226 255');
    assert.equal(ofKelvin(1000), ofKelvin(2700));
    assert.equal(ofKelvin(20000), ofKelvin(6500));
    assert.equal(ofKelvin(undefined), ofKelvin(2950));
  });
  it('that are mixed have their strongest part full, and white in all', () => {
    assert.equal(ofRGBW({ r: 255, g: 0, b: 0, w: 0 }), '255 0 0');
    assert.equal(ofRGBW({ r: 10, g: 5, b: 0, w: 0 }), '255 128 0');
    assert.equal(ofRGBW({ r: 0, g: 0, b: 0, w: 3 }), '255 255 255');
    assert.equal(ofRGBW({ r: 0, g: 0, b: 0, w: 0 }), '0 0 0');
  });
});

describe('words', () => {
  it('for a level', () => {
    assert.deepEqual([null, undefined, 0, 1, 100].map(levelWords), ['–', '–', 'Off', '1%', '100%']);
  });
  it('for a position: 100 is open', () => {
    assert.deepEqual([null, 0, 70, 100].map(openness), ['unknown', 'closed', '70% open', 'open']);
  });
});

describe('the card of a light', () => {
  const light = { name: 'Lobby', href: '/clusters/3', words: '6 lights', level: 40, dims: true };
  const card = (item, ask) => LightCard({ item: { ...light, ...item }, asking: asking(ask), onSwitch: () => {}, children: null });
  const head = (item, ask) => find(card(item, ask), 'Head');

  it('shows what is confirmed', () => {
    const h = head();
    assert.deepEqual([h.value, h.kind, h.state, h.icon], ['40%', '', '6 lights', undefined]);
    assert.equal(find(card(), 'Slider').asked, null);
    assert.equal(find(card(), 'Switch').on, true);
    assert.equal(find(card({ level: 0 }), 'Switch').on, false);
    assert.equal(head({ level: 0 }).kind, 'none');
  });
  it('shows what was asked as on its way', () => {
    const h = head({}, { asked: 80 });
    assert.deepEqual([h.value, h.kind, h.icon], ['80%', 'asked', 'arrow']);
    assert.match(h.state, /40%/);
    const s = find(card({}, { asked: 80 }), 'Slider');
    assert.deepEqual([s.value, s.asked], [40, 80]);
    assert.equal(find(card({}, { asked: 80 }), 'Switch').on, true);
  });
  it('shows no way to where it is already', () => assert.equal(head({}, { asked: 40 }).kind, ''));
  it('shows that an act is under way, not what it will be', () => {
    const h = head({}, { busy: true });
    assert.deepEqual([h.value, h.icon], ['40%', 'arrow']);
  });
  it('that is offline has nothing to command, and does not glow', () => {
    const c = card({ off: true, words: 'not answering since 08:57', icon: 'plug' });
    assert.equal(c.props.class, 'card');
    assert.equal(c.props.style['--m'], 0);
    assert.deepEqual([find(c, 'Head').kind, find(c, 'Head').state], ['offline', 'not answering since 08:57']);
    assert.equal(find(c, 'Slider').off, true);
    assert.equal(find(c, 'Slider').text, 'not answering since 08:57');
    assert.equal(find(c, 'Switch').off, true);
  });
  it('that is stale keeps its value and says so', () => {
    const h = head({ stale: true, icon: 'clock', words: 'read 4 min ago' });
    assert.deepEqual([h.value, h.kind, h.icon, h.state], ['40%', 'stale', 'clock', 'read 4 min ago']);
    assert.equal(find(card({ stale: true }), 'Slider').off, undefined);
  });
  it('that is at fault, or failed to do what was asked, is marked and says why', () => {
    assert.equal(card().props['data-state'], undefined);
    assert.equal(card({ fault: true }).props['data-state'], 'fault');
    const failed = card({}, { failure: { message: 'Lobby 3 did not answer', href: '/more/ledger/7' } });
    assert.equal(failed.props['data-state'], 'fault');
    assert.equal(find(failed, 'Reason').of.message, 'Lobby 3 did not answer');
    assert.equal(find(failed, 'Head').value, '40%');
  });
  it('for who may only look has no switch, and a slider that only shows', () => {
    assert.equal(find(card({ plain: true }), 'Switch'), undefined);
    assert.equal(find(card({ plain: true }), 'Slider').plain, true);
  });
  it('that cannot dim has no slider', () => assert.equal(find(card({ dims: false }), 'Slider'), undefined));
  it('leads to its page only where there is one', () => {
    assert.equal(find(Head({ item: light }), 'a').href, '/clusters/3');
    assert.equal(find(Head({ item: { ...light, href: null } }), 'a'), undefined);
  });
});

describe('the card of a shade', () => {
  const shade = { name: 'South', words: '8 shades', position: 70, positions: true };
  const drawn = (Card, item, ask) => Card({ item: { ...shade, ...item }, asking: asking(ask), onMove: () => {} });
  const control = (item, ask) =>
    nodes(drawn(ShadeCard, item, ask), ['Control']).filter((n) => n.is === 'Slider' || n.is === 'Buttons');

  it('shows what is confirmed, on its way, offline, stale and at fault', () => {
    const head = (item, ask) => find(drawn(ShadeCard, item, ask), 'Head');
    assert.deepEqual([head().value, head().kind], ['70% open', '']);
    assert.deepEqual(
      [head({}, { asked: 20 }).value, head({}, { asked: 20 }).kind, head({}, { asked: 20 }).icon],
      ['20% open', 'asked', 'arrow'],
    );
    assert.equal(head({ off: true }, { asked: 20 }).kind, 'offline');
    assert.equal(head({ stale: true }).kind, 'stale');
    assert.equal(drawn(ShadeCard, { fault: true }).props['data-state'], 'fault');
    assert.equal(drawn(ShadeCard).props['data-state'], undefined);
  });
  it('can be stopped even where its position is not known, and only its slider rests', () => {
    const [slider, buttons] = control({ position: null });
    assert.equal(slider.off, true);
    assert.equal(buttons.off, undefined);
  });
  it('for who may only look has no buttons', () =>
    assert.deepEqual(
      control({ plain: true }).map((n) => n.is),
      ['Slider'],
    ));
  it('as half of another says in words what it does', () => {
    const said = (item, ask) => nodes(find(drawn(ShadeRow, item, ask), 'p').children).at(-1);
    assert.equal(said(), '70% open');
    assert.equal(said({ icon: 'plug', words: 'silent' }), 'silent');
    assert.match(said({}, { asked: 20 }), /70% open.*20% open/);
  });
});
