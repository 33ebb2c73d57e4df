// What can be done with one device, besides commanding it.
import { html, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Icon } from '../ui/icons.js';
import { house, may } from './house.js';
import { identify, shows } from './works.js';
import { Rename, Remove } from './edit.js';

export function Actions({ node, shade }) {
  if (!may('operate')) return null;
  const bound = shade ? shade.node : node.bus;
  const of = shade ? house.nodes.peek(shade.node) : node;
  return html`
    ${of?.bus && of.online && (shows(of.bus) || node?.level) && html`
      <button class="button" onClick=${() => identify(shade ? { shade: shade.id } : { node: node.id })}>
        <${Icon} name="blink" />
        ${t('identify')}
      </button>`}
    ${shade && bound > 0 && html`<a class="button" href=${'/commission/shade/' + shade.id}>${t('calibrate')}</a>`}
    ${of?.bus && html`<a class="button" href=${'/devices/' + of.id + '/outputs'}>${t('outputs')}</a>`}
    <${Replace} node=${node} shade=${shade} />
    <${Note} node=${of} />
    <${Rename} path=${shade ? '/shades/' + shade.id : '/nodes/' + node.id} record=${shade || node} />`;
}

// Ends is at the foot of a page, away from what one presses every day: here the device ends.
export const Ends = ({ node = undefined, shade = undefined }) =>
  may('operate') &&
  html`
    <div class="actions start ends">
      <${Remove} path=${shade ? '/shades/' + shade.id : '/nodes/' + node.id} record=${shade || node} text=${t('remove.device')}
        then="/devices" />
    </div>`;

// NoteOf shows the note at a device, if there is one.
export const NoteOf = ({ node }) =>
  node?.note &&
  html`
    <section class="panel">
      <h2>${t('note')}</h2>
      <p dir="auto" style=${{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>${node.note}</p>
    </section>`;

// Note opens the note at a device, to be written or changed.
function Note({ node }) {
  const [Open, setOpen] = useState(null);
  if (!node) return null;
  const open = async () => {
    const { NoteForm } = await import('./note.js');
    setOpen(() => NoteForm);
  };
  return html`
    <button class="button" onClick=${open}>${t('note')}</button>
    ${Open && html`<${Open} node=${node} onClose=${() => setOpen(null)} />`}`;
}

// Replace puts another device in the place of a node's; a shade is led to its motor while it has none.
function Replace({ node, shade }) {
  const [Open, setOpen] = useState(null);
  if (shade?.node || !house.buses.all().length) return null;
  const open = async () => {
    const { ReplaceNode, BindShade } = await import('./replace.js');
    setOpen(() => (node ? ReplaceNode : BindShade));
  };
  return html`
    <button class="button" onClick=${open}>${node?.bus ? t('replace') : t('bind')}</button>
    ${Open && html`<${Open} node=${node} shade=${shade} onClose=${() => setOpen(null)} />`}`;
}
