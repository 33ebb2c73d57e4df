// A code for the camera of a phone (QR, ISO/IEC 18004).
import { html } from './lib.js';
import { generate } from './vendor/lean-qr.js';

const rim = 4; // modules that stay white around a code, as its standard has it

// outline draws the dark modules of a code, row by row.
function outline({ size, get }) {
  let path = '';
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (get(x, y)) path += `M${x} ${y}h1v1h-1z`;
  return path;
}

// Code draws a text; label says what it leads to.
export function Code({ text, label }) {
  const code = generate(text),
    side = code.size + 2 * rim;
  return html`
    <svg class="code" role="img" aria-label=${label} viewBox=${`${-rim} ${-rim} ${side} ${side}`} shape-rendering="crispEdges">
      <rect x=${-rim} y=${-rim} width=${side} height=${side} fill="#fff" />
      <path d=${outline(code)} fill="#000" />
    </svg>`;
}
