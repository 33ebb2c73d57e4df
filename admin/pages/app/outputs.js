// A change of mind about a device: lights instead of shades, one light instead of three, another kind. IDs stay.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Page, go } from '../ui/router.js';
import { Empty, done } from '../ui/shell.js';
import { house, may } from './house.js';
import { Division } from './division.js';
import { useServer } from './useserver.js';

export default function Outputs({ params }) {
  const id = +params.id;
  const n = house.nodes.get(id).value;
  const { data } = useServer('/profiles');
  if (!house.whole.value || !data) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/devices/' + id, text: n?.name || t('devices') };
  if (!n?.bus || !may('operate'))
    return html`<${Page} title=${t('device.gone')} back=${back}><${Empty} icon="search" text=${t('device.gone')} /><//>`;
  const nodes = house.nodes.all().filter((o) => o.bus === n.bus && o.address === n.address);
  const shades = house.shades.all().filter((s) => nodes.some((o) => o.id === s.node));
  const mine = data.find((p) => p.name === n.profile);
  // what has as many outputs, since that is all that a device shows of itself where it can be several
  const alike = data.filter((p) => p.driver === mine?.driver && p.name !== n.profile && (mine.driver === 'dmx' || mine.driver === 'dali'));
  return html`
    <${Page} title=${t('outputs.of', { name: n.name })} back=${back} sub=${t('dev.at', { bus: n.bus, address: n.address })}>
      <section class="panel narrow">
        <p class="sub">${t('outputs.why')}</p>
        <${Division} bus=${n.bus} address=${n.address} profiles=${[n.profile, ...alike.map((p) => p.name)]} nodes=${nodes}
          shades=${shades} verb=${t('save')}
          onDone=${(made) => {
            done(t('outputs.done'));
            const first = made.shades[0];
            go(first && !made.nodes.some((o) => o.level) ? '/shades/' + first.id : '/devices/' + made.nodes[0].id, { replace: true });
          }}>
          <a class="button" href=${back.href}>${t('cancel')}</a>
        <//>
      </section>
    <//>`;
}
