// Conferencing devices and the rooms that they stand for.
import './kit/texts.js';
import { html, useState } from '../ui/lib.js';
import { t, list } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Empty, done } from '../ui/shell.js';
import { Dialog, Confirm } from '../ui/dialog.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { said } from './said.js';
import { Icon } from '../ui/icons.js';
import { numbers, Zones, Macro, versions } from './roomkit.js';
import { ask, admin, server, sites } from './session.js';
import { useServer } from './useserver.js';

const base = '/conferencing/devices';
const at = (d) => base + '/' + encodeURIComponent(d.deviceId);
// missing tells what has to be done before taps and sentences act; the same as is said in the room.
export const missing = (d) =>
  !d.controllerId ? 'rooms.assign' : !d.clusterIds.length ? 'rooms.bind' : !d.deployed ? 'rooms.deploy' : null;
// panelOf is where a panel opens for whoever has its code, which stands behind the #: browsers send that to nobody.
export const panelOf = (d) => `/panel/${encodeURIComponent(d.deviceId)}#code=${d.panelCode}`;

export default function Rooms() {
  const { data, wrong, again } = useServer(base);
  const [open, setOpen] = useState(null); // {add} | {edit: d} | {remove: d}
  const close = () => setOpen(null),
    changed = () => {
      close();
      again();
    };
  if (!admin()) return html`<${Page} title=${t('rooms')}><${Empty} icon="shield" text=${t('admins')} /><//>`;
  const act = async (method, path, text) => {
    try {
      await ask(method, path);
      done(text);
    } catch (p) {
      done(p.message);
    }
    again();
  };
  const refresh = async () => {
    try {
      const n = await ask('POST', base + '/refresh');
      done(t('rooms.found', { n: n.found }));
    } catch (p) {
      done(p.message);
    }
    again();
  };
  const test = async (d) => {
    try {
      done(said((await server.post(at(d) + '/test')).message));
    } catch (p) {
      done(p.message);
    }
  };
  return html`
    <${Page} title=${t('rooms')} sub=${t('rooms.sub')}
      actions=${html`
        <button class="button" onClick=${refresh}><${Icon} name="undo" />${t('rooms.refresh')}</button>
        ${data?.length > 0 && html`<a class="button" href="/rollout"><${Icon} name="plane" />${t('rollout')}</a>`}
        <button class="button primary" onClick=${() => setOpen({ add: true })}>
          <${Icon} name="plus" />
          ${t('rooms.add')}
        </button>`}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      <${Versions} of=${versions(data || [])} />
      ${!data
        ? !wrong && html`<div class="skeleton"></div>`
        : !data.length
        ? html`<${Empty} icon="group" text=${t('rooms.none')} />`
        : html`
          <div class="columns">
            ${data.map(
              (d) => html`
                <section class="panel" key=${d.deviceId}>
                  <div class="row">
                    <div class="grow">
                      <h2 class="plain"><bdi>${d.workspaceName || d.deviceId}</bdi></h2>
                      <p class="sub"><code>${d.deviceId}</code></p>
                    </div>
                    <span class=${'badge ' + (missing(d) ? 'warn' : 'ok')}>
                      <${Icon} name=${missing(d) ? 'triangle' : 'check'} size=${16} />
                      ${t(missing(d) ? 'rooms.notready' : 'rooms.ready')}
                    </span>
                  </div>
                  <p>
                    ${missing(d)
                      ? t(missing(d))
                      : t('rooms.acts', {
                        controller: sites.value?.find((s) => s.id === d.controllerId)?.name || d.controllerId,
                        n: d.clusterIds.length,
                        zones: list(d.clusterIds.map(String)),
                      })}
                  </p>
                  ${d.deployed && html`<${Macro} d=${d} />`}
                  <div class="actions start">
                    ${d.deployed
                      ? html`
                        <a class="button primary" href=${panelOf(d)} target="_blank">${t('rooms.panel')}</a>
                        <a class="button quiet" href=${'/rooms/' + encodeURIComponent(d.deviceId)}
                          aria-label=${t('tablet.of', { name: d.workspaceName || d.deviceId })}>
                          ${t('tablet')}
                        </a>
                        <button class="button quiet" aria-label=${t('rooms.test.of', { name: d.workspaceName || d.deviceId })}
                          onClick=${() => test(d)}>
                          ${t('rooms.test')}
                        </button>
                        <button class="button quiet" onClick=${() => act('DELETE', at(d) + '/deploy', t('rooms.withdrawn'))}>
                          ${t('rooms.withdraw')}
                        </button>`
                      : html`
                        <button class="button primary" disabled=${!d.controllerId || !d.clusterIds.length}
                          onClick=${() => act('POST', at(d) + '/deploy', t('rooms.deployed'))}>
                          ${t('rooms.deploy.do')}
                        </button>`}
                    <button class="button quiet" aria-label=${t('change.of', { name: d.workspaceName || d.deviceId })}
                      onClick=${() => setOpen({ edit: d })}>
                      ${t('change')}
                    </button>
                    <button class="button quiet danger" aria-label=${t('delete.of', { name: d.workspaceName || d.deviceId })}
                      onClick=${() => setOpen({ remove: d })}>
                      ${t('delete')}
                    </button>
                  </div>
                </section>`,
            )}
          </div>`}
      ${(open?.add || open?.edit) && html`<${Edit} d=${open.edit} onClose=${close} onDone=${changed} />`}
      ${open?.remove && html`
        <${Confirm} title=${t('delete.of', { name: open.remove.workspaceName || open.remove.deviceId })}
          verb=${t('delete.of', { name: open.remove.workspaceName || open.remove.deviceId })} onClose=${close}
          onDo=${async () => {
            await ask('DELETE', at(open.remove));
            again();
          }}>
          <p>${t('rooms.remove')}</p>
          ${open.remove.macroVersion && html`<p>${t('rollout.remains')}</p>`}
        <//>`}
    <//>`;
}

