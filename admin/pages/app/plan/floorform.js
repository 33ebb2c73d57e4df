// A floor: its name, the rooms on it, and the picture of its plan.
import { html, useState } from '../../ui/lib.js';
import { t, byName } from '../../ui/i18n.js';
import { Dialog, Confirm } from '../../ui/dialog.js';
import { useForm, Summary, Field, Submit } from '../../ui/form.js';
import { done } from '../../ui/shell.js';
import { go } from '../../ui/router.js';
import { house, server } from '../house.js';
import { FileField } from '../filefield.js';
import { fitting } from './smaller.js';

const pathOf = (name) => '/floors/' + encodeURIComponent(name);

// FloorForm changes a floor of the site, or makes one: floor is null then.
export default function FloorForm({ floor, onClose }) {
  const [rooms, setRooms] = useState(new Set(floor?.clusters || []));
  const [ending, setEnding] = useState('');
  const form = useForm(
    { name: floor?.name || '', file: null },
    async (v) => {
      const name = v.name.trim();
      const picture = v.file && (await fitting(v.file));
      const edit = { name, clusters: [...rooms] };
      if (floor) await server.patch(pathOf(floor.name), edit, { etag: '*' });
      else await server.post('/floors', edit);
      if (picture) await server.put(pathOf(name) + '/picture', picture, { etag: '*' });
      onClose();
      done(t('saved', { name }));
      go('/plan?floor=' + encodeURIComponent(name), { replace: !!floor });
    },
    (v) => (v.name.trim() ? {} : { name: t('needed') }),
  );
  const flip = (id) => {
    const next = new Set(rooms);
    if (!next.delete(id)) next.add(id);
    setRooms(next);
  };
  if (ending)
    return html`
      <${Confirm} title=${t('remove.of', { name: floor.name })} verb=${t(ending === 'plan' ? 'floor.noplan' : 'floor.end')}
        onClose=${onClose}
        onDo=${async () => {
          await server.del(pathOf(floor.name) + (ending === 'plan' ? '/plan' : ''), { etag: '*' });
          done(t('removed', { name: floor.name }));
        }}>
        <p>${t(ending === 'plan' ? 'floor.noplan.text' : 'floor.end.text')}</p>
      <//>`;
  const on = (id) => house.site.value.floors.find((f) => f.name !== floor?.name && f.clusters.includes(id))?.name;
  return html`
    <${Dialog} title=${floor ? t('floor.change') : t('floor.new')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ name: t('name'), file: t('floor.picture') }} />
        <${Field} form=${form} name="name" label=${t('name')} hint=${t('floor.name.hint')} autocomplete="off" />
        <${FileField} form=${form} name="file" label=${t(floor?.plan ? 'floor.picture.other' : 'floor.picture')}
          hint=${t('floor.picture.hint')} accept=".svg,image/svg+xml,image/png,image/jpeg" />
        <fieldset class="choice">
          <legend>${t('floor.rooms')}</legend>
          <div class="picks" tabindex="0" role="group" aria-label=${t('floor.rooms')}>
            ${house.clusters
              .all()
              .sort(byName)
              .map(
                (c) => html`
                  <label class="check" key=${c.id}>
                    <input type="checkbox" checked=${rooms.has(c.id)} onChange=${() => flip(c.id)} />
                    <span>${c.name}${on(c.id) && html`<br /><span class="sub">${t('floor.now', { name: on(c.id) })}</span>`}</span>
                  </label>`,
              )}
          </div>
        </fieldset>
        <div class="actions">
          ${floor?.plan && html`
            <button type="button" class="button quiet danger" onClick=${() => setEnding('plan')}>${t('floor.noplan')}</button>`}
          ${floor && html`
            <button type="button" class="button quiet danger" onClick=${() => setEnding('floor')}>${t('floor.end')}</button>`}
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
