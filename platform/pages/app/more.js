// Who is logged in, and the pages that are not needed every day.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { keysOn, setKeys } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { session, logOut } from './session.js';

const Row = ({ href, icon, name, sub, out }) => html`
  <li>
    <a href=${href} target=${out ? '_blank' : undefined}>
      <${Icon} name=${icon} size=${24} />
      <span class="main"><span class="name">${name}</span><span class="sub">${sub}</span></span>
      <${Icon} name="right" />
    </a>
  </li>`;

export default function More() {
  const s = session.value;
  return html`
    <${Page} title=${t('more')}>
      <div class="columns">
        <section class="panel">
          <div class="row">
            <span class="avatar"><${Icon} name="user" size=${24} /></span>
            <div class="grow"><h2 class="plain"><bdi>${s.username}</bdi></h2><p class="sub">${t('role.' + s.role)}</p></div>
            <button class="button" onClick=${logOut}><${Icon} name="out" />${t('logout')}</button>
          </div>
          <label class="check">
            <input type="checkbox" checked=${keysOn.value} onChange=${(e) => setKeys(e.target.checked)} />
            <span>${t('shortcuts')}<br /><span class="sub">${t('shortcuts.which')}</span></span>
          </label>
        </section>
        <section class="panel flush">
          <ul class="list">
            <${Row} href="/usage" icon="pulse" name=${t('usage')} sub=${t('usage.sub')} />
            <${Row} href="/connect" icon="copy" name=${t('connect')} sub=${t('connect.sub')} />
            <${Row} href="/docs" out icon="book" name=${t('docs')} sub=${t('docs.sub')} />
          </ul>
        </section>
      </div>
    <//>`;
}
