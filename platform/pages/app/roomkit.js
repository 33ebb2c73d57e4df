// What RoomOS devices need of the page "Rooms": their zones picked by name, and the macro that they run.
import './kit/texts.js';
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Icon } from '../ui/icons.js';
import { Field } from '../ui/form.js';
import { useServer } from './useserver.js';

export const numbers = (text) =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);

// toggled is a list of numbers with one more, or without it.
export const toggled = (text, id) => {
  const chosen = numbers(text);
  return (chosen.includes(id) ? chosen.filter((n) => n !== id) : [...chosen, id]).join(', ');
};

// choices are the zones of a controller, and what is chosen that it does not have: that can be taken away.
export const choices = (zones, text) => [
  ...zones.map((z) => ({ id: z.id, name: z.name, floor: new Set(zones.map((other) => other.floor)).size > 1 ? z.floor : '' })),
  ...numbers(text)
    .filter((id) => !zones.some((z) => z.id === id))
    .map((id) => ({ id, strange: true })),
];

// Zones are picked by name where the controller has reported them, otherwise their numbers are typed.
export function Zones({ form }) {
  return form.values.controllerId ? html`<${Named} form=${form} key=${form.values.controllerId} />` : html`<${Typed} form=${form} />`;
}

const Typed = ({ form }) => html`
  <${Field} form=${form} name="clusterIds" label=${t('rooms.zones')} hint=${t('rooms.zones.hint')} inputmode="numeric"
    autocomplete="off" />`;

function Named({ form }) {
  const { data, wrong } = useServer('/sites/' + encodeURIComponent(form.values.controllerId));
  const chosen = form.values.clusterIds;
  if (!data && !wrong) return html`<div class="field"><span>${t('rooms.zones')}</span><div class="skeleton"></div></div>`;
  if (!data?.zones.length || form.errors.clusterIds) return html`<${Typed} form=${form} />`;
  return html`
    <div class="field" role="group" aria-labelledby=${form.id + 'zones'}>
      <span id=${form.id + 'zones'}><b>${t('rooms.zones')}</b></span>
      <div class="chips">
        ${choices(data.zones, chosen).map(
          (z) => html`
            <button type="button" class="chip" key=${z.id} aria-pressed=${numbers(chosen).includes(z.id) ? 'true' : 'false'}
              onClick=${() => form.set('clusterIds', toggled(chosen, z.id))}>
              ${z.strange ? t('rooms.zones.strange', { id: z.id }) : html`<bdi>${z.name}</bdi>`}
              ${z.floor && html`<small><bdi>${z.floor}</bdi></small>`}
            </button>`,
        )}
      </div>
    </div>`;
}

// macroOf tells what there is to say of a device's macro.
export const macroOf = (d) =>
  !d.macroVersion ? 'rooms.macro.none' : d.macroVersion < d.macroNewest ? 'rooms.macro.old' : 'rooms.macro.current';

// versions counts the devices that run a macro, and those of them with an older one.
export const versions = (devices) => {
  const run = devices.filter((d) => d.macroVersion);
  return { all: run.length, old: run.filter((d) => macroOf(d) === 'rooms.macro.old').length };
};

// Macro tells which macro a device runs, and offers the files with the newest.
export function Macro({ d }) {
  const what = macroOf(d);
  const old = what === 'rooms.macro.old';
  const name = d.workspaceName || d.deviceId;
  return html`
    <p class=${old ? 'with-icon' : 'sub'}>
      ${old && html`<${Icon} name="triangle" size=${16} />`}
      ${t(what, { n: d.macroVersion, newest: d.macroNewest })}
    </p>
    <div class="actions start">
      <a class=${old ? 'button' : 'button quiet'} download aria-label=${t('rooms.bundle.of', { name })}
        href=${`/api/conferencing/devices/${encodeURIComponent(d.deviceId)}/bundle?platform=${encodeURIComponent(location.origin)}`}>
        ${t('rooms.bundle')}
      </a>
    </div>`;
}
