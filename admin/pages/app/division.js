// What is made of the outputs of one device: lights or shades, each with a name. IDs stay where a device is divided anew.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, byName, list } from '../ui/i18n.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { house, server } from './house.js';
import { useServer } from './useserver.js';
import { deliver } from './outbox.js';
import { noteMost } from './note.js';

/** @import { DeviceEdit, DeviceMade, Node, Profile, Shade } from '../records' */

const range = (n) => Array.from({ length: n }, (_, i) => i + 1);

// ways are how the outputs of a profile can be divided, the most usual first.
/** @type {(p: Profile) => string[]} */
export const ways = (p) =>
  !p
    ? []
    : p.shades?.length && p.lights
      ? ['lights', 'shades', 'mixed']
      : p.shades?.length
        ? ['shades']
        : p.lights > 1
          ? ['lights', 'whole']
          : ['whole'];

// partsOf lists what a way makes of a profile: lights with their outputs and shades with theirs. pairs are the shade outputs
// that are shades where some are.
/** @type {(p: Profile, way: string, pairs: Set<number>) => { outputs?: number[], output?: number, takes?: number[] }[]} */
export function partsOf(p, way, pairs) {
  if (way === 'whole' || !p) return [{}];
  const shades = (p.shades || []).map((takes, i) => ({ output: i + 1, takes: takes || [] }));
  const chosen = way === 'shades' ? shades : way === 'mixed' ? shades.filter((s) => pairs.has(s.output)) : [];
  const taken = new Set(chosen.flatMap((s) => s.takes));
  const lights = range(p.lights).filter((n) => !taken.has(n));
  return [...lights.map((n) => ({ outputs: [n] })), ...chosen];
}

// wayOf is how a device is divided now.
/** @type {(p: Profile, nodes: Node[], shades: Shade[]) => string} */
export const wayOf = (p, nodes, shades) =>
  !shades.length
    ? nodes.some((n) => n.outputs?.length === 1)
      ? 'lights'
      : ways(p).includes('whole')
        ? 'whole'
        : 'lights'
    : nodes.some((n) => n.level)
      ? 'mixed'
      : 'shades';

const word = (part) =>
  part.output
    ? part.takes.length
      ? t('division.shade.of', { outputs: list(part.takes.map(String)) })
      : t('division.shade')
    : part.outputs
      ? t('division.light.of', { output: part.outputs[0] })
      : t('division.light');

