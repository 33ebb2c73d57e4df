// What is in a room, drawn. Pictures say what the words beside them say, so readers skip them.
import { html } from '../ui/lib.js';
import { ofKelvin, ofRGBW } from '../ui/light.js';

// Lamp shines as much as it is lit, in its colour. level: percent; undefined: not known. off: it does not answer.
export const Lamp = ({ level, kelvin, rgbw, off }) => {
  const [r, g, b, w] = rgbw || [0, 0, 0, 0];
  const lit = !off && level > 0;
  return html`
    <svg class=${'lamp' + (lit ? ' lit' : '')} viewBox="0 0 64 64" aria-hidden="true"
      style=${{ '--c': r + g + b > 0 ? ofRGBW({ r, g, b, w }) : ofKelvin(kelvin), '--l': lit ? level / 100 : 0 }}>
      ${lit && html`<path class="beam" d="M14 34 4 62h56L50 34z" />`}
      <path class="cord" d="M32 2v11" />
      <path class="hood" d="M22 13h20l9 21H13z" />
      ${lit && html`<path class="glow" d="M20 34a12 11 0 0 0 24 0z" />`}
      ${off ? html`<path class="cross" d="M8 8l48 48" />` : level === undefined && html`<text class="mark" x="32" y="58">?</text>`}
    </svg>`;
};

const arrows = {
  opening: 'M32 36V24M26 30l6-6 6 6',
  closing: 'M32 24v12M26 30l6 6 6-6',
  // who knows whither
  moving: 'M32 22v16M28 26l4-4 4 4M28 34l4 4 4-4',
};

// Pane is a window with its fabric, where it is to be, and which way it moves.
export const Pane = ({ position, goal, motion, off }) => {
  const known = !off && position !== undefined;
  // of the fabric, from the top
  const edge = (v) => 6 + (48 * (100 - v)) / 100;
  const whither = motion === 'moving' && goal !== undefined ? (goal > position ? 'opening' : 'closing') : motion;
  return html`
    <svg class="pane" viewBox="0 0 64 64" aria-hidden="true">
      <rect class=${known ? 'sky' : 'blank'} x="6" y="6" width="52" height="48" />
      <path class="bars" d="M32 6v48M6 30h52" />
      ${known && html`
        <rect class="fabric" x="6" y="6" width="52" height=${edge(position) - 6} />
        <path class="edge" d=${`M6 ${edge(position)}h52`} />`}
      <rect class="frame" x="6" y="6" width="52" height="48" rx="2" />
      <path class="sill" d="M2 58h60" />
      ${!off && typeof goal === 'number' && !(Math.abs(goal - position) <= 2) && html`<path class="goal" d=${`M4 ${edge(goal)}h56`} />`}
      ${!off && motion && html`
        <g class="way"><circle cx="32" cy="30" r="12" /><path d=${arrows[whither]} /></g>`}
      ${off ? html`<path class="cross" d="M8 8l48 48" />` : !known && !motion && html`<text class="mark" x="32" y="38">?</text>`}
    </svg>`;
};
