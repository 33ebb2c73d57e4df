// The tiles of a room's panel: its lights and its shades, each with what it can be asked.
import { html } from '../ui/lib.js';
import { t, percent, Name } from '../ui/i18n.js';
import { Icon } from '../ui/icons.js';
import { levelWords, ofKelvin } from '../ui/light.js';
import { openness } from '../ui/shade.js';
import { Slider } from '../ui/slider.js';
import { Lamp, Pane } from './pictures.js';
import { sliderOf } from './room.js';
import { at, off, one, state, value } from './roomwords.js';

// pictures in a tile
const most = 24;

/**
 * A tap: what it is to lead to, and the widget, gesture and value that say so.
 * @typedef {[import('./room.js').Goal, string, string, string]} Tap
 */
/** @type {(v: number) => Tap} */
export const dim = (v) => [v, 'light_brightness', 'released', String(sliderOf(v))];
/** @type {(on: boolean) => Tap} */
export const turn = (on) => [on ? 'on' : 0, 'light_power', 'changed', on ? 'on' : 'off'];
/** @type {(v: number) => Tap} */
export const open = (v) => [v, 'shade_position', 'released', String(sliderOf(v))];
/** @type {Tap} */
export const stop = ['stop', 'shade_stop', 'clicked', ''];
/** @type {(scene: { id: number, name: string }) => Tap} */
export const recall = ({ id, name }) => [{ scene: name }, 'scene', 'clicked', String(id)];
const third = (name, v) => [v, 'shade_preset', 'released', name];

const presets = {
  lights: [25, 50, 75, 100].map((v) => [percent, v, dim(v)]),
  shades: [['one_third', 33], ['two_thirds', 67]].map(([name, v]) => [() => t('panel.' + name), v, third(name, v)]),
};

// Tile: x is what room.js shows of a family; put(tap, slides) asks for something.
function Tile({ of, name, x, put, control = undefined, picture = undefined }) {
  const [words, icon, kind] = state(x, of);
  const shownThings = x.things.slice(0, x.things.length > most ? most - 1 : most);
  return html`
    <section class=${'tile ' + of} data-of=${of} data-phase=${x.phase} aria-label=${name}>
      <header>
        <h2>${name}</h2>
        ${control && html`<p class=${'value' + (x.high === undefined ? ' none' : '')}>${value(x, of)}</p>`}
        <p class=${'state with-icon ' + kind}>${icon && html`<${Icon} name=${icon} size=${24} />`}<span>${words}</span></p>
      </header>
      ${control && html`
        <ul class=${'things' + (x.things.length > 8 ? ' many' : '')} aria-label=${name}
          style=${{ '--cols': Math.min(8, Math.max(x.things.length, 5)) }}>
          ${shownThings.map(
            (thing, i) => html`
              <li key=${i} title=${thing.name}>${picture(thing)}<span class="reader"><${Name}>${one(thing, of)}<//></span></li>`,
          )}
          ${x.things.length > most && html`<li class="rest">${t('room.more', { n: x.things.length - shownThings.length })}</li>`}
        </ul>
        <div class="control">${control}</div>`}
      ${[presets[of], x.scenes.map((s) => [() => html`<${Name}>${s.name}<//>`, s.name, recall(s)])].map(
        (list, i) => list?.length > 0 && html`
          <div class="chips" role="group" aria-label=${t(i ? 'room.scenes' : 'room.presets.' + of)}>
            ${list.map(
              ([word, v, tap]) => html`
                <button key=${v} type="button" class="chip" aria-pressed=${i ? undefined : String(at(x, of, v))}
                  aria-disabled=${off(x) || undefined} onClick=${() => put(tap)}>
                  ${word(v)}
                </button>`,
            )}
          </div>`,
      )}
    </section>`;
}

export const Scenes = ({ x, put }) => x.scenes.length > 0 && Tile({ of: 'scenes', name: t('room.scenes'), x, put });

// Guide is a slider that says why it does nothing, where it does not.
const Guide = ({ x, put, tap, ...props }) => html`
  <div class="guide" onClick=${() => off(x) && put(tap)}>
    <${Slider} ...${props} value=${x.high} asked=${typeof x.goal === 'number' ? x.goal : null} low=${x.low} high=${x.high} off=${off(x)} />
  </div>`;

export const Lights = ({ x, put }) => {
  const name = t('panel.lights');
  const on = !off(x) && x.on > 0;
  // the other of what is wanted, though the switch says what is so
  const next = x.goal === undefined || typeof x.goal === 'object' ? !on : x.goal === 0;
  return Tile({
    of: 'lights',
    name,
    x,
    put,
    picture: (thing) => html`<${Lamp} level=${thing.level} kelvin=${thing.kelvin} rgbw=${thing.rgbw} off=${!thing.online} />`,
    control: html`
      <${Guide} x=${x} put=${put} tap=${dim(x.high ?? 0)} colour=${ofKelvin(x.kelvin)} label=${t('light.level', { name })}
        text=${typeof x.goal === 'number' ? t('light.onway', { now: value(x, 'lights'), goal: levelWords(x.goal) }) : value(x, 'lights')}
        onAsk=${(v, done) => put(dim(v), !done)} />
      <button type="button" class="switch" role="switch" aria-checked=${on ? 'true' : 'false'} aria-label=${t('light.switch', { name })}
        aria-disabled=${off(x) || undefined} onClick=${() => put(turn(next))}>
        <span></span>
      </button>`,
  });
};

export const Shades = ({ x, put }) => {
  const name = t('panel.shades');
  return Tile({
    of: 'shades',
    name,
    x,
    put,
    picture: (thing) => html`<${Pane} position=${thing.position} motion=${thing.motion} goal=${x.goal} off=${!thing.online} />`,
    control: html`
      <${Guide} x=${x} put=${put} tap=${open(x.high ?? 0)} kind="shade" label=${t('shade.position', { name })}
        text=${typeof x.goal === 'number' ? t('light.onway', { now: value(x, 'shades'), goal: openness(x.goal) }) : value(x, 'shades')}
        onAsk=${(v, done) => done && put(open(v))} />
      <div class="updown">
        ${[['close', 'down', open(0)], ['stop', 'stop', stop], ['open', 'up', open(100)]].map(
          ([what, icon, tap]) => html`
            <button key=${what} type="button" class="button" aria-disabled=${off(x) || undefined}
              aria-label=${t('shade.' + what + '.of', { name })} onClick=${() => put(tap)}>
              <${Icon} name=${icon} size=${24} />
            </button>`,
        )}
      </div>`,
  });
};
