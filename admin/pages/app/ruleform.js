// A rule, made or changed. What it does beyond one action, as a site file may have it, stays as it is until it is chosen anew.
import { html } from '../ui/lib.js';
import { t, byName, language } from '../ui/i18n.js';
import { done } from '../ui/shell.js';
import { Dialog } from '../ui/dialog.js';
import { useForm, Summary, Field, Check, Submit } from '../ui/form.js';
import { house, server } from './house.js';
import { Remove } from './edit.js';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
// dayName is a day of the week as the language has it; the first of June 2026 is a Monday.
export const dayName = (d) =>
  new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2026, 5, 1 + days.indexOf(d)));

const kinds = ['light-level', 'light-on', 'light-off', 'shade-open', 'shade-close', 'shade-move-to'];
const labels = () => ({
  name: t('name'),
  when: t('rule.when'),
  time: t('rule.time'),
  actions: t('rule.does'),
  node: t('node'),
  limit: t('rule.limit'),
  days: t('rule.days'),
  scene: t('scene'),
  value: t('rule.value'),
});

// startOf gives the fields of the form for a rule, or for a new one.
export function startOf(r) {
  const w = r?.when || { kind: 'time', time: '18:00' },
    a = r?.actions.length === 1 ? r.actions[0] : null;
  const does = !r
    ? 'light-off'
    : !a
      ? 'keep'
      : a.scene
        ? 'scene'
        : kinds.includes(a.kind) && !a.channel && a.target.scope !== 'node' && a.target.scope !== 'shade'
          ? a.kind
          : 'keep';
  return {
    name: r?.name || '',
    kind: w.kind,
    time: w.time || '18:00',
    offset: String(w.offset || 0),
    node: String(w.node || ''),
    quantity: w.quantity || 'power',
    side: w.below == null ? 'above' : 'below',
    limit: String(w.below ?? w.above ?? ''),
    minutes: String((w.forSeconds || 0) / 60),
    ...Object.fromEntries(days.map((d) => [d, !w.days?.length || w.days.includes(d)])),
    does,
    scene: String(a?.scene || house.scenes.peek()[0]?.id || ''),
    target: String(a?.target?.id || 0),
    value: String(a?.level ?? a?.position ?? 50),
    yields: String(r ? r.yieldMinutes : 60),
  };
}

// bodyOf is what the API wants.
/** @returns {import('../records').RuleEdit} */
export function bodyOf(v) {
  const chosen = days.filter((d) => v[d]);
  /** @type {import('../records').Trigger} */
  const when = { kind: v.kind, ...(chosen.length < 7 && { days: chosen }) };
  if (v.kind === 'time') when.time = v.time;
  else if (v.kind === 'value')
    Object.assign(when, { node: +v.node, quantity: v.quantity, [v.side]: +v.limit, forSeconds: Math.round(+v.minutes * 60) });
  else when.offset = Math.round(+v.offset);
  /** @type {import('../records').Target} */
  const target = +v.target ? { scope: 'cluster', id: +v.target } : { scope: 'all' };
  const action =
    v.does === 'scene'
      ? { scene: +v.scene }
      : {
          kind: v.does,
          target,
          ...(v.does === 'light-level' && { level: +v.value }),
          ...(v.does === 'shade-move-to' && { position: +v.value }),
        };
  return { name: v.name.trim(), when, yieldMinutes: +v.yields, ...(v.does !== 'keep' && { actions: [action] }) };
}

export function check(v) {
  const wrong = {};
  if (!v.name.trim()) wrong.name = t('needed');
  if (v.kind === 'time' && !/^\d\d:\d\d$/.test(v.time)) wrong.time = t('needed');
  if (v.kind === 'value' && !v.node) wrong.node = t('needed');
  if (v.kind === 'value' && (v.limit === '' || !Number.isFinite(+v.limit))) wrong.limit = t('needed');
  if (!days.some((d) => v[d])) wrong.days = t('rule.nodays');
  if (v.does === 'scene' && !v.scene) wrong.scene = t('rule.noscene');
  return wrong;
}

