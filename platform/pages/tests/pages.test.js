import { answers, asked, clock, Source } from '../../../shelf/ui/tests/browser.js';
import { find } from '../../../shelf/ui/tests/tree.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startTexts, t } from '../ui/i18n.js';
import { address, go } from '../ui/router.js';
import { events } from '../app/chat.js';
import { sum, words } from '../app/energy.js';
import { checkLimit, endOf } from '../app/keys.js';
import { Lights, percentOf, Shades, sliderOf, taps } from '../app/panel.js';
import { missing, numbers, panelOf } from '../app/rooms.js';
import { admin, ask, enter, leave, session, sites, start } from '../app/session.js';
import { heard, Health, summary } from '../app/sites.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
let time;
beforeEach(() => {
  time = clock();
});
afterEach(() => {
  leave();
  time.stop();
});

describe('the slider of a panel', () => {
  it('gives every percent back as it was', () => {
    for (let p = 0; p <= 100; p++) assert.equal(percentOf(sliderOf(p)), p);
    assert.deepEqual([0, 100].map(sliderOf), [0, 255]);
  });
});

describe('the list of sites', () => {
  const site = (state, silent) => ({ state, silent, devices: 245 });
  it('is well only where all devices answer', () => {
    const shown = (s) => JSON.stringify(Health({ of: s }));
    assert.ok(shown(site('online', 36)).includes(t('sites.silent', { n: 36, all: '245' })));
    assert.ok(shown(site('online', 36)).includes('badge warn'));
    for (const s of [site('online', 0), site('offline', 36)]) assert.ok(!shown(s).includes('badge warn'));
  });
  it('says what needs somebody', () => {
    assert.equal(summary([site('online', 0), site('invited', 0)]), t('sites.sub', { n: 2 }));
    assert.equal(summary([site('online', 36), site('offline', 9)]), t('sites.away', { n: 1 }) + ' · ' + t('sites.partly', { n: 1 }));
  });
});

describe('the panel of a room', () => {
  const panel = { level: {}, opening: {} };
  const item = (Card, widgets, online = true) =>
    find(Card({ panel, v: { online, widgets } }), Card === Lights ? 'LightCard' : 'ShadeCard')?.item;

  it('shows the lights as they are', () => {
    const lit = item(Lights, { light_power: 'on', light_brightness: '102' });
    assert.deepEqual([lit.level, lit.words, lit.off, lit.icon], [40, t('panel.on'), false, undefined]);
    assert.equal(item(Lights, { light_power: 'off', light_brightness: '0' }).words, t('panel.off'));
  });
  it('says where nothing is known, and commands nothing in a room that is away', () => {
    const unknown = item(Lights, {}, false);
    assert.deepEqual([unknown.level, unknown.words, unknown.off, unknown.icon], [undefined, t('panel.unknown'), true, 'clock']);
    const shades = item(Shades, {}, false);
    assert.deepEqual([shades.position, shades.words, shades.off, shades.icon], [undefined, t('panel.unknown'), true, 'clock']);
  });
  it('has no lights in a room of shades alone', () => {
    assert.equal(item(Lights, { shade_position: '255' }), undefined);
    assert.equal(item(Shades, { shade_position: '255' }).position, 100);
  });
  it('marks the preset that shades are at', () => {
    const pressed = (widgets) =>
      ['one_third', 'two_thirds'].map(
        (_, i) => Shades({ panel, v: { online: true, widgets } })[1].props.children[i].props['aria-pressed'],
      );
    assert.deepEqual(pressed({ shade_preset: 'two_thirds' }), ['false', 'true']);
    assert.deepEqual(pressed({}), ['false', 'false']);
  });
});

describe('a tap on a panel', () => {
  const never = (sent) => (path, body, { signal }) => {
    sent.push(body);
    return new Promise((_, no) => {
      signal.addEventListener('abort', () => no(signal.reason));
    });
  };
  it('tells when the finger was there by the time of the platform', async () => {
    const sent = [];
    const { hear, tap } = taps(async (_, body) => (sent.push(body), { success: true }));
    await tap('light_power', 'changed', 'on');
    hear('2026-11-26T12:00:00.000Z');
    await time.pass(20_000);
    hear('2026-11-26T12:00:01.000Z'); // was on its way for 19 s
    await tap('light_power', 'changed', 'off');
    hear('2026-11-26T12:00:25.000Z');
    await tap('light_power', 'changed', 'on');
    assert.deepEqual(
      sent.map((b) => [b.seq, b.at]),
      [
        [1, undefined],
        [2, '2026-11-26T12:00:20.000Z'],
        [3, '2026-11-26T12:00:25.000Z'],
      ],
    );
  });
  it('that nobody answers is given up after three seconds, and that is said', async () => {
    const sent = [];
    const { tap } = taps(never(sent));
    let wrong;
    tap('light_power', 'changed', 'on').catch((p) => {
      wrong = p;
    });
    await time.pass(2900);
    assert.equal(wrong, undefined);
    await time.pass(200);
    assert.equal(wrong?.message, t('panel.late'));
    assert.equal(sent.length, 1);
  });
  it('that failed otherwise says why, and one that was overtaken nothing', async () => {
    const answer = (body) => taps(async () => body).tap('light_power', 'changed', 'on');
    const message = 'Not done: Lobby 1 is offline.';
    await assert.rejects(answer({ success: false, message }), { message });
    await answer({ success: false, status: 'stale', message: 'Something newer came before.' });
  });
});

