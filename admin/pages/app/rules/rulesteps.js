// What a rule does, step by step. A warning before lights go off is two actions of the API and one step here.
import { html } from '../../ui/lib.js';
import { t, byName } from '../../ui/i18n.js';
import { Icon } from '../../ui/icons.js';
import { Field } from '../../ui/form.js';
import { house } from '../house.js';
import { whatOf, whomOf } from '../entries.js';

const kinds = ['light-level', 'light-on', 'light-off', 'shade-open', 'shade-close', 'shade-move-to'];
const shades = (does) => does.startsWith('shade');
const placed = (does) => kinds.includes(does) || does === 'warn-off';
const fades = (does) => does === 'light-level' || does === 'light-off';
const valued = (does) => ['light-level', 'shade-move-to', 'warn-off'].includes(does);

const sameTarget = (a, b) => a.target?.scope === b?.target?.scope && (a.target?.id || 0) === (b?.target?.id || 0);
// warns tells that lights are dimmed at once and off later, unless somebody touches them: one step.
const warns = (a, next) =>
  a.kind === 'light-level' && next?.kind === 'light-off' && !a.channel && !next.channel && !a.afterSeconds && next.afterSeconds > 0 &&
  !a.overSeconds && !next.overSeconds && sameTarget(a, next);

const stepOf = (a) => ({
  does: a.scene ? 'scene' : kinds.includes(a.kind) && !a.channel ? a.kind : 'keep',
  action: a,
  scene: String(a.scene || ''),
  target: a.target ? `${a.target.scope}:${a.target.id || 0}` : 'all:0',
  value: String(a.level ?? a.position ?? 50),
  after: String((a.afterSeconds || 0) / 60),
  over: String((a.overSeconds || 0) / 60),
});

// stepsOf are the steps of a rule's actions, or of a new rule.
export function stepsOf(actions = [{ kind: 'light-off', target: { scope: 'all' } }]) {
  const steps = [];
  for (let i = 0; i < actions.length; i++) {
    const a = actions[i],
      next = actions[i + 1];
    if (!warns(a, next)) steps.push(stepOf(a));
    else {
      steps.push({ ...stepOf(a), does: 'warn-off', after: String(next.afterSeconds / 60) });
      i++;
    }
  }
  return steps;
}

// actionsOf is what the API wants of steps.
/** @returns {import('../../records').Action[]} */
export const actionsOf = (steps) =>
  steps.flatMap((s) => {
    const [scope, id] = s.target.split(':'),
      target = +id ? { scope, id: +id } : { scope },
      later = Math.round(60 * +s.after),
      after = later > 0 && { afterSeconds: later };
    switch (s.does) {
      case 'keep':
        return [s.action];
      case 'scene':
        return [{ scene: +s.scene, ...after }];
      case 'warn-off':
        return [
          { kind: 'light-level', target, level: +s.value },
          { kind: 'light-off', target, ...after },
        ];
    }
    return [
      {
        kind: s.does,
        target,
        ...(s.does === 'light-level' && { level: +s.value }),
        ...(s.does === 'shade-move-to' && { position: +s.value }),
        ...after,
        ...(fades(s.does) && +s.over > 0 && { overSeconds: Math.round(60 * +s.over) }),
      },
    ];
  });

// wrongSteps tells what is wrong, by field.
export function wrongSteps(steps) {
  const wrong = {};
  if (!steps.length) wrong.steps = t('rule.nosteps');
  steps.forEach((s, i) => {
    if (s.does === 'scene' && !+s.scene) wrong[`scene.${i}`] = t('rule.noscene');
    if (valued(s.does) && !(s.value !== '' && +s.value >= 0 && +s.value <= 100)) wrong[`value.${i}`] = t('rule.percent');
    if (s.does === 'warn-off' && !(+s.after > 0)) wrong[`after.${i}`] = t('rule.warn.after');
  });
  return wrong;
}

// lit tells that a node gives light: the relays of a shade do not.
export const lit = (n) => n.tag !== 'PERIPHERAL' && n.abilities?.some((a) => ['switch', 'dim', 'tune', 'colour'].includes(a));
const placesOf = (does) => [
  ['all:0', t('scene.building')],
  ...house.clusters.all().sort(byName).map((c) => [`cluster:${c.id}`, c.name, t('rule.rooms')]),
  ...(shades(does)
    ? house.shades.all().sort(byName).map((s) => [`shade:${s.id}`, s.name, t('rule.shades')])
    : house.nodes.all().filter(lit).sort(byName).map((n) => [`node:${n.id}`, n.name, t('rule.lights')])),
];

