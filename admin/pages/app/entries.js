// What was commanded: who, what, when, and what became of it.
import { html } from '../ui/lib.js';
import { t, percent, unit, timeExactly, moment, now } from '../ui/i18n.js';
import { Icon } from '../ui/icons.js';
import { openness } from '../ui/shade.js';
import { house } from './house.js';
import { useServer } from './useserver.js';

// whatOf words a command.
export function whatOf(e) {
  switch (e.kind) {
    case 'light-level':
      return t('cmd.level', { v: percent(e.level) });
    case 'light-kelvin':
      return t('cmd.kelvin', { v: unit(e.kelvin, 'K') });
    case 'light-rgbw':
      return t('cmd.rgbw', { v: `${e.rgbw.r}:${e.rgbw.g}:${e.rgbw.b}:${e.rgbw.w}` });
    case 'shade-move-to':
      return t('cmd.position', { v: openness(e.position) });
    default:
      return t('cmd.' + e.kind);
  }
}

// whomOf words whom a command addresses.
export function whomOf(e) {
  const { scope, id } = e.target;
  if (scope === 'all') return e.kind.startsWith('shade') ? t('cmd.all.shades') : t('cmd.all.lights');
  return house[scope + 's'].peek(id)?.name || `${t('cmd.' + scope)} ${id}`;
}

// givenBy words who gave a command, and how; nobody gave what a shade orders on its way.
const givenBy = (e) => (e.who ? t('entries.by', { who: e.who, via: t('via.' + e.via) }) : t('via.' + e.via));

// Entry is one command in a list.
export const Entry = ({ e, when }) => html`
  <li>
    <a href=${'/more/ledger/' + e.id}>
      <span class=${e.ok ? 'ok' : 'fault'}><${Icon} name=${e.ok ? 'check' : 'triangle'} /></span>
      <span class="main">
        <span class="name">${whomOf(e)}: ${whatOf(e)}</span>
        <span class="sub">${e.ok ? givenBy(e) : e.error}</span>
      </span>
      <span class="end sub">${when}</span>
    </a>
  </li>`;

// Entries are the last commands: those of the ledger that query asks for, and those that came since.
export function Entries({ of, query = '', title = t('entries') }) {
  const { data } = useServer(`/ledger?limit=20${query}`);
  const live = house.entries.value.filter(of);
  const shown = [...live, ...(data || []).filter((e) => !live.some((x) => x.id === e.id))]
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, 20);
  return html`
    <section class="panel flush">
      <h2 class="padded">${title}</h2>
      ${shown.length
        ? html`
          <ul class="list">
            ${shown.map((e) => {
              const at = Date.parse(e.acceptedAt);
              return html`<${Entry} key=${e.id} e=${e} when=${now.peek() - at < 12 * 3600e3 ? timeExactly(at) : moment(at)} />`;
            })}
          </ul>`
        : html`<p class="padded sub">${t('entries.none')}</p>`}
    </section>`;
}
