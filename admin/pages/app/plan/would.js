// What a rule would bring where, if it acted now: for marks on a plan and, in words, for the list.
import '../rules/texts.js';
import { t, byName, percent } from '../../ui/i18n.js';
import { house, server } from '../house.js';
import { whatOf } from '../entries.js';
import { lit } from '../rules/rulesteps.js';
import { keyOf, lookOf, spotOf, thingOf } from './things.js';

/** @import { Action, Override, Rule, Spot } from '../../records' */
/** @import { Look } from './draw.js' */
/** @typedef {{ action: Action, held?: string }} Bringing held: who set the thing by hand, for which it is left alone */

// thingsOf are the keys of what an action is for.
/** @type {(a: Action) => string[]} */
function thingsOf(a) {
  const shades = a.kind.startsWith('shade'),
    { scope, id } = a.target,
    kept = (n) => house.nodes.peek(n) && lit(house.nodes.peek(n));
  if (scope !== 'all' && scope !== 'cluster') return [(shades ? 's' : 'n') + id];
  const room = scope === 'cluster' ? house.clusters.peek(id) || { nodes: [], shades: [] } : null;
  return shades
    ? (room ? room.shades : house.shades.all().map((s) => s.id)).map((s) => 's' + s)
    : (room ? room.nodes : house.nodes.all().map((n) => n.id)).filter(kept).map((n) => 'n' + n);
}

// bringsOf tells for each thing what a rule does with it at last, or who keeps it from doing so.
/** @type {(rule: Rule, hands: Override[], at: number) => Map<string, Bringing>} */
export function bringsOf(rule, hands, at) {
  const out = new Map(),
    by = new Map(hands.map((h) => [keyOf({ ...h, x: 0, y: 0 }), h]));
  for (const step of rule.actions.slice().sort((a, b) => (a.afterSeconds || 0) - (b.afterSeconds || 0))) {
    const scene = step.scene && house.scenes.peek().find((s) => s.id === step.scene);
    for (const a of step.scene ? scene?.actions || [] : [step])
      for (const key of thingsOf(a)) {
        const hand = by.get(key),
          held = hand && Date.parse(hand.at) + rule.yieldMinutes * 60e3 > at + (step.afterSeconds || 0) * 1000;
        if (!held) out.set(key, { action: { ...a, afterSeconds: step.afterSeconds } });
        else if (!out.has(key)) out.set(key, { action: a, held: hand.who || '?' });
      }
  }
  return out;
}

// goalOf is the level or openness at which something is to be; what is not said stays.
/** @type {(a: Action, now: number) => number} */
const goalOf = (a, now) =>
  ({ 'light-on': now || 100, 'light-off': 0, 'shade-open': 100, 'shade-close': 0, 'shade-move-to': a.position })[a.kind] ?? a.level ?? now;

// wordsOf says what a thing is brought to, and when.
const wordsOf = (a) =>
  whatOf(a) +
  (a.overSeconds ? ' ' + t('rule.over.for', { n: a.overSeconds / 60 }) : '') +
  (a.afterSeconds ? ', ' + t('rule.later.for', { n: a.afterSeconds / 60 }) : '');

// would asks what a rule would do, and gives how its things look then.
/** @type {(id: string) => Promise<{ rule: Rule, keys: string[], look: (s: Spot) => Look }>} */
export async function would(id) {
  const [rule, hands] = await Promise.all([server.get('/rules/' + id), server.get('/overrides')]);
  const brings = bringsOf(rule, hands, Date.now());
  const keys = [...brings.keys()].filter((k) => thingOf(spotOf(k)).record);
  keys.sort((a, b) => byName(thingOf(spotOf(a)).record, thingOf(spotOf(b)).record));
  return {
    rule,
    keys,
    look: (s) => {
      const now = lookOf(s),
        b = brings.get(keyOf(s));
      if (!now) return null;
      if (!b) return { ...now, would: 'stays' };
      if (b.held) return { ...now, would: 'held', words: t('would.held', { who: b.held }) };
      const m = goalOf(b.action, now.m),
        words = wordsOf(b.action);
      return {
        ...now,
        m,
        motion: undefined,
        would: 'goes',
        goal: m == null ? '' : percent(m),
        words: now.off ? `${words} (${t('floor.silent')})` : words,
      };
    },
  };
}
