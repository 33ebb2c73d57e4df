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
            ${shown.map(
              (e) => html`
                <li key=${e.id}>
                  <a href=${'/more/ledger/' + e.id}>
                    <span class=${e.ok ? 'ok' : 'fault'}><${Icon} name=${e.ok ? 'check' : 'triangle'} /></span>
                    <span class="main">
                      <span class="name">${whomOf(e)}: ${whatOf(e)}</span>
                      <span class="sub">${e.ok ? t('entries.by', { who: e.who, via: t('via.' + e.via) }) : e.error}</span>
                    </span>
                    <span class="end sub">
                      ${now.peek() - Date.parse(e.acceptedAt) < 12 * 3600e3
                        ? timeExactly(Date.parse(e.acceptedAt))
                        : moment(Date.parse(e.acceptedAt))}
                    </span>
                  </a>
                </li>`,
            )}
          </ul>`
        : html`<p class="padded sub">${t('entries.none')}</p>`}
    </section>`;
}
