// What is to stand on a plan: a tray of what does not yet, to be dragged there, or chosen and put where one taps, one after the other.
import { html, useState } from '../../ui/lib.js';
import { t, byName } from '../../ui/i18n.js';
import { Icon } from '../../ui/icons.js';
import { house } from '../house.js';
import { keyOf, membersOf, spotOf, thingOf } from './things.js';

const most = 60; // rows at a time

export function Tray({ plan, floor, hand, onHand, onDrop, drop }) {
  const [q, setQ] = useState('');
  const [pulled, setPulled] = useState(null);
  const there = new Set(plan.spots.map(keyOf));
  const own = new Set([...floor.clusters.map((id) => 'c' + id), ...floor.clusters.flatMap((id) => membersOf(id))]);
  const driven = new Set(house.shades.all().map((s) => s.node)); // motors: their shades stand there
  const things = [
    ...house.clusters.all().map((c) => ({ key: 'c' + c.id, name: c.name })),
    ...house.nodes
      .all()
      .filter((n) => n.tag !== 'PERIPHERAL' || !driven.has(n.id))
      .map((n) => ({ key: 'n' + n.id, name: n.name })),
    ...house.shades.all().map((s) => ({ key: 's' + s.id, name: s.name })),
  ].filter((x) => !there.has(x.key) && x.name.toLowerCase().includes(q.toLowerCase()));
  const rank = (x) => (own.has(x.key) ? 0 : 2) + (x.key[0] === 'c' ? 0 : 1);
  things.sort((a, b) => rank(a) - rank(b) || byName(a, b));
  drop.next = (key) => things[things.findIndex((x) => x.key === key) + 1]?.key || '';
  const pull = (e, x) => {
    if (e.button) return;
    e.preventDefault();
    e.currentTarget.setPointerCapture(e.pointerId);
    setPulled({ ...x, x: e.clientX, y: e.clientY });
  };
  const end = (e) => {
    const spot = pulled && e.type === 'pointerup' && drop.spotUnder?.(e);
    if (spot) onDrop(pulled.key, spot);
    setPulled(null);
  };
  return html`
    <section class="panel">
      <h2>${t('floor.tray', { n: things.length })}</h2>
      <div class="search">
        <${Icon} name="search" />
        <input type="search" class="input" aria-label=${t('floor.search')} placeholder=${t('floor.search')} value=${q}
          onInput=${(e) => setQ(e.target.value)} />
      </div>
      <ul class="tray">
        ${things.slice(0, most).map(
          (x) => html`
            <li key=${x.key}>
              <button type="button" class="pick" aria-pressed=${hand === x.key ? 'true' : 'false'}
                onClick=${() => onHand(hand === x.key ? '' : x.key)}>
                <${Icon} name=${{ room: 'home', shade: 'shade', light: 'devices', other: 'pulse' }[thingOf(spotOf(x.key)).kind]} />
                <span><bdi>${x.name}</bdi></span>
              </button>
              <span class="pull" aria-hidden="true" onPointerDown=${(e) => pull(e, x)}
                onPointerMove=${(e) => pulled && setPulled({ ...pulled, x: e.clientX, y: e.clientY })} onPointerUp=${end}
                onPointerCancel=${end}>
                <${Icon} name="drag" />
              </span>
            </li>`,
        )}
      </ul>
      ${things.length > most && html`<p class="sub">${t('floor.tray.more', { n: things.length - most })}</p>`}
      ${pulled && html`<div class="pulled" style=${{ left: pulled.x + 'px', top: pulled.y + 'px' }}>${pulled.name}</div>`}
    </section>`;
}
