// Changing what people configured: names, members, and that something is at all.
import { html, useState } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Dialog, Confirm } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit, Conflict } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { done } from '../ui/shell.js';
import { go } from '../ui/router.js';
import { server, house, may } from './house.js';

// Edit changes some fields of a record; what a field's read makes of its text is sent, unless the box that it names is
// ticked. If somebody else changed it meanwhile, one chooses.
export function Edit({ title, path, record, fields, save = t('save'), onClose, what, children }) {
  const labels = Object.fromEntries(fields.map((f) => [f.name, f.label]));
  const start = Object.fromEntries(fields.map((f) => [f.name, record[f.name] ?? '']));
  const [theirs, setTheirs] = useState(null);
  const send = async (v, etag) => {
    try {
      const old = Object.fromEntries(Object.keys(v).map((k) => [k, k in record ? record[k] : v[k]]));
      const now = await server.patch(path, v, { etag });
      onClose();
      done(t('saved', { name: now.name || what }), async () => {
        await server.patch(path, old, { etag: now.etag });
      });
    } catch (p) {
      if (p.status === 412) {
        setTheirs(await server.get(path));
        return;
      }
      throw p;
    }
  };
  const shown = (v) => fields.filter((f) => !v[f.unless]);
  const form = useForm(
    start,
    (v) => send(Object.fromEntries(shown(v).map((f) => [f.name, (f.read || String)(v[f.name])])), theirs?.etag || record.etag),
    (v) =>
      Object.fromEntries(
        fields.filter((f) => f.needed && ['', '0'].includes(String(v[f.name]).trim())).map((f) => [f.name, t('needed')]),
      ),
  );
  const take = () => {
    for (const f of fields) form.set(f.name, theirs[f.name]);
    onClose();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        ${theirs && html`
          <${Conflict} mine=${form.values} theirs=${theirs} labels=${labels} onMine=${() => form.submit()} onTheirs=${take} />`}
        <${Summary} form=${form} labels=${labels} />
        ${children}
        ${shown(form.values).map(
          ({ needed, read, unless, as = Field, ...f }) => html`<${as} key=${f.name} form=${form} ...${f} />`,
        )}
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${save}<//>
        </div>
      </form>
    <//>`;
}

// Rename is a button that opens a dialog with the name.
export function Rename({ path, record }) {
  const [open, setOpen] = useState(false);
  if (!may('operate')) return null;
  return html`
    <button class="button" onClick=${() => setOpen(true)}>${t('rename')}</button>
    ${open && html`
      <${Edit} title=${t('rename.of', { name: record.name })} path=${path} record=${record}
        fields=${[{ name: 'name', label: t('name'), needed: true, autocomplete: 'off' }]} onClose=${() => setOpen(false)} />`}`;
}

// Remove asks first; the ID of what was removed is never used again.
export function Remove({ path, record, text, then, onDone = () => then && go(then, { replace: true }) }) {
  const [open, setOpen] = useState(false);
  if (!may('operate')) return null;
  return html`
    <button class="button danger" onClick=${() => setOpen(true)}>${t('remove')}</button>
    ${open && html`
      <${Confirm} title=${t('remove.of', { name: record.name })} verb=${t('remove.verb', { name: record.name })}
        onClose=${() => setOpen(false)}
        onDo=${async () => {
          await server.del(path, { etag: record.etag });
          done(t('removed', { name: record.name }));
          onDone();
        }}>
        <p>${text}</p>
      <//>`}`;
}

// Members chooses which lights and shades a cluster has.
export function Members({ cluster: c }) {
  const [open, setOpen] = useState(false);
  if (!may('operate')) return null;
  return html`
    <button class="button" onClick=${() => setOpen(true)}>${t('members')}</button>
    ${open && html`<${MemberList} cluster=${c} onClose=${() => setOpen(false)} />`}`;
}

function MemberList({ cluster: c, onClose }) {
  const [nodes, setNodes] = useState(new Set(c.nodes));
  const [shades, setShades] = useState(new Set(c.shades));
  const [q, setQ] = useState('');
  const form = useForm({}, async () => {
    const old = { nodes: c.nodes, shades: c.shades };
    const now = await server.patch('/clusters/' + c.id, { nodes: [...nodes], shades: [...shades] }, { etag: c.etag });
    onClose();
    done(t('saved', { name: c.name }), async () => {
      await server.patch('/clusters/' + c.id, old, { etag: now.etag });
    });
  });
  const rows = [
    ...house.nodes
      .all()
      .filter((n) => n.tag === 'NODE')
      .map((n) => ({ ...n, kind: 'node', of: nodes, set: setNodes })),
    ...house.shades.all().map((s) => ({ ...s, kind: 'shade', of: shades, set: setShades })),
  ]
    .filter((r) => r.name.toLowerCase().includes(q.toLowerCase()))
    .sort((a, b) => byName(a, b));
  const flip = (r) => {
    const next = new Set(r.of);
    if (!next.delete(r.id)) next.add(r.id);
    r.set(next);
  };
  return html`
    <${Dialog} title=${t('members.of', { name: c.name })} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit}>
        <${Summary} form=${form} />
        <div class="search">
          <${Icon} name="search" />
          <input type="search" class="input" aria-label=${t('devices.search')} placeholder=${t('devices.search')} value=${q}
            onInput=${(e) => setQ(e.target.value)} />
        </div>
        <div class="picks" tabindex="0" role="group" aria-label=${t('members')}>
          ${rows.slice(0, 200).map(
            (r) => html`
              <label class="check" key=${r.kind + r.id}>
                <input type="checkbox" checked=${r.of.has(r.id)} onChange=${() => flip(r)} />
                <span>
                  ${r.name}
                  <br />
                  <span class="sub">
                    ${'address' in r ? t('dev.at', { bus: r.bus || '–', address: r.address }) : t('cmd.shade')}
                  </span>
                </span>
              </label>`,
          )}
        </div>
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('members.save', { n: nodes.size + shades.size })}<//>
        </div>
      </form>
    <//>`;
}

// NewCluster makes one and goes there.
export function NewCluster() {
  const [open, setOpen] = useState(false);
  if (!may('operate')) return null;
  return html`
    <button class="button" onClick=${() => setOpen(true)}><${Icon} name="plus" />${t('cluster.new')}</button>
    ${open && html`<${NewClusterForm} onClose=${() => setOpen(false)} />`}`;
}

function NewClusterForm({ onClose }) {
  const form = useForm(
    { name: '' },
    async (v) => {
      const c = await server.post('/clusters', v);
      onClose();
      done(t('cluster.made', { name: v.name }));
      if (c) go('/clusters/' + c.id);
    },
    (v) => (v.name.trim() ? {} : { name: t('needed') }),
  );
  return html`
    <${Dialog} title=${t('cluster.new')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ name: t('name') }} />
        <${Field} form=${form} name="name" label=${t('name')} hint=${t('cluster.new.hint')} autocomplete="off" />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('cluster.make')}<//>
        </div>
      </form>
    <//>`;
}
