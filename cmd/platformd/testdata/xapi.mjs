// What RoomOS gives a macro: Cisco's own library (jsxapi), which macros talk through, over a device that is played here.
// Requests over HTTP are real. What the device is told to show goes to standard output, a JSON object a line; each line of
// standard input is an event, or {"network": "off"}. Commands are checked against a schema in the form in which devices
// publish theirs (xDocument); a SHAPE of old answers as RoomOS did before it knew the younger commands and members.
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import jsxapi from 'jsxapi';
import backend from 'jsxapi/lib/backend/index.js';
import * as rpc from 'jsxapi/lib/xapi/rpc.js';

const started = performance.now();
const old = process.env.SHAPE === 'old';
const schema = JSON.parse(readFileSync(new URL('command.json', import.meta.url)));
const out = (what) => console.log(JSON.stringify({ ...what, at: Math.ceil(performance.now() - started) }));
let network = true;

// wrong says what a schema does not allow of a command's parameters; nothing if it allows all.
function wrong(command, { body, ...given }) {
  for (const [name, value] of Object.entries(given)) {
    const { ValueSpace: space } = [command[name] || {}].flat()[0];
    if (!space) return `no parameter ${name}`;
    if (Array.isArray(value) !== space.type.endsWith('Array')) return `${name} is no ${space.type}`;
    for (const v of [value].flat()) {
      if (space.Value && !space.Value.includes(v)) return `${name} is ${v}`;
      if (space.Max && (space.type === 'Integer' ? v : v.length) > Number(space.Max)) return `${name} is ${v}`;
      if (space.Min && (space.type === 'Integer' ? v : v.length) < Number(space.Min)) return `${name} is ${v}`;
      if (typeof v !== (space.type === 'Integer' ? 'number' : 'string')) return `${name} is a ${typeof v}`;
    }
  }
  const missing = Object.keys(command).find((name) => [command[name]].flat()[0].required === 'True' && given[name] === undefined);
  if (missing) return `${missing} is missing`;
  if ((body !== undefined) !== (command.multiline === 'True')) return 'a body';
  return undefined;
}

async function http(method, { Url, Header, Timeout, body }) {
  if (!network) return { status: 'Error', Message: { Value: 'Could not connect to server' } };
  const headers = Object.fromEntries(Header.map((h) => h.split(/: (.*)/).slice(0, 2)));
  let answer, text;
  try {
    answer = await fetch(Url, { method, headers, body, signal: AbortSignal.timeout(Timeout * 1000) });
    text = await answer.text();
  } catch (e) {
    return { status: 'Error', Message: { Value: e.message } };
  }
  const code = { Value: old ? answer.status : String(answer.status) };
  const more = old ? {} : { Headers: [{ id: '1', Key: { Value: 'Content-Type' }, Value: { Value: 'application/json' } }] };
  if (answer.ok) return { status: 'OK', StatusCode: code, Body: { Value: text }, ...more };
  return { status: 'Error', Message: { Value: 'Received HTTP error code' }, ...(old ? {} : { StatusCode: code }) };
}

const does = {
  'HttpClient/Post': (p) => http('POST', p),
  'HttpClient/Get': (p) => http('GET', p),
  'UserInterface/Extensions/Widget/SetValue': ({ WidgetId, Value }) => (out({ widget: WidgetId, value: Value }), { status: 'OK' }),
  'UserInterface/Extensions/Widget/UnsetValue': ({ WidgetId }) => (out({ widget: WidgetId, value: '' }), { status: 'OK' }),
  'UserInterface/Message/TextLine/Display': ({ Text }) => (out({ widget: 'line', value: Text }), { status: 'OK' }),
};

class Device extends backend.default {
  constructor() {
    super();
    this['xCommand()'] = async ({ method, params = {} }) => {
      const path = method.replace('xCommand/', '');
      const command = path.split('/').reduce((at, name) => at?.[name], schema);
      const answer = (name, result) => rpc.createCommandResponse({ CommandResponse: { [name]: result } });
      if (command?.command !== 'True' || (old && path.includes('TextLine'))) {
        return answer('Result', { status: 'Error', Reason: { Value: 'Unknown command' } });
      }
      const why = wrong(command, params);
      if (why) {
        out({ widget: 'wrong', value: `${path}: ${why}` });
        return answer('Result', { status: 'ParameterError' });
      }
      return answer(path.replaceAll('/', '') + 'Result', await does[path](params));
    };
    this['xFeedback/Subscribe()'] = async () => ({ Id: 1 });
  }
}

const device = new Device();
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const told = JSON.parse(line);
    if (told.network) network = told.network === 'on';
    else {
      out({ widget: 'finger', value: told.WidgetId });
      const action = old ? told : { ...told, PeripheralId: '', Origin: 'local' };
      device.onFeedback({ Id: 1, Event: { UserInterface: { Extensions: { Widget: { Action: { id: '1', ...action } } } } } });
    }
  })
  .on('close', () => process.exit(0));
export default new jsxapi.XAPI(device);
