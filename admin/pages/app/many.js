// Many devices at once: the first name, then one tap on each device in the order in which one walks past them. What was touched is
// kept in this browser until it is sent.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, byName, list } from '../ui/i18n.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Notice, done } from '../ui/shell.js';
import { house } from './house.js';
import { useServer } from './useserver.js';
import { partsOf, ways } from './division.js';
import { deliver } from './outbox.js';
import { Show, clusterOf, namesAt } from './nameless.js';

/** @import { Found, Profile } from '../records' */

// countFrom gives names that count on from the first, without those that are taken: Corridor 1, Corridor 2 …, or 01, 02 …
/** @type {(first: string, n: number, taken: (name: string) => boolean) => string[]} */
export function countFrom(first, n, taken) {
  const [, base, digits] = /^(.*?)(\d*)$/.exec(first.trim());
  const names = [];
  for (let i = digits ? +digits : 1; names.length < n; i++) {
    const name = (digits ? base : base + ' ') + String(i).padStart(digits.length, '0');
    if (!taken(name)) names.push(name);
  }
  return names;
}

const look = (on) => ({
  justifyItems: 'start',
  textAlign: 'start',
  ...(on && { background: 'var(--accent-tint)', borderColor: 'var(--accent)' }),
});
const draft = (bus) => 'many:' + bus;
const kept = (bus) => {
  try {
    return JSON.parse(sessionStorage.getItem(draft(bus))) || {};
  } catch {
    return {};
  }
};

export function Many({ bus, found, cluster, onNamed, onClose }) {
  const { data } = useServer('/profiles');
  const before = kept(bus);
  const [touched, setTouched] = useState(/** @type {string[]} */ (before.touched || []));
  const [wrong, setWrong] = useState(/** @type {Record<string, string>} */ ({}));
  const driver = house.buses.peek(bus)?.driver;
  /** @type {(f: Found) => Profile} */
  const profileOf = (f) => (data || []).find((p) => p.driver === driver && p.name === f.kind);
  const open = found.filter((f) => !namesAt(bus, f.address).names.length);
  const all = [...new Set(open.flatMap((f) => ways(profileOf(f)).filter((w) => w !== 'mixed')))];
  const form = useForm(
    { name: before.name || '', way: before.way || '', cluster: before.cluster ?? cluster, other: '' },
    async (v) => {
      const failed = {};
      let joined = v.cluster === 'new' ? '' : v.cluster,
        n = 0;
      for (const r of picks) {
        const lights = r.parts
          .map((p, i) => !p.output && { name: r.names[i], ...(p.outputs && { outputs: p.outputs }) })
          .filter(Boolean);
        const shades = r.parts.map((p, i) => p.output && { name: r.names[i], output: p.output }).filter(Boolean);
        const body = {
          address: r.f.address,
          profile: r.f.kind,
          new: true,
          lights,
          shades,
          ...(r.f.options && { options: r.f.options }),
          ...(r.f.groups && { groups: r.f.groups }),
          ...(joined ? { cluster: +joined } : v.cluster === 'new' && { newCluster: v.other.trim() }),
        };
        try {
          const made = await deliver({ method: 'post', path: '/buses/' + encodeURIComponent(bus) + '/devices', text: list(r.names), body });
          if (made && v.cluster === 'new') joined ||= clusterOf(made);
          n++;
          onNamed(r.f.address);
        } catch (p) {
          if (p.status === undefined) throw p;
          failed[r.f.address] = p.message;
        }
      }
      setWrong(failed);
      setTouched([]);
      done(t('many.done', { n }));
      if (!Object.keys(failed).length) onClose();
    },
    (v) => ({
      ...(!v.name.trim() && { name: t('needed') }),
      ...(!picks.length && { way: t('many.touch') }),
      ...(v.cluster === 'new' && !v.other.trim() && { other: t('needed') }),
    }),
  );
  const v = form.values;
  const way = all.includes(v.way) ? v.way : all[0];
  const can = (f) => ways(profileOf(f)).includes(way);
  const picked = touched.map((a) => open.find((f) => f.address === a)).filter((f) => f && can(f));
  const parts = picked.map((f) => partsOf(profileOf(f), way, new Set()));
  const taken = new Set([...house.nodes.all(), ...house.shades.all()].map((x) => x.name));
  const names = v.name.trim() ? countFrom(v.name, parts.flat().length, (x) => taken.has(x)) : [];
  const picks = picked.map((f, i) => {
    const start = parts.slice(0, i).flat().length;
    return { f, parts: parts[i], names: names.slice(start, start + parts[i].length) };
  });
  useEffect(() => {
    sessionStorage.setItem(draft(bus), JSON.stringify({ touched, name: v.name, way, cluster: v.cluster }));
  }, [touched, v.name, way, v.cluster]);
  useEffect(() => {
    if (!all.includes(v.way) && all.length) form.set('way', all[0]);
  }, [all.length]);
  const touch = (f) => setTouched(touched.includes(f.address) ? touched.filter((a) => a !== f.address) : [...touched, f.address]);
  return html`
    <form class="form panel narrow" onSubmit=${form.submit} noValidate>
      <h2 class="plain">${t('many')}</h2>
      <${Summary} form=${form} labels=${{ name: t('many.first'), way: t('many.touch'), other: t('cluster.new') }} />
      <${Field} form=${form} name="name" label=${t('many.first')} hint=${t('many.hint')} autocomplete="off" />
      ${all.length > 1 && html`
        <${Field} form=${form} name="way" label=${t('division.way')} options=${all.map((w) => [w, t('many.' + w)])} />`}
      <${Field} form=${form} name="cluster" label=${t('commission.cluster')}
        options=${[['', t('none')], ...house.clusters.all().sort(byName).map((c) => [String(c.id), c.name]), ['new', t('cluster.new')]]} />
      ${v.cluster === 'new' && html`<${Field} form=${form} name="other" label=${t('cluster.new')} autocomplete="off" />`}
      <p class="sub" id="touch">${t('many.why')}</p>
      <ul class="list">
        ${open.map((f) => {
          const pick = picks.find((r) => r.f === f);
          return html`
            <li key=${f.address}>
              <div class="item" style=${{ paddingInline: 0 }}>
                <button type="button" class="button main" style=${look(pick)} aria-pressed=${!!pick} disabled=${!can(f)}
                  onClick=${() => touch(f)}>
                  <span class="name">
                    ${!pick
                      ? f.label || f.address
                      : pick.names.length
                      ? list(pick.names)
                      : t('many.picked', { n: picks.indexOf(pick) + 1 })}
                  </span>
                  <span class="sub" style=${{ fontWeight: 400 }}>${f.address} · ${f.kind}</span>
                </button>
                <${Show} bus=${bus} found=${f} />
              </div>
              ${wrong[f.address] && html`<${Notice} kind="fault">${wrong[f.address]}<//>`}
            </li>`;
        })}
      </ul>
      ${Object.entries(wrong)
        .filter(([a]) => !open.some((f) => f.address === a))
        .map(([a, text]) => html`<${Notice} kind="fault" key=${a}><b>${a}</b> ${text}<//>`)}
      <div class="next">
        <button type="button" class="button" onClick=${onClose}>${t('many.close')}</button>
        <${Submit} form=${form}>${t('many.do', { n: names.length })}<//>
      </div>
    </form>`;
}
