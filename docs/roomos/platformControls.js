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

// What the panel is known to show, by widget.
const shown = {};
async function show(widgets) {
  for (const [WidgetId, Value] of Object.entries(widgets)) {
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

const tell = (Text) => xapi.Command.UserInterface.Message.TextLine.Display({ Text, Duration: 6 });

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
      await tell('Not done: the building did not answer.');
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
      if (!answer.success && answer.status !== 'stale') {
        delete shown[tap.widgetId]; // it shows what was tapped, which is not so
        await tell(answer.message);
      }
      if (answer.widgets && !waiting.length) await show(answer.widgets);
    } catch (e) {
      delete shown[tap.widgetId];
      await tell('The platform cannot be reached. Check the network of this device.');
    }
    if (slides(tap)) await pause(200);
  }
  busy = false;
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
      if (!busy) await show(answer.widgets);
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
