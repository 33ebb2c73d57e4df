// Requests to the program's own server, and errors as people read them.
import { t, has } from './i18n.js';

// Problem is an answer that is no success (RFC 9457), or none at all (status 0).
export class Problem extends Error {
  constructor(status, body = {}, { wait, etag, id } = {}) {
    super(
      body.detail || body.message || body.error || (has('http.' + status) ? t('http.' + status) : t('http.other', { n: status })),
    );
    Object.assign(this, { status, errors: body.errors || [], body, wait, etag, id: body.request || id });
  }
}

// api makes the functions that talk to a server. prefix is put before every path; headers() gives those of each request;
// unauthorized() is called on 401 and resolves to whether the request is worth another try.
export function api({ prefix, headers = () => ({}), unauthorized }) {
  async function call(method, path, body, { etag, again = true, raw, signal, headers: more } = {}) {
    const h = { Accept: 'application/json', ...headers(), ...more };
    if (etag) h['If-Match'] = etag;
    const blob = body instanceof Blob;
    if (body !== undefined && !blob) h['Content-Type'] = 'application/json';
    let r;
    try {
      r = await fetch(prefix + path, {
        method,
        headers: h,
        body: body === undefined || blob ? body : JSON.stringify(body),
        signal,
      });
    } catch (e) {
      if (e.name === 'AbortError') throw e;
      throw new Problem(0);
    }
    if (r.status === 401 && again && unauthorized && (await unauthorized()))
      return call(method, path, body, { etag, again: false, raw, signal, headers: more });
    if (raw && r.ok) return r;
    const text = await r.text();
    let data;
    try {
      data = text ? JSON.parse(text) : undefined;
    } catch {
      data = undefined;
    }
    const tag = r.headers.get('ETag');
    if (!r.ok)
      throw new Problem(r.status, data, {
        wait: +r.headers.get('Retry-After') || 0,
        etag: tag,
        id: r.headers.get('X-Request-Id'),
      });
    return { data, etag: tag, status: r.status, location: r.headers.get('Location'), headers: r.headers };
  }
  const plain = (method) => async (path, body, o) => (await call(method, path, body, o)).data;
  return {
    call,
    get: (path, o) => plain('GET')(path, undefined, o),
    post: plain('POST'),
    put: plain('PUT'),
    patch: plain('PATCH'),
    del: (path, o) => plain('DELETE')(path, undefined, o),
  };
}