// Division is the form. profiles are those it may be, the likeliest first; every: any of the bus's driver may be chosen, and the
// address is asked for. nodes and shades are what it is now.
// cluster is chosen already. A device that has no name yet is one of which the site must know nothing still, and may be
// named while the controller cannot be reached: then onDone is told nothing of what was made.
export function Division({
  bus,
  address = '',
  profiles = [],
  every = false,
  nodes = [],
  shades = [],
  more = {},
  cluster = '',
  verb,
  onBusy = undefined,
  onDone,
  children,
}) {
  const fresh = !nodes.length;
  const { data } = useServer('/profiles');
  const driver = house.buses.peek(bus)?.driver;
  const mine = (data || []).filter((p) => p.driver === driver);
  const names = every ? mine.map((p) => p.name) : profiles;
  const clusters = house.clusters.all().sort(byName);
  const [pairs, setPairs] = useState(new Set(shades.map((s) => s.output)));
  const form = useForm(
    { address, profile: profiles[0] || '', way: '', name: nodes[0]?.name || '', cluster, other: '', note: '' },
    async (v) => {
      /** @type {DeviceEdit} */
      const edit = { address: v.address.trim(), profile: v.profile, ...more, lights: [], shades: [] };
      parts.forEach((part, i) => {
        const name = nameOf(part, i);
        if (part.output) edit.shades.push({ name, output: part.output });
        else edit.lights.push({ name, ...(part.outputs && { outputs: part.outputs }) });
      });
      if (v.cluster === 'new') edit.newCluster = v.other.trim();
      else if (v.cluster) edit.cluster = +v.cluster;
      if (v.note.trim()) edit.note = v.note.trim();
      const path = '/buses/' + encodeURIComponent(bus) + '/devices';
      /** @type {DeviceMade | undefined} */
      let made;
      onBusy?.(true);
      try {
        made = fresh
          ? await deliver({ method: 'post', path, text: v.name.trim(), body: { ...edit, new: true } })
          : await server.post(path, edit);
      } finally {
        onBusy?.(false);
      }
      onDone(made, v, profile, parts.map(nameOf));
    },
    (v) => ({
      ...(!v.address.trim() && { address: t('needed') }),
      ...(!v.profile && { profile: t('needed') }),
      ...(parts.some((part, i) => !nameOf(part, i)) && { name: t('needed') }),
      ...(v.cluster === 'new' && !v.other.trim() && { other: t('needed') }),
    }),
  );
  const v = form.values;
  const profile = mine.find((p) => p.name === v.profile);
  const can = ways(profile);
  const start = profile && (nodes.length ? wayOf(profile, nodes, shades) : can[0]);
  const way = can.includes(v.way) ? v.way : start;
  const parts = partsOf(profile, way, pairs);
  const base = v.name.trim();
  const had = (part) =>
    part.output
      ? shades.find((s) => s.output === part.output)?.name
      : nodes.find((n) => String(n.outputs || '') === String(part.outputs || ''))?.name;
  const nameOf = (part, i) =>
    (v['name' + i] ?? '').trim() || (parts.length > 1 && had(part)) || (parts.length > 1 && base ? `${base} ${i + 1}` : base);
  useEffect(() => {
    if (!v.profile && names.length) form.set('profile', names[0]);
  }, [names.length]);
  const titleOf = (name) => mine.find((p) => p.name === name)?.title || name;
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form}
        labels=${{ address: t('address'), profile: t('division.profile'), name: t('name'), other: t('cluster.new') }} />
      ${every && html`
        <${Field} form=${form} name="address" label=${t('address')} hint=${t('division.address.hint')} autocomplete="off" />`}
      ${names.length > 1 && html`
        <${Field} form=${form} name="profile" label=${t('division.profile')} hint=${every ? undefined : t('division.profile.hint')}
          options=${names.map((n) => [n, titleOf(n)])} />`}
      ${can.length > 1 && html`
        <fieldset class="choice">
          <legend>${t('division.way')}</legend>
          ${can.map(
            (w) => html`
              <label class="check" key=${w}>
                <input type="radio" name="way" checked=${way === w} onChange=${() => form.set('way', w)} />
                <span>
                  ${t('division.' + w, { n: w === 'shades' ? profile.shades.length : profile.lights })}
                </span>
              </label>`,
          )}
          ${way === 'mixed' &&
          profile.shades.map(
            (takes, i) => html`
              <label class="check inset" key=${'pair' + i}>
                <input type="checkbox" checked=${pairs.has(i + 1)}
                  onChange=${() => {
                    const next = new Set(pairs);
                    if (!next.delete(i + 1)) next.add(i + 1);
                    setPairs(next);
                  }} />
                <span>${t('division.pair', { outputs: list(takes.map(String)) })}</span>
              </label>`,
          )}
        </fieldset>`}
      <${Field} form=${form} name="name" label=${t('name')} autocomplete="off"
        hint=${parts.length > 1
          ? t('division.name.hint', { name: base || t('division.example'), n: parts.length })
          : t('commission.name.hint')} />
      ${parts.length > 1 && html`
        <details>
          <summary><${Icon} name="right" />${t('division.names')}</summary>
          <div class="stack">
            ${parts.map(
              (part, i) => html`
                <${Field} key=${i} form=${form} name=${'name' + i} label=${word(part)} placeholder=${nameOf(part, i)}
                  autocomplete="off" />`,
            )}
          </div>
        </details>`}
      <${Field} form=${form} name="cluster" label=${t('commission.cluster')}
        options=${[['', t('none')], ...clusters.map((c) => [String(c.id), c.name]), ['new', t('cluster.new')]]} />
      ${v.cluster === 'new' && html`<${Field} form=${form} name="other" label=${t('cluster.new')} autocomplete="off" />`}
      ${fresh && html`
        <details>
          <summary><${Icon} name="right" />${t('note')}</summary>
          <${Field} form=${form} name="note" label=${t('note')} hint=${t('note.hint')} rows=${3} maxlength=${noteMost} />
        </details>`}
      <div class="next">${children}<${Submit} form=${form}>${verb}<//></div>
    </form>`;
}
