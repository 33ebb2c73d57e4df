// Taking over the house of another controller: look at it, see what would come over, take it, and take it back.
import { html, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t, moment, number } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, Table, Empty, done } from '../ui/shell.js';
import { Dialog, Confirm } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Field, Check, Submit, Password } from '../ui/form.js';
import { house, server, may, noteJob } from './house.js';
import { useServer } from './useserver.js';
import { over, cancel } from './works.js';

const families = [
  ['clusters', 'clusters'],
  ['nodes', 'report.nodes'],
  ['shades', 'shades.title'],
];
const actions = ['create', 'return', 'rename', 'change', 'unchanged', 'skip'];

export default function Migrate() {
  const made = useServer('/migrations');
  const job = house.jobs.value.find((j) => j.kind === 'migration');
  return html`
    <${Page} title=${t('migrate')} sub=${t('migrate.sub')} back=${{ href: '/more', text: t('more') }}>
      ${!may('administer')
        ? html`<${Notice} kind="warn">${t('migrate.forbidden')}<//>`
        : html`
          <div class="columns">
            <div class="stack">
              <${From} job=${job} />
              ${job?.state === 'done' && html`
                <${Preview} key=${job.id + '/' + (made.data || []).filter((m) => m.undoneAt).length} onDone=${made.again} />`}
            </div>
            <${Made} made=${made} />
          </div>`}
    <//>`;
}

// From asks where the other controller is, shows by what it is known, and begins to read it.
const From = ({ job }) => html`
  <section class="panel">
    <h2>${t('migrate.from')}</h2>
    <p>${t('migrate.from.text')}</p>
    ${job && !over(job)
      ? html`
        <div class="row" role="status">
          <span class="grow">${t('job.migration')} …</span>
          <button class="button" onClick=${() => cancel(job)}>${t('cancel')}</button>
        </div>`
      : html`${job?.state === 'failed' && html`<${Notice} kind="fault">${job.error}<//>`}<${Address} />`}
  </section>`;

let last = { url: '', username: '' }; // so that one who mistyped need not type it all again

function Address() {
  const [shown, setShown] = useState(null);
  const form = useForm(
    { ...last, password: '' },
    async (v) => setShown(await server.post('/migrations/certificate', { url: v.url.trim() })),
    (v) =>
      Object.fromEntries(
        Object.entries(v)
          .filter(([, text]) => !text.trim())
          .map(([k]) => [k, t('needed')]),
      ),
  );
  const read = async () => {
    const { url, username, password } = form.values;
    const job = await server.post('/migrations/preview', { url: url.trim(), username, password, fingerprint: shown.fingerprint });
    last = { url, username };
    noteJob(job);
  };
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${{ url: t('migrate.url'), username: t('username'), password: t('password') }} />
      <${Field} form=${form} name="url" type="url" label=${t('migrate.url')} hint=${t('migrate.url.hint')} autocomplete="off"
        autocapitalize="none" spellcheck="false" inputmode="url" />
      <${Field} form=${form} name="username" label=${t('username')} hint=${t('migrate.username.hint')} autocomplete="off"
        autocapitalize="none" spellcheck="false" />
      <${Password} form=${form} name="password" label=${t('password')} hint=${t('migrate.password.hint')} autocomplete="off" />
      <div class="actions start"><${Submit} form=${form}>${t('migrate.look')}<//></div>
    </form>
    ${shown && html`<${Known} shown=${shown} onClose=${() => setShown(null)} onDo=${read} />`}`;
}

function Known({ shown, onClose, onDo }) {
  const form = useForm({}, async () => {
    await onDo();
    onClose();
  });
  return html`
    <${Dialog} title=${t('migrate.known')} onClose=${onClose}>
      <form class="form" onSubmit=${form.submit}>
        <${Summary} form=${form} />
        <p>${t('migrate.known.text', { source: shown.source })}</p>
        <p class="fingerprint">${shown.fingerprint.toUpperCase().match(/../g).join(' ')}</p>
        <div class="actions">
          <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
          <${Submit} form=${form}>${t('migrate.read')}<//>
        </div>
      </form>
    <//>`;
}

// changeText words how the other house differs from when it was taken over.
const changeText = (c) =>
  t('migrate.changed.' + c.what, { what: t('migrate.kind.' + c.kind), id: String(c.id), here: c.here, there: c.there });

