// A floor as one can see it: its plan with everything on it, live, and the same as a list.
import './texts.js';
import { html, useEffect, useRef, useState } from '../../ui/lib.js';
import { t, byName } from '../../ui/i18n.js';
import { Page, address } from '../../ui/router.js';
import { Empty, Notice, done } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { house, server, may } from '../house.js';
import { ClusterLights, ClusterShades, NodeCard, ShadeOne } from '../cards.js';
import { Board } from './board.js';
import { keyOf, keysIn, lookOf, membersOf, spotOf, thingOf } from './things.js';

/** @import { Floor } from '../../records' */

// Card is what one can do with the thing of a key.
function Card({ of }) {
  const { kind, id, record } = thingOf(spotOf(of));
  if (!record) return null;
  if (kind === 'room')
    return record.lights
      ? html`<${ClusterLights} id=${id}>${record.shades.length > 0 && html`<${ClusterShades} id=${id} half />`}<//>`
      : html`<${ClusterShades} id=${id} />`;
  if (kind === 'shade') return html`<${ShadeOne} id=${id} />`;
  if (kind === 'light') return html`<${NodeCard} id=${id} />`;
  return html`<a class="button" href=${'/devices/' + id}><bdi>${record.name}</bdi>: ${lookOf(spotOf(of)).words}</a>`;
}

// Thing is a row of the list; it stands for what is on the plan, for whoever does not see that.
function Thing({ of, chosen, onChoose, look = lookOf }) {
  const { kind, record } = thingOf(spotOf(of)),
    l = record && look(spotOf(of));
  if (!l) return null;
  return html`
    <li>
      <button type="button" class="thing" aria-pressed=${chosen ? 'true' : 'false'} onClick=${() => onChoose([of], true)}>
        <${Icon} name=${{ room: 'home', shade: 'shade', light: 'devices', other: 'pulse' }[kind]} />
        <span class="main"><bdi>${record.name}</bdi>${l.would && html`<br /><span class="sub">${l.words}</span>`}</span>
        ${!l.would &&
          (l.off
            ? html`<span class="badge warn"><${Icon} name="plug" size=${16} />${t('floor.silent')}</span>`
            : html`<span>${l.words}</span>`)}
      </button>
    </li>`;
}

// Room is a room in the list; what is in it is drawn when it is opened.
function Room({ id, chosen, onChoose }) {
  const [open, setOpen] = useState(false);
  const name = house.clusters.get(id).value?.name;
  if (!name) return null;
  const silent = keysIn(id).filter((k) => thingOf(spotOf(k)).record?.online === false).length;
  return html`
    <details open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <${Icon} name="right" />
        <span><bdi>${name}</bdi></span>
        ${silent > 0 && html`<span class="badge warn">${t('floor.silent.n', { n: silent })}</span>`}
      </summary>
      ${open && html`
        <ul class="tray">
          ${['c' + id, ...membersOf(id)].map((k) => html`<${Thing} key=${k} of=${k} chosen=${k === chosen} onChoose=${onChoose} />`)}
        </ul>`}
    </details>`;
}

// Would is, beside the plan and in words, what the rule that is looked at would do here, and how much elsewhere.
function Would({ would, here, chosen, onChoose }) {
  const keys = would.keys.filter((k) => here.has(k)),
    more = would.keys.length - keys.length;
  return html`
    <section class="panel">
      <h2>${t('would.list')}</h2>
      ${keys.length > 0 && html`
        <ul class="tray">
          ${keys.map((k) => html`<${Thing} key=${k} of=${k} look=${would.look} chosen=${k === chosen} onChoose=${onChoose} />`)}
        </ul>`}
      <p class="sub">
        ${[!keys.length && t('would.none'), more > 0 && t('would.more', { n: more }), t('would.rest')].filter(Boolean).join(' ')}
      </p>
    </section>`;
}

