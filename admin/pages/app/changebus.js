// Another port, driver, setting or name for a bus: its devices stay.
import { html, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Dialog } from '../ui/dialog.js';
import { useForm, Summary, Check, Submit, Conflict } from '../ui/form.js';
import { done } from '../ui/shell.js';
import { go } from '../ui/router.js';
import { house, server } from './house.js';
import { BusFields, checkBus, editOf, labelsOfBus, valuesOf } from './busform.js';

export function ChangeBus({ bus, onClose }) {
  const [theirs, setTheirs] = useState(null);
  const [had] = useState(bus);
  const form = useForm(
    valuesOf(had),
    async (v) => {
      const path = '/buses/' + had.uuid;
      try {
        const now = await server.patch(path, editOf(v, had.options), { etag: theirs?.etag || had.etag });
        onClose();
        done(t('saved', { name: now.name }));
        if (now.name !== had.name) go('/buses/' + encodeURIComponent(now.name), { replace: true });
      } catch (p) {
        if (p.status !== 412) throw p;
        setTheirs(await server.get(path));
      }
    },
    checkBus,
  );
  const take = () => {
    for (const [k, v] of Object.entries(valuesOf(theirs))) form.values[k] = v;
    onClose();
  };
  return html`
    <${Dialog} title=${t('changebus.of', { name: had.name })} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        ${theirs && html`
          <${Conflict} mine=${form.values} theirs=${valuesOf(theirs)} labels=${labelsOfBus()} onMine=${() => form.submit()}
            onTheirs=${take} />`}
        <${Summary} form=${form} labels=${labelsOfBus()} />
        <${BusFields} form=${form} where />
        <${Check} form=${form} name="disabled" label=${t('bus.off')} hint=${t('bus.off.hint')} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}

// takeSettings gives a bus the line settings at which a device answers.
export async function takeSettings(name, line) {
  const had = house.buses.peek(name);
  try {
    const now = await server.patch('/buses/' + had.uuid, { line }, { etag: had.etag });
    done(t('changebus.taken', { name }), async () => {
      await server.patch('/buses/' + had.uuid, { line: had.line }, { etag: now.etag });
    });
  } catch (p) {
    done(p.message);
  }
}
