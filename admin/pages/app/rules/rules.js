// What happens by itself: rules, what is due in the next two weeks, what rules did and why, and all scenes.
import './texts.js';
import { html, useEffect, useState } from '../../ui/lib.js';
import { t, byName, language, moment, timeOfDay, unit, percent } from '../../ui/i18n.js';
import { Page } from '../../ui/router.js';
import { Notice, Empty, done } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { house, server, may } from '../house.js';
import { useServer } from '../useserver.js';
import { whatOf, whomOf } from '../entries.js';
import { Rename, Remove } from '../edit.js';
import { RuleForm, dayName, days } from './ruleform.js';

// whenOf words what a rule waits for.
export function whenOf(w) {
  const on =
    w.days?.length && w.days.length < 7
      ? ' · ' +
        days
          .filter((d) => w.days.includes(d))
          .map(dayName)
          .join(' ')
      : '';
  const also =
    on +
    (w.holidays ? ' · ' + t('rule.holidays.' + w.holidays) : '') +
    (w.except ? ' · ' + t('rule.except.not', { days: w.except.join(', ') }) : '');
  if (w.kind === 'time') return timeOfDay(w.time) + also;
  if (w.kind === 'value') {
    const limit = w.below ?? w.above,
      v = w.quantity === 'power' ? unit(limit, 'W') : percent(limit);
    return (
      t(w.below == null ? 'rule.above' : 'rule.below', {
        name: house.nodes.get(w.node).value?.name || w.node,
        v,
        what: t('rule.' + w.quantity),
      }) +
      (w.forSeconds
        ? ' ' + t('rule.for', { v: w.forSeconds % 60 ? unit(w.forSeconds, 's') : unit(w.forSeconds / 60, 'min') })
        : '') +
      also
    );
  }
  return (
    (w.offset
      ? t(w.offset < 0 ? 'rule.before' : 'rule.after', { n: Math.abs(w.offset), sun: t('rule.sun.' + w.kind) })
      : t('rule.' + w.kind)) + also
  );
}

const doesOf = (actions) =>
  actions
    .slice(0, 3)
    .map(
      (a) =>
        (a.scene
          ? t('rule.scene', { name: house.scenes.value.find((s) => s.id === a.scene)?.name || a.scene })
          : `${whomOf(a)}: ${whatOf(a)}`) +
        (a.overSeconds ? ' ' + t('rule.over.for', { n: a.overSeconds / 60 }) : '') +
        (a.afterSeconds ? ' ' + t('rule.later.for', { n: a.afterSeconds / 60 }) : ''),
    )
    .join(', ') + (actions.length > 3 ? ' ' + t('andmore', { n: actions.length - 3 }) : '');

// inBuilding writes times as the clocks of the building show them.
const inBuilding = (how) => new Intl.DateTimeFormat(language, { ...how, timeZone: house.site.value?.timeZone || 'UTC' });

export default function Rules() {
  const { data, wrong, again } = useServer('/rules');
  const plan = useServer('/schedule'),
    runs = useServer('/runs');
  const [open, setOpen] = useState(null);
  const look = () => {
    again();
    plan.again();
    runs.again();
  };
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && look(), 10000);
    return () => clearInterval(timer);
  }, []);
  const rules = (data || []).slice().sort(byName);
  const add =
    may('operate') &&
    html`<button class="button primary" onClick=${() => setOpen({})}><${Icon} name="plus" />${t('rule.new')}</button>`;
  return html`
    <${Page} title=${t('rules')} sub=${t('rules.sub')} actions=${rules.length > 0 && add}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!data
        ? !wrong && html`<div class="skeleton"></div>`
        : rules.length
        ? html`
          <ul class="list panel flush">
            ${rules.map((r) => html`<${RuleRow} key=${r.id} rule=${r} onChange=${() => setOpen(r)} onDone=${look} />`)}
          </ul>`
        : html`<${Empty} icon="rules" text=${t('rules.none')}>${add}<//>`}
      <div class="columns">
        ${plan.data && rules.length > 0 && html`<${Plan} plan=${plan.data} />`}
        ${runs.data?.length > 0 && html`<${Runs} runs=${runs.data} />`}
      </div>
      ${house.scenes.value.length > 0 && html`<${AllScenes} />`}
      ${open && html`
        <${RuleForm} rule=${open.id ? open : null} onClose=${() => setOpen(null)}
          onDone=${() => {
            setOpen(null);
            look();
          }} />`}
    <//>`;
}

