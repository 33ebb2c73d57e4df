// All sites with the state of their controllers, live.
import { html } from '../ui/lib.js';
import { t, age, now, byName, number } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { sites, admin } from './session.js';

const kinds = { online: 'ok', offline: 'fault', invited: 'accent', expired: 'warn', revoked: '' };
const icons = { online: 'check', offline: 'plug', invited: 'clock', expired: 'clock', revoked: 'close' };
export const State = ({ of }) => html`
  <span class=${'badge ' + kinds[of]}><${Icon} name=${icons[of]} size=${16} />${t('state.' + of)}</span>`;
// Health is the state of a site: well only if all its devices answer, too.
export const Health = ({ of }) =>
  of.state === 'online' && of.silent
    ? html`
      <span class="badge warn"><${Icon} name="triangle" size=${16} />${t('sites.silent', { n: of.silent, all: number(of.devices) })}</span>`
    : html`<${State} of=${of.state} />`;
export const heard = (s) =>
  s.lastSeen ? t('site.heard', { age: age(Date.parse(s.lastSeen), now.value) }) : t('site.neverheard');

// summary says what needs somebody, if anything does.
export function summary(all) {
  const away = all.filter((s) => s.state === 'offline').length,
    partly = all.filter((s) => s.state === 'online' && s.silent).length;
  if (!away && !partly) return t('sites.sub', { n: all.length });
  return [away && t('sites.away', { n: away }), partly && t('sites.partly', { n: partly })].filter(Boolean).join(' · ');
}

export default function Sites() {
  const all = sites.value?.slice().sort(byName);
  return html`
    <${Page} title=${t('sites')} sub=${all && summary(all)}
      actions=${admin() && html`<a class="button primary" href="/enrol"><${Icon} name="plus" />${t('enrol')}</a>`}>
      ${!all
        ? html`<div class="skeleton"></div>`
        : !all.length
        ? html`<${Empty} icon="building" text=${admin() ? t('sites.none') : t('sites.none.user')} />`
        : html`
          <ul class="list panel flush">
            ${all.map(
              (s) => html`
                <li key=${s.id}>
                  <a href=${'/sites/' + encodeURIComponent(s.id)}>
                    <${Icon} name="building" size=${24} />
                    <span class="main">
                      <span class="name"><bdi>${s.name}</bdi></span>
                      <span class="sub">${s.state === 'online' ? s.id : heard(s)}</span>
                    </span>
                    <${Health} of=${s} />
                  </a>
                </li>`,
            )}
          </ul>`}
    <//>`;
}
