// What stands on plans: lights, shades, rooms and the rest, as they are now.
import { t, byName } from '../../ui/i18n.js';
import { levelWords } from '../../ui/light.js';
import { openness } from '../../ui/shade.js';
import { house, wrongWith } from '../house.js';
import { colourOf } from '../cards.js';

/** @import { Spot } from '../../records' */
/** @import { Item, Look } from './draw.js' */

// kindOf is what a spot is of, and nameOf what that is called.
/** @type {(s: Spot) => { kind: Item['kind'], id: number, record: any }} */
export function thingOf(s) {
  if (s.cluster) return { kind: 'room', id: s.cluster, record: house.clusters.get(s.cluster).value };
  if (s.shade) return { kind: 'shade', id: s.shade, record: house.shades.get(s.shade).value };
  const record = house.nodes.get(s.node).value;
  return { kind: record?.tag === 'PERIPHERAL' ? 'other' : 'light', id: s.node, record };
}

export const keyOf = (/** @type {Spot} */ s) => (s.cluster ? 'c' + s.cluster : s.shade ? 's' + s.shade : 'n' + s.node);

/** @type {(key: string) => Spot} */
export const spotOf = (key) => ({ [{ c: 'cluster', s: 'shade', n: 'node' }[key[0]]]: +key.slice(1), x: 0, y: 0 });

// lookOf is how a thing is now. Of a room that may be lit nobody says that it is dark.
/** @type {(s: Spot) => Look} */
export function lookOf(s) {
  const { kind, record: r } = thingOf(s);
  if (!r) return null;
  if (kind === 'room') {
    const members = [...r.nodes.map((n) => house.nodes.get(n).value), ...r.shades.map((h) => house.shades.get(h).value)].filter(Boolean);
    const off = members.length > 0 && !members.some((m) => m.online);
    const some = members.some((m) => !m.online);
    const words = off ? '?' : r.lights ? (r.level == null || (!r.level && some) ? '?' : levelWords(r.level)) : openness(r.position);
    return { m: r.lights ? r.level : r.position, off, fault: members.some(wrongWith), words, colour: colourOf(r.kelvin, r.rgbw) };
  }
  if (kind === 'shade')
    return {
      m: r.position?.value,
      off: !r.online,
      fault: !!wrongWith(r),
      words: r.online ? openness(r.position?.value) : t('floor.silent'),
      motion: ['opening', 'closing'].includes(r.motion) ? r.motion : undefined,
    };
  const power = r.power ? `${r.power.value.toFixed(0)}\u00a0W` : '–';
  return {
    m: kind === 'other' ? 0 : r.level?.value,
    off: !r.online,
    fault: !!wrongWith(r),
    words: !r.online ? t('floor.silent') : kind === 'other' ? power : r.level ? levelWords(r.level.value) : t('floor.unknown'),
    colour: colourOf(r.kelvin?.value, r.rgbw?.value),
  };
}

// keysIn are the keys of what is in a room.
/** @type {(id: number) => string[]} */
export function keysIn(id) {
  const c = house.clusters.get(id).value;
  return c ? [...c.nodes.map((n) => 'n' + n), ...c.shades.map((s) => 's' + s)] : [];
}

// membersOf are the same, by name.
/** @type {(id: number) => string[]} */
export const membersOf = (id) =>
  keysIn(id)
    .map((key) => ({ key, name: house[key[0] === 'n' ? 'nodes' : 'shades'].peek(+key.slice(1))?.name }))
    .filter((m) => m.name)
    .sort(byName)
    .map((m) => m.key);
