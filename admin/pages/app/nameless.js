// What a scan found and nobody has named yet: how it shows itself, and what is named at its address meanwhile.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Icon } from '../ui/icons.js';
import { house, session } from './house.js';
import { identify, over, shows } from './works.js';
import { mine } from './outbox.js';

/** @import { DeviceMade, Found } from '../records' */

// namesAt are the names of what the site has at an address, or is to have as soon as the controller can be reached.
export function namesAt(bus, at) {
  const nodes = house.nodes.all().filter((n) => n.bus === bus && n.address.toLowerCase() === at.toLowerCase());
  const shades = house.shades.all().filter((s) => nodes.some((n) => n.id === s.node));
  const lights = nodes.filter((n) => n.tag === 'NODE' || !shades.some((s) => s.node === n.id));
  const names = [...lights, ...shades].map((x) => x.name);
  const kept = mine().filter((e) => e.path === '/buses/' + encodeURIComponent(bus) + '/devices' && e.body.address === at);
  return {
    names: names.length ? names : kept.map((e) => e.text),
    waits: !names.length && kept.length > 0,
    wrong: kept.some((e) => e.wrong),
  };
}

// byOthers tells who has a device show itself now, if it is somebody else.
export const byOthers = (bus, at) =>
  house.jobs.value.find(
    (j) => j.kind === 'identify' && !over(j) && j.bus === bus && j.address === at && j.by !== session.value?.username,
  )?.by;

// switchable lists the outputs by which a device that was found shows itself, where it cannot by itself.
/** @type {(bus: string, f: Found) => number[]} */
const switchable = (bus, f) => (shows(bus) || f.gateway || !f.kind ? [] : Array.from({ length: f.lights || 0 }, (_, i) => i + 1));

// Show makes a device that has no name show itself: as a whole, or by the output that one presses.
export function Show({ bus, found: f, big = false }) {
  const outputs = switchable(bus, f);
  const show = (output) => () => identify({ bus, address: f.address, ...(output && { profile: f.kind, output }) });
  if (!shows(bus) && !outputs.length) return null;
  if (outputs.length < 2 || !big)
    return html`
      <button type="button" class=${'button' + (big ? ' big' : ' square')} onClick=${show(outputs[0])}
        aria-label=${big ? undefined : t('show.of', { what: f.address })}>
        <${Icon} name="blink" size=${24} />
        ${big && t('identify')}
      </button>`;
  return html`
    <fieldset class="choice stack tight">
      <legend>${t('show.outputs')}</legend>
      <div class="chips" style=${{ marginTop: '8px' }}>
        ${outputs.map(
          (n) => html`
            <button type="button" class="chip" key=${n} onClick=${show(n)} aria-label=${t('show.output', { n })}>
              <${Icon} name="blink" size=${16} />${n}
            </button>`,
        )}
      </div>
      <p class="sub">${t('show.switched')}</p>
    </fieldset>`;
}

// clusterOf is the one that was made with a device.
/** @type {(made: DeviceMade) => number | undefined} */
export const clusterOf = (made) => made.nodes[0]?.clusters.at(-1) || made.shades[0]?.clusters.at(-1);
