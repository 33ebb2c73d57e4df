// Measuring how long a shade takes, and which way it goes, by watching it move.
import { html, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { Window, openness } from '../ui/shade.js';
import { house, server, may, session } from './house.js';
import { begin, cancel, jobOf, over } from './works.js';

export default function Calibrate({ params }) {
  const id = +params.id;
  const s = house.shades.get(id).value;
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  if (!s)
    return html`
      <${Page} title=${t('device.gone')} back=${{ href: '/devices', text: t('devices') }}>
        <${Empty} icon="search" text=${t('device.gone')} />
      <//>`;
  return html`
    <${Page} title=${t('calibrate.of', { name: s.name })} back=${{ href: '/shades/' + id, text: s.name }}>
      <div class="columns">
        <section class="panel">
          <${Window} position=${s.position?.value} off onAsk=${() => {}} />
          <p class="centre"><b>${openness(s.position?.value)}</b></p>
        </section>
        ${!may('operate')
          ? html`<${Notice}>${t('role.' + session.value.role)}<//>`
          : html`<section class="panel"><${Runs} shade=${s} why=${t('calibrate.why')} kinds=${['calibrate', 'direction']} /></section>`}
      </div>
    <//>`;
}

// Runs begins a run of one of the kinds, asks what one sees, and tells the outcome.
export function Runs({ shade: s, why, kinds }) {
  const [wrong, setWrong] = useState(null);
  const j = jobOf((x) => x.shade === s.id && kinds.includes(x.kind));
  const live = j && !over(j);
  const start = (kind) => async () => {
    setWrong(null);
    try {
      await begin({ kind, shade: s.id });
    } catch (p) {
      setWrong(p);
    }
  };
  const answer = (a) => async () => {
    setWrong(null);
    try {
      await server.post(`/jobs/${j.id}/answer`, { number: j.question.number, answer: a });
    } catch (p) {
      if (p.status !== 409) setWrong(p);
    }
  };
  const m = j?.progress.moving;
  return html`
    ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
    ${!live && html`
      <p>${why}</p>
      <div class="stack tight">
        ${kinds.map(
          (kind, i) => html`
            <button key=${kind} type="button" class=${'button big' + (i || (j && over(j)) ? '' : ' primary')} disabled=${!s.online}
              onClick=${start(kind)}>
              ${kind === 'calibrate' ? t('calibrate.times') : t('calibrate.direction')}
            </button>`,
        )}
      </div>
      ${!s.online && html`<p class="sub">${t('calibrate.offline')}</p>`}`}
    ${live && html`
      <h2>${t('job.' + j.kind, { what: s.name })}</h2>
      <p aria-live="polite">${j.progress.text}</p>
      ${m && html`<p class="row"><${Icon} name=${m.up ? 'up' : 'down'} size=${24} /><b>${unit(m.elapsed, 's')}</b></p>`}
      ${j.question && html`
        ${j.question.again && html`<${Notice} kind="warn">${t('ask.again.' + j.question.again)}<//>`}
        ${j.question.ask === 'save' && j.result && html`<${Times} result=${j.result} />`}
        <p>
          <b>
            ${t('ask.' + j.question.ask, { took: unit(j.question.took || 0, 's'), other: unit(j.question.other || 0, 's') })}
          </b>
        </p>
        <div class="stack tight">
          ${j.question.choices.map(
            (c) => html`
              <button key=${c} type="button" class="button primary big" onClick=${answer(c)}>
                ${t('answer.' + (c === 'yes' ? j.question.ask : c === 'no' ? 'not.' + j.question.ask : c))}
              </button>`,
          )}
        </div>`}
      ${j.question?.ask !== 'save' && html`
        <button type="button" class="button danger" onClick=${() => cancel(j)}>${t('calibrate.stop')}</button>`}`}
    ${j && over(j) && html`<${Outcome} job=${j} />`}`;
}

// Times are those that were measured, beside those that they would replace.
const Times = ({ result: r }) => html`
  <${Table} label=${t('calibrate.beside')}>
    <thead><tr><td></td><th class="num">${t('calibrate.old')}</th><th class="num">${t('calibrate.new')}</th></tr></thead>
    <tbody>
      ${['up', 'down'].map((way) => {
        const key = way === 'up' ? 'travelUp' : 'travelDown';
        return html`
          <tr>
            <th>${t('calibrate.' + way)}</th>
            <td class="num">${r.old[key] ? unit(r.old[key], 's') : '–'}</td>
            <td class="num">
              <b>${unit(r.new[key], 's')}</b>${r[way] ? html` <span class="sub">± ${unit(r[way].uncertainty, 's')}</span>` : ''}
            </td>
          </tr>`;
      })}
    </tbody>
  <//>`;

function Outcome({ job: j }) {
  if (j.state === 'cancelled') return html`<${Notice}>${t('calibrate.cancelled')}<//>`;
  if (j.state === 'failed') return html`<${Notice} kind="fault">${j.error}<//>`;
  const r = j.result;
  if (!r) return null;
  return html`
    <${Notice} icon="check">
      <p><b>${r.saved ? t('calibrate.saved') : t('calibrate.same')}</b></p>
      <dl class="facts">
        ${r.up && html`<dt>${t('calibrate.up')}</dt><dd>${unit(r.up.seconds, 's')} ± ${unit(r.up.uncertainty, 's')}</dd>`}
        ${r.down && html`<dt>${t('calibrate.down')}</dt><dd>${unit(r.down.seconds, 's')} ± ${unit(r.down.uncertainty, 's')}</dd>`}
        <dt>${t('direction')}</dt><dd>${r.new.inverted ? t('direction.inverted') : t('direction.usual')}</dd>
      </dl>
    <//>`;
}
