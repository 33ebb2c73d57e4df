// The control panel of a room, as its device shows it: lights, shades, presets, and a box for what one would say.
import { html, signal, useEffect, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { address } from '../ui/router.js';
import { api, Problem } from '../ui/api.js';
import { stream } from '../ui/stream.js';
import { asking } from '../ui/asked.js';
import { Notice, Banner } from '../ui/shell.js';
import { LightCard } from '../ui/light.js';
import { ShadeCard } from '../ui/shade.js';
import { Icon } from '../ui/icons.js';
import { refusal, said } from './said.js';

// Percent of a slider's 0 to 255 and back: every percent comes back unchanged.
export const percentOf = (v) => Math.floor((v * 100 + 127) / 255);
export const sliderOf = (p) => Math.floor((p * 255 + 50) / 100);

// life is how long a tap counts from the finger on, in milliseconds: here, at the platform, and at the controller.
const life = 3000;

// taps numbers taps, and sends each by post as long as it counts. hear takes the platform's time, by which it tells when the finger
// was there: our own clock may be wrong, and may jump.
export function taps(post) {
  const source = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, '0')).join('');
  let seq = 0,
    ahead; // of our monotonic clock, in milliseconds; what was longer on its way tells less
  const hear = (time) => {
    const by = Date.parse(time) - performance.now();
    if (!(by <= ahead)) ahead = by;
  };
  const tap = async (widgetId, type, value) => {
    const at = ahead === undefined ? undefined : new Date(ahead + performance.now()).toISOString();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), life);
    let got;
    try {
      got = await post('/widget', { widgetId, type, value, source, seq: ++seq, at }, { signal: late.signal });
    } catch (p) {
      throw late.signal.aborted ? new Problem(0, { detail: t('panel.late') }) : p;
    } finally {
      clearTimeout(timer);
    }
    if (got.time) hear(got.time); // we reckoned wrongly, perhaps: our clock stood still while we slept
    if (got.status === 'stale') return; // something newer was asked for meanwhile
    if (!got.success) throw new Problem(200, { detail: said(got.message) });
  };
  return { hear, tap };
}

// open makes all that a panel needs: what it shows, how it asks, and the line to the platform.
function open(device, code) {
  const shown = signal(undefined); // null: not ours to see
  const server = api({
    prefix: '/api/conferencing/panels/' + encodeURIComponent(device),
    headers: () => ({ Authorization: 'Bearer ' + code }),
    refusal,
  });
  const { hear, tap } = taps(server.post);
  const number = (widget) => {
    const v = shown.peek()?.widgets[widget];
    return v === undefined ? undefined : percentOf(+v);
  };
  const look = async () => {
    try {
      shown.value = await server.get('');
      hear(shown.peek().time);
    } catch (p) {
      if (p.status !== 401) throw p;
      shown.value = null;
    }
    return !!shown.value;
  };
  const line = stream({
    url: `/api/conferencing/panels/${encodeURIComponent(device)}/events?code=${encodeURIComponent(code)}`,
    handle: {
      values: (v) => {
        shown.value = v;
        hear(v.time);
      },
      tick: (v) => hear(v.time),
    },
    ask: look,
  });
  look().then(
    (may) => may || line.end(),
    () => {},
  ); // without an answer the line tries again by itself
  return {
    shown,
    link: line.link,
    end: line.end,
    tap,
    level: asking(
      (v) => tap('light_brightness', 'released', String(sliderOf(v))),
      () => number('light_brightness'),
    ),
    opening: asking(
      (v) => tap('shade_position', 'released', String(sliderOf(v))),
      () => number('shade_position'),
    ),
    hear: (text) => server.post('/say', { text }),
  };
}

