// Days and times as the clock of the building shows them, wherever the reader is.
import { language } from '../../ui/i18n.js';

const made = new Map();
function form(zone, options, of = language) {
  const key = zone + of + JSON.stringify(options);
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(of, { timeZone: zone || 'UTC', ...options }));
  return made.get(key);
}

// dayOf is the day of a moment in milliseconds, such as 2026-11-25.
/** @type {(ms: number, zone: string) => string} */
export const dayOf = (ms, zone) => form(zone, { year: 'numeric', month: '2-digit', day: '2-digit' }, 'sv').format(ms);

// daysOn is a day so many days later.
/** @type {(day: string, n: number) => string} */
export const daysOn = (day, n) => new Date(Date.parse(day) + n * 86400e3).toISOString().slice(0, 10);

// mondayOf is the Monday of the week of a day.
/** @type {(day: string) => string} */
export const mondayOf = (day) => daysOn(day, -((new Date(day).getUTCDay() + 6) % 7));

// isDay tells a day from what somebody typed into an address.
/** @type {(text: string) => boolean} */
export const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text || '') && !isNaN(Date.parse(text));

// lengthOf is how many seconds a day of the building has that begins at a moment in seconds.
/** @type {(from: number, zone: string) => number} */
export function lengthOf(from, zone) {
  const day = dayOf(from * 1000, zone);
  return 3600 * [25, 24, 23].find((h) => dayOf((from + h * 3600 - 1) * 1000, zone) === day);
}

/** @type {(ms: number, zone: string) => string} */
export const timeIn = (ms, zone) => form(zone, { hour: '2-digit', minute: '2-digit' }).format(ms);
/** @type {(ms: number, zone: string) => string} */
export const hourIn = (ms, zone) => form(zone, { hour: 'numeric' }).format(ms);
/** @type {(ms: number, zone: string) => string} */
export const exactlyIn = (ms, zone) => form(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(ms);
/** @type {(ms: number, zone: string) => string} */
export const momentIn = (ms, zone) => form(zone, { dateStyle: 'medium', timeStyle: 'short' }).format(ms);

// named words a day; it is the same day everywhere.
/** @type {(day: string, options: Intl.DateTimeFormatOptions) => string} */
export const named = (day, options) => form('UTC', options).format(Date.parse(day));

// hourOfWeek is how far the clock of the building is in the week that begins on a day, in hours.
/** @type {(ms: number, zone: string, monday: string) => number} */
export function hourOfWeek(ms, zone, monday) {
  const p = Object.fromEntries(
    form(zone, { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' }, 'en')
      .formatToParts(ms)
      .map((x) => [x.type, Number(x.value)]),
  );
  return (Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute) - Date.parse(monday)) / 3600e3;
}
