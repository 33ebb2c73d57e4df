// The walk from a scan to named lights in rooms: one device a screen, blink, name, cluster, next.
import { html, useState } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Empty, Notice, done } from '../ui/shell.js';
import { useForm, Summary, Field, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { house, server, may } from './house.js';
import { begin, cancel, identify, jobOf, over, shows } from './works.js';

/** @import { Found, Job } from '../records' */

// newOf lists what a scan found that the site does not have.
/** @type {(job: Job) => Found[]} */
export const newOf = (j) =>
  /** @type {Found[]} */ (j?.items || []).filter((f) => f.finding === 'device' && !f.gateway && !f.nodes?.length && f.kind);

export default function Commission({ params }) {
  const name = params.bus;
  const b = house.buses.get(name).value;
  const [skipped, setSkipped] = useState([]);
  const [named, setNamed] = useState([]);
  const [wrong, setWrong] = useState(null);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/buses/' + encodeURIComponent(name), text: name };
  if (!b || !may('operate'))
    return html`
      <${Page} title=${t('bus.gone')} back=${{ href: '/buses', text: t('buses') }}>
        <${Empty} icon="search" text=${t('bus.gone')} />
      <//>`;
  const j = jobOf((x) => x.kind === 'scan' && x.bus === name);
  const taken = new Set(
    house.nodes
      .all()
      .filter((n) => n.bus === name)
      .map((n) => n.address),
  );
  const all = newOf(j),
    open = all.filter((f) => !taken.has(f.address) && !skipped.includes(f.address) && !named.includes(f.address));
  const scan = async () => {
    setWrong(null);
    setSkipped([]);
    try {
      await begin({ kind: 'scan', bus: name });
    } catch (p) {
      setWrong(p);
    }
  };
  const f = open[0];
  return html`
    <${Page} title=${t('commission.of', { bus: name })} back=${back}
      sub=${all.length ? t('commission.done', { n: all.length, done: named.length }) : null}>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${j && !over(j) && html`
        <section class="panel">
          <p>${j.progress.text || t('scan')}</p>
          <progress max="100" value=${(j.progress.share || 0) * 100} aria-label=${t('scan')}></progress>
          <div class="actions start"><button class="button" onClick=${() => cancel(j)}>${t('cancel')}</button></div>
        </section>`}
      ${all.length > 0 && html`
        <progress max=${all.length} value=${all.length - open.length} aria-label=${t('commission.of', { bus: name })}></progress>`}
      ${f
        ? html`
          <${One} key=${f.address} bus=${name} found=${f} onNamed=${(n) => setNamed([...named, n])}
            onSkip=${() => setSkipped([...skipped, f.address])} />`
        : (!j || over(j)) && html`
          <${Empty} icon=${named.length ? 'check' : 'devices'}
            text=${named.length ? t('commission.all', { n: named.length }) : j ? t('commission.nothing') : t('commission.why')}>
            <div class="actions">
              <button class="button primary" onClick=${scan}>${j ? t('scan.again') : t('scan.start')}</button>
              ${named.length > 0 && html`<a class="button" href="/more/report">${t('report')}</a>`}
            </div>
          <//>`}
    <//>`;
}

function One({ bus, found: f, onNamed, onSkip }) {
  const clusters = house.clusters.all().sort(byName);
  const form = useForm(
    { name: '', cluster: '', other: '' },
    async (v) => {
      const n = await server.post('/nodes', {
        name: v.name.trim(),
        bus,
        address: f.address,
        profile: f.kind,
        ...(f.options && { options: f.options }),
        ...(f.groups && { groups: f.groups }),
      });
      const id = n?.id;
      if (id && v.cluster === 'new') await server.post('/clusters', { name: v.other.trim(), nodes: [id] });
      else if (id && v.cluster) await server.patch('/clusters/' + v.cluster, { addNodes: [id] }, { etag: '*' });
      done(t('commission.named', { name: v.name }));
      onNamed(f.address);
    },
    (v) => ({
      ...(!v.name.trim() && { name: t('needed') }),
      ...(v.cluster === 'new' && !v.other.trim() && { other: t('needed') }),
    }),
  );
  return html`
    <section class="panel">
      <h2 class="plain">${f.label || f.kind}</h2>
      <p class="sub">${t('dev.at', { bus, address: f.address })}${f.serial ? ' · ' + f.serial : ''}</p>
      ${shows(bus) && html`
        <button class="button big" onClick=${() => identify({ bus, address: f.address })}>
          <${Icon} name="blink" size=${24} />
          ${t('identify')}
        </button>`}
      <form class="form" onSubmit=${form.submit} noValidate>
        <${Summary} form=${form} labels=${{ name: t('name'), other: t('cluster.new') }} />
        <${Field} form=${form} name="name" label=${t('name')} hint=${t('commission.name.hint')} autocomplete="off" />
        <${Field} form=${form} name="cluster" label=${t('commission.cluster')}
          options=${[['', t('none')], ...clusters.map((c) => [String(c.id), c.name]), ['new', t('cluster.new')]]} />
        ${form.values.cluster === 'new' && html`
          <${Field} form=${form} name="other" label=${t('cluster.new')} autocomplete="off" />`}
        <div class="next">
          <button type="button" class="button" onClick=${onSkip}>${t('commission.skip')}</button>
          <${Submit} form=${form}>${t('commission.next')}<//>
        </div>
      </form>
    </section>`;
}
