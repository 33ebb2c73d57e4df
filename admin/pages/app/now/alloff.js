// All lights off: asked before, and told after, with what could not be done.
import './texts.js';
import { html, useState } from '../../ui/lib.js';
import { t } from '../../ui/i18n.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice, say } from '../../ui/shell.js';
import { house, server } from '../house.js';

/** @import { Entry, Member } from '../../records' */

// byRoom counts lights by the rooms that they are in.
/** @type {(members: Member[]) => [string, number][]} */
function byRoom(members) {
  /** @type {Map<string, number>} */
  const rooms = new Map();
  for (const id of new Set(members.map((m) => m.node))) {
    const c = house.nodes.peek(id)?.clusters[0];
    const name = house.clusters.peek(c)?.name || t('off.nowhere');
    rooms.set(name, (rooms.get(name) || 0) + 1);
  }
  return [...rooms];
}

const lights = (members) => new Set(members.map((m) => m.node)).size;

function Outcome({ entry }) {
  /** @type {(...stages: string[]) => Member[]} */
  const of = (...stages) => entry.members.filter((m) => stages.includes(m.stage));
  const gone = (/** @type {Member} */ m) => m.stage === 'offline' || !house.nodes.peek(m.node)?.online;
  const not = of('offline', 'failed', 'accepted', 'sent');
  const sent = of('unverifiable'),
    done = of('acknowledged', 'observed'),
    silent = not.filter(gone),
    failed = not.filter((m) => !gone(m));
  const rooms = (members) => html`
    <ul>
      ${byRoom(members).map(([name, n]) => html`<li key=${name}><bdi>${name}</bdi>: ${t('lights', { n })}</li>`)}
    </ul>`;
  return html`
    <p>${done.length ? t('off.done', { n: lights(done) }) : sent.length ? '' : t('off.none')}
      ${sent.length > 0 && ' ' + t('off.sent', { n: lights(sent) })}</p>
    ${silent.length > 0 && html`<${Notice} kind="warn" icon="plug"><p>${t('off.silent', { n: lights(silent) })}</p>${rooms(silent)}<//>`}
    ${failed.length > 0 && html`<${Notice} kind="fault"><p>${t('off.failed', { n: lights(failed) })}</p>${rooms(failed)}<//>`}
    <p><a href=${'/more/ledger/' + entry.id}>${t('off.entry')}</a></p>`;
}

export default function AllOff({ onClose }) {
  const [state, set] = useState(/** @type {{ busy?: boolean, entry?: Entry, wrong?: string }} */ ({}));
  const off = async () => {
    set({ busy: true });
    try {
      const entry = await server.post('/commands', { kind: 'light-off', target: { scope: 'all' } });
      set({ entry });
      say(t('off.done', { n: lights(entry.members.filter((m) => ['acknowledged', 'observed'].includes(m.stage))) }));
    } catch (p) {
      set({ wrong: p.message });
    }
  };
  const lit = house.clusters.all().filter((c) => c.level > 0).length;
  const silent = house.nodes.all().filter((n) => n.tag === 'NODE' && !n.online).length;
  return html`
    <${Dialog} title=${t('off.title')} onClose=${onClose}>
      ${state.entry
        ? html`
          <div class="stack tight">
            <${Outcome} entry=${state.entry} />
            <div class="actions"><button type="button" class="button primary" onClick=${onClose}>${t('off.close')}</button></div>
          </div>`
        : html`
          <div class="stack tight">
            <p>${t('off.ask')} ${t('off.ask.count', { n: lit })} ${t('off.ask.shades')}</p>
            ${silent > 0 && html`<p>${t('off.ask.silent', { n: silent })}</p>`}
            ${state.wrong && html`<div role="alert"><${Notice} kind="fault">${state.wrong}<//></div>`}
            <div class="actions">
              <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
              <button type="button" class="button primary" aria-disabled=${state.busy ? 'true' : undefined}
                onClick=${() => state.busy || off()}>
                ${t('off.verb')}
              </button>
            </div>
          </div>`}
    <//>`;
}
