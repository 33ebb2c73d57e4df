// Who changed what, and from where.
import './operate/texts.js';
import { html, useState } from '../ui/lib.js';
import { t, moment } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Empty, Table } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useServer } from './useserver.js';

export default function Audit() {
  const { data, wrong } = useServer('/audit?limit=1000');
  const [q, setQ] = useState('');
  const shown = data?.filter((a) => JSON.stringify(a).toLowerCase().includes(q)).slice(0, 200);
  return html`
    <${Page} title=${t('audit')} sub=${t('audit.sub')} back=${{ href: '/more', text: t('more') }}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!data
        ? !wrong && html`<div class="skeleton"></div>`
        : !data.length
        ? html`<${Empty} icon="list" text=${t('audit.none')} />`
        : html`
          <label class="search">
            <${Icon} name="search" />
            <span class="reader">${t('audit.search')}</span>
            <input class="input" type="search" placeholder=${t('audit.search')}
              onInput=${(e) => setQ(e.target.value.trim().toLowerCase())} />
          </label>
          ${shown.length
            ? html`
              <section class="panel">
                <${Table} label=${t('audit')}>
                  <thead>
                    <tr>
                      <th>${t('ledger.when')}</th><th>${t('ledger.who')}</th><th>${t('audit.what')}</th>
                      <th>${t('audit.subject')}</th><th>${t('audit.from')}</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${shown.map(
                      (a) => html`
                        <tr key=${a.id}>
                          <td class="nowrap">${moment(Date.parse(a.at))}</td><td><bdi>${a.who}</bdi></td>
                          <td><code>${a.what}</code></td>
                          <td>${a.subject}${a.detail ? html`<br /><code class="sub">${JSON.stringify(a.detail)}</code>` : ''}</td>
                          <td>${a.from}</td>
                        </tr>`,
                    )}
                  </tbody>
                <//>
              </section>`
            : html`<${Empty} icon="search" text=${t('search.nothing', { q })} />`}`}
    <//>`;
}
