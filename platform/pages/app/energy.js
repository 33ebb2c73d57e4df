// The last week of a site's meters: bars by day, and a map by hour. Both are tables, drawn over.
import { html, useState, sheet } from '../ui/lib.js';
import { t, language, number, unit } from '../ui/i18n.js';
import { Table } from '../ui/shell.js';
import { HeatMap } from '../ui/heat.js';
import { useServer } from './useserver.js';

await sheet(new URL('energy.css', import.meta.url).href);

/** @typedef {{ wattHours: number, minutes: number } | null} Hour */

const named = (date, options) => new Intl.DateTimeFormat(language, { timeZone: 'UTC', ...options }).format(Date.parse(date));
const dayOf = (date) => named(date, { weekday: 'short', day: 'numeric', month: 'numeric' });

// sum of what was measured; null if nothing was.
/** @type {(hours: Hour[]) => Hour} */
export const sum = (hours) =>
  hours.reduce((a, h) => (h ? { wattHours: (a?.wattHours || 0) + h.wattHours, minutes: (a?.minutes || 0) + h.minutes } : a), null);

// meterName is what a meter covers, and its floor where that does not say it.
/** @type {(covers: string, floor?: string) => string} */
export const meterName = (covers, floor) => {
  const name = covers.charAt(0).toUpperCase() + covers.slice(1);
  return !floor || name.toLowerCase().includes(floor.toLowerCase()) ? name : `${name} · ${floor}`;
};

// words of an amount; what is not known is no zero.
/** @type {(h: Hour) => string} */
export const words = (h) => (!h ? '–' : h.wattHours < 1000 ? unit(Math.round(h.wattHours), 'Wh') : unit(h.wattHours / 1000, 'kWh'));

// Bars are drawn beside the figures that they show.
const Bars = ({ label, head, lines }) => {
  const most = Math.max(1e-9, ...lines.map((l) => l.of?.wattHours || 0));
  return html`
    <${Table} label=${label}>
      <thead class="reader"><tr><th>${head}</th><td></td><th>${t('energy.used')}</th></tr></thead>
      <tbody>
        ${lines.map(
          (l) => html`
            <tr key=${l.key}>
              <th scope="row">${l.name}</th>
              <td class="bar" aria-hidden="true"><i style=${{ '--m': ((l.of?.wattHours || 0) / most) * 100 }}></i></td>
              <td class="num">${words(l.of)}${l.part ? html`<br /><span class="sub">${l.part}</span>` : ''}</td>
            </tr>`,
        )}
      </tbody>
    <//>`;
};

// part says how much of a day that is over was measured, unless it was all of it.
const part = (h) => (h && h.minutes < 1370 ? t('energy.part', { h: number(h.minutes / 60) }) : '');

// Week is the week by hours.
const Week = ({ days, rows, label }) => {
  const most = Math.max(1e-9, ...rows.flat().map((h) => h?.wattHours || 0));
  return html`
    <${HeatMap} label=${label} corner=${t('energy.day')}
      rows=${days.map((d, i) => ({
        key: d,
        name: named(d, { weekday: 'short' }),
        title: dayOf(d),
        cells: rows[i].map((h) => ({ m: h && (h.wattHours / most) * 100, words: words(h) })),
      }))} />
    <p class="sub">${t('energy.scale', { most: words({ wattHours: most, minutes: 60 }) })}</p>`;
};

export function Energy({ id }) {
  const { data, wrong } = useServer(`/sites/${encodeURIComponent(id)}/energy`);
  const [chosen, choose] = useState(0);
  if (!data && !wrong) return html`<div class="skeleton"></div>`;
  if (!data?.meters.length) return wrong ? html`<p class="sub">${wrong.message}</p>` : null;
  const nameOf = (m) => meterName(m.covers || t('energy.meter', { n: m.node }), m.floor),
    at = data.meters[chosen] || data.meters[0],
    last = data.days.length - 1;
  return html`
    <section class="panel">
      <h2>${t('energy')}</h2>
      ${data.meters.length > 1 && html`
        <${Bars} label=${t('energy.meters')} head=${t('energy.of')}
          lines=${data.meters.map((m) => ({ key: m.node, name: nameOf(m), of: sum(m.days.flat()) }))} />
        <p class="sub">${t('energy.overlap')}</p>
        <div class="field">
          <label for="meter">${t('energy.of')}</label>
          <select id="meter" class="input" onChange=${(e) => choose(Number(e.target.value))}>
            ${data.meters.map((m, i) => html`<option key=${m.node} value=${i} selected=${i === chosen}>${nameOf(m)}</option>`)}
          </select>
        </div>`}
      ${data.more > 0 && html`<p class="sub">${t('energy.more', { n: data.more })}</p>`}
      <div class="columns">
        <div class="stack">
          <h3>${t('energy.days')}</h3>
          <${Bars} label=${`${t('energy.days')}: ${nameOf(at)}`} head=${t('energy.day')}
            lines=${data.days.map((d, i) => {
              const of = sum(at.days[i]);
              return { key: d, name: dayOf(d), of, part: i < last ? part(of) : '' };
            })} />
        </div>
        <div class="stack">
          <h3>${t('energy.hours')}</h3>
          <${Week} days=${data.days} rows=${at.days} label=${`${t('energy.hours')}: ${nameOf(at)}`} />
        </div>
      </div>
    </section>`;
}
