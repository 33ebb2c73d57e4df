// Another device in the place of one, or the first for what waits for one: ID, name, clusters and calibration stay.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t, byName } from '../ui/i18n.js';
import { house } from './house.js';
import { useServer } from './useserver.js';
import { Edit } from './edit.js';
import { Check } from '../ui/form.js';

export function ReplaceNode({ node: n, onClose }) {
  const { data } = useServer('/profiles');
  const buses = house.buses
    .all()
    .sort(byName)
    .map((b) => [b.name, b.name]);
  const driver = (bus) => house.buses.peek(bus)?.driver;
  const others = house.nodes
    .all()
    .filter((o) => n.bus && o.id !== n.id && o.bus === n.bus && o.address === n.address)
    .sort(byName);
  const known = (data || []).filter((p) => !n.bus || p.driver === driver(n.bus));
  return html`
    <${Edit} title=${n.bus ? t('replace.of', { name: n.name }) : t('bind.of', { name: n.name })}
      save=${n.bus ? t('replace') : t('bind')} path=${'/nodes/' + n.id} record=${{ ...n, outputs: n.outputs || [] }}
      onClose=${onClose}
      fields=${[
        ...(others.length
          ? [
              {
                name: 'wholeDevice',
                label: t('replace.whole'),
                hint: t('replace.whole.hint', { names: others.map((o) => o.name).join(', ') }),
                as: Check,
                read: Boolean,
              },
            ]
          : []),
        { name: 'bus', label: t('bus'), options: n.bus ? buses : [['', t('replace.choose')], ...buses], needed: true },
        { name: 'address', label: t('address'), hint: t('replace.address.hint'), needed: true, autocomplete: 'off' },
        {
          name: 'profile',
          label: t('profile'),
          hint: t('replace.profile.hint'),
          needed: true,
          autocomplete: 'off',
          list: 'profiles',
        },
        {
          name: 'outputs',
          unless: 'wholeDevice',
          label: t('replace.outputs'),
          hint: t('replace.outputs.hint'),
          autocomplete: 'off',
          read: (v) =>
            String(v)
              .split(/[\s,;]+/)
              .filter(Boolean)
              .map(Number),
        },
      ]}>
      <p>${t('replace.stays')}</p>
      <datalist id="profiles">${known.map((p) => html`<option value=${p.name}>${p.title}</option>`)}</datalist>
    <//>`;
}

export function BindShade({ shade: s, onClose }) {
  const motors = house.nodes
    .all()
    .filter((n) => n.bus && !n.level)
    .sort(byName)
    .map((n) => [n.id, n.name]);
  return html`
    <${Edit} title=${t('bind.of', { name: s.name })} save=${t('bind')} path=${'/shades/' + s.id} record=${s} onClose=${onClose}
      fields=${[
        { name: 'node', label: t('node'), options: [[0, t('replace.choose')], ...motors], needed: true, read: Number },
        {
          name: 'output',
          label: t('replace.output'),
          hint: t('replace.output.hint'),
          needed: true,
          read: Number,
          inputmode: 'numeric',
          autocomplete: 'off',
        },
      ]}>
      <p>${t('replace.stays')}</p>
    <//>`;
}
