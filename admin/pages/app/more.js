// Everything else: who is logged in, the controller itself, and the pages that are not needed every day.
import './operate/texts.js';
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, keysOn, setKeys } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, server, session, hush, leave, may } from './house.js';
import { Fingerprint } from './login.js';
import { Entries } from './entries.js';

const Row = ({ href, icon, name, sub, out }) => html`
  <li>
    <a href=${href} target=${out ? '_blank' : undefined}>
      <${Icon} name=${icon} size=${24} />
      <span class="main"><span class="name">${name}</span><span class="sub">${sub}</span></span>
      <${Icon} name="right" />
    </a>
  </li>`;

export default function More() {
  const s = session.value,
    site = house.site.value;
  const out = async () => {
    hush(); // the server ends what is listened to, too, and the page would ask why
    await server.post('/auth/logout').catch(() => {}); // else the session ends by itself
    leave();
  };
  return html`
    <${Page} title=${t('more')}>
      ${site?.faults.map((f) => html`<${Notice} kind="fault" key=${f.where}><b>${f.where}</b>: ${f.what}<//>`)}
      <div class="columns">
        <section class="panel">
          <div class="row">
            <span class="avatar"><${Icon} name="user" size=${24} /></span>
            <div class="grow"><h2 class="plain"><bdi>${s.username}</bdi></h2><p class="sub">${t('role.' + s.role)}</p></div>
            <button class="button" onClick=${out}><${Icon} name="out" />${t('logout')}</button>
          </div>
          <label class="check">
            <input type="checkbox" checked=${keysOn.value} onChange=${(e) => setKeys(e.target.checked)} />
            <span>${t('keys')}<br /><span class="sub"><a href="/more/help">${t('keys.which')}</a></span></span>
          </label>
        </section>
        <section class="panel flush">
          <ul class="list">
            <${Row} href="/plan" icon="plan" name=${t('floors.more')} sub=${t('floors.sub')} />
            <${Row} href="/more/history" icon="clock" name=${t('history')} sub=${t('history.sub')} />
            <${Row} href="/more/report" icon="print" name=${t('report')} sub=${t('report.sub')} />
            <${Row} href="/more/ladder" icon="print" name=${t('ladder')} sub=${t('ladder.sub')} />
            ${may('administer') && html`
              <${Row} href="/more/users" icon="user" name=${t('users')} sub=${t('users.sub')} />
              <${Row} href="/more/keys" icon="key" name=${t('apikeys')} sub=${t('apikeys.sub')} />
              <${Row} href="/more/backup" icon="box" name=${t('backup')} sub=${t('backup.sub')} />
              <${Row} href="/more/network" icon="network" name=${t('network')} sub=${t('network.sub')} />
              <${Row} href="/more/migrate" icon="download" name=${t('migrate')} sub=${t('migrate.sub')} />`}
            <${Row} href="/more/settings" icon="building" name=${t('settings')} sub=${t('settings.sub')} />
            <${Row} href="/more/certificate" icon="shield" name=${t('certificate')} sub=${t('certificate.sub')} />
            <${Row} href="/more/diagnostics" icon="pulse" name=${t('diagnostics')} sub=${t('diagnostics.sub')} />
            <${Row} href="/more/account" icon="key" name=${t('account')} sub=${t('account.sub')} />
            <${Row} href="/more/audit" icon="list" name=${t('audit')} sub=${t('audit.sub')} />
            <${Row} href="/docs" out icon="book" name=${t('docs')} sub=${t('docs.sub')} />
          </ul>
        </section>
        <section class="panel">
          <h2>${t('about')}</h2>
          <dl class="facts"><dt>${t('site')}</dt><dd>${site?.name || '–'}</dd><dt>${t('version')}</dt><dd>${s.version}</dd></dl>
          <${Fingerprint} text=${house.claim?.fingerprint} />
        </section>
      </div>
      <${Entries} of=${() => true} title=${t('entries.all')} />
    <//>`;
}
