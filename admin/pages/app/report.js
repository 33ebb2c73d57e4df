// The building as built, to be printed and filed.
import { html } from '../ui/lib.js';
import { t, byName, day, moment, unit, now } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, session } from './house.js';

export default function Report() {
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const clusters = house.clusters.all().sort(byName),
    nodes = house.nodes.all().sort(byName),
    shades = house.shades.all().sort(byName),
    buses = house.buses.all();
  const names = (ids) =>
    ids
      .map((c) => house.clusters.peek(c)?.name)
      .filter(Boolean)
      .join(', ') || '–';
  return html`
    <${Page} title=${t('report.of', { site: house.site.value?.name || '' })} back=${{ href: '/more', text: t('more') }}
      sub=${t('report.asof', { at: day(now.peek()) })}
      actions=${html`
        <button class="button primary no-print" onClick=${() => print()}><${Icon} name="print" />${t('print')}</button>`}>
      <section class="panel">
        <h2>${t('report.summary')}</h2>
        <dl class="facts">
          <dt>${t('clusters')}</dt><dd>${clusters.length}</dd>
          <dt>${t('report.lights')}</dt><dd>${nodes.filter((n) => n.tag === 'NODE').length}</dd>
          <dt>${t('shades.title')}</dt><dd>${shades.length}</dd>
          <dt>${t('buses')}</dt><dd>${buses.length}</dd>
          <dt>${t('report.offline')}</dt><dd>${[...nodes, ...shades].filter((d) => !d.online).length}</dd>
        </dl>
      </section>
      <section class="panel">
        <h2>${t('buses')}</h2>
        <${Table} label=${t('buses')}>
          <thead>
            <tr>
              <th>${t('name')}</th><th>${t('driver')}</th><th>${t('port')}</th><th class="num">${t('devices')}</th>
              <th class="num">${t('bus.wait')}</th>
            </tr>
          </thead>
          <tbody>
            ${buses.map(
              (b) => html`
                <tr>
                  <td>${b.name}</td><td>${b.driver}</td><td class="break">${b.port}</td><td class="num">${b.nodes}</td>
                  <td class="num">${unit(Math.round(b.boundMs), 'ms')}</td>
                </tr>`,
            )}
          </tbody>
        <//>
      </section>
      <section class="panel">
        <h2>${t('report.nodes')}</h2>
        <${Table} label=${t('report.nodes')}>
          <thead>
            <tr>
              <th class="num">${t('id')}</th><th>${t('name')}</th><th>${t('bus')}</th><th>${t('address')}</th>
              <th>${t('profile')}</th><th>${t('clusters')}</th><th>${t('state')}</th>
            </tr>
          </thead>
          <tbody>
            ${nodes.map(
              (n) => html`
                <tr>
                  <td class="num">${n.id}</td><td>${n.name}</td><td>${n.bus || '–'}</td><td>${n.address || '–'}</td>
                  <td>${n.profile || '–'}</td><td>${names(n.clusters)}</td><td>${n.online ? t('online') : t('offline')}</td>
                </tr>`,
            )}
          </tbody>
        <//>
      </section>
      ${shades.length > 0 && html`
        <section class="panel">
          <h2>${t('shades.title')}</h2>
          <${Table} label=${t('shades.title')}>
            <thead>
              <tr>
                <th class="num">${t('id')}</th><th>${t('name')}</th><th>${t('node')}</th><th>${t('travel')}</th>
                <th>${t('direction')}</th><th>${t('clusters')}</th><th>${t('state')}</th>
              </tr>
            </thead>
            <tbody>
              ${shades.map(
                (s) => html`
                  <tr>
                    <td class="num">${s.id}</td><td>${s.name}</td><td>${house.nodes.peek(s.node)?.name || '–'}</td>
                    <td>
                      ${s.travelUp
                        ? t('travel.updown', { up: unit(s.travelUp, 's'), down: unit(s.travelDown, 's') })
                        : s.measured
                        ? t('travel.measured')
                        : '–'}
                    </td>
                    <td>${s.inverted ? t('direction.inverted') : t('direction.usual')}</td><td>${names(s.clusters)}</td>
                    <td>${s.online ? t('online') : t('offline')}</td>
                  </tr>`,
              )}
            </tbody>
          <//>
        </section>`}
      <footer class="sub">
        <p>${house.site.value?.name} · ${moment(now.peek())} · ${t('report.by', { who: session.value.username })}</p>
        <p class="fingerprint">${t('fingerprint')}: ${house.claim?.fingerprint}</p>
      </footer>
    <//>`;
}