export default function Panel({ params }) {
  const [panel, setPanel] = useState(null);
  useEffect(() => {
    const made = open(params.device, address.peek().query.get('code') || '');
    setPanel(made);
    return made.end;
  }, [params.device]);
  const v = panel?.shown.value;
  useEffect(() => {
    document.title = v?.workspaceName || t('panel');
  }, [v?.workspaceName]);
  if (v === undefined)
    return html`<main class="alone" aria-busy="true"><h1 class="reader">${t('panel')}</h1><div class="skeleton"></div></main>`;
  if (!v) return html`<main class="alone"><h1>${t('panel')}</h1><${Notice} kind="warn">${t('panel.code')}<//></main>`;
  return html`
    <main class="alone wide">
      <div class="title">
        <div class="grow"><h1><bdi>${v.workspaceName || v.deviceId}</bdi></h1><p class="sub">${t('panel.sub')}</p></div>
      </div>
      <${Banner} link=${panel.link} />
      <div role="status">
        ${!v.online && html`<${Notice} kind="fault" icon="plug">${t('panel.offline')}<//>`}
        ${v.message && html`<${Notice} kind="info">${said(v.message)}<//>`}
      </div>
      <${Lights} panel=${panel} v=${v} />
      <${Shades} panel=${panel} v=${v} />
      ${v.voice && html`<${Say} panel=${panel} />`}
    </main>`;
}

export function Lights({ panel, v }) {
  const level = v.widgets.light_brightness;
  // A room with shades only.
  if (level === undefined && v.widgets.light_power === undefined && v.widgets.shade_position !== undefined) return null;
  const known = level !== undefined;
  const item = {
    name: t('panel.lights'),
    words: known ? (v.widgets.light_power === 'on' ? t('panel.on') : t('panel.off')) : t('panel.unknown'),
    level: known ? percentOf(+level) : undefined,
    dims: true,
    off: !v.online,
    icon: known ? undefined : 'clock',
  };
  return html`
    <${LightCard} item=${item} asking=${panel.level}
      onSwitch=${(on) => panel.level.run(() => panel.tap('light_power', 'changed', on ? 'on' : 'off'))} />`;
}

const moves = {
  open: ['shade_position', 'released', '255'],
  close: ['shade_position', 'released', '0'],
  stop: ['shade_stop', 'clicked', ''],
};

export function Shades({ panel, v }) {
  const at = v.widgets.shade_position,
    preset = v.widgets.shade_preset;
  const item = {
    name: t('panel.shades'),
    words: at === undefined ? t('panel.unknown') : '',
    position: at === undefined ? undefined : percentOf(+at),
    positions: true,
    off: !v.online,
    icon: at === undefined ? 'clock' : undefined,
  };
  const put = (tap) => panel.opening.run(() => panel.tap(...tap));
  return html`
    <${ShadeCard} item=${item} asking=${panel.opening} onMove=${(what) => put(moves[what])} />
    <div class="chips" role="group" aria-label=${t('panel.presets')}>
      ${['one_third', 'two_thirds'].map(
        (p) => html`
          <button key=${p} class="chip" aria-pressed=${preset === p ? 'true' : 'false'} disabled=${!v.online}
            onClick=${() => put(['shade_preset', 'released', p])}>
            ${t('panel.' + p)}
          </button>`,
      )}
    </div>`;
}

// Say takes a sentence; what the room would hear stands below it.
function Say({ panel }) {
  const [text, setText] = useState('');
  const [heard, setHeard] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e) => {
    e.preventDefault();
    if (busy || !text.trim()) return;
    setBusy(true);
    try {
      setHeard(await panel.hear(text.trim()));
      setText('');
    } catch (p) {
      setHeard({ success: false, reply: p.message });
    }
    setBusy(false);
  };
  return html`
    <section class="panel">
      <h2>${t('panel.say')}</h2>
      <form class="row" onSubmit=${submit}>
        <div class="field grow">
          <label class="reader" for="say">${t('panel.say')}</label>
          <input id="say" class="input" autocomplete="off" maxlength="500" placeholder=${t('panel.say.hint')} value=${text}
            onInput=${(e) => setText(e.target.value)} />
        </div>
        <button type="submit" class="button primary" aria-disabled=${busy || !text.trim() ? 'true' : undefined}>
          <${Icon} name="chat" />
          ${t('panel.send')}
        </button>
      </form>
      <div role="status">
        ${heard && html`
          <p class=${'with-icon' + (heard.success ? '' : ' fault')} id="heard">
            <${Icon} name=${heard.success ? 'check' : 'triangle'} />
            <span>${said(heard.reply)}</span>
          </p>`}
      </div>
    </section>`;
}
