// How the controller itself does, its log as it grows, and one file for whoever helps from afar.
import './operate/texts.js';
import { html, useEffect, useState } from '../ui/lib.js';
import { t, moment, timeExactly, now, unit } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { server, may, link } from './house.js';
import { useServer } from './useserver.js';

const most = 100; // lines that are shown
const followEvery = 2000;
const levels = [
  ['', 'log.all'],
  ['WARN', 'log.warnings'],
  ['ERROR', 'log.errors'],
];
const badge = { WARN: 'warn', ERROR: 'fault' };

function Health() {
  const { data: h, wrong } = useServer('/health');
  return html`
    <section class="panel">
      <h2>${t('diagnostics.controller')}</h2>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${h && !h.ready && html`<${Notice} kind="fault">${t('diagnostics.notready', { why: h.notReady })}<//>`}
      ${h && !h.kept && html`<${Notice} kind="fault">${t('diagnostics.notkept', { why: h.notKept })}<//>`}
      ${h?.faults.map((f) => html`<${Notice} kind="fault" key=${f.where}><b>${f.where}</b>: ${f.what}<//>`)}
      ${h && html`
        <dl class="facts">
          ${h.ready && h.kept && html`
            <dt>${t('diagnostics.state')}</dt><dd><span class="badge ok">${t('diagnostics.ready')}</span></dd>`}
          <dt>${t('version')}</dt><dd>${h.version}${h.system && ` · ${h.system}`}</dd>
          <dt>${t('diagnostics.platform')}</dt><dd>${h.platform}</dd>
          <dt>${t('diagnostics.started')}</dt><dd>${moment(Date.parse(h.startedAt))}</dd>
          ${h.board?.power && html`
            <dt>${t('diagnostics.power')}</dt>
            <dd>
              <span class=${'badge ' + (h.board.power === 'weak' ? 'fault' : 'ok')}>${t('diagnostics.power.' + h.board.power)}</span>
            </dd>`}
          ${h.board?.temperatures.map((z) => html`
            <dt key=${z.zone}>${t('diagnostics.temperature', { zone: z.zone })}</dt><dd>${unit(Math.round(z.celsius), '°C')}</dd>`)}
          <dt>${t('diagnostics.clock')}</dt><dd>${moment(Date.parse(h.time))}</dd>
        </dl>`}
    </section>`;
}

// useLog gives the newest lines, and adds those that come while follow. After a restart of the controller it begins anew.
function useLog({ level, contains, follow }) {
  const [lines, setLines] = useState(null);
  const [wrong, setWrong] = useState(null);
  const live = link.value.value.state === 'live';
  useEffect(() => {
    if (!live) return undefined;
    let here = true,
      last = 0,
      asking = false;
    const ask = async () => {
      if (asking || (document.hidden && last)) return;
      asking = true;
      try {
        const fresh = await server.get(
          `/logs?limit=${most}&after=${last}&level=${level}&contains=${encodeURIComponent(contains)}`,
        );
        if (!here) return;
        const begun = last > 0;
        setLines((old) => (begun ? [...fresh, ...old].slice(0, most) : fresh));
        last = fresh[0]?.id || last;
        setWrong(null);
      } catch (p) {
        if (here) setWrong(p);
      } finally {
        asking = false;
      }
    };
    ask();
    const timer = follow && setInterval(ask, followEvery);
    return () => {
      here = false;
      clearInterval(timer);
    };
  }, [level, contains, follow, live]);
  return { lines, wrong };
}

function Log() {
  const [level, setLevel] = useState('');
  const [contains, setContains] = useState('');
  const [follow, setFollow] = useState(true);
  const { lines, wrong } = useLog({ level, contains, follow });
  return html`
    <section class="panel">
      <div class="row">
        <div class="grow"><h2>${t('log')}</h2><p class="sub">${t('log.kept')}</p></div>
        <button class="chip" aria-pressed=${follow ? 'true' : 'false'} onClick=${() => setFollow(!follow)}>
          ${t('log.follow')}
        </button>
      </div>
      <div class="row">
        <div class="chips" role="group" aria-label=${t('log.level')}>
          ${levels.map(
            ([v, text]) => html`
              <button class="chip" key=${v} aria-pressed=${v === level ? 'true' : 'false'} onClick=${() => setLevel(v)}>
                ${t(text)}
              </button>`,
          )}
        </div>
        <label class="search">
          <${Icon} name="search" />
          <span class="reader">${t('log.search')}</span>
          <input class="input" type="search" placeholder=${t('log.search')} onInput=${(e) => setContains(e.target.value.trim())} />
        </label>
      </div>
      ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
      ${!lines
        ? !wrong && html`<div class="skeleton"></div>`
        : lines.length
        ? html`
          <ul class="list">
            ${lines.map(
              (l) => html`
                <li key=${l.id}>
                  <div class="item">
                    <span class="main">
                      <span>
                        ${badge[l.level] && html`<span class=${'badge ' + badge[l.level]}>${l.level}</span> `}
                        ${l.message}
                      </span>
                      <span class="sub">${whenOf(l)}${l.details && html` · <code>${l.details}</code>`}</span>
                    </span>
                  </div>
                </li>`,
            )}
          </ul>`
        : html`<p class="sub">${level || contains ? t('log.none') : t('log.empty')}</p>`}
    </section>`;
}

const whenOf = (l) => (now.peek() - Date.parse(l.at) < 12 * 3600e3 ? timeExactly : moment)(Date.parse(l.at));

export default function Diagnostics() {
  return html`
    <${Page} title=${t('diagnostics')} sub=${t('diagnostics.sub')} back=${{ href: '/more', text: t('more') }}>
      <div class="columns">
        <${Health} />
        ${may('administer') && html`
          <section class="panel">
            <h2>${t('diagnostics.bundle')}</h2>
            <p>${t('diagnostics.bundle.text')}</p>
            <div class="actions start">
              <a class="button primary" href="/api/v1/diagnostics" download>
                <${Icon} name="download" />
                ${t('diagnostics.download')}
              </a>
            </div>
          </section>`}
      </div>
      ${may('administer') && html`<${Log} />`}
    <//>`;
}