describe('a conferencing device', () => {
  const ready = { deviceId: 'lobby/1', controllerId: 'c', clusterIds: [1], deployed: true, panelCode: 'K' };
  it('tells what is to be done next', () => {
    assert.equal(missing({ ...ready, controllerId: '', clusterIds: [], deployed: false }), 'rooms.assign');
    assert.equal(missing({ ...ready, clusterIds: [], deployed: false }), 'rooms.bind');
    assert.equal(missing({ ...ready, deployed: false }), 'rooms.deploy');
    assert.equal(missing(ready), null);
  });
  it('has a panel at an address of its own', () => assert.equal(panelOf(ready), '/panel/lobby%2F1?code=K'));
  it('is given its zones as people write numbers', () => {
    assert.deepEqual(numbers(' 1, 2  3,,'), [1, 2, 3]);
    assert.deepEqual(numbers(''), []);
    assert.ok(Number.isNaN(numbers('1, hall')[1]));
  });
});

describe('a key', () => {
  it('ends so many days from now, or never', () => {
    assert.equal(endOf('30'), '2026-07-01T12:00:00.000Z');
    assert.equal(endOf(''), undefined);
  });
  it('has a limit from 1 to 100000', () => {
    for (const good of ['1', '100000']) assert.deepEqual(checkLimit(good), {}, good);
    for (const bad of ['0', '100001', '', '-1', '1.5', '1e3', ' 5'])
      assert.deepEqual(Object.keys(checkLimit(bad)), ['rateLimit'], bad);
  });
});

describe('an answer that comes bit by bit', () => {
  it('is read as it was sent, wherever it was cut', async () => {
    const sent = [
      'event: status\ndata: {"message":"reads"}',
      ': nothing',
      'event: delta\ndata: {"text":"22 °C\\n\\n"}',
      'event: result\ndata: {"reply":"x"}',
      'event: cut',
    ].join('\n\n');
    const bytes = new TextEncoder().encode(sent);
    for (const size of [1, 2, 3, 7, 1000]) {
      const body = new ReadableStream({
        start(to) {
          for (let i = 0; i < bytes.length; i += size) to.enqueue(bytes.slice(i, i + size));
          to.close();
        },
      });
      const got = [];
      await events({ body }, (event, data) => got.push([event, data]));
      assert.deepEqual(got, [
        ['status', { message: 'reads' }],
        ['delta', { text: '22 °C\n\n' }],
        ['result', { reply: 'x' }],
      ]);
    }
  });
});

describe('a session', () => {
  const ana = { username: 'ana', role: 'admin' };
  it('of an administrator may administer', () => {
    enter(ana);
    assert.equal(admin(), true);
    session.value = { ...ana, role: 'user' };
    assert.equal(admin(), false);
    session.value = null;
    assert.equal(admin(), false);
  });
  it('is not asked for where nobody was ever here', async () => {
    answers({ status: 500 });
    go('/sites');
    await start();
    assert.equal(asked.length, 0);
    assert.equal(address.value.path, '/login');
    assert.equal(address.value.query.get('to'), '/sites');
  });
  it('that a browser has still goes on, and the log-in is left', async () => {
    enter(ana);
    go('/login');
    session.value = undefined;
    answers({ body: { data: ana } });
    await start();
    assert.equal(session.value.username, 'ana');
    assert.equal(address.value.path, '/');
  });
  it('that a provider vouched for begins, and goes on where it was to', async () => {
    go('/login?signon=done&to=%2Fkeys');
    session.value = undefined;
    answers({ body: { data: ana } });
    await start();
    assert.equal(session.value.username, 'ana');
    assert.equal(address.value.path, '/keys');
    leave();
    go('/login?signon=done&to=%2F%2Fother.example');
    await start();
    assert.equal(address.value.path, '/');
  });
  it('does not begin where a provider let nobody in', async () => {
    go('/login?signon=refused');
    session.value = undefined;
    answers({ status: 500 });
    await start();
    assert.equal(asked.length, 0);
    assert.equal(address.value.path, '/login');
  });
  it('is not wanted for a panel, whose link is enough', async () => {
    go('/panel/lobby?code=K');
    answers({ status: 500 });
    await start();
    assert.equal(asked.length, 0);
    assert.equal(address.value.path, '/panel/lobby');
    go('/');
  });
  it('tells how sites are while it lasts, and nothing after', () => {
    enter(ana);
    Source.last.tell('sites', [{ id: 'a', name: 'House', state: 'online' }]);
    assert.equal(sites.value[0].state, 'online');
    leave();
    assert.equal(sites.value, null);
    assert.equal(Source.last.closed, true);
  });
  it('that has ended leads to the log-in with the next request', async () => {
    go('/keys');
    enter(ana);
    answers({ status: 401 });
    await assert.rejects(ask('GET', '/api-keys'), { status: 401 });
    assert.equal(address.value.path, '/login');
  });
  it('gives what stands in an answer', async () => {
    answers({ body: { success: true, data: [1] } });
    assert.deepEqual(await ask('GET', '/x'), [1]);
    answers({ status: 204 });
    assert.equal(await ask('DELETE', '/x'), undefined);
  });
});

describe('a site', () => {
  it('was heard some time ago, or never', () => {
    assert.equal(heard({}), t('site.neverheard'));
    assert.match(heard({ lastSeen: '2026-06-01T11:00:00Z' }), /ago/);
  });
});

describe('energy', () => {
  const hour = (wattHours, minutes = 60) => ({ wattHours, minutes });
  it('that nobody measured is no zero', () => {
    assert.equal(sum([null, null]), null);
    assert.equal(words(null), '–');
    assert.equal(words(hour(0)), '0\u00a0Wh');
    assert.deepEqual(sum([hour(1, 30), null, hour(2)]), hour(3, 90));
  });
  it('is told in what people read', () => {
    assert.equal(words(hour(999.4)), '999\u00a0Wh');
    assert.equal(words(hour(12_340)), '12.3\u00a0kWh');
  });
});
