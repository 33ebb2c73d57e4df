// Cards of clusters, lights and shades, from their records.
import { html } from '../ui/lib.js';
import { t, time, age, now } from '../ui/i18n.js';
import { LightCard, ofKelvin, ofRGBW } from '../ui/light.js';
import { ShadeCard, ShadeRow, openness } from '../ui/shade.js';
import { house, ask, command, may, nodeAges, shadeAges, isOld, wrongWith } from './house.js';

export const colourOf = (kelvin, rgbw) => (rgbw && rgbw.r + rgbw.g + rgbw.b > 0 ? ofRGBW(rgbw) : ofKelvin(kelvin));

// sinceWhen words for how long something is silent: the time of today, else how long ago.
export const sinceWhen = (at) =>
  !at ? t('never') : now.peek() - at < 12 * 3600e3 ? t('since', { time: time(at) }) : age(at, now.peek());

const partly = { lights: 'lights.partly', shades: 'shades.partly' };

// conditionOf says what is to be said of some members: words, icon, and whether they are off, stale or at fault.
export function conditionOf(members, what) {
  const online = members.filter((m) => m.record.online);
  if (members.length && !online.length)
    return {
      off: true,
      icon: 'plug',
      words: t('silent', { since: sinceWhen(Math.max(...members.map((m) => m.ages.lastSeen || 0))) }),
    };
  const bad = members.find((m) => wrongWith(m.record));
  if (bad) return { fault: true, icon: 'triangle', words: `${bad.record.name}: ${wrongWith(bad.record)}` };
  if (online.length < members.length)
    return { partly: true, icon: 'plug', words: t(partly[what], { n: members.length, online: online.length }) };
  const times = online.map((m) => m.ages.level || m.ages.position).filter(Boolean);
  const oldest = times.length ? Math.min(...times) : 0;
  if (isOld(oldest)) return { stale: true, icon: 'clock', words: t('age.read', { age: age(oldest) }) };
  if (online.some((m) => (m.record.level || m.record.position)?.source === 'sent')) return { icon: 'plane', words: t('sent') };
  return { words: t(what, { n: members.length }) };
}

const can = (record, ability) => record?.abilities.includes(ability);

const membersOf = (c) => ({
  nodes: c.nodes.map((n) => ({ record: house.nodes.get(n).value, ages: nodeAges(n) })).filter((m) => m.record?.tag === 'NODE'),
  shades: c.shades.map((s) => ({ record: house.shades.get(s).value, ages: shadeAges(s) })).filter((m) => m.record),
});

// ClusterLights are all lights of a cluster as one; children are drawn within the card.
export function ClusterLights({ id, href = `/clusters/${id}`, children }) {
  const c = house.clusters.get(id).value;
  if (!c) return null;
  const { nodes } = membersOf(c);
  const item = {
    ...conditionOf(nodes, 'lights'),
    name: c.name,
    href,
    level: c.level,
    low: c.levelMin,
    high: c.levelMax,
    colour: colourOf(c.kelvin, c.rgbw),
    dims: nodes.some((m) => can(m.record, 'dim')),
    plain: !may('operate'),
  };
  const asking = ask('cluster', id, 'level');
  return html`
    <${LightCard} item=${item} asking=${asking}
      onSwitch=${(on) => asking.run(() => command(on ? 'light-on' : 'light-off', { scope: 'cluster', id }))}>
      ${children}
    <//>`;
}

// ClusterShades are all shades of a cluster as one: a card, or with half a part of one.
export function ClusterShades({ id, href = `/clusters/${id}`, half }) {
  const c = house.clusters.get(id).value;
  if (!c) return null;
  const { shades } = membersOf(c);
  const asking = ask('cluster', id, 'position');
  const moving = ['opening', 'closing', 'moving'].includes(c.motion);
  const state = conditionOf(shades, 'shades');
  const item = {
    ...state,
    ...(moving && !state.icon && { words: t('motion.' + c.motion) }),
    name: c.name,
    href,
    position: c.position,
    low: c.positionMin,
    high: c.positionMax,
    positions: true,
    plain: !may('operate'),
  };
  const onMove = (what) => asking.run(() => command('shade-' + what, { scope: 'cluster', id }));
  return half
    ? html`<${ShadeRow} item=${item} asking=${asking} onMove=${onMove} />`
    : html`<${ShadeCard} item=${item} asking=${asking} onMove=${onMove} />`;
}

// ClusterCard is all of a cluster.
export function ClusterCard({ id }) {
  const c = house.clusters.get(id).value;
  if (!c?.lights) return html`<${ClusterShades} id=${id} href=${null} />`;
  return html`<${ClusterLights} id=${id} href=${null}>${c.shades.length > 0 && html`<${ClusterShades} id=${id} half />`}<//>`;
}

export function NodeCard({ id, href = `/devices/${id}` }) {
  const n = house.nodes.get(id).value;
  if (!n) return null;
  const asking = ask('node', id, 'level');
  const item = {
    ...conditionOf([{ record: n, ages: nodeAges(id) }], 'lights'),
    name: n.name,
    href,
    level: n.level?.value,
    colour: colourOf(n.kelvin?.value, n.rgbw?.value),
    dims: can(n, 'dim'),
    plain: !may('operate'),
  };
  if (!item.icon)
    item.words =
      [
        n.kelvin && can(n, 'tune') && `${n.kelvin.value}\u00a0K`,
        n.power && can(n, 'measure') && `${n.power.value.toFixed(0)}\u00a0W`,
      ]
        .filter(Boolean)
        .join(' · ') || t('dev.at', { bus: n.bus || '–', address: n.address });
  return html`
    <${LightCard} item=${item} asking=${asking}
      onSwitch=${(on) => asking.run(() => command(on ? 'light-on' : 'light-off', { scope: 'node', id }))} />`;
}

export const motionWords = (s) =>
  ['opening', 'closing', 'moving'].includes(s.motion)
    ? t('motion.' + s.motion)
    : s.position?.source === 'estimated' && s.uncertainty > 2
      ? t('shade.about', { n: s.uncertainty })
      : t('motion.stopped');

export function ShadeOne({ id, href = `/shades/${id}` }) {
  const s = house.shades.get(id).value;
  if (!s) return null;
  const asking = ask('shade', id, 'position');
  const state = conditionOf([{ record: s, ages: shadeAges(id) }], 'shades');
  const item = {
    ...state,
    name: s.name,
    href,
    words: state.icon ? state.words : motionWords(s),
    position: s.position?.value,
    positions: true,
    plain: !may('operate'),
  };
  return html`
    <${ShadeCard} item=${item} asking=${asking}
      onMove=${(what) => asking.run(() => command('shade-' + what, { scope: 'shade', id }))} />`;
}

export { openness };
