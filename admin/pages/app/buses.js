// All buses: load, freshness met or missed by how much, and the longest that a command waits.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t, percent, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, may } from './house.js';
import { jobOf, over } from './works.js';
import { newOf, unnamed } from './found.js';

// stateOf words how a bus is.
export function stateOf(b) {
  if (b.disabled) return { words: t('bus.disabled'), badge: '' };
  if (!b.up) return { words: t('bus.down'), badge: 'fault', icon: 'plug' };
  if (b.fault) return { words: t('fault'), badge: 'fault', icon: 'triangle' };
  if (b.demand > 1) return { words: t('bus.slow'), badge: 'warn', icon: 'clock' };
  if (b.online < b.nodes) return { words: t('bus.silent', { n: b.nodes - b.online }), badge: 'warn', icon: 'plug' };
  return { words: t('bus.up'), badge: 'ok' };
}

// freshnessOf says whether values are read as often as they should be.
export const freshnessOf = (b) =>
  b.demand > 1 ? t('bus.missed', { n: Math.round(b.demand * 10) / 10 }) : t('bus.met', { share: percent(b.demand * 100) });

export const Meter = ({ share, label }) => html`
  <div class=${'meter' + (share > 1 ? ' over' : '')} role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax="100"
    aria-valuenow=${Math.min(100, Math.round(share * 100))}>
    <i style=${{ '--m': share * 100 }}></i>
  </div>`;

// Finds tells how a scan goes on, and leads back to what has no name still.
function Finds({ name }) {
  const j = jobOf((x) => x.kind === 'scan' && x.bus === name);
  const all = newOf(j).length,
    left = unnamed(j).length;
  if (!j || !may('operate') || (!left && over(j))) return null;
  return html`
    <p class="row">
      <span class="grow">${over(j) ? '' : t('scan') + ': '}${t('commission.done', { n: all, done: all - left })}</span>
      ${left > 0 && html`<a class="button" href=${'/commission/' + encodeURIComponent(name)}>${t('commission')}</a>`}
    </p>`;
}

function BusCard({ name }) {
  const b = house.buses.get(name).value;
  const s = stateOf(b);
  return html`
    <article class="card">
      <a class="head" href=${'/buses/' + encodeURIComponent(name)}>
        <span class="who">
          <span class="name"><bdi>${name}</bdi></span>
          <span class="state">${b.driver} · ${t('bus.devices', { n: b.nodes, online: b.online })}</span>
        </span>
        <span class=${'badge ' + s.badge}>${s.icon && html`<${Icon} name=${s.icon} size=${16} />`}${s.words}</span>
      </a>
      <div class="stack tight inset">
        ${b.fault && html`<p class="fault small">${b.fault}</p>`}
        <${Finds} name=${name} />
        <div class="row"><span class="sub grow">${t('bus.use')}</span><span>${percent(b.use * 100)}</span></div>
        <${Meter} share=${b.use} label=${t('bus.use.of', { name })} />
        <p class="sub">${freshnessOf(b)}</p>
        <p class="sub">
          ${t('bus.bound', { typical: unit(Math.round(b.typicalMs), 'ms'), bound: unit(Math.round(b.boundMs), 'ms') })}
        </p>
      </div>
    </article>`;
}

export default function Buses() {
  const names = house.buses.ids.value;
  return html`
    <${Page} title=${t('buses')} sub=${t('buses.sub', { n: names.length })}
      actions=${may('operate') && names.length > 0 && html`
        <a class="button" href="/add/bus"><${Icon} name="plus" />${t('buses.add')}</a>`}>
      ${!house.whole.value
        ? html`<div class="skeleton"></div>`
        : names.length
        ? html`<div class="cards shades">${names.map((n) => html`<${BusCard} key=${n} name=${n} />`)}</div>`
        : html`
          <${Empty} icon="buses" text=${t('buses.empty')}>
            ${may('operate') && html`<a class="button primary" href="/add/bus">${t('buses.add')}</a>`}
          <//>`}
    <//>`;
}
