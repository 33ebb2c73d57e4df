// One node: its value with age and source, its channels, what was done with it last.
import { html } from '../ui/lib.js';
import { t, percent, unit, number, moment, Age, age, now } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, Table } from '../ui/shell.js';
import { levelWords } from '../ui/light.js';
import { Spark } from '../ui/spark.js';
import { house, nodeAges, history, wrongWith } from './house.js';
import { NodeCard } from './cards.js';
import { Colour } from './colour.js';
import { Past } from './past/link.js';
import { Actions, Ends, NoteOf } from './actions.js';
import { Entries } from './entries.js';

// Value is a value with where it comes from and how old it is.
export const Value = ({ v, at, show }) =>
  v
    ? html`
        ${show(v.value)} <span class="sub">
          · ${t('source.' + v.source)} · <${Age} at=${at || Date.parse(v.at)} text="age.bare" />
        </span>`
    : html`<span class="sub">${t('unknown')}</span>`;

export default function DevicePage({ params }) {
  const id = +params.id;
  const n = house.nodes.get(id).value,
    a = nodeAges(id);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/devices', text: t('devices') };
  if (!n) return html`<${Page} title=${t('device.gone')} back=${back}><${Empty} icon="search" text=${t('device.gone')} /><//>`;
  const device = house.buses.get(n.bus).value;
  const shades = house.shades.all().filter((s) => s.node === id);
  const points = history(id);
  const line = points.length ? [...points, [now.peek(), n.online && n.level ? n.level.value : null]] : [];
  return html`
    <${Page} title=${n.name} back=${back} sub=${n.bus ? t('dev.at', { bus: n.bus, address: n.address }) : t('dev.unbound')}
      actions=${html`<${Past} of=${'node=' + id} /><${Actions} node=${n} />`}>
      ${wrongWith(n) && html`<${Notice} kind="fault">${wrongWith(n)}<//>`}
      ${device && !device.up && !device.disabled && html`
        <${Notice} kind="fault">
          <a href=${'/buses/' + encodeURIComponent(n.bus)}>${t('device.busdown', { bus: n.bus })}</a> ${device.fault || ''}
        <//>`}
      <${NoteOf} node=${n} />
      <div class="columns">
        ${n.level && html`<${NodeCard} id=${id} href=${null} />`}
        <${Colour} scope="node" id=${id} record=${n} nodes=${[n]} />
        <section class="panel">
          <h2>${t('device.values')}</h2>
          <dl class="facts">
            <dt>${t('state')}</dt>
            <dd>
              ${n.online ? t('online') : t('offline')}
              ${a.lastSeen ? html` <span class="sub">· <${Age} at=${a.lastSeen} text="age.bare" /></span>` : ''}
            </dd>
            ${n.level && html`<dt>${t('level')}</dt><dd><${Value} v=${n.level} at=${a.level} show=${levelWords} /></dd>`}
            ${n.kelvin && html`
              <dt>${t('kelvin')}</dt><dd><${Value} v=${n.kelvin} at=${a.kelvin} show=${(v) => unit(v, 'K')} /></dd>`}
            ${n.rgbw && html`
              <dt>${t('colour')}</dt><dd><${Value} v=${n.rgbw} at=${a.rgbw} show=${(c) => `${c.r}:${c.g}:${c.b}:${c.w}`} /></dd>`}
            ${n.abilities.includes('measure') && html`
              <dt>${t('power')}</dt><dd><${Value} v=${n.power} at=${a.power} show=${(v) => unit(v, 'W')} /></dd>`}
          </dl>
          ${line.length > 2 && html`
            <${Spark} points=${line} show=${percent} label=${t('device.past', { since: age(line[0][0], now.peek()) })} />`}
        </section>
        <section class="panel">
          <h2>${t('device.facts')}</h2>
          <dl class="facts">
            <dt>${t('id')}</dt><dd>${n.id}</dd>
            <dt>${t('bus')}</dt>
            <dd>${n.bus ? html`<a href=${'/buses/' + encodeURIComponent(n.bus)}>${n.bus}</a>` : t('dev.unbound')}</dd>
            <dt>${t('address')}</dt><dd>${n.address || '–'}</dd>
            <dt>${t('profile')}</dt><dd>${n.profile || '–'}</dd>
            <dt>${t('clusters')}</dt>
            <dd>
              ${n.clusters.length
                ? n.clusters.map(
                  (c, i) => html`${i ? ', ' : ''}<a href=${'/clusters/' + c}>${house.clusters.get(c).value?.name || c}</a>`,
                )
                : t('none')}
            </dd>
            ${shades.length > 0 && html`
              <dt>${t('shades.title')}</dt>
              <dd>${shades.map((s, i) => html`${i ? ', ' : ''}<a href=${'/shades/' + s.id}>${s.name}</a>`)}</dd>`}
            <dt>${t('seen')}</dt><dd>${a.lastSeen ? moment(a.lastSeen) : t('never')}</dd>
          </dl>
        </section>
      </div>
      ${n.channels.length > 1 && html`
        <section class="panel">
          <h2>${t('channels')}</h2>
          <${Table} label=${t('channels')}>
            <thead><tr><th>${t('channel')}</th><th class="num">${t('level')}</th><th>${t('abilities')}</th></tr></thead>
            <tbody>
              ${n.channels.map(
                (c) => html`
                  <tr>
                    <td>${number(c.channel)}</td><td class="num">${c.level ? percent(c.level.value) : '–'}</td>
                    <td>${c.abilities.map((x) => t('ability.' + x)).join(', ')}</td>
                  </tr>`,
              )}
            </tbody>
          <//>
        </section>`}
      <${Entries} query=${'&node=' + id} of=${(e) => e.members.some((m) => m.node === id)} />
      <${Ends} node=${n} />
    <//>`;
}
