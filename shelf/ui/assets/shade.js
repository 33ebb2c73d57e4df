// Cards of shades, and the window on a shade's own page. 100 is open: right on a slider, up in a window, more daylight in both.
import { html, useRef, within } from './lib.js';
import { t, percent } from './i18n.js';
import { Icon } from './icons.js';
import { Slider } from './slider.js';
import { Head, Reason } from './light.js';

// openness words a position: "70 % open" leaves no doubt which way 100 is.
export const openness = (v) =>
  v == null ? t('shade.unknown') : v >= 100 ? t('shade.open') : v <= 0 ? t('shade.closed') : t('shade.at', { at: percent(v) });

// ShadeCard: item is {name, href, words, icon, position, low, high, positions, off, stale, fault, plain};
// onMove('open' | 'close' | 'stop').
export function ShadeCard({ item, asking, onMove }) {
  const asked = asking.asked.value,
    onWay = asked != null && asked !== item.position;
  const kind = item.off ? 'offline' : onWay ? 'asked' : item.stale ? 'stale' : '';
  return html`
    <article class="card" data-state=${item.fault || asking.failure.value ? 'fault' : undefined}>
      <${Head} item=${item} kind=${kind} value=${openness(onWay ? asked : item.position)}
        state=${onWay ? t('light.way', { now: openness(item.position) }) : item.words}
        icon=${onWay || asking.busy.value ? 'arrow' : item.icon} />
      <${Control} item=${item} asking=${asking} onMove=${onMove} />
      <${Reason} of=${asking.failure.value} />
    </article>`;
}

// ShadeRow is a card's second half, where a cluster has lights and shades.
export function ShadeRow({ item, asking, onMove }) {
  const asked = asking.asked.value,
    onWay = asked != null && asked !== item.position;
  return html`
    <div class="half">
      <p class=${'state with-icon' + (onWay ? ' accent' : '')}>
        <${Icon} name=${onWay ? 'arrow' : item.icon || 'shade'} size=${16} />
        <span>
          ${onWay
            ? t('light.onway', { now: openness(item.position), goal: openness(asked) })
            : item.icon
            ? item.words
            : openness(item.position)}
        </span>
      </p>
      <${Control} item=${item} asking=${asking} onMove=${onMove} />
      <${Reason} of=${asking.failure.value} />
    </div>`;
}

function Control({ item, asking, onMove }) {
  const { name, position, off, plain } = item;
  const asked = asking.asked.value,
    onWay = asked != null && asked !== position;
  return html`
    <div class="control">
      ${item.positions
        ? html`
          <${Slider} kind="shade" label=${t('shade.position', { name })} value=${position} asked=${onWay ? asked : null}
            low=${item.low} high=${item.high}
            text=${onWay ? t('light.onway', { now: openness(position), goal: openness(asked) }) : openness(position)}
            off=${off || position == null} plain=${plain} onAsk=${(v, done) => done && asking.ask(v)} />`
        : html`<span class="grow"></span>`}
      ${!plain && html`<${Buttons} name=${name} off=${off} onMove=${onMove} />`}
    </div>`;
}

export const Buttons = ({ name, off, onMove, large }) => html`
  <div class=${'updown' + (large ? ' large' : '')}>
    ${[
      ['close', 'down'],
      ['stop', 'stop'],
      ['open', 'up'],
    ].map(
      ([what, icon]) => html`
        <button key=${what} type="button" class="button" disabled=${off} aria-label=${t('shade.' + what + '.of', { name })}
          onClick=${() => onMove(what)}>
          <${Icon} name=${icon} size=${24} />
        </button>`,
    )}
  </div>`;

// Window shows fabric from the top, as one stands before it; a drag sets the lower edge.
export function Window({ position, asked, off, onAsk }) {
  const box = useRef(null);
  const drag = useRef(null);
  const at = (e) => {
    const r = box.current.getBoundingClientRect();
    return Math.round(within(1 - (e.clientY - r.top) / r.height, 0, 1) * 100);
  };
  const down = (e) => {
    if (!off) {
      drag.current = at(e);
      box.current.setPointerCapture(e.pointerId);
    }
  };
  const move = (e) => {
    if (drag.current != null) {
      drag.current = at(e);
      box.current.style.setProperty('--a', drag.current);
    }
  };
  const up = () => {
    if (drag.current != null) {
      const v = drag.current;
      drag.current = null;
      onAsk(v, true);
    }
  };
  // The window repeats what the slider beside it says and does, so readers skip it.
  return html`
    <div class="window" ref=${box} aria-hidden="true" data-unknown=${position == null || undefined}
      style=${{ '--m': position ?? 100, '--a': asked ?? position ?? 100 }} onPointerDown=${down} onPointerMove=${move}
      onPointerUp=${up}
      onPointerCancel=${() => {
        drag.current = null;
      }}>
      <i></i>
      ${asked != null && asked !== position && html`<b></b>`}
    </div>`;
}
