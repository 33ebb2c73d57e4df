// A scan of one bus: how far it is, and what it finds at once.
import { html, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Notice, Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house } from './house.js';
import { unnamed } from './found.js';
import { begin, cancel, identify, jobOf, over, shows } from './works.js';

/** @import { Found } from '../records' */

export function Scan({ bus }) {
  const [wrong, setWrong] = useState(null);
  const j = jobOf((x) => x.kind === 'scan' && x.bus === bus.name);
  const live = j && !over(j);
  const start = (how) => async () => {
    setWrong(null);
    try {
      await begin({ kind: 'scan', bus: bus.name, ...how });
    } catch (p) {
      setWrong(p);
    }
  };
  const found = /** @type {Found[]} */ (j?.items || []).filter((f) => f.finding !== 'silent');
  return html`
    <section class="panel">
      <div class="row">
        <div class="grow"><h2>${t('scan')}</h2><p class="sub">${t('scan.why')}</p></div>
        ${live
          ? html`<button class="button" onClick=${() => cancel(j)}>${t('cancel')}</button>`
          : html`<button class="button" onClick=${start()} disabled=${!bus.up}>${j ? t('scan.again') : t('scan.start')}</button>`}
      </div>
      ${!live && j && bus.driver === 'modbus' && !bus.port.includes('://') && html`
        <button class="button quiet" disabled=${!bus.up} onClick=${start({ allSettings: true, first: 1, last: 32 })}>
          ${t('scan.settings')}
        </button>`}
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${j &&
        unnamed(j).length > 0 && html`
        <a class="button primary" href=${'/commission/' + encodeURIComponent(bus.name)}>${t('commission')}</a>`}
      ${live && html`
        <progress max="100" value=${(j.progress.share || 0) * 100} aria-label=${t('scan')}></progress>
        <p class="sub">${j.progress.text}</p>`}
      ${j?.error && html`<${Notice} kind="fault">${j.error}<//>`}
      ${j && over(j) && !found.length && !j.error && html`<p>${t('scan.nothing')}</p>`}
      ${found.length > 0 && html`
        <${Table} label=${t('scan')}>
          <thead>
            <tr>
              <th>${t('address')}</th><th>${t('scan.what')}</th><th>${t('scan.site')}</th>
              <th><span class="reader">${t('identify')}</span></th>
            </tr>
          </thead>
          <tbody>
            ${found.map(
              (f) => html`
                <tr key=${f.address + f.finding}>
                  <td><code>${f.address || '–'}</code></td>
                  <td>
                    ${f.trouble && html`
                      <span class="badge warn"><${Icon} name="triangle" size=${16} />${t('scan.trouble')}</span> `}
                    ${f.kind || f.label || f.detail || f.finding}
                    ${f.detail && (f.kind || f.label) ? html`<br /><span class="sub">${f.detail}</span>` : ''}
                    ${f.advice ? html`<br /><span class="sub">${f.advice}</span>` : ''}
                    ${f.finding === 'settings' && f.line && html`
                      <br />
                      <button class="button quiet" onClick=${async () => (await import('./changebus.js')).takeSettings(bus.name, f.line)}>
                        ${t('scan.take')}
                      </button>`}
                  </td>
                  <td>
                    ${f.nodes?.length
                      ? f.nodes.map(
                        (n, i) => html`${i ? ', ' : ''}<a href=${'/devices/' + n}>${house.nodes.get(n).value?.name || n}</a>`,
                      )
                      : f.finding === 'device' && !f.gateway
                      ? html`<span class="badge accent">${t('scan.new')}</span>`
                      : ''}
                  </td>
                  <td class="num">
                    ${shows(bus.name) && f.finding === 'device' && !f.gateway && html`
                      <button class="button quiet" onClick=${() => identify({ bus: bus.name, address: f.address })}>
                        <${Icon} name="blink" />
                        ${t('identify')}
                      </button>`}
                  </td>
                </tr>`,
            )}
          </tbody>
        <//>`}
    </section>`;
}
