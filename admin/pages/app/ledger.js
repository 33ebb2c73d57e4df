// One command: who wanted what, through which door, what became of it at each thing, and the frames that passed.
import { html } from '../ui/lib.js';
import { t, moment, timeExactly, number, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house } from './house.js';
import { useServer } from './useserver.js';
import { whatOf, whomOf } from './entries.js';

/** @import { Entry, EntryDetail } from '../records' */

export default function Ledger({ params }) {
  const { data, wrong } = useServer(`/ledger/${encodeURIComponent(params.id)}`);
  /** @type {Entry & Partial<EntryDetail>} */
  const e = data || house.entries.value.find((x) => x.id === params.id);
  const back = { href: '/more', text: t('more') };
  if (!e)
    return wrong
      ? html`<${Page} title=${t('ledger.gone')} back=${back}><${Empty} icon="search" text=${wrong.message} /><//>`
      : html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const took = e.doneAt ? Date.parse(e.doneAt) - Date.parse(e.acceptedAt) : null;
  const name = (m) =>
    m.shade
      ? house.shades.peek(m.shade)?.name || m.shade
      : `${house.nodes.peek(m.node)?.name || m.node}${m.channel > 1 ? ' · ' + number(m.channel) : ''}`;
  return html`
    <${Page} title=${`${whomOf(e)}: ${whatOf(e)}`} back=${back}>
      ${e.ok ? html`<${Notice} icon="check">${t('ledger.ok')}<//>` : html`<${Notice} kind="fault">${e.error}<//>`}
      <section class="panel">
        <dl class="facts">
          <dt>${t('ledger.who')}</dt><dd>${e.who && `${e.who} · `}${t('via.' + e.via)}</dd>
          <dt>${t('ledger.when')}</dt><dd>${moment(Date.parse(e.acceptedAt))}</dd>
          ${took != null && html`<dt>${t('ledger.took')}</dt><dd>${unit(took, 'ms')}</dd>`}
          ${e.why && html`<dt>${t('ledger.why')}</dt><dd>${e.why}</dd>`}
        </dl>
      </section>
      <section class="panel">
        <h2>${t('ledger.members')}</h2>
        <${Table} label=${t('ledger.members')}>
          <thead>
            <tr>
              <th>${t('name')}</th><th>${t('ledger.stage')}</th><th>${t('ledger.sent')}</th><th>${t('ledger.acknowledged')}</th>
              <th>${t('ledger.observed')}</th>
            </tr>
          </thead>
          <tbody>
            ${e.members.map(
              (m) => html`
                <tr>
                  <td><a href=${m.shade ? '/shades/' + m.shade : '/devices/' + m.node}>${name(m)}</a></td>
                  <td>
                    <span class=${'with-icon ' + (m.error ? 'fault' : '')}>
                      ${m.error && html`<${Icon} name="triangle" size=${16} />`}
                      ${t('stage.' + m.stage)}
                    </span>
                    ${m.error && html`<br /><span class="sub">${m.error}</span>`}
                  </td>
                  ${['sentAt', 'acknowledgedAt', 'observedAt'].map(
                    (k) => html`<td class="nowrap">${m[k] ? timeExactly(Date.parse(m[k])) : '–'}</td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        <//>
      </section>
      ${e.frames?.length > 0 && html`
        <section class="panel">
          <h2>${t('ledger.frames')}</h2>
          <${Table} label=${t('ledger.frames')}>
            <thead>
              <tr><th>${t('ledger.when')}</th><th>${t('bus')}</th><th>${t('frame.way')}</th><th>${t('frame')}</th></tr>
            </thead>
            <tbody>
              ${e.frames.slice(0, 200).map(
                (f) => html`
                  <tr>
                    <td class="nowrap">${timeExactly(Date.parse(f.at))}</td><td>${f.bus}</td><td>${t('frame.' + f.direction)}</td>
                    <td class="pre">
                      ${f.decoded}
                      ${f.note && html`<p>${f.note}</p>`}
                      <p class="sub"><code>${f.hex.replace(/../g, '$& ')}</code></p>
                    </td>
                  </tr>`,
              )}
            </tbody>
          <//>
        </section>`}
    <//>`;
}
