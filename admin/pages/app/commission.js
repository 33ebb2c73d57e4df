// The walk from a scan to named lights and shades in rooms: one device a screen, blink, name, cluster, next.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Page, address } from '../ui/router.js';
import { Empty, Notice, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, may } from './house.js';
import { begin, cancel, identify, jobOf, over, shows } from './works.js';
import { newOf } from './scan.js';
import { Division } from './division.js';
import { Runs } from './calibrate.js';

/** @import { Found } from '../records' */

// enough addresses in vain are a reason to look at the wires.
const enough = 20;

export default function Commission({ params }) {
  const name = params.bus;
  const b = house.buses.get(name).value;
  const [skipped, setSkipped] = useState([]);
  const [named, setNamed] = useState([]);
  const [moved, setMoved] = useState([]); // shades made of relays, to be checked by moving them
  const [hand, setHand] = useState(false);
  const [wrong, setWrong] = useState(null);
  const scan = async () => {
    setWrong(null);
    setSkipped([]);
    try {
      await begin({ kind: 'scan', bus: name });
    } catch (p) {
      setWrong(p);
    }
  };
  const fresh = b?.up && address.value.query.has('new');
  useEffect(() => {
    if (fresh && !jobOf((x) => x.kind === 'scan' && x.bus === name)) scan();
  }, [fresh]);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/buses/' + encodeURIComponent(name), text: name };
  if (!b || !may('operate'))
    return html`
      <${Page} title=${t('bus.gone')} back=${{ href: '/buses', text: t('buses') }}>
        <${Empty} icon="search" text=${t('bus.gone')} />
      <//>`;
  const j = jobOf((x) => x.kind === 'scan' && x.bus === name);
  const live = j && !over(j);
  const taken = new Set(
    house.nodes
      .all()
      .filter((n) => n.bus === name)
      .map((n) => n.address),
  );
  const all = newOf(j),
    open = all.filter((f) => !taken.has(f.address) && !skipped.includes(f.address) && !named.includes(f.address));
  const troubles = /** @type {Found[]} */ (j?.items || []).filter((f) => f.trouble);
  const f = open[0];
  const check = moved[0] && house.shades.get(moved[0]).value;
  const onNamed = (at) => (made, v, profile) => {
    setHand(false);
    done(t('commission.named', { name: v.name }));
    setNamed([...named, at || v.address]);
    const relays = made.shades.filter((s) => profile?.shades?.[s.output - 1]?.length);
    setMoved([...moved, ...relays.map((s) => s.id)]);
  };
  return html`
    <${Page} title=${t('commission.of', { bus: name })} back=${back}
      sub=${all.length ? t('commission.done', { n: all.length, done: named.length }) : null}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!b.up && html`<${Notice} kind="fault"><p>${b.fault || t('bus.down')}</p><p><a href=${back.href}>${t('bus.change')}</a></p><//>`}
      ${live && !f && !check && !hand && html`
        <section class="panel narrow">
          <p>${j.progress.text || t('scan')}</p>
          <progress max="100" value=${(j.progress.share || 0) * 100} aria-label=${t('scan')}></progress>
          ${!j.items?.length && j.progress.done > enough && html`
            <${Notice} kind="warn">
              <p>${t('commission.quiet', { n: j.progress.done })}</p>
              <p><a href=${back.href}>${t('bus.change')}</a></p>
            <//>`}
          <div class="actions start"><button class="button" onClick=${() => cancel(j)}>${t('cancel')}</button></div>
        </section>`}
      ${troubles.map(
        (x) => html`
          <${Notice} kind="warn" key=${x.address + x.finding}>
            <p>${x.address && html`<b>${x.address}</b> `}${x.detail}</p>
            ${x.advice && html`<p>${x.advice}</p>`}
          <//>`,
      )}
      ${all.length > 0 && html`
        <progress max=${all.length} value=${all.length - open.length} aria-label=${t('commission.of', { bus: name })}></progress>`}
      ${check
        ? html`
          <section class="panel narrow" key=${'check' + check.id}>
            <h2 class="plain">${t('commission.check', { name: check.name })}</h2>
            <${Runs} shade=${check} why=${t('commission.check.why')} kinds=${['direction']} />
            <button type="button" class="button big" onClick=${() => setMoved(moved.slice(1))}>${t('commission.check.next')}</button>
          </section>`
        : hand
        ? html`
          <section class="panel narrow">
            <h2 class="plain">${t('commission.hand')}</h2>
            <${Division} bus=${name} every verb=${t('commission.next')} onDone=${onNamed()}>
              <button type="button" class="button" onClick=${() => setHand(false)}>${t('cancel')}</button>
            <//>
          </section>`
        : f
        ? html`
          <section class="panel narrow" key=${f.address}>
            <h2 class="plain">${f.label || f.kind}</h2>
            <p class="sub">${t('dev.at', { bus: name, address: f.address })}${f.serial ? ' · ' + f.serial : ''}</p>
            ${f.detail && html`<p class="sub">${f.detail}</p>`}
            ${shows(name) && html`
              <button class="button big" onClick=${() => identify({ bus: name, address: f.address })}>
                <${Icon} name="blink" size=${24} />
                ${t('identify')}
              </button>`}
            <${Division} key=${f.address} bus=${name} address=${f.address} profiles=${[f.kind, ...(f.others || [])]}
              more=${{ ...(f.options && { options: f.options }), ...(f.groups && { groups: f.groups }) }}
              verb=${t('commission.next')} onDone=${onNamed(f.address)}>
              <button type="button" class="button" onClick=${() => setSkipped([...skipped, f.address])}>${t('commission.skip')}</button>
            <//>
          </section>`
        : !live && html`
          <${Empty} icon=${named.length ? 'check' : 'devices'}
            text=${named.length ? t('commission.all', { n: named.length }) : j ? t('commission.nothing') : t('commission.why')}>
            <div class="actions">
              <button class="button primary" disabled=${!b.up} onClick=${scan}>${j ? t('scan.again') : t('scan.start')}</button>
              <button class="button" onClick=${() => setHand(true)}>${t('commission.byhand')}</button>
              ${named.length > 0 && html`<a class="button" href="/more/report">${t('report')}</a>`}
            </div>
          <//>`}
    <//>`;
}
