// A rule, made or changed: when, on which days, and one step after the other. A step that the form cannot show stays as it is.
import './texts.js';
import { html } from '../../ui/lib.js';
import { t, byName, language } from '../../ui/i18n.js';
import { done } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { Dialog } from '../../ui/dialog.js';
import { useForm, Summary, Field, Check, Submit } from '../../ui/form.js';
import { house, server } from '../house.js';
import { dates } from '../calendar.js';
import { Remove } from '../edit.js';
import { Steps, actionsOf, stepsOf, wrongSteps } from './rulesteps.js';
import { Trial } from './ruletrial.js';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
// dayName is a day of the week as the language has it; the first of June 2026 is a Monday.
export const dayName = (d) =>
  new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2026, 5, 1 + days.indexOf(d)));

// datesOf are days that somebody wrote, with commas or spaces between.
const datesOf = (text) => text.split(/[\s,;]+/).filter(Boolean);

const labels = () => ({
  name: t('name'),
  when: t('rule.when'),
  time: t('rule.time'),
  actions: t('rule.does'),
  node: t('node'),
  limit: t('rule.limit'),
  days: t('rule.days'),
  except: t('rule.except'),
  steps: t('rule.does'),
});

// startOf gives the fields of the form for a rule, or for a new one.
export function startOf(r) {
  const w = r?.when || { kind: 'time', time: '18:00' };
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
    holidays: w.holidays || '',
    except: (w.except || []).join(', '),
    steps: stepsOf(r?.actions),
    yields: String(r ? r.yieldMinutes : 60),
  };
}

// bodyOf is what the API wants.
/** @returns {import('../../records').RuleEdit} */
export function bodyOf(v) {
  const chosen = days.filter((d) => v[d]),
    except = datesOf(v.except);
  /** @type {import('../../records').Trigger} */
  const when = {
    kind: v.kind,
    ...(chosen.length < 7 && { days: chosen }),
    ...(v.holidays && { holidays: v.holidays }),
    ...(except.length && { except }),
  };
  if (v.kind === 'time') when.time = v.time;
  else if (v.kind === 'value')
    Object.assign(when, { node: +v.node, quantity: v.quantity, [v.side]: +v.limit, forSeconds: Math.round(+v.minutes * 60) });
  else when.offset = Math.round(+v.offset);
  return { name: v.name.trim(), when, yieldMinutes: +v.yields, actions: actionsOf(v.steps) };
}

export function check(v) {
  const wrong = {};
  if (!v.name.trim()) wrong.name = t('needed');
  if (v.kind === 'time' && !/^\d\d:\d\d$/.test(v.time)) wrong.time = t('needed');
  if (v.kind === 'value' && !v.node) wrong.node = t('needed');
  if (v.kind === 'value' && (v.limit === '' || !Number.isFinite(+v.limit))) wrong.limit = t('needed');
  if (!days.some((d) => v[d])) wrong.days = t('rule.nodays');
  if (!datesOf(v.except).every((d) => dates.test(d))) wrong.except = t('rule.except.hint');
  return { ...wrong, ...wrongSteps(v.steps) };
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
  const nodes = house.nodes.all().sort(byName);
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
        <${Field} form=${form} name="holidays" label=${t('rule.holidays')} hint=${t('rule.holidays.hint')}
          options=${['', 'not', 'only'].map((k) => [k, t('rule.holidays.' + (k || 'always'))])} />
        <${Field} form=${form} name="except" label=${t('rule.except')} hint=${t('rule.except.hint')} autocomplete="off" />
        <${Steps} form=${form} />
        <${Field} form=${form} name="yields" label=${t('rule.yields')} hint=${t('rule.yields.hint')}
          options=${['0', '15', '30', '60', '120', '240', '480'].map((m) => [
            m,
            m === '0' ? t('rule.yields.never') : t('rule.yields.for', { n: +m }),
          ])} />
        <${Trial} form=${form} body=${bodyOf} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
      ${rule && html`
        <div class="actions start">
          ${house.site.value?.floors.some((f) => f.plan) && html`
            <a class="button" href=${'/plan?rule=' + rule.id} target="_blank" title=${t('rule.onplan.hint')}>
              <${Icon} name="plan" />${t('rule.onplan')}
            </a>`}
          <${Remove} path=${'/rules/' + rule.id} record=${rule} text=${t('rule.remove')} onDone=${onDone} />
        </div>`}
    <//>`;
}
