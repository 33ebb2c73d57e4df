// Requests to the program's own server, and errors as people read them.
import { t, has } from './i18n.js';

/**
 * How a request is made.
 * @typedef {object} Asking
 * @property {string} [etag] for If-Match
 * @property {boolean} [again] false: it is not made once more after a 401
 * @property {boolean} [raw] the answer itself is given, not what stands in it
 * @property {AbortSignal} [signal]
 * @property {Record<string, string>} [headers]
 */

// Problem is an answer that is no success (RFC 9457), or none at all (status 0).
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {{ detail?: string, message?: string, error?: string, request?: string,
   *   errors?: { pointer: string, detail: string }[] }} [body]
   * @param {{ wait?: number, etag?: string, id?: string }} [more] wait: seconds until the next try is worth it
   */
  constructor(status, body = {}, { wait, etag, id } = {}) {
    super(
      body.detail || body.message || body.error || (has('http.' + status) ? t('http.' + status) : t('http.other', { n: status })),
    );
    this.status = status;
    this.errors = body.errors || [];
    this.body = body;
    this.wait = wait;
    this.etag = etag;
    this.id = body.request || id;
  }
}

// api makes the functions that talk to a server. prefix is put before every path; headers() gives those of each request;
// unauthorized() is called on 401 and resolves to whether the request is worth another try; refusal() may word an answer anew.
/**
 * @param {object} server
 * @param {string} server.prefix
 * @param {() => Record<string, string>} [server.headers]
 * @param {() => Promise<boolean>} [server.unauthorized]
 * @param {<T>(answer: T) => T} [server.refusal]
 */
export function api({ prefix, headers = () => ({}), unauthorized, refusal = (x) => x }) {
  /**
   * @param {string} method
   * @param {string} path
   * @param {any} [body] a Blob goes out as it is, all else as JSON
   * @param {Asking} [how]
   */
  async function call(method, path, body, { etag, again = true, raw, signal, headers: more } = {}) {
    /** @type {Record<string, string>} */
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
      throw new Problem(r.status, refusal(data), {
        wait: +r.headers.get('Retry-After') || 0,
        etag: tag,
        id: r.headers.get('X-Request-Id'),
      });
    return { data, etag: tag, status: r.status, location: r.headers.get('Location'), headers: r.headers };
  }
  /** @type {(method: string) => (path: string, body?: unknown, how?: Asking) => Promise<any>} */
  const plain = (method) => async (path, body, how) => (await call(method, path, body, how)).data;
  return {
    call,
    /** @type {(path: string, how?: Asking) => Promise<any>} */
    get: (path, how) => plain('GET')(path, undefined, how),
    post: plain('POST'),
    put: plain('PUT'),
    patch: plain('PATCH'),
    /** @type {(path: string, how?: Asking) => Promise<any>} */
    del: (path, how) => plain('DELETE')(path, undefined, how),
  };
}
