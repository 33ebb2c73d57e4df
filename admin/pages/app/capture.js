// Keeping how a cluster is now as a scene.
import { html, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { done } from '../ui/shell.js';
import { Dialog } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { server } from './house.js';

// Capture keeps how a cluster is now as a scene.
export function Capture({ cluster }) {
  const [open, setOpen] = useState(false);
  return html`
    <button type="button" class="chip" onClick=${() => setOpen(true)}>
      <${Icon} name="plus" size=${18} />
      ${t('scene.save')}
    </button>
    ${open && html`<${CaptureForm} cluster=${cluster} onClose=${() => setOpen(false)} />`}`;
}

function CaptureForm({ cluster, onClose }) {
  const form = useForm(
    { name: '' },
    async (v) => {
      const s = await server.post('/scenes', { name: v.name, cluster: cluster.id, capture: true });
      onClose();
      done(t('scene.saved', { name: s.name }), () => server.del('/scenes/' + s.id, { etag: s.etag }));
    },
    (v) => (v.name.trim() ? {} : { name: t('needed') }),
  );
  return html`
    <${Dialog} title=${t('scene.save')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <p>${t('scene.save.text', { name: cluster.name })}</p>
        <${Summary} form=${form} labels=${{ name: t('name') }} />
        <${Field} form=${form} name="name" label=${t('name')} autocomplete="off" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