function RuleRow({ rule: r, onChange, onDone }) {
  const flip = async () => {
    try {
      await server.patch('/rules/' + r.id, { enabled: !r.enabled }, { etag: r.etag });
    } catch (p) {
      done(p.message);
    }
    onDone();
  };
  const attempt = async () => {
    try {
      const d = await server.post(`/rules/${r.id}/try`);
      done(d.ok ? t('rule.tried', { name: r.name }) : d.error);
    } catch (p) {
      done(p.message);
    }
    onDone();
  };
  const onPlan =
    house.site.value?.floors.some((f) => f.plan) &&
    html`<a class="button" href=${'/plan?rule=' + r.id} aria-label=${t('rule.onplan.of', { name: r.name })}>${t('rule.onplan')}</a>`;
  return html`
    <li>
      <div class="item wraps">
        <${Icon} name=${r.when.kind === 'time' ? 'clock' : r.when.kind === 'value' ? 'pulse' : 'sun'} size=${24} />
        <span class="main">
          <span class="name"><bdi>${r.name}</bdi></span>
          <span class="sub">${whenOf(r.when)}<br />${doesOf(r.actions)}</span>
          ${r.trouble
            ? html`<span class="badge warn"><${Icon} name="triangle" size=${16} />${r.trouble}</span>`
            : r.enabled && r.next && html`
              <span class="sub accent">
                ${t('rule.next', {
                  at: [{ weekday: 'short', day: 'numeric', month: 'short' }, { timeStyle: 'short' }]
                    .map((how) => inBuilding(how).format(Date.parse(r.next)))
                    .join(', '),
                })}
              </span>`}
        </span>
        ${may('operate')
          ? html`
            <div class="actions">
              ${onPlan}
              <button class="button" aria-label=${t('rule.try.of', { name: r.name })} onClick=${attempt}>${t('rule.try')}</button>
              <button class="button" aria-label=${t('users.change.of', { name: r.name })} onClick=${onChange}>
                ${t('change')}
              </button>
              <button class="switch" role="switch" aria-checked=${r.enabled ? 'true' : 'false'}
                aria-label=${t('rule.on', { name: r.name })} onClick=${flip}>
                <span></span>
              </button>
            </div>`
          : html`${onPlan}<span class="badge">${r.enabled ? t('rule.enabled') : t('rule.disabled')}</span>`}
      </div>
    </li>`;
}

// Plan is what is due, by day, in the time of the building.
function Plan({ plan }) {
  const timeZone = plan.timeZone || 'UTC';
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const dayOf = inBuilding({ weekday: 'long', day: 'numeric', month: 'long' }),
    timeOf = inBuilding({ timeStyle: 'short' });
  const groups = new Map();
  for (const d of plan.due) {
    const k = dayOf.format(Date.parse(d.at));
    groups.set(k, [...(groups.get(k) || []), d]);
  }
  return html`
    <section class="panel">
      <h2>${t('plan')}</h2>
      ${own !== timeZone && html`<p class="sub">${plan.timeZone ? t('plan.zone', { zone: timeZone }) : t('plan.nozone')}</p>`}
      ${plan.due.length
        ? html`
          <div class="plan" tabindex="0" role="region" aria-label=${t('plan')}>
            ${[...groups].map(
              ([day, list]) => html`
                <h3>${day}</h3>
                <dl class="facts">
                  ${list.map(
                    (d) => html`
                      <dt>${timeOf.format(Date.parse(d.at))}</dt>
                      <dd><bdi>${d.name}</bdi>${d.clock && html`<br /><span class="sub">${t('plan.' + d.clock)}</span>`}</dd>`,
                  )}
                </dl>`,
            )}
          </div>`
        : html`<p class="sub">${t('plan.none')}</p>`}
    </section>`;
}

function Runs({ runs }) {
  return html`
    <section class="panel flush">
      <h2 class="padded">${t('runs')}</h2>
      <ul class="list plan" tabindex="0" aria-label=${t('runs')}>
        ${runs.slice(0, 50).map(
          (r) => html`
            <li>
              <div class="item">
                <span class=${r.left ? 'warn' : 'ok'}><${Icon} name=${r.left ? 'info' : 'check'} /></span>
                <span class="main">
                  <span class="name"><bdi>${r.name}</bdi></span>
                  <span class="sub">${r.why}${r.left && html`<br />${r.left}`}</span>
                </span>
                <span class="end sub">
                  ${moment(Date.parse(r.at))}
                  ${r.entries.length > 0 && html`<br /><a href=${'/more/ledger/' + r.entries[0]}>${t('runs.entry')}</a>`}
                </span>
              </div>
            </li>`,
        )}
      </ul>
    </section>`;
}

// AllScenes ends with what removes one, away from what one presses otherwise.
function AllScenes() {
  const scenes = house.scenes.value.slice().sort(byName);
  const name = (s) => html`<span class="name"><bdi>${s.name}</bdi></span>`;
  return html`
    <section class="panel flush">
      <h2 class="padded">${t('scenes')}</h2>
      <ul class="list">
        ${scenes.map(
          (s) => html`
            <li key=${s.id}>
              <div class="item wraps">
                <${Icon} name="scene" size=${24} />
                <span class="main">
                  ${name(s)}
                  <span class="sub">
                    ${s.cluster ? house.clusters.get(s.cluster).value?.name || t('cluster.gone') : t('scene.building')} · ${t(
                      'scene.actions',
                      { n: s.actions.length },
                    )}
                  </span>
                </span>
                <div class="actions"><${Rename} path=${'/scenes/' + s.id} record=${s} /></div>
              </div>
            </li>`,
        )}
      </ul>
      ${may('operate') && html`
        <details class="fold">
          <summary><${Icon} name="right" />${t('scenes.remove')}</summary>
          <ul class="list">
            ${scenes.map(
              (s) => html`
                <li key=${s.id}>
                  <div class="item">
                    <span class="main">${name(s)}</span>
                    <${Remove} path=${'/scenes/' + s.id} record=${s} text=${t('scene.remove')} />
                  </div>
                </li>`,
            )}
          </ul>
        </details>`}
    </section>`;
}
