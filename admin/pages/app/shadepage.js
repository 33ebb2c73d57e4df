// One shade: the window as one stands before it, buttons to hold on to, and what is known of its motor.
import { html } from '../ui/lib.js';
import { t, unit, moment, Age } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice } from '../ui/shell.js';
import { Window, Buttons, openness } from '../ui/shade.js';
import { Slider } from '../ui/slider.js';
import { Reason } from '../ui/light.js';
import { house, shadeAges, ask, command, may, wrongWith } from './house.js';
import { motionWords } from './cards.js';
import { Value } from './device.js';
import { Past } from './past/link.js';
import { Actions, Ends, NoteOf } from './actions.js';
import { Entries } from './entries.js';

export default function ShadePage({ params }) {
  const id = +params.id;
  const s = house.shades.get(id).value,
    a = shadeAges(id);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/devices?state=shades', text: t('devices') };
  if (!s) return html`<${Page} title=${t('device.gone')} back=${back}><${Empty} icon="search" text=${t('device.gone')} /><//>`;
  const asking = ask('shade', id, 'position'),
    asked = asking.asked.value,
    position = s.position?.value;
  const node = house.nodes.get(s.node).value;
  const operates = may('operate'),
    off = !s.online;
  const onMove = (what) => asking.run(() => command('shade-' + what, { scope: 'shade', id }));
  return html`
    <${Page} title=${s.name} back=${back} sub=${off ? t('offline') : `${openness(position)} · ${motionWords(s)}`}
      actions=${html`<${Past} of=${'shade=' + id} /><${Actions} shade=${s} />`}>
      ${wrongWith(s) && html`<${Notice} kind="fault">${wrongWith(s)}<//>`}
      <${NoteOf} node=${node} />
      <div class="columns">
        <section class="panel">
          <${Window} position=${position} asked=${asked} off=${off || !operates || position == null} onAsk=${asking.ask} />
          ${operates && html`
            <div class="row">
              <${Slider} kind="shade" label=${t('shade.position', { name: s.name })} value=${position}
                asked=${asked !== position ? asked : null} text=${openness(asked ?? position)} off=${off || position == null}
                onAsk=${(v, done) => done && asking.ask(v)} />
            </div>
            <div class="row centre"><${Buttons} large name=${s.name} off=${off} onMove=${onMove} /></div>`}
          <${Reason} of=${asking.failure.value} />
        </section>
        <section class="panel">
          <h2>${t('device.values')}</h2>
          <dl class="facts">
            <dt>${t('state')}</dt>
            <dd>
              ${s.online ? t('online') : t('offline')}
              ${a.lastSeen ? html` <span class="sub">· <${Age} at=${a.lastSeen} text="age.bare" /></span>` : ''}
            </dd>
            <dt>${t('position')}</dt><dd><${Value} v=${s.position} at=${a.position} show=${openness} /></dd>
            <dt>${t('travel')}</dt>
            <dd>
              ${s.travelUp
                ? t('travel.updown', { up: unit(s.travelUp, 's'), down: unit(s.travelDown, 's') })
                : s.measured
                ? t('travel.measured')
                : t('travel.unknown')}
            </dd>
            <dt>${t('direction')}</dt><dd>${s.inverted ? t('direction.inverted') : t('direction.usual')}</dd>
            <dt>${t('id')}</dt><dd>${s.id}</dd>
            <dt>${t('node')}</dt><dd>${node ? html`<a href=${'/devices/' + node.id}>${node.name}</a>` : t('dev.unbound')}</dd>
            ${node && html`<dt>${t('bus')}</dt><dd><a href=${'/buses/' + encodeURIComponent(node.bus)}>${node.bus}</a></dd>`}
            <dt>${t('clusters')}</dt>
            <dd>
              ${s.clusters.length
                ? s.clusters.map(
                  (c, i) => html`${i ? ', ' : ''}<a href=${'/clusters/' + c}>${house.clusters.get(c).value?.name || c}</a>`,
                )
                : t('none')}
            </dd>
            <dt>${t('seen')}</dt><dd>${a.lastSeen ? moment(a.lastSeen) : t('never')}</dd>
          </dl>
        </section>
      </div>
      <${Entries} query=${'&shade=' + id} of=${(e) => e.members.some((m) => m.shade === id)} />
      <${Ends} shade=${s} />
    <//>`;
}
