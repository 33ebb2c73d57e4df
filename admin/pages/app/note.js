// A note at a device: what the next installer should know.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Dialog } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { done } from '../ui/shell.js';
import { deliver } from './outbox.js';

export const noteMost = 500;

export function NoteForm({ node, onClose }) {
  const form = useForm({ note: node.note || '' }, async (v) => {
    const path = '/nodes/' + node.id,
      text = t('note.of', { name: node.name });
    const now = await deliver({
      method: 'patch',
      path,
      text,
      etag: node.etag,
      body: { note: v.note.trim(), ...(node.bus && { wholeDevice: true }) },
    });
    onClose();
    if (now) done(t('saved', { name: node.name }));
  });
  return html`
    <${Dialog} title=${t('note.of', { name: node.name })} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ note: t('note') }} />
        <${Field} form=${form} name="note" label=${t('note')} hint=${t('note.hint')} rows=${5} maxlength=${noteMost} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
