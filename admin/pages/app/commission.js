// The walk from a scan to named lights and shades in rooms, while the scan goes on: one device a screen, blink, name, cluster,
// next; or many at once. What was named is told by the house, so that whoever comes back, or comes second, goes on where it stands.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, list } from '../ui/i18n.js';
import { Page, address } from '../ui/router.js';
import { Empty, Notice, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, may } from './house.js';
import { begin, cancel, jobOf, over } from './works.js';
import { newOf } from './found.js';
import { Division } from './division.js';
import { Runs } from './calibrate.js';
import { Show, byOthers, clusterOf, namesAt } from './nameless.js';

/** @import { Found } from '../records' */

// enough addresses in vain are a reason to look at the wires.
const enough = 20;

export default function Commission({ params }) {
  const name = params.bus;
  const b = house.buses.get(name).value;
  const [skipped, setSkipped] = useState([]);
  const [at, setAt] = useState(null); // the device on the screen
  const [own, setOwn] = useState([]); // addresses that were named here
  const [busy, setBusy] = useState(false); // the device on the screen is being named
  const [cluster, setCluster] = useState('');
  const [moved, setMoved] = useState([]); // shades made of relays, to be checked by moving them
  const [hand, setHand] = useState(false);
  const [Many, setMany] = useState(null);
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
  const j = jobOf((x) => x.kind === 'scan' && x.bus === name);
  const all = newOf(j);
  const rows = all.map((f) => ({ f, ...namesAt(name, f.address) }));
  const open = rows.filter((r) => !r.names.length && !skipped.includes(r.f.address)).map((r) => r.f);
  const here = rows.find((r) => r.f.address === at);
  const taken = here?.names.length && !busy && !own.includes(at) && here; // by somebody else, meanwhile
  const f = taken ? null : busy ? here?.f : open.find((x) => x.address === at) || open.find((x) => !byOthers(name, x.address)) || open[0];
  useEffect(() => {
    if (f && f.address !== at) setAt(f.address);
  }, [f?.address]);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/buses/' + encodeURIComponent(name), text: name };
  if (!b || !may('operate'))
    return html`
      <${Page} title=${t('bus.gone')} back=${{ href: '/buses', text: t('buses') }}>
        <${Empty} icon="search" text=${t('bus.gone')} />
      <//>`;
  const live = j && !over(j);
  const named = rows.filter((r) => r.names.length).length;
  const troubles = /** @type {Found[]} */ (j?.items || []).filter((x) => x.trouble);
  const check = moved[0] && house.shades.get(moved[0]).value;
  const onNamed = (where) => (made, v, profile) => {
    setHand(false);
    if (made) done(t('commission.named', { name: v.name })); // what waits is told by the outbox
    setOwn([...own, where || v.address]);
    setCluster(v.cluster === 'new' ? String((made && clusterOf(made)) || '') : v.cluster);
    const relays = (made?.shades || []).filter((s) => profile?.shades?.[s.output - 1]?.length);
    setMoved([...moved, ...relays.map((s) => s.id)]);
  };
  const many = async () => {
    const m = await import('./many.js');
    setMany(() => m.Many);
  };
  return html`
    <${Page} title=${t('commission.of', { bus: name })} back=${back}
      sub=${all.length ? t('commission.done', { n: all.length, done: named }) : null}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!b.up && html`<${Notice} kind="fault"><p>${b.fault || t('bus.down')}</p><p><a href=${back.href}>${t('bus.change')}</a></p><//>`}
      ${live && html`
        <section class="panel narrow" aria-label=${t('scan')}>
          <div class="row">
            <p class="grow">${t('commission.scans')} <span class="sub">${j.progress.text}</span></p>
            <button class="button" onClick=${() => cancel(j)}>${t('cancel')}</button>
          </div>
          ${j.progress.share
            ? html`<progress max="100" value=${j.progress.share * 100} aria-label=${t('scan')}></progress>`
            : html`<progress aria-label=${t('scan')}></progress>`}
          ${!j.items?.length && j.progress.done > enough && html`
            <${Notice} kind="warn">
              <p>${t('commission.quiet', { n: j.progress.done })}</p>
              <p><a href=${back.href}>${t('bus.change')}</a></p>
            <//>`}
        </section>`}
      ${j?.error && html`<${Notice} kind="fault">${j.error}<//>`}
      ${troubles.map(
        (x) => html`
          <${Notice} kind="warn" key=${x.address + x.finding}>
            <p>${x.address && html`<b>${x.address}</b> `}${x.detail}</p>
            ${x.advice && html`<p>${x.advice}</p>`}
          <//>`,
      )}
      ${all.length > 0 && html`
        <progress max=${all.length} value=${named} aria-label=${t('commission.of', { bus: name })}></progress>`}
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
            <${Division} bus=${name} every cluster=${cluster} verb=${t('commission.next')} onDone=${onNamed()}>
              <button type="button" class="button" onClick=${() => setHand(false)}>${t('cancel')}</button>
            <//>
          </section>`
        : Many
        ? html`
          <${Many} bus=${name} found=${rows.map((r) => r.f)} cluster=${cluster} onNamed=${(x) => setOwn((o) => [...o, x])}
            onClose=${() => setMany(null)} />`
        : taken
        ? html`
          <section class="panel narrow" key="taken">
            <${Notice} kind="warn">
              <p role="status">${t('commission.taken', { address: at, names: list(taken.names) })}</p>
            <//>
            <button type="button" class="button primary big" onClick=${() => setAt(null)}>${t('commission.next')}</button>
          </section>`
        : f
        ? html`
          <section class="panel narrow" key=${f.address}>
            <h2 class="plain">${f.label || f.kind}</h2>
            <p class="sub">${t('dev.at', { bus: name, address: f.address })}${f.serial ? ' · ' + f.serial : ''}</p>
            ${f.detail && html`<p class="sub">${f.detail}</p>`}
            ${byOthers(name, f.address) && html`
              <p class="sub" role="status">${t('commission.others', { who: byOthers(name, f.address) })}</p>`}
            <${Show} bus=${name} found=${f} big />
            <${Division} key=${f.address} bus=${name} address=${f.address} profiles=${[f.kind, ...(f.others || [])]} cluster=${cluster}
              more=${{ ...(f.options && { options: f.options }), ...(f.groups && { groups: f.groups }) }}
              verb=${t('commission.next')} onBusy=${setBusy} onDone=${onNamed(f.address)}>
              <button type="button" class="button" onClick=${() => setSkipped([...skipped, f.address])}>${t('commission.skip')}</button>
            <//>
          </section>
          ${open.length > 1 && html`
            <button type="button" class="button narrow" onClick=${many}><${Icon} name="list" />${t('many')}</button>`}`
        : !live && html`
          <${Empty} icon=${named ? 'check' : 'devices'}
            text=${named ? t('commission.all', { n: named }) : j ? t('commission.nothing') : t('commission.why')}>
            <div class="actions">
              <button class="button primary" disabled=${!b.up} onClick=${scan}>${j ? t('scan.again') : t('scan.start')}</button>
              <button class="button" onClick=${() => setHand(true)}>${t('commission.byhand')}</button>
              ${named > 0 && html`<a class="button" href="/more/report">${t('report')}</a>`}
            </div>
          <//>`}
      ${rows.length > 0 && !Many && html`
        <section class="panel narrow">
          <h2>${t('commission.found', { n: rows.length })}</h2>
          <ul class="list">
            ${rows.map(
              (r) => html`
                <li key=${r.f.address}>
                  <div class="item wraps" style=${{ paddingInline: 0 }}>
                    <span class="main">
                      <span class="name">${r.names.length ? list(r.names) : r.f.label || r.f.kind}</span>
                      <span class="sub">${r.f.address}${r.f.serial ? ' · ' + r.f.serial : ''}</span>
                    </span>
                    ${r.wrong
                      ? html`<span class="badge fault">${t('outbox.refused')}</span>`
                      : r.waits
                      ? html`<span class="badge warn">${t('outbox.waiting')}</span>`
                      : r.names.length
                      ? html`<span class="badge ok"><${Icon} name="check" size=${16} />${t('commission.isnamed')}</span>`
                      : f?.address === r.f.address && !check && !hand
                      ? html`<span class="badge accent">${t('commission.now')}</span>`
                      : html`
                        <button type="button" class="button"
                          onClick=${() => {
                            setSkipped(skipped.filter((a) => a !== r.f.address));
                            setHand(false);
                            setAt(r.f.address);
                            scrollTo(0, 0);
                          }}>
                          ${t('commission.this')}
                        </button>`}
                  </div>
                </li>`,
            )}
          </ul>
        </section>`}
    <//>`;
}
