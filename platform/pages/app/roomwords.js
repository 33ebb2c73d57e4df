// The words for what the panel of a room shows. They are made of the same readings as its pictures.
import { t, percent, unit } from '../ui/i18n.js';
import { levelWords } from '../ui/light.js';
import { openness } from '../ui/shade.js';
import { near } from './room.js';

// off tells that nothing can be asked of what is shown.
export const off = (x) => ['cut', 'away', 'silent'].includes(x.phase);

// goalWords says what somebody asked for.
const goalWords = (of, goal) =>
  goal.scene || (goal === 'on' ? t('panel.on') : goal === 'stop' ? t('room.stop') : of === 'lights' ? levelWords(goal) : openness(goal));

// value says how things are: as one, as so many of all, or from where to where; never as a mean.
export function value(x, of) {
  if (off(x)) return t('room.none');
  if (x.high === undefined) return t('panel.unknown');
  const range = { low: percent(x.low), high: percent(x.high) };
  const same = x.high - x.low <= near[of];
  if (of === 'shades') return same ? openness(x.low) : t('room.open', range);
  if (!x.on) return t('light.off');
  const read = x.things.filter((one) => one.online && one.level !== undefined).length;
  const some = { on: x.on, all: read };
  if (x.on < read) return same ? t('room.some', { ...some, level: range.low }) : t('room.somerange', { ...some, ...range });
  return same ? range.low : t('room.range', range);
}

// state says below it what is under way, or wrong: [text, icon, kind].
export function state(x, of) {
  if (x.why) return [x.why, 'triangle', 'fault'];
  // what hinders all of it stands above all tiles
  if (off(x)) return x.phase === 'silent' ? [t('room.silent.' + of), 'plug', 'fault'] : ['', '', ''];
  if (x.goal !== undefined) {
    const goal = goalWords(of, x.goal);
    return x.slow ? [t('room.slow'), 'clock', 'accent'] : [t(x.phase === 'way' ? 'room.way' : 'room.asked', { goal }), 'arrow', 'accent'];
  }
  if (of === 'scenes') return ['', '', ''];
  if (x.motion) return [t('room.' + x.motion), x.motion === 'opening' ? 'up' : x.motion === 'closing' ? 'down' : 'arrow', 'accent'];
  if (x.silent) return [t('room.silent', { n: x.silent, all: x.all }), 'plug', 'warn'];
  if (x.phase === 'unknown') return [t('room.unknown.' + of), 'clock', ''];
  const many = t('room.many.' + of, { n: x.all });
  return [x.kelvin && x.on ? `${many} · ${unit(x.kelvin, 'K')}` : many, '', ''];
}

// one says how a single thing is, for who cannot see its picture.
export const one = (thing, of) => {
  const is = !thing.online ? t('room.noanswer') : of === 'lights' ? levelWords(thing.level) : openness(thing.position);
  return thing.name ? t('room.one', { name: thing.name, is }) : is;
};

// at tells that a preset is what is so: of all that answer, and nothing else is under way.
export const at = (x, of, v) =>
  ['done', 'not'].includes(x.phase) &&
  !x.motion &&
  x.high !== undefined &&
  [x.low, x.high].every((is) => Math.abs(is - v) <= near[of]) &&
  (of === 'shades' || x.on === x.things.filter((o) => o.online).length);
