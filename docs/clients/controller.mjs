// A client of the controller's public API, for Node.js 18 and newer; nothing but what comes with it.
//
//   import { Controller } from './controller.mjs';
//   const house = new Controller('https://controller.local:8443', readFileSync('controller.pem'), { key });
//   await house.dim(40, { cluster: 1 });
//   console.log(await house.shades());
//
// As a program it lists what there is; CONTROLLER_URL, CONTROLLER_CA (file with the controller's certificate)
// and CONTROLLER_KEY (made with: controllerd key add NAME --write) are in its environment.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

// Refused: the controller did not do what was asked, or not everywhere; its message says what and where.
export class Refused extends Error {}

export class Controller {
  #api;
  #agent;
  #token;
  #login;
  #known = new Map(); // address → { etag, answer }

  // url is as in a browser, ca the certificate. who is { key }, or { username, password }.
  constructor(url, ca, who) {
    this.#api = url.replace(/\/$/, '') + '/svc/api/';
    this.#agent = new Agent({ ca, keepAlive: true });
    this.#token = who.key;
    this.#login = who.username && { username: who.username, password: who.password };
  }

  close = () => this.#agent.destroy();
  clusters = () => this.#get('getClusters');
  // nodes of a cluster, or all that are online.
  nodes = (cluster) => (cluster ? this.#get('getNodesForCluster', { clusterId: cluster }) : this.#get('getActiveNodes'));
  shades = (cluster) => (cluster ? this.#get('getShadesForCluster', { clusterId: cluster }) : this.#get('getShades'));
  // levels is everything that lights and shades show. Poll as often as you like: what has not changed is not sent again.
  levels = () => this.#get('getLightLevels');

  // where is nothing for everything, { cluster: ID }, { node: ID } or { shade: ID }.
  switch = (on, where) => this.#command('channelControl', where, { command: on ? 'ON' : 'OFF' });
  dim = (percent, where) => this.#command('channelControl', where, { command: 'DIM', dimLevel: percent });
  kelvin = (kelvin, where) => this.#command('setColorTemp', where, { colorTemp: kelvin });
  // shade moves shades: to is 'UP', 'DOWN', 'STOP' or percent open.
  shade = (to, where) => this.#command('shadeControl', where, typeof to === 'string' ? { command: to } : { command: 'POS', posValue: to });

  // wait answers where a shade stands once it does not move any more, in percent open; null: nobody knows.
  async wait(shade, longest = 300) {
    for (const end = Date.now() + 1000 * longest; Date.now() < end; await new Promise((go) => setTimeout(go, 500))) {
      const found = (await this.shades()).find((s) => s.id === shade);
      if (!found) throw new Refused(`there is no shade ${shade}`);
      if (['STOPPED', 'UNKNOWN'].includes(found.shadeState)) return found.shadeLevel;
    }
    throw new Refused(`shade ${shade} moves after ${longest} s still`);
  }

  async #command(call, where = {}, what) {
    if (Object.keys(where).length > 1) throw new Error('name one cluster, node or shade, or nothing for everything');
    const body = { targetType: 1, targetId: 0, ...what };
    for (const [kind, id] of Object.entries(where)) Object.assign(body, { targetType: kind === 'cluster' ? 2 : 3, targetId: id });
    const answer = await this.#ask(call, body);
    if (answer.status !== 1) throw new Refused(answer.message || 'refused');
  }

  #get = (call, query) => this.#ask(call + (query ? '?' + new URLSearchParams(query) : ''));

  async #ask(call, body, again = true) {
    this.#token ??= await this.#authenticate();
    const known = body ? undefined : this.#known.get(call);
    const headers = { Authorization: 'Bearer ' + this.#token, ...(known && { 'If-None-Match': known.etag }) };
    const { status, etag, text } = await this.#send(call, headers, body);
    if (status === 304) return known.answer;
    if (status === 401 && again && this.#login) {
      this.#token = undefined; // it lives an hour
      return this.#ask(call, body, false);
    }
    if (status !== 200) throw new Refused(`${call}: ${status} ${text}`);
    const answer = JSON.parse(text);
    if (!body && etag) this.#known.set(call, { etag, answer });
    return answer;
  }

  async #authenticate() {
    const answer = JSON.parse((await this.#send('authenticate', {}, this.#login)).text);
    if (answer.responseCode !== 1) throw new Refused(`log in as ${this.#login.username}: wrong name or password`);
    return answer.auth_token;
  }

  #send(call, headers, body) {
    return new Promise((done, failed) => {
      const r = request(this.#api + call, { agent: this.#agent, method: body ? 'POST' : 'GET', headers, timeout: 20000 }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => (text += part)).on('error', failed);
        answer.on('end', () => done({ status: answer.statusCode, etag: answer.headers.etag, text }));
      });
      r.on('timeout', () => r.destroy(new Error(call + ': no answer for 20 s'))).on('error', failed);
      r.end(body && JSON.stringify(body));
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { CONTROLLER_URL: url, CONTROLLER_CA: ca, CONTROLLER_KEY: key } = process.env;
  if (!url || !ca || !key) throw new Error('set CONTROLLER_URL, CONTROLLER_CA and CONTROLLER_KEY; see the beginning of this file');
  const house = new Controller(url, readFileSync(ca), { key });
  for (const c of await house.clusters()) console.log(`cluster ${c.id}  ${c.name}: light ${c.dimLevel}, shades ${c.shadeLevel}`);
  for (const n of await house.nodes()) console.log(`node ${n.id}  ${n.name}: ${n.dimLevel} %`);
  for (const s of await house.shades()) console.log(`shade ${s.id}  ${s.name}: ${s.shadeLevel} % open, ${s.shadeState.toLowerCase()}`);
  house.close();
}
