// What the panel of a room shows: one state, and what becomes of it with each event. Nothing here knows a clock, a network or a
// page: events carry the time, in milliseconds of a clock that never jumps.
import { t } from '../ui/i18n.js';

// Percent of a slider's 0 to 255 and back: every percent comes back unchanged.
export const percentOf = (v) => Math.floor((v * 100 + 127) / 255);
export const sliderOf = (p) => Math.floor((p * 255 + 50) / 100);

// life is how long a tap counts from the finger on: here, at the platform, and at the controller.
export const life = 3000;
// after which it is said that nobody answered yet
const slow = 1800;
// how long a sentence stands there
const stands = 10_000;
// for readings to tell what was done
const linger = 2500;
// for a shade to be seen moving, again after each time
const still = 5000;
// the longest that a shade may be on its way
const travel = 180_000;
// that a controller is at something
const longest = 12_000;
// the line to the platform may be lost without anybody being told
const brief = 2000;

/**
 * @typedef {'lights' | 'shades' | 'scenes'} Family scenes are those of both
 * @typedef {number | 'on' | 'stop' | { scene: string }} Goal a level, or an opening, in percent
 * What somebody asked for, and since when: asked, and not answered yet (slow: for long); on its way, as the controller said (open: it
 * tells of the end); or not done, and why.
 * @typedef {{ phase: 'asked' | 'way' | 'not', until: number, id?: number, goal?: Goal, since?: number, slow?: boolean,
 *   open?: boolean, why?: string }} Ask
 * @typedef {{ name: string, online: boolean, level?: number, kelvin?: number, rgbw?: number[], position?: number, motion?: string }} Thing
 * @typedef {{ online: boolean, widgets: Record<string, string>, lights?: Thing[], shades?: Thing[], scenes?: any[], message?: string,
 *   voice?: boolean, workspaceName?: string, deviceId?: string }} View
 * @typedef {{ link: string, cut: boolean, lost: number, view: View, told: { text: string, ok?: boolean, until: number },
 *   lights: Ask, shades: Ask, scenes: Ask }} Room
 */

/** @type {Room} */
export const start = { link: 'opening', cut: false, lost: null, view: undefined, told: null, lights: null, shades: null, scenes: null };
/** @type {Family[]} */
const families = ['lights', 'shades', 'scenes'];

// step is the state after an event: the same one where nothing changes.
/** @type {(s: Room, e: any) => Room} */
export function step(s, e) {
  switch (e.is) {
    case 'link': // to the platform, as stream.js tells
      if (e.state === s.link) return s;
      return { ...s, link: e.state, lost: e.state === 'lost' ? e.at : null, cut: e.state === 'elsewhere' };
    case 'view': // what the platform says of the room
      return viewed(s, e);
    case 'tap': {
      const why = refusal(s, e.of);
      const ask = why
        ? { phase: 'not', why, until: e.at + stands }
        : { phase: 'asked', id: e.id, goal: e.goal, since: e.at, until: e.at + life };
      return { ...s, told: null, [e.of]: ask };
    }
    case 'answer': // status: applied, accepted, stale, failed; none: nothing was heard
      return s[e.of]?.phase === 'asked' && s[e.of].id === e.id ? { ...s, [e.of]: answered(s, e) } : s;
    case 'heard': // what the room would answer to a sentence
      return { ...s, told: { text: e.text, ok: e.ok, until: e.at + stands } };
    default:
      return passed(s, e.at);
  }
}

function viewed(s, { view, at }) {
  const news = view.message && view.message !== s.view?.message;
  const next = { ...s, view, told: news ? { text: view.message, until: at + stands } : s.told };
  for (const of of families) {
    const ask = s[of];
    if (ask?.phase !== 'way') continue;
    if (!view.online || reached(view, of, ask.goal) || (ask.open && news)) next[of] = null;
  }
  return next;
}

/** @type {(s: Room, e: any) => Ask} */
function answered(s, { of, status, why, at }) {
  const { id, goal, since } = s[of];
  switch (status) {
    case 'applied':
      if (goal.scene || reached(s.view, of, goal)) return null;
      return { phase: 'way', id, goal, since, until: at + (of === 'lights' ? linger : still) };
    case 'accepted':
      return { phase: 'way', id, goal, since, until: at + longest, open: true };
    case 'stale': // something newer was asked for meanwhile, elsewhere
      return null;
    default:
      return { phase: 'not', why: why || t('panel.late'), until: at + stands };
  }
}