export default function PlanPage() {
  const site = house.site.value;
  const floors = site?.floors || [];
  const asked = address.value.query.get('floor');
  const ruleID = address.value.query.get('rule');
  const [told, setTold] = useState(null); // what the rule that is looked at would do
  const would = told?.of === ruleID ? told : null;
  const isFor = (f) => would?.keys.some((k) => f.clusters.some((id) => keysIn(id).includes(k)));
  const at = floors.find((f) => f.name === asked) || floors.find((f) => f.plan && isFor(f)) || floors.find((f) => f.plan) || floors[0];
  const [floor, setFloor] = useState(/** @type {Floor} */ (null));
  const [wrong, setWrong] = useState(null);
  const [chosen, setChosen] = useState([]); // keys: of several one is to be picked
  const [arranging, setArranging] = useState(null); // the module, while things are arranged
  const [hand, setHand] = useState('');
  const [making, setMaking] = useState(null);
  const drop = useRef(/** @type {{ next?: (key: string) => string }} */ ({})).current; // what board and tray tell each other
  const card = useRef(null);
  const name = at?.name;
  useEffect(() => {
    // another plan, or the same that somebody has changed
    if (!name) return undefined;
    let here = true;
    server.get('/floors/' + encodeURIComponent(name)).then(
      (f) => here && (setFloor(f), setWrong(null)),
      (p) => here && setWrong(p),
    );
    return () => {
      here = false;
    };
  }, [name, at?.plan, JSON.stringify(at?.clusters)]);
  useEffect(() => {
    setChosen([]);
    setHand('');
  }, [name]);
  const whole = house.whole.value;
  useEffect(() => {
    if (!ruleID || !whole) return undefined;
    let here = true;
    import('./would.js')
      .then((m) => m.would(ruleID))
      .then(
        (w) => here && setTold({ ...w, of: ruleID }),
        (p) => here && setWrong(p),
      );
    return () => {
      here = false;
    };
  }, [ruleID, whole]);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const arrange = async () => {
    const m = arranging ? null : await import('./arrange.js');
    setArranging(() => m);
    setHand('');
  };
  const make = async (what) => {
    const m = await import('./floorform.js');
    setMaking({ Form: m.default, what });
  };
  const form = making && html`<${making.Form} floor=${making.what} onClose=${() => setMaking(null)} />`;
  const back = ruleID ? { href: '/rules', text: t('rules') } : { href: '/', text: t('home') };
  if (!at)
    return html`
      <${Page} title=${t('floors')} back=${back}>
        <${Empty} icon="plan" text=${t('floors.none')}>
          ${may('operate') && html`<button class="button primary" onClick=${() => make(null)}>${t('floor.new')}</button>`}
        <//>
        ${form}
      <//>`;
  const here = floor?.name === name ? floor : null;
  const plan = here?.plan;
  const inHand = hand && thingOf(spotOf(hand)).record;
  const choose = (keys, focus) => {
    setChosen(keys);
    if (focus) setTimeout(() => card.current?.focus(), 0);
  };
  const send = async (body) => setFloor(await server.patch(`/floors/${encodeURIComponent(name)}/plan`, body, { etag: '*' }));
  const move = async (key, spot) => {
    const was = plan.spots.find((s) => keyOf(s) === key);
    const put = { ...spotOf(key), ...spot };
    const next = key === hand ? drop.next(key) : hand; // what is dragged meanwhile takes nobody's turn
    setHand(next);
    setChosen(next ? [] : [key]);
    try {
      await send({ place: [put] });
      done(t('floor.placed', { name: thingOf(put).record?.name || '' }), () => send(was ? { place: [was] } : { remove: [put] }));
    } catch (p) {
      setFloor({ ...here }); // what was dragged goes back
      done(p.message);
    }
  };
  const chosenOne =
    chosen.length > 0 &&
    html`
    <section class="plan-chosen" tabindex="-1" ref=${card} aria-label=${t('floor.chosen')}>
      ${chosen.length > 1
        ? html`
          <p class="sub">${t('floor.which')}</p>
          <ul class="tray panel flush">
            ${chosen.slice(0, 8).map((k) => html`<${Thing} key=${k} of=${k} look=${would?.look} onChoose=${choose} />`)}
          </ul>`
        : ruleID
        ? html`<ul class="tray panel flush"><${Thing} of=${chosen[0]} look=${would?.look} onChoose=${choose} /></ul>`
        : html`<${Card} of=${chosen[0]} />`}
      <div class="row">
        ${arranging && chosen.length === 1 && plan?.spots.some((s) => keyOf(s) === chosen[0]) && html`
          <button class="button" onClick=${() => send({ remove: [spotOf(chosen[0])] }).catch((p) => done(p.message))}>
            ${t('floor.remove')}
          </button>`}
        <button class="button quiet" onClick=${() => setChosen([])}>${t('floor.close')}</button>
      </div>
    </section>`;
  const rooms = at.clusters
    .map((id) => house.clusters.get(id).value)
    .filter(Boolean)
    .sort(byName);
  const within = new Set(at.clusters.flatMap(keysIn));
  const loose = (plan?.spots || []).filter((s) => !s.cluster && !within.has(keyOf(s))).map(keyOf);
  return html`
    <${Page} wide title=${name} back=${back} sub=${plan ? t('floor.sub', { n: plan.spots.length }) : undefined}>
      <nav class="floors" aria-label=${t('floors')}>
        ${floors.map(
          (f) => html`
            <a class="chip" key=${f.name} href=${'/plan?floor=' + encodeURIComponent(f.name) + (ruleID ? '&rule=' + ruleID : '')}
              aria-current=${f === at ? 'true' : undefined}><bdi>${f.name}</bdi></a>`,
        )}
      </nav>
      ${form}
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${would && html`<${Notice} icon="rules">${t('would', { name: would.rule.name })}<//>`}
      ${!here && !wrong && html`<div class="skeleton"></div>`}
      ${here && html`
        <div class="plan-things">
          ${plan
            ? html`
              <div class="stack tight">
                ${inHand && html`
                  <p class="row" role="status">
                    <span class="grow">${t('floor.tap', { name: inHand.name })}</span>
                    <button type="button" class="button quiet" onClick=${() => setHand('')}>${t('floor.enough')}</button>
                  </p>`}
                <${Board} key=${plan.picture} plan=${plan} name=${name} look=${would?.look || lookOf}
                  chosen=${chosen.length === 1 ? chosen[0] : ''} drop=${drop}
                  address=${`/api/v1/floors/${encodeURIComponent(name)}/picture?picture=${plan.picture}`} onChoose=${choose}
                  onMove=${arranging ? move : undefined} hand=${hand} below=${chosenOne}>
                  ${may('operate') && !ruleID && html`
                    <button class="button" aria-pressed=${arranging ? 'true' : 'false'} onClick=${arrange}>
                      ${t(arranging ? 'floor.arranged' : 'floor.arrange')}
                    </button>`}
                <//>
                ${!inHand && html`<p class="sub legend">${t(arranging ? 'floor.drag' : would ? 'would.legend' : 'floor.legend')}</p>`}
              </div>`
            : html`
              <${Empty} icon="plan" text=${t('floor.none')}>
                ${may('operate') && html`<button class="button primary" onClick=${() => make(at)}>${t('floor.picture')}</button>`}
              <//>`}
          <div class="side stack">
            ${!plan && chosenOne}
            ${arranging && plan && html`
              <${arranging.Tray} plan=${plan} floor=${at} hand=${hand} onHand=${setHand} onDrop=${move} drop=${drop} />`}
            ${would
              ? html`
                <${Would} would=${would} chosen=${chosen[0]} onChoose=${choose}
                  here=${new Set([...within, ...(plan?.spots || []).map(keyOf)])} />`
              : html`
              <section class="panel">
                <h2>${t('floor.list')}</h2>
                ${rooms.map((c) => html`<${Room} key=${c.id} id=${c.id} chosen=${chosen[0]} onChoose=${choose} />`)}
                ${loose.length > 0 && html`
                  <ul class="tray">
                    ${loose.map((k) => html`<${Thing} key=${k} of=${k} chosen=${k === chosen[0]} onChoose=${choose} />`)}
                  </ul>`}
                ${!rooms.length && !loose.length && html`<p class="sub">${t('floor.norooms')}</p>`}
              </section>`}
            ${may('operate') && !ruleID && html`
              <div class="actions start">
                <button class="button" onClick=${() => make(at)}>${t('floor.change')}</button>
                <button class="button" onClick=${() => make(null)}>${t('floor.new')}</button>
              </div>`}
          </div>
        </div>`}
    <//>`;
}
