// The colour of light, and cards of what shines.
import { html } from './lib.js';
import { t, percent, Name } from './i18n.js';
import { Icon } from './icons.js';
import { Slider, Switch } from './slider.js';

const warm = [255, 196, 107],
  cold = [208, 226, 255]; // 2700 K, 6500 K

// ofKelvin gives "r g b" of a colour temperature as we draw it.
export function ofKelvin(k) {
  const s = Math.min(1, Math.max(0, ((k || 2950) - 2700) / 3800));
  return warm.map((w, i) => Math.round(w + (cold[i] - w) * s)).join(' ');
}

// ofRGBW gives "r g b" of a mixed colour: white is added, the strongest part is full.
export function ofRGBW({ r, g, b, w }) {
  const mixed = [r + w, g + w, b + w],
    most = Math.max(...mixed, 1);
  return mixed.map((v) => Math.round((v * 255) / most)).join(' ');
}

// levelWords says how bright something is.
export const levelWords = (v) => (v == null ? '–' : v === 0 ? t('light.off') : percent(v));

// LightCard shows one light or several as one. item is {name, href, words, icon, level, low, high, colour, dims, off,
// stale, fault, plain: may only be looked at}; asking is that of asked.js for its level; onSwitch(on).
export function LightCard({ item, asking, onSwitch, children }) {
  const { name, level, off, plain } = item;
  const asked = asking.asked.value,
    wrong = asking.failure.value;
  const onWay = asked != null && asked !== level;
  const value = levelWords(level);
  const text = off ? item.words : onWay ? t('light.onway', { now: value, goal: levelWords(asked) }) : value;
  const kind = off ? 'offline' : onWay ? 'asked' : item.stale ? 'stale' : level > 0 ? '' : 'none';
  const state = onWay ? t('light.way', { now: value }) : asking.busy.value ? t('light.sent') : item.words;
  return html`
    <article class=${'card' + (off ? '' : ' glow')} data-state=${item.fault || wrong ? 'fault' : undefined}
      style=${{ '--c': item.colour, '--m': off ? 0 : level || 0 }}>
      <${Head} item=${item} kind=${kind} value=${onWay ? levelWords(asked) : value} state=${state}
        icon=${onWay || asking.busy.value ? 'arrow' : item.icon} />
      <div class="control">
        ${item.dims
          ? html`
            <${Slider} label=${t('light.level', { name })} value=${level} asked=${onWay ? asked : null} low=${item.low}
              high=${item.high} text=${text} colour=${item.colour} off=${off} plain=${plain} onAsk=${asking.ask} />`
          : html`<span class="grow"></span>`}
        ${!plain && html`
          <${Switch} label=${t('light.switch', { name })} on=${(level || 0) > 0} off=${off}
            onClick=${() => onSwitch(!(level > 0))} />`}
      </div>
      ${children}
      <${Reason} of=${wrong} />
    </article>`;
}

// Head is the first row of a card: a link to its page.
export function Head({ item, kind, value, state, icon }) {
  const inner = html`
    <span class="who">
      <span class="name"><${Name}>${item.name}<//></span>
      <span class="state with-icon">${icon && html`<${Icon} name=${icon} size=${16} />`}<span>${state}</span></span>
    </span>
    <span class=${'value ' + (kind || '')}>${value}</span>`;
  return item.href ? html`<a class="head" href=${item.href}>${inner}</a>` : html`<div class="head">${inner}</div>`;
}

// Reason says on the card why a command did not succeed.
export const Reason = ({ of }) =>
  of &&
  html`
    <p class="reason fault with-icon">
      <${Icon} name="triangle" size=${16} />
      <span>${of.message}${of.href && html` <a href=${of.href}>${t('why')}</a>`}</span>
    </p>`;
