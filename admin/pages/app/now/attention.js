// What needs somebody, in words for whoever opens the page in the morning. It stays until it is over or put aside.
import './texts.js';
import { html, useState, sheet } from '../../ui/lib.js';
import { t, list, moment } from '../../ui/i18n.js';
import { done } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { house, server, may } from '../house.js';
import { sinceWhen } from '../cards.js';

/** @import { Concern } from '../../records' */

await sheet(new URL('now.css', import.meta.url).href);
const shownMost = 4; // devices, before the rest is folded

// carries names what hangs off some nodes: lights, and shades by their own names.
/** @type {(nodes: number[]) => string[]} */
const carries = (nodes) =>
  nodes.flatMap((id) => {
    const shades = house.shades.all().filter((s) => s.node === id);
    return shades.length ? shades.map((s) => s.name) : [house.nodes.get(id).value?.name].filter(Boolean);
  });

/** @type {(names: string[]) => string} */
const few = (names) => list(names.length > 3 ? [...names.slice(0, 2), t('now.more', { n: names.length - 2 })] : names);

// words are what a concern says: a sentence, and what the program says of it.
/** @type {(c: Concern) => { says: string, asks?: string, sub?: string }} */
export function words(c) {
  const since = sinceWhen(c.since && Date.parse(c.since));
  const who = few(carries(c.nodes || [])) || `${c.bus} ${c.device}`;
  const at = c.device && t('dev.at', { bus: c.bus, address: c.device });
  switch (c.kind) {
    case 'bus-silent': {
      const n = carries(c.nodes || []).length;
      return {
        says: c.since ? t('now.bus.since', { bus: c.bus, since }) : t('now.bus.never', { bus: c.bus }),
        asks: t(c.network ? 'now.bus.network' : house.buses.get(c.bus).value?.up ? 'now.bus.line' : 'now.bus.serial'),
        sub: n ? t('now.silent.for', { n }) : c.what,
      };
    }
    case 'device-silent':
      return { says: t('now.device', { who, since }), sub: [at, c.trouble].filter(Boolean).join(': ') };
    case 'backup-overdue':
      return { says: t(c.key === 'offsite stick' ? 'now.backup.stick' : 'now.backup.server', { since }), sub: t('now.backup.sub') };
    case 'power-weak':
      return { says: t('now.power'), asks: t('now.power.asks'), sub: since };
    case 'too-hot':
      return { says: t('now.hot'), asks: t('now.hot.asks'), sub: since };
    case 'network-tried':
      return { says: t('now.network'), sub: since };
    case 'not-enrolled':
      return { says: t('now.unenrolled'), sub: c.what };
    case 'device-trouble':
      return { says: t('now.trouble', { who, what: c.what }), sub: at };
    default:
      return { says: c.bus ? t('now.trouble', { who: c.bus, what: c.what }) : c.what };
  }
}

function One({ concern: c }) {
  const [busy, setBusy] = useState(false);
  const w = words(c);
  const put = async (aside) => {
    setBusy(true);
    try {
      await server.post('/attention/aside', { key: c.key, aside });
      if (aside) done(t('now.put.done'), () => server.post('/attention/aside', { key: c.key, aside: false }));
    } catch (p) {
      done(p.message);
    }
    setBusy(false);
  };
  return html`
    <li class="concern">
      <${Icon} name=${c.kind.endsWith('silent') ? 'plug' : 'triangle'} />
      <div class="main">
        <p><b><bdi>${w.says}</bdi></b>${w.asks && ' ' + w.asks}</p>
        <p class="sub">
          ${c.aside
            ? t('now.aside.by', { who: c.aside.by, at: moment(Date.parse(c.aside.at)) })
            : w.sub && html`<bdi>${w.sub}</bdi>`}
        </p>
      </div>
      <div class="row">
        ${c.bus && html`
          <a class="button" href=${'/buses/' + encodeURIComponent(c.bus)} aria-label=${t('now.diagnosis.of', { bus: c.bus })}>
            ${t('now.diagnosis')}
          </a>`}
        ${c.kind === 'backup-overdue' && may('administer') && html`<a class="button" href="/more/backup">${t('now.backup')}</a>`}
        ${c.kind === 'network-tried' && may('administer') && html`<a class="button" href="/more/network">${t('now.network.look')}</a>`}
        ${may('operate') && html`
          <button class="button" disabled=${busy} onClick=${() => put(!c.aside)}
            aria-label=${t(c.aside ? 'now.again.of' : 'now.put.of', { what: w.says })}>
            ${t(c.aside ? 'now.again' : 'now.put')}
          </button>`}
      </div>
    </li>`;
}

export default function Attention() {
  const { concerns, more } = house.attention.value;
  const open = concerns.filter((c) => !c.aside),
    aside = concerns.filter((c) => c.aside);
  const whole = open.filter((c) => !c.device),
    devices = open.filter((c) => c.device);
  const folded = devices.length > shownMost + 1 ? devices.slice(shownMost) : [];
  const shown = [...whole, ...devices.slice(0, devices.length - folded.length)];
  if (!concerns.length) return null;
  const rows = (some) => html`<ul class="concerns">${some.map((c) => html`<${One} key=${c.key} concern=${c} />`)}</ul>`;
  return html`
    <section class="panel attention" aria-label=${t('now')} data-open=${open.length > 0 ? '' : undefined}>
      ${open.length > 0 && html`<h2>${t('now')}</h2>${rows(shown)}`}
      ${folded.length + more > 0 && html`
        <details><summary><${Icon} name="right" />${t('now.more', { n: folded.length + more })}</summary>${rows(folded)}</details>`}
      ${aside.length > 0 && html`
        <details><summary><${Icon} name="right" />${t('now.aside', { n: aside.length })}</summary>${rows(aside)}</details>`}
    </section>`;
}
