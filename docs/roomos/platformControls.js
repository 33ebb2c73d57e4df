// Macro for a RoomOS device whose panel platformControls.xml was imported: taps go to the platform, and the panel shows what
// the room's controller says. The bundle that the page "Rooms" of the platform offers has the three lines below filled in.
import xapi from 'xapi';

const version = 1; // told to the platform, which says when there is a newer one

const platform = 'https://platform.example';
const deviceId = 'lobby-device';
const code = 'PANEL-CODE';

const address = `${platform}/api/conferencing/panels/${encodeURIComponent(deviceId)}`;
const headers = ['Content-Type: application/json', `Authorization: Bearer ${code}`];
const source = `macro-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`; // taps are numbered within it

// Which gesture of a widget does something; the others belong to one that does.
const acts = {
  light_power: ['changed'],
  light_brightness: ['changed', 'released'],
  shade_position: ['changed', 'released'],
  shade_preset: ['released'],
  shade_stop: ['clicked'],
};
const slides = (tap) => tap.type === 'changed' && tap.widgetId !== 'light_power';

// A tap counts for three seconds from the finger on, here and at the platform, which is told when that was by its own time.
const life = 3000;
const clock = () => (typeof performance === 'undefined' ? Date.now() : performance.now());
let ahead; // of our clock, in milliseconds; what was longer on its way tells less
const hear = (time) => {
  const by = Date.parse(time) - clock();
  if (!(by <= ahead)) ahead = by;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// so is what the platform told last, and shown what the panel is known to show, by widget.
const so = {};
const shown = {};
async function show() {
  for (const WidgetId of Object.keys(so)) {
    const Value = so[WidgetId];
    if (shown[WidgetId] === Value) continue;
    const { SetValue, UnsetValue } = xapi.Command.UserInterface.Extensions.Widget;
    try {
      await (Value === '' ? UnsetValue({ WidgetId }) : SetValue({ WidgetId, Value }));
      shown[WidgetId] = Value;
    } catch (e) {
      console.warn(`${WidgetId} cannot show ${Value}: ${e.message}`);
    }
  }
}

// tell says a sentence on the screen; a device without one goes on.
async function tell(text) {
  try {
    await xapi.Command.UserInterface.Message.TextLine.Display({ Text: text.replace(/\s+/g, ' '), Duration: 6 });
  } catch (e) {
    console.warn(`${text} (${e.message})`);
  }
}

// failed puts a widget back to what is so, and says why: the finger has left it showing what was not done.
async function failed(widgetId, why) {
  delete shown[widgetId];
  if (!waiting.length) await show();
  await tell(why);
}

// reason is a sentence for what HttpClient threw, which has the status where there was an answer.
function reason(e) {
  const status = String((e.data && e.data.StatusCode) || '');
  if (status === '401') return 'This panel was withdrawn. It has to be set up again.';
  if (status === '429') return 'Too many taps at once. Wait a moment.';
  if (status) return 'The platform did not take it. Try again.';
  return 'The platform cannot be reached. Check the network of this device.';
}

// Taps are sent one after the other. One that a newer one of the same widget overtakes is not sent at all, nor one that waited too long.
const waiting = [];
let busy = false;
let number = 0;
async function send() {
  if (busy) return;
  busy = true;
  while (waiting.length) {
    const { made, ...tap } = waiting.shift();
    if (clock() - made >= life) {
      await failed(tap.widgetId, 'Not done: the building did not answer.');
      continue;
    }
    const at = ahead === undefined ? undefined : new Date(ahead + made).toISOString();
    const body = JSON.stringify({ ...tap, source, seq: ++number, at });
    try {
      const Url = `${address}/widget`;
      const Timeout = Math.ceil((life - (clock() - made)) / 1000);
      const sent = await xapi.Command.HttpClient.Post({ Url, Header: headers, Timeout, ResultBody: 'PlainText' }, body);
      const answer = JSON.parse(sent.Body);
      if (answer.time) hear(answer.time);
      Object.assign(so, answer.widgets);
      if (!answer.success && answer.status !== 'stale') await failed(tap.widgetId, answer.message);
      else if (answer.widgets && !waiting.length) await show();
      else if (tap.widgetId in so) so[tap.widgetId] = tap.value; // under way: it shows that already
    } catch (e) {
      await failed(tap.widgetId, reason(e));
    }
    if (slides(tap)) await pause(200);
  }
  busy = false;
  await show(); // what was told meanwhile
}

xapi.Event.UserInterface.Extensions.Widget.Action.on((event) => {
  const tap = { widgetId: event.WidgetId, type: event.Type, value: event.Value, made: clock() };
  if (!acts[tap.widgetId]?.includes(tap.type)) return;
  delete shown[tap.widgetId]; // the finger has moved it
  for (let i = waiting.length - 1; i >= 0; i--) {
    if (waiting[i].widgetId === tap.widgetId) waiting.splice(i, 1);
  }
  waiting.push(tap);
  send();
});

// What others do in the room is told by an answer that waits for it.
async function follow() {
  let since = '';
  let again = 1000;
  let said; // how something ended that was sent only; what stands there at first is of before
  for (;;) {
    try {
      const Url = `${address}?wait=20&macro=${version}&since=${since}`;
      const told = await xapi.Command.HttpClient.Get({ Url, Header: headers, Timeout: 30, ResultBody: 'PlainText' });
      const answer = JSON.parse(told.Body);
      hear(answer.time);
      since = answer.tag;
      again = 1000;
      Object.assign(so, answer.widgets);
      if (!busy) await show();
      const message = answer.message || '';
      if (message && said !== undefined && message !== said) await tell(message);
      said = message;
    } catch (e) {
      console.warn(`no values from the platform: ${e.message}`);
      since = '';
      await pause(again);
      again = Math.min(2 * again, 30000);
    }
  }
}

follow();
