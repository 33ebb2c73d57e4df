// A line of values over time: its shape, its last value and its range; no axes.
import { html } from './lib.js';

// Spark: points are [milliseconds, number or null] in order; null is a gap. show(v) words a value.
export function Spark({ points, show, label }) {
  const known = points.filter((p) => p[1] != null);
  if (known.length < 2) return null;
  const t0 = points[0][0],
    t1 = points[points.length - 1][0];
  const lo = Math.min(...known.map((p) => p[1])),
    hi = Math.max(...known.map((p) => p[1]));
  const x = (t) => (((t - t0) * 300) / (t1 - t0 || 1)).toFixed(1),
    y = (v) => (58 - ((v - lo) * 52) / (hi - lo || 1)).toFixed(1);
  let line = '',
    pen = false;
  for (const [at, v] of points) {
    if (v == null) pen = false;
    else {
      line += `${pen ? 'L' : 'M'}${x(at)} ${y(v)}`;
      pen = true;
    }
  }
  const last = known[known.length - 1][1];
  return html`
    <figure style=${{ margin: 0 }}>
      <div class="row">
        <span class="grow sub">${label}</span>
        <b>${show(last)}</b>
        <span class="sub">${show(lo)} – ${show(hi)}</span>
      </div>
      <svg class="spark" viewBox="0 0 300 64" preserveAspectRatio="none" role="img"
        aria-label=${`${label}: ${show(last)}, ${show(lo)} – ${show(hi)}`}>
        <path d=${line} />
      </svg>
    </figure>`;
}
