// Copies of backups that leave the box by themselves: to whose key, to where, and how it stands with them.
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import { t, moment, number } from '../ui/i18n.js';
import { Notice, done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { useForm, Summary, Field, Check, Password, Submit } from '../ui/form.js';
import { server } from './house.js';
import { useServer } from './useserver.js';
import { makeKey } from './ownerkey.js';

const lookAgain = 2000; // while a copy is being made

const labels = () => ({
  key: t('offsite.key'),
  keep: t('offsite.keep'),
  stick: t('offsite.stick'),
  kind: t('offsite.kind'),
  url: t('offsite.url'),
  user: t('username'),
  password: t('password'),
  region: t('offsite.region'),
  fingerprint: t('fingerprint'),
  ca: t('offsite.ca'),
});

// Made shows a secret key, this once.
function Made({ pair, onDone }) {
  const text = `# ${t('offsite.key.file')}\n# public key: ${pair.pub}\n${pair.secret}\n`;
  const [kept, setKept] = useState(false);
  const box = useRef(null);
  useEffect(() => box.current.focus(), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(pair.secret);
      done(t('copied'));
      setKept(true);
    } catch {
      done(t('copy.failed'));
    }
  };
  return html`
    <div class="stack" role="status" tabindex="-1" ref=${box}>
      <${Notice} kind="warn">${t('offsite.key.once')}<//>
      <p class="fingerprint" id="secret">${pair.secret}</p>
      <div class="actions start">
        <a class="button primary" download="backup-key.txt" href=${'data:text/plain;charset=utf-8,' + encodeURIComponent(text)}
          onClick=${() => setKept(true)}>
          <${Icon} name="download" />${t('backup.download')}
        </a>
        <button type="button" class="button" onClick=${copy}><${Icon} name="copy" />${t('copy')}</button>
        <button type="button" class="button" disabled=${!kept} onClick=${onDone}>${t('offsite.key.kept')}</button>
      </div>
    </div>`;
}