function Preview({ onDone }) {
  const plan = useServer('/migrations/preview'),
    p = plan.data;
  const form = useForm({ skip: false, invertShades: false, watch: false }, async (v) => {
    const r = await server.post('/migrations', {
      preview: p.id,
      onConflict: v.skip ? 'skip' : 'refuse',
      invertShades: v.invertShades,
      watch: v.watch,
    });
    done(r.id ? t('migrate.done', { n: r.id }) : t('migrate.nothing'));
    plan.again();
    onDone();
  });
  if (plan.wrong) return html`<${Notice} kind="fault">${plan.wrong.message}<//>`;
  if (!p) return html`<div class="skeleton"></div>`;
  const all = families.flatMap(([k, text]) => p[k].map((it) => ({ ...it, family: t(text) })));
  const news = all.filter((it) => !['unchanged', 'skip'].includes(it.action));
  return html`
    <section class="panel">
      <h2>${t('migrate.preview', { source: p.source })}</h2>
      <p class="sub">${t('migrate.readat', { at: moment(Date.parse(p.readAt)) })}</p>
      <${Table} label=${t('migrate.counts')}>
        <thead><tr><th>${t('migrate.what')}</th>${families.map(([, text]) => html`<th>${t(text)}</th>`)}</tr></thead>
        <tbody>
          ${actions
            .filter((a) => all.some((it) => it.action === a))
            .map(
              (a) => html`
                <tr>
                  <th>${t('migrate.action.' + a)}</th>
                  ${families.map(([k]) => html`<td>${number(p[k].filter((it) => it.action === a).length)}</td>`)}
                </tr>`,
            )}
        </tbody>
      <//>
      ${p.conflicts.length > 0 && html`
        <${Notice} kind="fault">
          <b>${t('migrate.conflicts', { n: p.conflicts.length })}</b>
          <ul>
            ${p.conflicts.map(
              (c) => html`
                <li>
                  ${t('migrate.conflict', { what: t('migrate.kind.' + c.kind), id: String(c.id), name: c.there })} ${c.here}
                </li>`,
            )}
          </ul>
        <//>`}
      ${p.warnings.length > 0 && html`<${Notice} kind="warn"><ul>${p.warnings.map((w) => html`<li>${w}</li>`)}</ul><//>`}
      ${p.changes.length > 0 && html`
        <${Notice}><b>${t('migrate.changes')}</b><ul>${p.changes.map((c) => html`<li>${changeText(c)}</li>`)}</ul><//>`}
      ${news.length > 0 && html`
        <details>
          <summary><${Icon} name="right" />${t('migrate.all', { n: news.length })}</summary>
          <${Table} label=${t('migrate.all', { n: news.length })}>
            <thead>
              <tr><th>${t('id')}</th><th>${t('name')}</th><th>${t('migrate.family')}</th><th>${t('migrate.what')}</th></tr>
            </thead>
            <tbody>
              ${news.map(
                (it) => html`
                  <tr>
                    <td>${String(it.id)}</td><td><bdi>${it.name}</bdi></td><td>${it.family}</td>
                    <td>${t('migrate.action.' + it.action)}</td>
                  </tr>`,
              )}
            </tbody>
          <//>
        </details>`}
      ${!news.length
        ? html`<p><b>${t('migrate.nothing')}</b></p>`
        : html`
          <form class="form" onSubmit=${form.submit} noValidate>
            <${Summary} form=${form} />
            ${p.conflicts.length > 0 && html`
              <${Check} form=${form} name="skip" label=${t('migrate.skip')} hint=${t('migrate.skip.hint')} />`}
            ${p.shades.length > 0 && html`
              <${Check} form=${form} name="invertShades" label=${t('migrate.invert')} hint=${t('migrate.invert.hint')} />`}
            <${Check} form=${form} name="watch" label=${t('migrate.watch')} hint=${t('migrate.watch.hint')} />
            <p class="sub">${t('migrate.take.text')}</p>
            <div class="actions start"><${Submit} form=${form}>${t('migrate.take')}<//></div>
          </form>`}
    </section>`;
}

// watchText words what looking there every night has found.
const watchText = (w) =>
  t('migrate.watched', {
    at: moment(Date.parse(w.lookedAt)),
    found: w.trouble || t('migrate.differences', { n: w.differences }),
  });

function Made({ made }) {
  const [undo, setUndo] = useState(null); // the migration that is to be undone, and what was built on it since
  const close = () => setUndo(null);
  const take = async () => {
    try {
      await server.post(`/migrations/${undo.of.id}/undo`, { force: !!undo.edits });
      done(t('migrate.undone', { n: undo.of.id }));
      made.again();
    } catch (p) {
      if (p.status !== 409 || !p.errors.length) throw p;
      setTimeout(() => setUndo({ of: undo.of, edits: p.errors.map((e) => e.detail) }));
    }
  };
  return html`
    <section class="panel">
      <h2>${t('migrate.made')}</h2>
      ${made.wrong && html`<${Notice} kind="fault">${made.wrong.message}<//>`}
      ${!made.data
        ? html`<div class="skeleton"></div>`
        : !made.data.length
        ? html`<${Empty} icon="building" text=${t('migrate.made.none')} />`
        : html`
          <ul class="list">
            ${made.data.map(
              (m) => html`
                <li key=${m.id}>
                  <div class="item wraps">
                    <span class="main">
                      <span class="name">${m.id} · <bdi>${m.source}</bdi></span>
                      <span class="sub">
                        ${moment(Date.parse(m.at))} · <bdi>${m.by}</bdi>
                        <br />
                        ${t('migrate.brought', { clusters: m.clusters, nodes: m.nodes, shades: m.shades })}
                        ${m.undoneAt && html`<br />${t('migrate.undone.at', { at: moment(Date.parse(m.undoneAt)) })}`}
                        ${m.watch && html`<br />${watchText(m.watch)}`}
                      </span>
                    </span>
                    ${!m.undoneAt && html`
                      <button class="button danger" aria-label=${t('migrate.undo.of', { n: m.id })}
                        onClick=${() => setUndo({ of: m })}>
                        <${Icon} name="undo" />
                        ${t('migrate.undo')}
                      </button>`}
                  </div>
                </li>`,
            )}
          </ul>`}
      ${undo && html`
        <${Confirm} key=${undo.edits ? 'force' : 'undo'} title=${t('migrate.undo.of', { n: undo.of.id })}
          verb=${undo.edits ? t('migrate.force') : t('migrate.undo')} onClose=${close} onDo=${take}>
          <p>${undo.edits ? t('migrate.edited') : t('migrate.undo.text')}</p>
          ${undo.edits && html`<ul>${undo.edits.map((e) => html`<li>${e}</li>`)}</ul>`}
        <//>`}
    </section>`;
}
