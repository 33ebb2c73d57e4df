// What was used by floor and hour, and the way to each room's day.
import { html, useState } from '../../ui/lib.js';
import { t, unit, byName } from '../../ui/i18n.js';
import { Page } from '../../ui/router.js';
import { Notice } from '../../ui/shell.js';
import { HeatMap } from '../../ui/heat.js';
import { house } from '../house.js';
import { useServer } from '../useserver.js';
import { Csv, Nothing, Turn } from './parts.js';
import { daysOn, named } from './when.js';

/** @import { PowerSource, HourUsed } from '../../records' */

/** @type {(h: HourUsed) => string} */
const used = (h) => (!h ? '–' : h.wattHours < 1000 ? unit(Math.round(h.wattHours), 'Wh') : unit(h.wattHours / 1000, 'kWh'));

// nameOf is what a source covers, and its floor where that does not say it.
/** @type {(s: PowerSource) => string} */
function nameOf(s) {
  const what = s.meter ? s.covers || t('past.meter', { n: s.meter }) : t('past.lights', { n: s.lights });
  const name = what.charAt(0).toUpperCase() + what.slice(1);
  return !s.floor || name.toLowerCase().includes(s.floor.toLowerCase()) ? name : `${name} · ${s.floor}`;
}

/** @type {(hours: HourUsed[], most: number) => { m: number, words: string }[]} */
const cells = (hours, most) => hours.map((h) => ({ m: h && (h.wattHours / most) * 100, words: used(h) }));

/** @type {(hours: HourUsed[]) => number} */
const strongest = (hours) => Math.max(1e-9, ...hours.map((h) => h?.wattHours || 0));

export function Power({ day, today }) {
  const first = daysOn(day, -6);
  return html`
    <${Page} title=${t('history')} sub=${t('past.power.sub')} back=${{ href: '/more', text: t('more') }}
      actions=${html`<${Csv} of="aspect=level" from=${day} to=${daysOn(day, 1)} />`}>
      <${Turn} day=${day} today=${today} by=${1} what="day"
        name=${named(day, { weekday: 'long', day: 'numeric', month: 'long' })} />
      <${Used} key=${day} first=${first} day=${day} />
      <section class="panel">
        <h2>${t('past.rooms')}</h2>
        <div class="chips">
          ${house.clusters.all().sort(byName).map(
            (c) => html`<a class="chip" key=${c.id} href=${`/more/history?cluster=${c.id}&day=${day}`}><bdi>${c.name}</bdi></a>`,
          )}
        </div>
      </section>
    <//>`;
}

function Used({ first, day }) {
  const { data, wrong } = useServer(`/history/power?from=${first}&to=${daysOn(day, 1)}`);
  const [chosen, choose] = useState(0);
  if (!data) return wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`;
  if (!data.sources.length) return html`<${Notice}>${t('past.unmetered')}<//>`;
  const last = data.days.length - 1,
    at = data.sources[chosen] || data.sources[0];
  const week = at.days.flat(),
    hours = data.sources.flatMap((s) => s.days[last]);
  if (!data.sources.some((s) => s.days.flat().some(Boolean)))
    return html`<${Nothing} past=${{ oldest: data.oldest, to: daysOn(day, 1), timeZone: data.timeZone }} />`;
  return html`
    <section class="panel">
      <h2>${t('past.floors')}</h2>
      <${HeatMap} named label=${t('past.floors')} corner=${t('past.power.of')}
        rows=${data.sources.map((s, i) => ({ key: i, name: nameOf(s), title: nameOf(s), cells: cells(s.days[last], strongest(hours)) }))} />
      <p class="sub">${t('past.scale', { most: used({ wattHours: strongest(hours), minutes: 60 }) })}</p>
      ${data.sources.length > 1 && html`<p class="sub">${t('past.overlap')}</p>`}
    </section>
    <section class="panel">
      <h2>${t('past.days')}</h2>
      <div class="field">
        <label for="source">${t('past.power.of')}</label>
        <select id="source" class="input" onChange=${(e) => choose(Number(e.target.value))}>
          ${data.sources.map((s, i) => html`<option key=${i} value=${i} selected=${i === chosen}>${nameOf(s)}</option>`)}
        </select>
      </div>
      <${HeatMap} label=${`${t('past.days')}: ${nameOf(at)}`} corner=${t('past.day')}
        rows=${data.days.map((d, i) => ({
          key: d,
          name: named(d, { weekday: 'short' }),
          title: named(d, { weekday: 'short', day: 'numeric', month: 'numeric' }),
          cells: cells(at.days[i], strongest(week)),
        }))} />
      <p class="sub">
        ${t('past.scale', { most: used({ wattHours: strongest(week), minutes: 60 }) })} ${t('past.zone', { zone: data.timeZone })}
      </p>
      ${at.meter > 0 && html`
        <p><a class="button" href=${`/more/history?node=${at.meter}&view=weeks&day=${day}`}>${t('past.weeks')}</a></p>`}
    </section>`;
}