// one is the form of a single step, whose fields are called after its place.
const one = (form, i) => ({
  id: form.id,
  errors: form.errors,
  values: Object.fromEntries(Object.entries(form.values.steps[i]).map(([k, v]) => [`${k}.${i}`, v])),
  set: (name, v) => {
    const steps = form.values.steps.slice(),
      field = name.split('.')[0],
      s = (steps[i] = { ...steps[i], [field]: v });
    if (field === 'does') {
      if (s.target.startsWith(shades(v) ? 'node' : 'shade')) s.target = 'all:0';
      if (v === 'scene' && !s.scene) s.scene = String(house.scenes.peek()[0]?.id || '');
      if (v === 'warn-off') Object.assign(s, { value: '30', after: +s.after > 0 ? s.after : '1' });
    }
    form.set('steps', steps);
  },
});

export function Steps({ form }) {
  const steps = form.values.steps;
  const put = (next) => form.set('steps', next);
  return html`
    <fieldset class="choice stack" id=${form.id + 'steps'} tabindex="-1">
      <legend>${t('rule.does')}</legend>
      ${form.errors.steps && html`<span class="wrong"><${Icon} name="triangle" />${form.errors.steps}</span>`}
      <ol class="plain stack">
        ${steps.map((s, i) => html`<${Step} key=${i} form=${one(form, i)} i=${i} step=${s} only=${steps.length === 1}
          onRemove=${() => put(steps.filter((_, k) => k !== i))} />`)}
      </ol>
      <button type="button" class="button" onClick=${() => put([...steps, stepsOf()[0]])}>
        <${Icon} name="plus" />${t('rule.step.add')}
      </button>
    </fieldset>`;
}

function Step({ form, i, step, only, onRemove }) {
  const scenes = house.scenes.value.slice().sort(byName);
  const minutes = (own) => [...new Set(['0', '1', '2', '5', '10', '15', '30', '60', '120', own])].sort((a, b) => +a - +b);
  const warning = step.does === 'warn-off';
  return html`
    <li class="stack tight">
      <${Field} form=${form} name=${`does.${i}`} label=${t('rule.step', { n: i + 1 })}
        options=${[
          ...(step.does === 'keep' ? [['keep', `${whomOf(step.action)}: ${whatOf(step.action)}`]] : []),
          ...(scenes.length || step.does === 'scene' ? [['scene', t('rule.does.scene')]] : []),
          ['warn-off', t('rule.does.warn-off')],
          ...kinds.map((k) => [k, t('rule.does.' + k)]),
        ]} />
      ${step.does === 'scene' && html`
        <${Field} form=${form} name=${`scene.${i}`} label=${t('scene')} options=${scenes.map((s) => [String(s.id), s.name])} />`}
      ${placed(step.does) && html`
        <${Field} form=${form} name=${`target.${i}`} label=${t('rule.target')} options=${placesOf(step.does)} />`}
      ${valued(step.does) && html`
        <${Field} form=${form} name=${`value.${i}`} type="number" min="0" max="100"
          label=${t(warning ? 'rule.warn.level' : 'rule.value')} />`}
      ${fades(step.does) && html`
        <${Field} form=${form} name=${`over.${i}`} label=${t('rule.over')} hint=${+step.over ? t('rule.over.hint') : undefined}
          options=${minutes(step.over).map((m) => [m, +m ? t('rule.over.for', { n: +m }) : t('rule.over.no')])} />`}
      ${step.does !== 'keep' && html`
        <${Field} form=${form} name=${`after.${i}`} label=${t(warning ? 'rule.warn' : 'rule.later')}
          options=${minutes(step.after)
            .filter((m) => !warning || +m > 0)
            .map((m) => [m, +m ? t('rule.later.for', { n: +m }) : t('rule.later.no')])} />`}
      ${!only && html`
        <button type="button" class="button" onClick=${onRemove} aria-label=${t('rule.step.remove', { n: i + 1 })}>
          ${t('remove')}
        </button>`}
    </li>`;
}
