// What was used today: of the building where one meter has all of it, and of each floor that is metered or measures itself.
import './texts.js';
import { signal } from '../../ui/lib.js';
import { t, unit, now } from '../../ui/i18n.js';
import { house, server } from '../house.js';
import { dayOf } from '../past/when.js';

/** @import { PowerPast, PowerSource } from '../../records' */

/** @type {import('../../ui/lib.js').Signal<PowerPast>} */
const today = signal(null);
const lookAfter = 5 * 60e3;

/** @type {(s: PowerSource) => number} */
const sum = (s) => s.days.flat().reduce((all, h) => all + (h?.wattHours || 0), 0);
/** @type {(wh: number) => string} */
const words = (wh) => (wh < 1000 ? unit(Math.round(wh), 'Wh') : unit(wh / 1000, 'kWh'));

// follow asks for what was used, now and every few minutes, until what it gives is called.
export function follow() {
  const ask = async () => {
    if (document.hidden) return;
    try {
      today.value = await server.get('/history/power?from=' + dayOf(now.peek(), house.site.peek()?.timeZone));
    } catch {
      /* the next time asks again */
    }
  };
  ask();
  const timer = setInterval(ask, lookAfter);
  return () => clearInterval(timer);
}

const metered = (/** @type {PowerSource[]} */ sources) => sources.filter((s) => s.days.flat().some(Boolean));

// usedOn is what a floor used today. Of several meters on it, which may measure the same, it is the most; lights that measure
// themselves count where there is no meter.
/** @type {(floor: string) => string} */
export function usedOn(floor) {
  const on = metered(today.value?.sources || []).filter((s) => s.floor === floor);
  const meters = on.filter((s) => s.meter);
  const of = meters.length ? Math.max(...meters.map(sum)) : on.length ? sum(on[0]) : null;
  return of == null ? '' : t('used.today', { used: words(of) });
}

// usedInAll is what a meter of the whole building says; nothing where there is none.
/** @type {() => string} */
export function usedInAll() {
  const whole = metered(today.value?.sources || []).filter((s) => s.meter && !s.floor);
  const building = house.site.value && whole.length === 1 && whole[0];
  return building ? t('used.today', { used: words(sum(building)) }) : '';
}
