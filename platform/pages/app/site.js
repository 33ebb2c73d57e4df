// One site: how its controller is, what is in its zones, what needs somebody, what happened.
import { html, useState } from '../ui/lib.js';
import { t, age, now, moment, number } from '../ui/i18n.js';
import { Page, go } from '../ui/router.js';
import { Notice, Table, done } from '../ui/shell.js';
import { Confirm } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { ask, admin, sites } from './session.js';
import { useServer } from './useserver.js';
import { Health, heard } from './sites.js';
import { Invitation } from './enrol.js';
import { Energy } from './energy.js';

export default function Site({ params }) {
  const { data, wrong, again } = useServer('/sites/' + encodeURIComponent(params.id));
  const [ending, setEnding] = useState(false);
  const [code, setCode] = useState(null);
  const back = { href: '/sites', text: t('sites') };
  if (!data)
    return html`
      <${Page} title=${wrong ? t('page.none') : params.id} back=${back}>
        ${wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`}
      <//>`;
  const live = sites.value?.find((s) => s.id === params.id) || data;
  const floors = [...new Set(data.zones.map((z) => z.floor))];
  const renew = async () => {
    try {
      setCode(await ask('POST', `/controllers/${encodeURIComponent(params.id)}/code`));
    } catch (p) {
      done(p.message);
    }
  };
  return html`
    <${Page} title=${data.name} sub=${heard(live)} back=${back}
      actions=${html`<button class="button" onClick=${again}><${Icon} name="undo" />${t('again')}</button>`}>
      ${code && html`<${Invitation} made=${code} />`}
      ${data.leftOut?.map((x) => html`
        <${Notice} kind="fault" key=${x.why}>${t('site.left.' + x.why, { n: number(x.dropped), at: moment(Date.parse(x.last)) })}<//>`)}
      <div class="columns">
        <section class="panel">
          <h2>${t('site.controller')}</h2>
          <p><${Health} of=${live} /></p>
          <dl class="facts">
            <dt>${t('site.id')}</dt><dd><code>${data.id}</code></dd>
            <dt>${t('site.firmware')}</dt><dd>${data.firmware || '–'}</dd>
            <dt>${t('site.devices')}</dt><dd>${number(data.devices)}</dd>
            <dt>${t('site.zone')}</dt><dd>${data.timeZone || 'UTC'}</dd>
          </dl>
          ${admin() && html`
            <div class="actions start">
              <button class="button" onClick=${renew}>${t('site.code')}</button>
              ${live.state !== 'revoked' && html`
                <button class="button danger" onClick=${() => setEnding(true)}>${t('site.revoke')}</button>`}
            </div>`}
        </section>
        <section class="panel">
          <h2>${t('site.troubles')}</h2>
          ${data.troubles.length
            ? html`
              <ul class="plain">
                ${data.troubles.slice(0, 20).map(
                  (x) => html`
                    <li key=${x.kind + x.name}>
                      <span class="with-icon fault">
                        <${Icon} name=${x.what ? 'triangle' : 'plug'} />
                        <b><bdi>${x.name}</bdi></b>
                      </span> <span class="sub">
                        ${x.what || t('site.silent', { age: age(Date.parse(x.lastSeen), now.peek()) })}
                      </span>
                    </li>`,
                )}
              </ul>
              ${data.troubles.length > 20 && html`<p class="sub">${t('site.more', { n: data.troubles.length - 20 })}</p>`}`
            : html`<p class="with-icon ok"><${Icon} name="check" />${data.devices ? t('site.fine') : t('site.nothing')}</p>`}
        </section>
      </div>
      ${floors.map(
        (f) => html`
          <section class="panel" key=${f}>
            <h2>${f || t('site.nofloor')}</h2>
            <${Table} label=${f || t('site.nofloor')}>
              <thead>
                <tr>
                  <th>${t('site.room')}</th><th class="num">${t('site.lit')}</th><th class="num">${t('site.shades')}</th>
                  <th>${t('site.answering')}</th>
                </tr>
              </thead>
              <tbody>
                ${data.zones
                  .filter((z) => z.floor === f)
                  .map(
                    (z) => html`
                      <tr key=${z.id}>
                        <th scope="row"><bdi>${z.name}</bdi></th>
                        <td class="num">${z.lights ? t('site.of', { n: z.litNow, all: z.lights }) : '–'}</td>
                        <td class="num">${z.shades || '–'}</td>
                        <td>
                          ${z.silent
                            ? html`
                              <span class="with-icon fault"><${Icon} name="plug" />${t('site.silent.n', { n: z.silent })}</span>`
                            : t('site.all')}
                        </td>
                      </tr>`,
                  )}
              </tbody>
            <//>
          </section>`,
      )}
      <${Energy} id=${params.id} />
      <section class="panel">
        <h2>${t('site.events')}</h2>
        ${data.events.length
          ? html`
            <ul class="plain">
              ${data.events.map(
                (e, i) => html`
                  <li key=${i}>
                    <span class="sub">${moment(Date.parse(e.at))}</span> <b><bdi>${e.name}</bdi></b> ${e.message}
                    ${e.cleared && e.severity !== 'info' ? ` · ${t('site.cleared')}` : ''}
                  </li>`,
              )}
            </ul>`
          : html`<p class="sub">${t('site.noevents')}</p>`}
      </section>
      ${ending && html`
        <${Confirm} title=${t('site.revoke.of', { name: data.name })} verb=${t('site.revoke.of', { name: data.name })}
          typed=${data.id} onClose=${() => setEnding(false)}
          onDo=${async () => {
            await ask('DELETE', '/controllers/' + encodeURIComponent(params.id));
            done(t('site.revoked', { name: data.name }));
            go('/sites');
          }}>
          <p>${t('site.revoke.text')}</p>
        <//>`}
    <//>`;
}