export function RuleForm({ rule, onClose, onDone }) {
  const form = useForm(
    startOf(rule),
    async (v) => {
      const body = bodyOf(v);
      const r = rule
        ? await server.patch('/rules/' + rule.id, body, { etag: rule.etag })
        : await server.post('/rules', { ...body, enabled: true });
      done(t('scene.saved', { name: r.name }));
      onDone();
    },
    check,
  );
  const v = form.values,
    sun = v.kind === 'sunrise' || v.kind === 'sunset';
  const rooms = house.clusters.all().sort(byName),
    nodes = house.nodes.all().sort(byName),
    scenes = house.scenes.value.slice().sort(byName);
  return html`
    <${Dialog} title=${rule ? t('users.change.of', { name: rule.name }) : t('rule.new')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${labels()} />
        <${Field} form=${form} name="name" label=${t('name')} autocomplete="off" />
        <${Field} form=${form} name="kind" label=${t('rule.when')}
          options=${['time', 'sunrise', 'sunset', 'value'].map((k) => [k, t('rule.kind.' + k)])} />
        ${v.kind === 'time' && html`<${Field} form=${form} name="time" type="time" label=${t('rule.time')} />`}
        ${sun && html`
          <${Field} form=${form} name="offset" type="number" min="-360" max="360" label=${t('rule.offset')}
            hint=${t('rule.offset.hint')} />`}
        ${v.kind === 'value' && html`
          <${Field} form=${form} name="node" label=${t('node')}
            options=${[['', t('rule.choose')], ...nodes.map((n) => [String(n.id), n.name])]} />
          <${Field} form=${form} name="quantity" label=${t('rule.quantity')}
            options=${[
              ['power', t('rule.power.w')],
              ['level', t('rule.level.p')],
            ]} />
          <${Field} form=${form} name="side" label=${t('rule.side')}
            options=${[
              ['above', t('rule.side.above')],
              ['below', t('rule.side.below')],
            ]} />
          <${Field} form=${form} name="limit" type="number" step="any" label=${t('rule.limit')} />
          <${Field} form=${form} name="minutes" type="number" min="0" max="1440" label=${t('rule.minutes')} />`}
        <fieldset class="days" id=${form.id + 'days'} tabindex="-1">
          <legend>${t('rule.days')}</legend>
          ${days.map((d) => html`<${Check} key=${d} form=${form} name=${d} label=${dayName(d)} />`)}
        </fieldset>
        <${Field} form=${form} name="does" label=${t('rule.does')}
          options=${[
            ...(rule && startOf(rule).does === 'keep' ? [['keep', t('rule.keep')]] : []),
            ...(scenes.length ? [['scene', t('rule.does.scene')]] : []),
            ...kinds.map((k) => [k, t('rule.does.' + k)]),
          ]} />
        ${v.does === 'scene' && html`
          <${Field} form=${form} name="scene" label=${t('scene')} options=${scenes.map((s) => [String(s.id), s.name])} />`}
        ${kinds.includes(v.does) && html`
          <${Field} form=${form} name="target" label=${t('rule.target')}
            options=${[['0', t('scene.building')], ...rooms.map((c) => [String(c.id), c.name])]} />`}
        ${(v.does === 'light-level' || v.does === 'shade-move-to') && html`
          <${Field} form=${form} name="value" type="number" min="0" max="100" label=${t('rule.value')} />`}
        <${Field} form=${form} name="yields" label=${t('rule.yields')} hint=${t('rule.yields.hint')}
          options=${['0', '15', '30', '60', '120', '240', '480'].map((m) => [
            m,
            m === '0' ? t('rule.yields.never') : t('rule.yields.for', { n: +m }),
          ])} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
      ${rule && html`
        <div class="actions start">
          <${Remove} path=${'/rules/' + rule.id} record=${rule} text=${t('rule.remove')} onDone=${onDone} />
        </div>`}
    <//>`;
}
