import { answers, asked, clock, page, place, Source } from '../../../shelf/ui/tests/browser.js';
import { nodes } from '../../../shelf/ui/tests/tree.js';
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startTexts, t } from '../ui/i18n.js';
import { address, go } from '../ui/router.js';
import { events, feed } from '../app/feed.js';
import { meterName, sum, words } from '../app/energy.js';
import { checkLimit, endOf } from '../app/keys.js';
import { asleep, buildIn, mayLeave, renew } from '../app/kiosk.js';
import { asker, codeOf, open as openPanel, taps } from '../app/panel.js';
import { life, percentOf, shown, start, step } from '../app/room.js';
import { numbers } from '../app/roomkit.js';
import { missing, panelOf } from '../app/rooms.js';
import { admin, ask, enter, leave, session, sites, start as begin } from '../app/session.js';
import { heard, Health, summary } from '../app/sites.js';
import { dim, Lights, turn } from '../app/tiles.js';
import { signal } from '../ui/lib.js';

await startTexts((l) => import(`../app/i18n/${l}.js`));
let time;
beforeEach(() => {
  time = clock();
});
afterEach(() => {
  leave();
  time.stop();
});

describe('the list of sites', () => {
  const site = (state, silent) => ({ state, silent, devices: 245 });
  it('is well only where all devices answer', () => {
    const text = (s) => JSON.stringify(Health({ of: s }));
    assert.ok(text(site('online', 36)).includes(t('sites.silent', { n: 36, all: '245' })));
    assert.ok(text(site('online', 36)).includes('badge warn'));
    for (const s of [site('online', 0), site('offline', 36)]) assert.ok(!text(s).includes('badge warn'));
  });
  it('says what needs somebody', () => {
    assert.equal(summary([site('online', 0), site('invited', 0)]), t('sites.sub', { n: 2 }));
    assert.equal(summary([site('online', 36), site('offline', 9)]), t('sites.away', { n: 1 }) + ' · ' + t('sites.partly', { n: 1 }));
  });
});

// after is the state of a panel after an event.
const after = (e) => step(step(start, { is: 'link', state: 'live', at: 0 }), { at: 0, ...e });

describe('the tiles of a panel', () => {
  const room = (view) => shown(after({ is: 'view', view: { online: true, widgets: {}, ...view } }), 'lights');
  const one = (level) => ({ name: 'Lamp', online: true, level });
  const draw = (view, put = () => {}) => nodes(Lights({ x: room(view), put }), ['Tile', 'Guide', 'Lamp']);
  const switchOf = (all) => all.find((n) => n.role === 'switch');

  it('draw each lamp as it is', () => {
    const all = draw({ lights: [one(40), one(0), { name: 'Away', online: false }] });
    assert.deepEqual(
      all.filter((n) => n.is === 'svg' && /^lamp/.test(n.class)).map((n) => [n.class, n.style['--l']]),
      [['lamp lit', 0.4], ['lamp', 0], ['lamp', 0]],
    );
    assert.equal(all.filter((n) => n.class === 'cross').length, 1);
    assert.equal(all.find((n) => n.class === 'value').children, '1 of 2 on, at 40%');
  });
  it('draw each lamp in its colour', () => {
    const lamps = [{ ...one(40), rgbw: [0, 255, 0, 0] }, { ...one(40), rgbw: [0, 0, 0, 255], kelvin: 2700 }];
    const colours = draw({ lights: lamps }).filter((n) => n.class === 'lamp lit').map((n) => n.style['--c']);
    assert.deepEqual(colours, ['0 255 0', '255 196 107']);
  });
  it('do not draw a hundred', () => {
    const all = draw({ lights: Array(100).fill(one(40)) });
    assert.equal(all.filter((n) => n.is === 'svg' && n.class === 'lamp lit').length, 23);
    assert.ok(all.includes(t('room.more', { n: 77 })));
  });
  it('ask for the other of what is wanted, also before it is so', () => {
    const wanted = [];
    const press = (x) => nodes(Lights({ x, put: (tap) => wanted.push(tap) })).find((n) => n.role === 'switch').onClick();
    const lit = room({ lights: [one(40)] });
    press(lit);
    press({ ...lit, goal: 0 });
    press(room({ lights: [one(0)] }));
    assert.deepEqual(wanted, [turn(false), turn(true), turn(true)]);
  });
  it('can be touched in a room that is away, to hear why nothing happens', () => {
    const wanted = [];
    const all = draw({ online: false, lights: [one(40)] }, (tap) => wanted.push(tap[1]));
    const { 'aria-checked': checked, 'aria-disabled': off, disabled } = switchOf(all);
    assert.deepEqual([checked, off, disabled], ['false', true, undefined]);
    switchOf(all).onClick();
    all.find((n) => n.class === 'guide').onClick();
    all.find((n) => n.class === 'chip').onClick();
    assert.deepEqual(wanted, ['light_power', 'light_brightness', 'light_brightness']);
  });
});