// Versions tells how many devices should get the newest macro.
const Versions = ({ of: { all, old } }) =>
  old > 0 && html`
    <${Notice} kind="warn">${t('rollout.old', { n: old, all })} <a href="/rollout">${t('rollout.update')}</a><//>`;

function Edit({ d, onClose, onDone }) {
  const form = useForm(
    {
      deviceId: d?.deviceId || '',
      workspaceName: d?.workspaceName || '',
      controllerId: d?.controllerId || '',
      clusterIds: d?.clusterIds.join(', ') || '',
    },
    async (v) => {
      const body = { ...v, deviceId: v.deviceId.trim(), clusterIds: numbers(v.clusterIds) };
      if (d) await ask('PUT', at(d), body);
      else await ask('POST', base, body);
      onDone();
    },
    (v) => ({
      ...(!v.deviceId.trim() && { deviceId: t('needed') }),
      ...(numbers(v.clusterIds).some((n) => !(n > 0 && Number.isInteger(n))) && { clusterIds: t('rooms.zones.wrong') }),
    }),
  );
  const there = (sites.value || []).filter((s) => s.state === 'online' || s.state === 'offline');
  return html`
    <${Dialog} title=${d ? t('change.of', { name: d.workspaceName || d.deviceId }) : t('rooms.add')} onClose=${onClose}>
      <form class="stack" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ deviceId: t('rooms.id'), clusterIds: t('rooms.zones') }} />
        ${!d && html`
          <${Field} form=${form} name="deviceId" label=${t('rooms.id')} hint=${t('rooms.id.hint')} autocomplete="off" />`}
        <${Field} form=${form} name="workspaceName" label=${t('rooms.workspace')} autocomplete="off" />
        <${Field} form=${form} name="controllerId" label=${t('site.controller')}
          options=${[['', t('rooms.nobody')], ...there.map((s) => [s.id, s.name])]} />
        <${Zones} form=${form} />
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('save')}<//>
        </div>
      </form>
    <//>`;
}
