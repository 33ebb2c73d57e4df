// One bus: how it does, its line, and every device at its address.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, percent, unit, number, age, now, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, server, may } from './house.js';
import { stateOf, freshnessOf, Meter } from './buses.js';
import { Remove } from './edit.js';
import { Scan } from './scan.js';
import { Monitor } from './busmonitor.js';

// Change is all that can be done to the bus itself. Devices keep it from being removed.
function Change({ bus: b }) {
  const [Open, setOpen] = useState(null);
  if (!may('operate')) return null;
  const open = async () => {
    const { ChangeBus } = await import('./changebus.js');
    setOpen(() => ChangeBus);
  };
  return html`
    <button class="button" onClick=${open}>${t('bus.change')}</button>
    ${!b.nodes && html`<${Remove} path=${'/buses/' + b.uuid} record=${b} text=${t('bus.remove')} then="/buses" />`}
    ${Open && html`<${Open} bus=${b} onClose=${() => setOpen(null)} />`}`;
}

export default function BusPage({ params }) {
  const b = house.buses.get(params.name).value;
  const [devices, setDevices] = useState(null);
  const [wrong, setWrong] = useState(null);
  useEffect(() => {
    // devices are not in the events: they are asked for while somebody looks
    let here = true;
    const look = async () => {
      try {
        const detail = await server.get('/buses/' + encodeURIComponent(params.name));
        if (here) {
          setDevices(detail.devices.sort((x, y) => byName({ name: x.device }, { name: y.device })));
          setWrong(null);
        }
      } catch (p) {
        if (here) setWrong(p);
      }
    };
    look();
    const timer = setInterval(() => !document.hidden && look(), 5000);
    return () => {
      here = false;
      clearInterval(timer);
    };
  }, [params.name]);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/buses', text: t('buses') };
  if (!b) return html`<${Page} title=${t('bus.gone')} back=${back}><${Empty} icon="search" text=${t('bus.gone')} /><//>`;
  const s = stateOf(b);
  const line = [
    b.line.baudRate && `${number(b.line.baudRate)}\u00a0bit/s`,
    b.line.parity,
    b.line.dataBits && t('bus.databits', { n: b.line.dataBits }),
    b.line.stopBits && t('bus.stopbits', { n: b.line.stopBits }),
  ]
    .filter(Boolean)
    .join(', ');
  return html`
    <${Page} title=${b.name} back=${back} sub=${`${b.driver} · ${b.port}`}
      actions=${html`
        <span class=${'badge ' + s.badge}>${s.icon && html`<${Icon} name=${s.icon} size=${16} />`}${s.words}</span>
        <${Change} bus=${b} />`}>
      ${b.fault && html`<${Notice} kind="fault">${b.fault}<//>`}
      <div class="columns">
        <section class="panel">
          <h2>${t('bus.load')}</h2>
          <div class="row"><span class="grow">${t('bus.use')}</span><b>${percent(b.use * 100)}</b></div>
          <${Meter} share=${b.use} label=${t('bus.use.of', { name: b.name })} />
          <div class="row"><span class="grow">${t('bus.deaduse')}</span><b>${percent(b.deadUse * 100)}</b></div>
          <${Meter} share=${b.deadUse} label=${t('bus.deaduse')} />
          <div class="row"><span class="grow">${t('bus.freshness')}</span><b>${percent(b.demand * 100)}</b></div>
          <${Meter} share=${b.demand} label=${t('bus.freshness')} />
          <p class="sub">${freshnessOf(b)}</p>
        </section>
        <section class="panel">
          <h2>${t('bus.facts')}</h2>
          <dl class="facts">
            <dt>${t('bus.wait')}</dt>
            <dd>${t('bus.bound', { typical: unit(Math.round(b.typicalMs), 'ms'), bound: unit(Math.round(b.boundMs), 'ms') })}</dd>
            <dt>${t('bus.queue')}</dt><dd>${number(b.queue)}</dd>
            ${line && html`<dt>${t('bus.line')}</dt><dd>${line}</dd>`}
            <dt>${t('bus.exchanges')}</dt><dd>${number(b.stats.exchanges)}</dd>
            ${['silent', 'damaged', 'refused', 'busy', 'expired'].map(
              (k) => b.stats[k] > 0 && html`<dt>${t('stat.' + k)}</dt><dd>${number(b.stats[k])}</dd>`,
            )}
          </dl>
        </section>
      </div>
      ${may('operate') && !b.disabled && html`<${Scan} bus=${b} />`}
      ${!b.disabled && html`<${Monitor} bus=${b.name} />`}
      <section class="panel">
        <h2>${t('bus.list', { n: devices?.length || 0 })}</h2>
        ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
        ${devices &&
        (devices.length
          ? html`
              <${Table} label=${t('bus.list', { n: devices.length })}>
                <thead>
                  <tr>
                    <th>${t('address')}</th><th>${t('carries')}</th><th>${t('state')}</th>
                    <th class="num">${t('bus.exchanges')}</th><th class="num">${t('stat.silent')}</th>
                  </tr>
                </thead>
                <tbody>
                  ${devices.map(
                    (d) => html`
                      <tr key=${d.device}>
                        <td><code>${d.device}</code></td>
                        <td>
                          ${d.nodes.length
                            ? d.nodes
                              .slice(0, 4)
                              .map(
                                (n, i) => html`
                                  ${i ? ', ' : ''}
                                  <a href=${'/devices/' + n}>${house.nodes.get(n).value?.name || n}</a>`,
                              )
                            : '–'}
                          ${d.nodes.length > 4 ? ' ' + t('andmore', { n: d.nodes.length - 4 }) : ''}
                        </td>
                        <td>
                          ${d.trouble
                            ? html`<span class="badge fault">${d.trouble}</span>`
                            : d.online
                            ? t('online')
                            : html`
                              <span class="badge warn">
                                ${d.lastSeen ? t('offline.since', { age: age(Date.parse(d.lastSeen), now.peek()) }) : t('never')}
                              </span>
                              ${d.why && html`<br /><span class="sub">${d.why}</span>`}`}
                        </td>
                        <td class="num">${number(d.stats.exchanges)}</td><td class="num">${number(d.stats.silent)}</td>
                      </tr>`,
                  )}
                </tbody>
              <//>`
          : html`<p class="sub">${t('bus.nodevices')}</p>`)}
      </section>
    <//>`;
}