describe('what a panel asks', () => {
  const dark = { online: true, widgets: {}, lights: [{ name: '', online: true, level: 0 }] };
  const open = () => {
    const room = signal(after({ is: 'view', view: dark }));
    const sent = [];
    const tell = (e) => {
      room.value = step(room.peek(), { ...e, at: performance.now() });
    };
    const put = asker(room, tell, async (...how) => (sent.push(how), 'applied'));
    return { room, sent, put };
  };
  it('is sent five times a second while a finger slides, the last of it always', async () => {
    const { sent, put } = open();
    for (let v = 1; v <= 60; v++) {
      put('lights', dim(v), true);
      await time.pass(16);
    }
    put('lights', dim(61), false);
    await time.pass(1000);
    assert.ok(sent.length >= 5 && sent.length <= 8, String(sent.length));
    assert.equal(sent.at(-1)[2], dim(61)[3]);
  });
  it('is sent at once and in order where a switch is tapped, and what slid before is overtaken', async () => {
    const { sent, put } = open();
    put('lights', dim(10), true);
    put('lights', dim(20), true);
    for (const on of [true, false, true, false]) put('lights', turn(on));
    await time.pass(1000);
    assert.deepEqual(sent.map((how) => how[2]), [dim(10)[3], 'on', 'off', 'on', 'off']);
  });
  // A lamp behind a network that drops, holds up and answers twice, at each stage of a tap: before it is sent, sent, done, answered.
  it('is told truly within five seconds, whatever the network does, and nothing is done later than three after the finger', async () => {
    let seed = 7;
    const roll = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const later = (ms) => new Promise((over) => setTimeout(over, ms));
    const room = signal(after({ is: 'view', view: dark }));
    const tell = (e) => {
      room.value = step(room.peek(), { ...e, at: performance.now() });
    };
    let level = 0,
      latest = 0;
    const show = (v) => tell({ is: 'view', view: { ...dark, lights: [{ name: '', online: true, level: v }] } });
    const said = { done: 0, not: 0 };
    const { hear, tap } = taps(async (_, body, { signal: late }) => {
      const lost = new Promise((__, no) => {
        late.addEventListener('abort', () => no(late.reason));
      });
      const delay = () => (roll() < 0.3 ? roll() * 6000 : roll() * 200);
      const through = async () => {
        await later(delay());
        if (roll() < 0.15) return lost; // on its way there
        const finger = Date.parse(body.at);
        for (let times = roll() < 0.1 ? 2 : 1; times > 0; times--) {
          if (performance.now() - finger >= life) return { success: false, status: 'expired', message: 'That came too late.' };
          level = percentOf(+body.value);
          latest = Math.max(latest, performance.now() - finger);
          setTimeout(() => show(level), 300);
        }
        await later(delay());
        return roll() < 0.15 ? lost : { success: true, status: 'applied', message: '' };
      };
      return Promise.race([through(), lost]);
    });
    hear(new Date(performance.now()).toISOString());
    const put = asker(room, tell, tap);
    for (let i = 0; i < 1000; i++) {
      const goal = 1 + (i % 100);
      put('lights', dim(goal));
      for (let ms = 0; ms < 8000; ms += 100) {
        await time.pass(100);
        tell({ is: 'time' });
        const x = shown(room.peek(), 'lights');
        if (ms < 5000) continue;
        assert.ok(x.phase === 'done' || x.phase === 'not', `${i}: ${x.phase} after ${ms} ms`);
        if (x.phase === 'done') assert.equal(level, goal, `${i}: it is told as done`);
        assert.equal(x.high ?? 0, level, `${i}: it shows what is not so`);
      }
      said[room.peek().lights ? 'not' : 'done']++;
    }
    assert.ok(latest < life, `done ${latest} ms after the finger`);
    assert.ok(said.done > 300 && said.not > 100, JSON.stringify(said));
  });
  it('of a room that is away is not sent', async () => {
    const { room, sent, put } = open();
    room.value = after({ is: 'view', view: { ...dark, online: false } });
    put('lights', turn(true));
    await time.pass(1000);
    assert.equal(sent.length, 0);
    assert.equal(room.value.lights.why, t('room.refused', { why: t('room.away') }));
  });
});

describe('a panel that was opened', () => {
  it('does not go back to what was asked before its line told something newer', async () => {
    const line = new TransformStream(),
      says = line.writable.getWriter();
    let answer;
    globalThis.fetch = (url) =>
      url.endsWith('/events') ? Promise.resolve(new Response(line.readable)) : new Promise((done) => (answer = done));
    const panel = openPanel('lobby', 'code');
    const lit = (light_brightness) => ({ online: true, widgets: { light_brightness }, time: new Date().toISOString() });
    says.write(new TextEncoder().encode(`event: values\ndata: ${JSON.stringify(lit('230'))}\n\n`));
    while (!panel.room.value.view) await new Promise(setImmediate);
    answer(new Response(JSON.stringify(lit('0')), { headers: { 'Content-Type': 'application/json' } }));
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    assert.equal(panel.room.value.view.widgets.light_brightness, '230');
    panel.end();
    says.close();
  });
});

