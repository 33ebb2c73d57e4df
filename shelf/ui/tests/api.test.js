import { answers, asked } from './browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { api, Problem } from '../assets/api.js';
import { startTexts, t } from '../assets/i18n.js';

await startTexts();

describe('a request', () => {
  it('carries JSON and what it was given', async () => {
    answers({ body: { id: 7 }, headers: { ETag: '"3"' } });
    const server = api({ prefix: '/api/v1', headers: () => ({ Authorization: 'Bearer x' }) });
    assert.deepEqual(await server.patch('/nodes/7', { name: 'Lobby' }, { etag: '"2"' }), { id: 7 });
    const [r] = asked;
    assert.equal(r.url, '/api/v1/nodes/7');
    assert.equal(r.method, 'PATCH');
    assert.equal(r.body, '{"name":"Lobby"}');
    assert.deepEqual(r.headers, {
      Accept: 'application/json',
      Authorization: 'Bearer x',
      'If-Match': '"2"',
      'Content-Type': 'application/json',
    });
  });
  it('sends a file as it is', async () => {
    answers({});
    const file = new Blob(['site: x']);
    await api({ prefix: '' }).put('/site/file', file);
    assert.equal(asked[0].body, file);
    assert.equal(asked[0].headers['Content-Type'], undefined);
  });
  it('without a session is made once more if there is one then, and only once', async () => {
    let asks = 0;
    const server = api({ prefix: '', unauthorized: async () => ++asks > 0 });
    answers({ status: 401 }, { body: { fine: true } });
    assert.deepEqual(await server.get('/x'), { fine: true });
    answers({ status: 401 });
    await assert.rejects(server.get('/x'), { status: 401 });
    assert.equal(asked.length, 2);
    assert.equal(asks, 2);
  });
  it('without a session fails where there is none', async () => {
    answers({ status: 401 });
    await assert.rejects(api({ prefix: '', unauthorized: async () => false }).get('/x'), { status: 401 });
    assert.equal(asked.length, 1);
  });
});

describe('a problem', () => {
  const refused = (answer) => {
    answers(answer);
    return api({ prefix: '' })
      .get('/x')
      .then(assert.fail, (p) => p);
  };
  it('has the words of the server, what is wrong where, and when to try again', async () => {
    const p = await refused({
      status: 429,
      body: { detail: 'too many', errors: [{ pointer: '/name', detail: 'taken' }] },
      headers: { 'Retry-After': '12', 'X-Request-Id': 'r-1' },
    });
    assert.ok(p instanceof Problem);
    assert.equal(p.message, 'too many');
    assert.deepEqual(p.errors, [{ pointer: '/name', detail: 'taken' }]);
    assert.deepEqual([p.status, p.wait, p.id], [429, 12, 'r-1']);
  });
  it('without words has those of its number', async () => {
    assert.equal((await refused({ status: 403, body: '<html>' })).message, t('http.403'));
    assert.equal((await refused({ status: 418 })).message, t('http.other', { n: 418 }));
  });
  it('that nobody answered is one too', async () => assert.equal((await refused(new TypeError('network'))).status, 0));
  it('is none where the page gave up itself', async () =>
    assert.equal((await refused(Object.assign(new Error('gone'), { name: 'AbortError' }))).name, 'AbortError'));
});
