// How near one is to the limits.
import { html } from '../ui/lib.js';
import { t, time, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useServer } from './useserver.js';

// Meter shows how much of something is used.
function Meter({ what, name, of, words = String }) {
  const text = t('usage.of', { n: words(of.used), limit: words(of.limit) });
  return html`
    <div class="stack tight">
      <div class="row">
        <span class="grow">${what}: <b>${text}</b></span>
        <span class="sub">${t('usage.reset', { time: time(Date.parse(of.resetsAt)) })}</span>
      </div>
      <div class=${'meter' + (of.used >= of.limit ? ' over' : '')} role="meter" aria-label=${`${what}, ${name}`} aria-valuemin="0"
        aria-valuemax=${of.limit} aria-valuenow=${of.used} aria-valuetext=${text}>
        <i style=${{ '--m': of.limit ? (of.used * 100) / of.limit : 100 }}></i>
      </div>
    </div>`;
}

// Use is what a key or person has had of everything.
export const Use = ({ name, of }) => html`
  <${Meter} what=${t('usage.requests')} name=${name} of=${of} />
  <${Spent} name=${name} of=${of} />`;

const size = (n) => unit(Math.round(n / 104857.6) / 10, 'MB');

// What the assistant spent on somebody.
const Spent = ({ name, of }) => html`
  <${Meter} what=${t('usage.answers')} name=${name} of=${of.answerBytes} words=${size} />
  ${of.modelRequests && html`<${Meter} what=${t('usage.model')} name=${name} of=${of.modelRequests} />`}
  ${of.modelTokens && html`<${Meter} what=${t('usage.tokens')} name=${name} of=${of.modelTokens} />`}
  <p class="sub">${t('usage.atonce', { n: of.atOnce.used, limit: of.atOnce.limit })}</p>`;

export default function Usage() {
  const { data, wrong, again } = useServer('/usage');
  return html`
    <${Page} title=${t('usage')} sub=${t('usage.sub')}
      actions=${html`<button class="button" onClick=${again}><${Icon} name="undo" />${t('again')}</button>`}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!data
        ? !wrong && html`<div class="skeleton"></div>`
        : html`
          <section class="panel">
            <h2>${t('usage.you')}</h2>
            <${Use} name=${t('usage.you')} of=${data.person} />
            <p class="sub">${t('usage.you.text')}</p>
          </section>
          ${data.keys
            .filter((k) => k.status === 'Active')
            .map(
              (k) => html`
                <section class="panel" key=${k.id}>
                  <h2><a href=${'/keys/' + k.id}><bdi>${k.name}</bdi></a></h2>
                  <${Use} name=${k.name} of=${k} />
                </section>`,
            )}
          ${!data.keys.some((k) => k.status === 'Active') && html`<p class="sub">${t('usage.nokeys')}</p>`}`}
    <//>`;
}
