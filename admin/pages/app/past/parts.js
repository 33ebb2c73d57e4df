// What the pages of the history share.
import { html } from '../../ui/lib.js';
import { t, percent, unit } from '../../ui/i18n.js';
import { address, go } from '../../ui/router.js';
import { Empty } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { openness } from '../../ui/shade.js';
import { useServer } from '../useserver.js';
import { daysOn, isDay, momentIn } from './when.js';

// words of a value, ticks for an axis, and the most that an aspect can be.
export const words = { level: percent, position: openness, power: (v) => unit(v, 'W') };
export const ticks = { level: percent, position: percent, power: (v) => (v < 10000 ? unit(v, 'W') : unit(v / 1000, 'kW')) };
export const most = { level: 100, position: 100 };

// usePast asks for how something was from one day on until another.
/** @type {(of: string, from: string, to: string, more?: string) => ReturnType<typeof useServer<'/history'>>} */
export const usePast = (of, from, to, more = '') => useServer(`/history?${of}&from=${from}&to=${to}${more}`);

// has tells whether anything is known of a track or line.
/** @type {(track: { value: number[] }) => boolean} */
export const has = (track) => track.value.some((v) => v != null);

// change shows the same page for another day, week or view.
export function change(next) {
  const q = new URLSearchParams(address.peek().query);
  for (const [k, v] of Object.entries(next)) q.set(k, v);
  go('/more/history?' + q, { replace: true });
}

// Csv is a link to a file with everything that the page shows.
export const Csv = ({ of, from, to }) => html`
  <a class="button" href=${`/api/v1/history?${of}&from=${from}&to=${to}&format=csv`} download>
    <${Icon} name="download" />${t('past.csv')}
  </a>`;

// Turn leads to the day or week before and after, or to any.
export const Turn = ({ day, today, by, what, name }) => html`
  <div class="row">
    <button type="button" class="button square" aria-label=${t(`past.${what}.other`)}
      onClick=${() => change({ day: daysOn(day, -by) })}>
      <${Icon} name="left" />
    </button>
    <button type="button" class="button square" aria-label=${t(`past.${what}.next`)} disabled=${day >= today}
      onClick=${() => change({ day: daysOn(day, by) })}>
      <${Icon} name="right" />
    </button>
    <h2 class="plain grow">${name}</h2>
    <input class="input" type="date" style=${{ width: 'auto' }} aria-label=${t('past.day')} value=${day} max=${today}
      onChange=${(e) => isDay(e.target.value) && change({ day: e.target.value })} />
  </div>`;

// Nothing says why there is nothing to draw.
export function Nothing({ past }) {
  const text = !past.oldest
    ? t('past.none')
    : Date.parse(past.oldest) >= Date.parse(past.to)
    ? t('past.before', { at: momentIn(Date.parse(past.oldest), past.timeZone) })
    : t('past.empty');
  return html`<${Empty} icon="clock" text=${text} />`;
}