describe('a panel on a wall', () => {
  it('goes dark when nobody touched it for a minute', () => {
    assert.deepEqual([59_999, 60_000].map((ms) => asleep(1000, 1000 + ms, true)), [false, true]);
    assert.equal(asleep(0, 1e9, false), false); // a phone does so itself
  });
  it('takes a new version of the page when nobody is at it', () => {
    assert.deepEqual([9999, 10_000].map((ms) => mayLeave(1000, 1000 + ms)), [false, true]);
    assert.equal(buildIn('<!doctype html><html lang="en" data-build="0123456789ab">'), '0123456789ab');
    assert.equal(buildIn('<h1>502 Bad Gateway</h1>'), undefined);
  });
  it('loads itself anew after an update of the platform, and after nothing else', async () => {
    const shell = (build) => `<!doctype html><html lang="en" data-build="${build}">`;
    page.documentElement.dataset = { build: 'old' };
    const reloads = async (answer, wait = 60_000) => {
      place.reload.mock.resetCalls();
      answers(answer);
      const end = renew();
      await time.pass(wait);
      end();
      return place.reload.mock.callCount();
    };
    await time.pass(60_000); // nobody touches it
    assert.equal(await reloads({ body: shell('old') }), 0);
    assert.equal(await reloads({ status: 502, body: '<h1>Bad Gateway</h1>' }), 0);
    assert.equal(await reloads(new TypeError('no network')), 0);
    assert.equal(await reloads({ body: shell('new') }, 100), 1);
  });
  it('has its code behind the # of its link, or as older links have it', () => {
    assert.equal(codeOf('#code=A+B', new URLSearchParams('code=old')), 'A B');
    assert.equal(codeOf('', new URLSearchParams('code=old')), 'old');
    assert.equal(codeOf('', new URLSearchParams()), '');
  });
  it('shows its code in a header, and hears its events', async () => {
    answers({ body: 'event: tick\ndata: {"time":"x"}\n\n' });
    const source = new (feed(() => ({ Authorization: 'Bearer C' })))('/events');
    const got = [];
    source.addEventListener('tick', (e) => got.push(JSON.parse(e.data)));
    await new Promise((over) => {
      source.onerror = over;
    });
    assert.deepEqual(got, [{ time: 'x' }]);
    assert.equal(asked[0].headers.Authorization, 'Bearer C');
    assert.equal(asked[0].url, '/events');
  });
});

describe('a tap on a panel', () => {
  const never = (sent) => (path, body, { signal: late }) => {
    sent.push(body);
    return new Promise((_, no) => {
      late.addEventListener('abort', () => no(late.reason));
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
    assert.equal(await answer({ success: false, status: 'stale', message: 'Something newer came before.' }), 'stale');
    assert.equal(await answer({ success: true, status: 'accepted', message: 'Sent.' }), 'accepted');
    assert.equal(await answer({ success: true, message: 'Sent.' }), undefined);
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
  it('has a panel at an address of its own', () => assert.equal(panelOf(ready), '/panel/lobby%2F1#code=K'));
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
    await begin();
    assert.equal(asked.length, 0);
    assert.equal(address.value.path, '/login');
    assert.equal(address.value.query.get('to'), '/sites');
  });
  it('that a browser has still goes on, and the log-in is left', async () => {
    enter(ana);
    go('/login');
    session.value = undefined;
    answers({ body: { data: ana } });
    await begin();
    assert.equal(session.value.username, 'ana');
    assert.equal(address.value.path, '/');
  });
  it('that a provider vouched for begins, and goes on where it was to', async () => {
    go('/login?signon=done&to=%2Fkeys');
    session.value = undefined;
    answers({ body: { data: ana } });
    await begin();
    assert.equal(session.value.username, 'ana');
    assert.equal(address.value.path, '/keys');
    leave();
    go('/login?signon=done&to=%2F%2Fother.example');
    await begin();
    assert.equal(address.value.path, '/');
  });
  it('does not begin where a provider let nobody in', async () => {
    go('/login?signon=refused');
    session.value = undefined;
    answers({ status: 500 });
    await begin();
    assert.equal(asked.length, 0);
    assert.equal(address.value.path, '/login');
  });
  it('is not wanted for a panel, whose link is enough', async () => {
    go('/panel/lobby?code=K');
    answers({ status: 500 });
    await begin();
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
  it('calls a meter what it covers, and names its floor once', () => {
    assert.equal(meterName('the whole upper floor', 'Upper floor'), 'The whole upper floor');
    assert.equal(meterName('lobby and canteen', 'Ground floor'), 'Lobby and canteen · Ground floor');
    assert.equal(meterName('Meter 12'), 'Meter 12');
  });

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