function passed(s, at) {
  const next = { ...s };
  if (s.lost != null && !s.cut && at - s.lost >= brief) next.cut = true;
  if (s.told && at >= s.told.until) next.told = null;
  for (const of of families) {
    const ask = s[of];
    if (!ask) continue;
    if (ask.phase === 'way' && at >= ask.until - still / 2 && at < ask.since + travel && moves(s.view, of))
      next[of] = { ...ask, until: at + still };
    else if (at >= ask.until) next[of] = ask.phase === 'asked' ? { phase: 'not', why: t('panel.late'), until: at + stands } : null;
    else if (ask.phase === 'asked' && !ask.slow && at - ask.since >= slow) next[of] = { ...ask, slow: true };
  }
  return Object.keys(next).every((k) => next[k] === s[k]) ? s : next;
}

// thingsOf are the lights or the shades of a room; where none are told one by one, the one that its widgets speak of.
/** @type {(view: View, of: Family) => Thing[]} */
function thingsOf(view, of) {
  if (of === 'scenes') return [...thingsOf(view, 'lights'), ...thingsOf(view, 'shades')];
  if (view?.[of]?.length) return view[of];
  const v = view?.widgets[of === 'lights' ? 'light_brightness' : 'shade_position'];
  if (v === undefined) return [];
  return [{ name: '', online: true, [of === 'lights' ? 'level' : 'position']: percentOf(+v) }];
}

const moves = (view, of) => !!view?.online && thingsOf(view, of).some((x) => x.motion);
const valueOf = (x) => x.level ?? x.position;
// percent points within which something counts as there
export const near = { lights: 0, shades: 2 };

/** @type {(view: View, of: Family, goal: Goal) => boolean} */
function reached(view, of, goal) {
  if (typeof goal === 'object') return false;
  const all = thingsOf(view, of).filter((x) => x.online);
  if (goal === 'on') return all.some((x) => x.level > 0);
  return all.every((x) => !x.motion && (goal === 'stop' || Math.abs(valueOf(x) - +goal) <= near[of]));
}

// trouble tells why nothing can be asked of lights or shades now; undefined: it can.
/** @type {(s: Room, of: Family) => 'cut' | 'away' | 'silent' | undefined} */
function trouble(s, of) {
  if (s.cut) return 'cut';
  if (s.view && !s.view.online) return 'away';
  const all = thingsOf(s.view, of);
  return all.length && !all.some((x) => x.online) ? 'silent' : undefined;
}

function refusal(s, of) {
  const why = trouble(s, of);
  return why && t('room.refused', { why: t(why === 'silent' ? 'room.silent.' + of : 'room.' + why) });
}

// shown is what the panel shows of its lights or shades; null: the room has none. Of what is away or silent nothing is shown that may
// not be so any more. phase is the one word for all of it:
// asked, way (on its way), not (done), unknown, cut (from the platform), away (the controller), silent (all of them), or done.
/** @type {(s: Room, of: Family) => { phase: string, things: Thing[], all: number, silent: number, on: number, low: number,
 *   high: number, kelvin: number, goal: Goal, slow: boolean, motion: string, why: string, scenes: any[] }} */
export function shown(s, of) {
  const told = thingsOf(s.view, of);
  const other = thingsOf(s.view, of === 'lights' ? 'shades' : 'lights');
  if (s.view && !told.length && other.length) return null;
  const gone = trouble(s, of);
  /** @type {Thing[]} */
  const things = gone ? told.map(({ name }) => ({ name, online: false })) : told;
  const here = things.filter((x) => x.online);
  const read = here.map(valueOf).filter((v) => v !== undefined);
  const ask = s[of];
  const shining = read.filter((v) => v > 0);
  const kelvins = here.filter((x) => x.level > 0 && x.kelvin).map((x) => x.kelvin);
  const motions = new Set(here.filter((x) => x.motion).map((x) => x.motion));
  const range = of === 'lights' && shining.length ? shining : read;
  return {
    phase: gone || ask?.phase || (read.length ? 'done' : 'unknown'),
    things,
    all: told.length,
    silent: gone ? 0 : told.length - here.length,
    on: shining.length,
    low: range.length ? Math.min(...range) : undefined,
    high: range.length ? Math.max(...range) : undefined,
    kelvin: kelvins.length && kelvins.every((k) => k === kelvins[0]) ? kelvins[0] : undefined,
    goal: !gone && ask && ask.phase !== 'not' ? ask.goal : undefined,
    slow: !gone && !!ask?.slow,
    motion: motions.size > 1 ? 'moving' : [...motions][0],
    why: ask?.phase === 'not' ? ask.why : undefined,
    scenes: (s.view?.scenes ?? []).filter((x) => (x.lights && x.shades ? 'scenes' : x.lights ? 'lights' : 'shades') === of),
  };
}
