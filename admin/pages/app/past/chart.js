// Lines over time, drawn by uPlot in the colours of the page. What they show is in a table beside them.
import { html, useEffect, useRef, useState, sheet } from '../../ui/lib.js';
import uPlot from './vendor/uplot.js';

await sheet(new URL('vendor/uplot.css', import.meta.url).href);
const dark = matchMedia('(prefers-color-scheme: dark)');
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const height = 200;
const none = [];

/**
 * @typedef {{ name: string, at: number[], value: number[], colour: string, dashed?: boolean, steps?: boolean, filled?: boolean }} Line
 */

// tokens that lines are drawn in, one after the other.
export const inks = ['--accent', '--warn', '--ok', '--fault', '--text2', '--edge'];

/**
 * Chart draws lines between two x; marks are x at which something happened. words(y) and when(x) word what the pointer is at; splits
 * are the x that the axis names, with names; tick(y) is a short word of a value.
 * @param {{ lines: Line[], from: number, to: number, most?: number, marks?: number[], splits: number[], label: string,
 *   name: (x: number) => string, when: (x: number) => string, words: (y: number) => string, tick: (y: number) => string }} props
 */
export function Chart({ lines, from, to, most, marks = none, splits, label, name, when, words, tick }) {
  const place = useRef(null);
  const [said, say] = useState('');
  const [scheme, setScheme] = useState(dark.matches);
  useEffect(() => {
    const changed = () => setScheme(dark.matches);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  useEffect(() => {
    const box = place.current; // the window may change its size when this is gone already
    const ink = colour('--text2'),
      grid = { stroke: colour('--line'), width: 1 },
      font = '12px system-ui, sans-serif';
    const [xs, ...ys] = uPlot.join(lines.map((l) => [l.at, l.value]), lines.map((l) => l.value.map(() => 2)));
    const plot = new uPlot(
      {
        width: box.clientWidth,
        height,
        padding: [10, 24, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        scales: {
          x: { time: false, range: [from, to] },
          y: { range: (_, lo, hi) => [Math.min(0, lo ?? 0), most ?? Math.max(1, (hi ?? 1) * 1.1)] },
        },
        axes: [
          { stroke: ink, grid, font, ticks: { show: false }, splits: () => splits, values: (_, list) => list.map(name), size: 28 },
          { stroke: ink, grid, font, ticks: { show: false }, values: (_, list) => list.map(tick), size: 56 },
        ],
        series: [
          {},
          ...lines.map((l) => ({
            stroke: colour(l.colour),
            width: 2,
            dash: l.dashed ? [6, 4] : undefined,
            fill: l.filled ? colour('--accent-tint') : undefined,
            paths: l.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
            points: { show: false },
          })),
        ],
        hooks: {
          draw: [(u) => drawMarks(u, marks, colour('--edge'))],
          setCursor: [(u) => say(atCursor(u, lines, when, words))],
        },
      },
      [xs, ...ys],
      box,
    );
    const fits = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    fits.observe(box);
    return () => {
      fits.disconnect();
      plot.destroy();
    };
  }, [lines, from, to, most, marks, scheme]);
  return html`
    <figure style=${{ margin: 0 }}>
      <div ref=${place} role="img" aria-label=${label} style=${{ minHeight: height + 'px' }}></div>
      <figcaption class="row sub" aria-hidden="true">
        ${lines.length > 1 && lines.map((l) => html`<${Key} key=${l.name} line=${l} />`)}
        <span class="nowrap">${said || '\u00a0'}</span>
      </figcaption>
    </figure>`;
}

// Key shows how a line is drawn.
const Key = ({ line }) => html`
  <span class="with-icon">
    <svg width="24" height="8" aria-hidden="true">
      <path d="M0 4h24" stroke=${`var(${line.colour})`} stroke-width="2.5" stroke-dasharray=${line.dashed ? '6 4' : undefined} />
    </svg>
    <bdi>${line.name}</bdi>
  </span>`;

// atCursor words what is below the pointer: of a line in steps the value that holds there.
function atCursor(u, lines, when, words) {
  const { left } = u.cursor;
  if (left == null || left < 0) return '';
  const x = u.posToVal(left, 'x');
  const held = lines.map((l) => {
    let i = l.at.length - 1;
    while (i >= 0 && l.at[i] > x) i--;
    const y = i < 0 ? null : l.value[i];
    return y == null ? '–' : words(y);
  });
  return `${when(x)}: ${held.join(' · ')}`;
}

function drawMarks(u, marks, ink) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.lineWidth = devicePixelRatio;
  for (const x of marks) {
    const left = Math.round(u.valToPos(x, 'x', true));
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + 8 * devicePixelRatio);
    ctx.stroke();
  }
  ctx.restore();
}
