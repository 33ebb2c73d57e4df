// Texts in the browser's language; numbers, dates and ages as it writes them.
import { html, signal, computed } from './lib.js';

const languages = ['en', 'de'];
const texts = {};
export let language = 'en';
let plural;

// startTexts picks a language and loads its catalogues: functions from a language to a module.
export async function startTexts(...catalogues) {
  language = navigator.languages.map((l) => l.slice(0, 2).toLowerCase()).find((l) => languages.includes(l)) || 'en';
  document.documentElement.lang = language;
  plural = new Intl.PluralRules(language);
  const own = (l) => import(`./i18n/${l}.js`);
  for (const m of await Promise.all([own, ...catalogues].map((load) => load(language)))) Object.assign(texts, m.default);
}

// addTexts takes over what a page brings only for itself.
export const addTexts = (more) => Object.assign(texts, more);

// t gives the text of a key. {name} stands for a value; a number n chooses among one and other.
export function t(key, values = {}) {
  let text = texts[key];
  if (text === undefined) throw new Error(`no text "${key}"`);
  if (typeof text === 'object') text = text[plural.select(values.n)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === 'number' ? number(values[name]) : values[name]));
}

// has reports whether there is a text for a key that came from outside.
export const has = (key) => texts[key] !== undefined;

const cached = (make) => {
  let f;
  return (v) => (f ||= make()).format(v);
};
export const number = cached(() => new Intl.NumberFormat(language, { maximumFractionDigits: 1, useGrouping: 'min2' }));
const share = cached(() => new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }));
export const percent = (v) => share(v / 100); // v from 0 to 100

// Times are told by the clock of the browser, or of a zone: timesIn takes its IANA name, empty for the browser's.
let zone;
const clocks = [];
export const clocked = (options) => {
  let f;
  clocks.push(() => {
    f = undefined;
  });
  return (v) => (f ||= new Intl.DateTimeFormat(language, { timeZone: zone, ...options })).format(v);
};
export function timesIn(name) {
  try {
    new Intl.DateTimeFormat(language, { timeZone: name || undefined });
    zone = name || undefined;
  } catch {
    zone = undefined; // a browser that does not know it
  }
  for (const anew of clocks) anew();
}
export const time = clocked({ timeStyle: 'short' });
export const timeExactly = clocked({ timeStyle: 'medium' });
const clock = cached(() => new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: 'UTC' }));
export const timeOfDay = (hhmm) => clock(Date.parse(`1970-01-01T${hhmm}Z`)); // of 22:30
export const moment = clocked({ dateStyle: 'medium', timeStyle: 'short' });
export const day = clocked({ dateStyle: 'long' });
export const list = cached(() => new Intl.ListFormat(language));
// unit sets a number with its unit. Intl knows few units, so the unit is a symbol.
export const unit = (v, symbol) => `${number(v)}\u00a0${symbol}`;

let collator;
// byName sorts "Room 9" before "Room 10".
export const byName = (a, b) => (collator ||= new Intl.Collator(language, { numeric: true })).compare(a.name, b.name);

// now is the server's time in milliseconds, every second; ages count from it.
let ahead = 0; // of the server's clock before ours
export const now = signal(Date.now());
export function serverTime(ms) {
  ahead = ms - Date.now();
  now.value = ms;
}
setInterval(() => {
  if (!document.hidden) now.value = Date.now() + ahead;
}, 1000);

// age says how long ago something was, in the coarsest unit that is not zero.
export function age(at, from = now.value) {
  const s = Math.max(0, Math.round((from - at) / 1000));
  if (s < 60) return t('age.s', { n: s });
  if (s < 3600) return t('age.min', { n: Math.round(s / 60) });
  if (s < 86400) return t('age.h', { n: Math.round(s / 3600) });
  return t('age.d', { n: Math.round(s / 86400) });
}

// Age is a text that keeps itself up to date without its surroundings being drawn again.
export function Age({ at, text = 'age.read' }) {
  const said = computed(() => t(text, { age: age(at, now.value) }));
  return html`<time datetime=${new Date(at).toISOString()}>${said}</time>`;
}

// Name shows what people called something, in whichever direction it is written.
export const Name = ({ children }) => html`<bdi>${children}</bdi>`;
