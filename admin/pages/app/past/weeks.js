// A week of something beside one before it.
import { html, useMemo } from '../../ui/lib.js';
import { t, unit } from '../../ui/i18n.js';
import { address } from '../../ui/router.js';
import { Notice, Table } from '../../ui/shell.js';
import { Chart } from './chart.js';
import { Nothing, change, has, most, ticks, usePast, words } from './parts.js';
import { daysOn, hourOfWeek, named } from './when.js';

/** @import { Past } from '../../records' */
/** @import { Line } from './chart.js' */

const midnights = [0, 24, 48, 72, 96, 120, 144, 168]; // hours of the week

// weekOf is one aspect of a week over its hours.
/** @type {(past: Past, aspect: string, monday: string, name: string, now: boolean) => Line} */
function weekOf(past, aspect, monday, name, now) {
  const track = past.tracks.find((x) => x.aspect === aspect) || { at: [], value: [] };
  const at = track.at.map((x) => hourOfWeek(x * 1000, past.timeZone, monday));
  return { name, at, value: track.value, colour: now ? '--accent' : '--warn', dashed: !now, steps: true };
}

export function Weeks({ of, monday }) {
  const ago = Number(address.value.query.get('ago')) || 1,
    before = daysOn(monday, -7 * ago),
    more = '&step=1h&together=true&aspect=level,position,power';
  const a = usePast(of, monday, daysOn(monday, 7), more),
    b = usePast(of, before, daysOn(before, 7), more);
  const charts = useMemo(() => {
    if (!a.data || !b.data) return null;
    return Object.keys(words)
      .map((aspect) => ({
        aspect,
        lines: [
          weekOf(a.data, aspect, monday, t('past.this'), true),
          weekOf(b.data, aspect, before, t('past.then', { n: ago }), false),
        ].filter(has),
      }))
      .filter((c) => c.lines.length);
  }, [a.data, b.data]);
  const wrong = a.wrong || b.wrong;
  if (!charts) return wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`;
  const dayAt = (x) => named(daysOn(monday, Math.floor(x / 24)), { weekday: 'short' });
  return html`
    <div class="field">
      <label for="ago">${t('past.then.of')}</label>
      <select id="ago" class="input" onChange=${(e) => change({ ago: e.target.value })}>
        ${[1, 2, 3, 4].map((n) => html`<option key=${n} value=${n} selected=${n === ago}>${t('past.then', { n })}</option>`)}
      </select>
    </div>
    ${!charts.length && html`<${Nothing} past=${a.data} />`}
    ${charts.map(
      ({ aspect, lines }) => html`
        <section class="panel" key=${aspect}>
          <h2>${t('past.' + aspect)}</h2>
          <${Chart} label=${`${t('past.' + aspect)}: ${t('past.weeks')}`} lines=${lines} from=${0} to=${168} most=${most[aspect]}
            splits=${midnights} name=${(x) => (x < 168 ? dayAt(x) : '')} when=${(x) => `${dayAt(x)} ${Math.floor(x % 24)} h`}
            words=${words[aspect]} tick=${ticks[aspect]} />
          <${ByDay} lines=${lines} aspect=${aspect} dayAt=${dayAt} />
        </section>`,
    )}
    <p class="sub">${t('past.zone', { zone: a.data.timeZone })}</p>`;
}

// ByDay has a mean for each day, or what was used.
const ByDay = ({ lines, aspect, dayAt }) => html`
  <${Table} label=${`${t('past.' + aspect)}: ${t('past.days')}`}>
    <thead>
      <tr>
        <th>${t('past.day')}</th>
        ${lines.map((l) => html`<th class="num" key=${l.name} style=${{ whiteSpace: 'normal' }}>${l.name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${midnights.slice(0, 7).map(
        (at) => html`
          <tr key=${at}>
            <th scope="row">${dayAt(at)}</th>
            ${lines.map((l) => html`<td class="num" key=${l.name}>${figure(l, at, aspect)}</td>`)}
          </tr>`,
      )}
    </tbody>
  <//>`;

/** @type {(line: Line, from: number, aspect: string) => string} */
function figure(line, from, aspect) {
  const known = line.value.filter((v, i) => v != null && line.at[i] >= from && line.at[i] < from + 24);
  if (!known.length) return '–';
  const sum = known.reduce((a, v) => a + v, 0);
  return aspect === 'power' ? unit(sum / 1000, 'kWh') : words[aspect](Math.round(sum / known.length));
}