function Settings({ of, onSaved }) {
  const [pair, setPair] = useState(null);
  const s = of.server;
  const form = useForm(
    {
      key: of.key,
      keep: String(of.keep),
      stick: !!of.stick,
      kind: s?.kind || '',
      url: s?.url || '',
      user: s?.user || '',
      password: '',
      region: s?.region || '',
      fingerprint: s?.fingerprint || '',
      ca: s?.ca || '',
    },
    async ({ key, keep, stick, ...where }) => {
      try {
        const said = await server.put('/backup/offsite', {
          key: key.trim(),
          keep: +keep,
          stick,
          ...(where.kind && { server: { ...where, url: where.url.trim(), region: where.kind === 's3' ? where.region : '' } }),
        });
        done(t('offsite.saved'));
        onSaved(said);
      } catch (p) {
        p.errors?.forEach((e) => (e.pointer = e.pointer.replace(/^\/server\//, '/')));
        throw p;
      }
    },
    (v) => ({
      ...((v.stick || v.kind) && !v.key.trim() && { key: t('needed') }),
      ...(!/^\d+$/.test(v.keep) && { keep: t('needed') }),
      ...(v.kind && !v.url.trim() && { url: t('needed') }),
      ...(v.kind && !v.user && { user: t('needed') }),
    }),
  );
  const make = async () => {
    const made = await makeKey();
    if (made) setPair(made);
    else done(t('offsite.key.cannot'));
  };
  const had = useRef(false); // a pair that was made
  useEffect(() => {
    if (pair) had.current = true;
    else if (had.current) document.getElementById(form.id + 'key')?.focus();
  }, [pair]);
  if (pair)
    return html`
      <${Made} pair=${pair}
        onDone=${() => {
          form.set('key', pair.pub);
          setPair(null);
        }} />`;
  const s3 = form.values.kind === 's3';
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form} labels=${labels()} />
      <${Field} form=${form} name="key" label=${t('offsite.key')} hint=${t('offsite.key.hint')} code autocomplete="off"
        autocapitalize="none" spellcheck="false" />
      <div class="actions start">
        <button type="button" class="button" onClick=${make}><${Icon} name="key" />${t('offsite.key.make')}</button>
      </div>
      ${of.stickPossible && html`<${Check} form=${form} name="stick" label=${t('offsite.stick')} hint=${t('offsite.stick.hint')} />`}
      <${Field} form=${form} name="kind" label=${t('offsite.kind')}
        options=${[['', t('offsite.kind.none')], ['webdav', 'WebDAV'], ['s3', 'S3']]} />
      ${form.values.kind && html`
        <${Field} form=${form} name="url" label=${t('offsite.url')} hint=${t(s3 ? 'offsite.url.s3' : 'offsite.url.webdav')} type="url"
          autocomplete="off" autocapitalize="none" spellcheck="false" />
        <${Field} form=${form} name="user" label=${t(s3 ? 'offsite.access' : 'username')} autocomplete="off" autocapitalize="none"
          spellcheck="false" />
        <${Password} form=${form} name="password" label=${t(s3 ? 'offsite.secret' : 'password')} hint=${s && t('offsite.password.hint')}
          autocomplete="off" />
        ${s3 && html`
          <${Field} form=${form} name="region" label=${t('offsite.region')} hint=${t('offsite.region.hint')} autocomplete="off" />`}
        <details open=${!!(form.values.fingerprint || form.values.ca)}>
          <summary><${Icon} name="right" />${t('offsite.trust')}</summary>
          <div class="stack">
            <p class="sub">${t('offsite.trust.text')}</p>
            <${Field} form=${form} name="fingerprint" label=${t('fingerprint')} code autocomplete="off" spellcheck="false" />
            <${Field} form=${form} name="ca" label=${t('offsite.ca')} rows=${3} code spellcheck="false" />
          </div>
        </details>`}
      <${Field} form=${form} name="keep" label=${t('offsite.keep')} type="number" min="1" max="400" inputmode="numeric" />
      <div class="actions start"><${Submit} form=${form}>${t('save')}<//></div>
    </form>`;
}

// Stands tells how it is with the copies in one place.
function Stands({ title, where, of }) {
  return html`
    <h3>${title}</h3>
    ${where && html`<p class="sub"><bdi>${where}</bdi></p>`}
    ${of.failed && html`
      <${Notice} kind="fault">
        <b>${t('offsite.failed', { at: moment(Date.parse(of.failed)) })}</b> <span class="pre">${of.why}</span>
      <//>`}
    ${of.note && html`<${Notice} kind="warn"><span class="pre">${of.note}</span><//>`}
    <dl class="facts">
      <dt>${t('backup.nightly.last')}</dt>
      <dd>
        ${of.last
          ? html`
            ${moment(Date.parse(of.last))} ${!of.failed && html`<span class="badge ok">${t('offsite.well')}</span>`}`
          : t('offsite.never')}
        ${of.overdue && html` <span class="badge fault">${t('offsite.overdue')}</span>`}
      </dd>
    </dl>
    ${of.file && html`
      <p class="sub"><code class="pre">${of.file}</code>, ${t('offsite.size', { n: number(Math.ceil(of.size / 1000)) })}</p>`}`;
}

export default function Offsite() {
  const { data, wrong, again } = useServer('/backup/offsite');
  const [said, setSaid] = useState(null); // by what was sent last
  const [changing, setChanging] = useState(false);
  const of = said || data;
  useEffect(() => setSaid(null), [data]);
  useEffect(() => {
    if (!of?.underWay) return undefined;
    const timer = setTimeout(again, lookAgain);
    return () => clearTimeout(timer);
  }, [of]);
  const now = async () => {
    try {
      setSaid(await server.post('/backup/offsite/try'));
    } catch (p) {
      done(p.message);
    }
  };
  if (!of) return wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`;
  const some = of.stick || of.server;
  return html`
    ${some && html`
      <div class="stack" aria-live="polite">
        ${of.stick && html`<${Stands} title=${t('offsite.stick')} of=${of.stick} />`}
        ${of.server && html`<${Stands} title=${t('offsite.server')} where=${of.server.url} of=${of.server.copies} />`}
      </div>
      <p class="sub">${t('offsite.every', { n: of.keep, series: of.series })}</p>`}
    ${(some || changing) && html`<p class="sub">${t('offsite.lost')}</p>`}
    <div class="actions start">
      ${some && !changing && html`
        <button type="button" class="button primary" aria-disabled=${of.underWay ? 'true' : undefined}
          onClick=${() => !of.underWay && now()}>
          ${t(of.underWay ? 'offsite.under' : 'offsite.now')}
        </button>`}
      ${!changing && html`
        <button type="button" class=${some ? 'button' : 'button primary'} onClick=${() => setChanging(true)}>
          ${t(some ? 'change' : 'offsite.begin')}
        </button>`}
    </div>
    ${changing && html`
      <${Settings} of=${of}
        onSaved=${(s) => {
          setSaid(s);
          setChanging(false);
        }} />`}`;
}
