// A cluster: all of it at once, then each member, and who differs.
import { html } from '../ui/lib.js';
import { t, byName, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty } from '../ui/shell.js';
import { house, may } from './house.js';
import { ClusterCard, NodeCard, ShadeOne } from './cards.js';
import { Past } from './past/link.js';
import { Colour } from './colour.js';
import { Scenes } from './scenes.js';
import { Capture } from './capture.js';
import { SetByHand } from './setbyhand.js';
import { Members, Rename, Remove } from './edit.js';

export default function ClusterPage({ params }) {
  const id = +params.id;
  const c = house.clusters.get(id).value;
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  if (!c)
    return html`
      <${Page} title=${t('cluster.gone')} back=${{ href: '/', text: t('home') }}>
        <${Empty} icon="search" text=${t('cluster.gone')} />
      <//>`;
  const nodes = c.nodes
    .map((n) => house.nodes.get(n).value)
    .filter(Boolean)
    .sort(byName);
  const shades = c.shades
    .map((s) => house.shades.get(s).value)
    .filter(Boolean)
    .sort(byName);
  const differ = c.levelMin != null && c.levelMax - c.levelMin > 1;
  return html`
    <${Page} title=${c.name} back=${{ href: '/', text: t('home') }} actions=${html`<${Past} of=${'cluster=' + id} />`}
      sub=${[c.lights && t('lights', { n: c.lights }), c.shades.length && t('shades', { n: c.shades.length })]
        .filter(Boolean)
        .join(' · ')}>
      <div class="columns"><${ClusterCard} id=${id} /><${Colour} scope="cluster" id=${id} record=${c} nodes=${nodes} /></div>
      <${Scenes} cluster=${id}>${nodes.length + shades.length > 0 && may('operate') && html`<${Capture} cluster=${c} />`}<//>
      <${SetByHand} cluster=${c} />
      ${nodes.length > 0 && html`
        <section class="stack floor">
          <h2>
            ${differ
              ? t('cluster.lights.differ', { from: unit(c.levelMin, '%'), to: unit(c.levelMax, '%') })
              : t('cluster.lights')}
          </h2>
          <div class="cards">${nodes.map((n) => html`<${NodeCard} key=${n.id} id=${n.id} />`)}</div>
        </section>`}
      ${shades.length > 0 && html`
        <section class="stack floor">
          <h2>${t('cluster.shades')}</h2>
          <div class="cards shades">${shades.map((s) => html`<${ShadeOne} key=${s.id} id=${s.id} />`)}</div>
        </section>`}
      ${!nodes.length && !shades.length && html`<${Empty} icon="devices" text=${t('cluster.empty')} />`}
      <div class="actions start">
        <${Members} cluster=${c} />
        <${Rename} path=${'/clusters/' + id} record=${c} />
      </div>
      <div class="actions start ends">
        <${Remove} path=${'/clusters/' + id} record=${c} text=${t('remove.cluster')} then="/" />
      </div>
    <//>`;
}
