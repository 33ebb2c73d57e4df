// The frames that pass on a bus, live and in words, and the flight recorder as a file.
import './operate/texts.js';
import { html, useEffect, useRef, useState } from '../ui/lib.js';
import { t, clocked } from '../ui/i18n.js';
import { Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';

const most = 100,
  kept = 500; // rows, and frames to search among
const toTheMillisecond = clocked({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const arrows = { sent: '→', received: '←', discarded: '✗' };

export function Monitor({ bus }) {
  const [on, setOn] = useState(false);
  return html`
    <section class="panel">
      <div class="row">
        <div class="grow"><h2>${t('monitor')}</h2><p class="sub">${t('monitor.sub')}</p></div>
        <a class="button" href=${`/api/v1/buses/${encodeURIComponent(bus)}/recording`} download>
          <${Icon} name="download" />
          ${t('monitor.export')}
        </a>
        <button class="button" aria-pressed=${on ? 'true' : 'false'} onClick=${() => setOn(!on)}>
          ${on ? t('monitor.stop') : t('monitor.start')}
        </button>
      </div>
      ${on && html`<${Frames} bus=${bus} />`}
    </section>`;
}

const wordsOf = (f) => `${f.decoded || ''} ${f.note || ''} ${f.hex}`.toLowerCase();

// Frames shows the newest of those that are searched for. What comes while it is paused is counted and not kept.
function Frames({ bus }) {
  const [shown, setShown] = useState([]);
  const [lost, setLost] = useState(false);
  const [elsewhere, setElsewhere] = useState(false);
  const [count, setCount] = useState(0);
  const [held, setHeld] = useState(null); // how many had come when it was paused
  const [q, setQ] = useState('');
  const now = useRef(null);
  now.current = { held, q };
  useEffect(() => {
    let frames = [],
      drawn = '',
      n = 0;
    const source = new EventSource(`/api/v1/buses/${encodeURIComponent(bus)}/monitor`);
    source.addEventListener('frame', (e) => {
      const f = { ...JSON.parse(e.data), n: n++ };
      if (now.current.held === null) frames = [f, ...frames.slice(0, kept - 1)];
    });
    source.addEventListener('displaced', () => {
      source.close(); // others were opened in its place
      setElsewhere(true);
    });
    source.onopen = () => setLost(false);
    source.onerror = () => setLost(true);
    const timer = setInterval(() => {
      // four times a second is as fast as anybody reads
      setCount(n);
      const searched = now.current.q,
        key = `${frames[0]?.n} ${searched}`;
      if (key === drawn) return;
      drawn = key;
      setShown(frames.filter((f) => wordsOf(f).includes(searched)).slice(0, most));
    }, 250);
    return () => {
      source.close();
      clearInterval(timer);
    };
  }, [bus]);
  return html`
    ${elsewhere && html`<${Notice} kind="warn">${t('monitor.elsewhere')}<//>`}
    ${lost && !elsewhere && html`<${Notice} kind="warn">${t('monitor.lost')}<//>`}
    <div class="row">
      <label class="search">
        <${Icon} name="search" />
        <span class="reader">${t('monitor.search')}</span>
        <input class="input" type="search" placeholder=${t('monitor.search')}
          onInput=${(e) => setQ(e.target.value.trim().toLowerCase())} />
      </label>
      <button class="button" aria-pressed=${held === null ? 'false' : 'true'}
        onClick=${() => setHeld(held === null ? count : null)}>
        ${held === null ? t('monitor.pause') : t('monitor.resume')}
      </button>
    </div>
    <p class="sub">
      ${held !== null ? t('monitor.paused', { n: count - held }) : count ? t('monitor.seen', { n: count }) : t('monitor.waits')}
    </p>
    ${shown.length
      ? html`
        <div class="frames" role="region" aria-label=${t('monitor')} tabindex="0">
          <ul class="list">
            ${shown.map(
              (f) => html`
                <li key=${f.n}>
                  <div class="item">
                    <span aria-hidden="true">${arrows[f.direction]}</span>
                    <span class="reader">${t('frame.' + f.direction)}</span>
                    <span class="main">
                      ${f.lost > 0 && html`<span class="warn">${t('monitor.missing', { n: f.lost })}</span>`}
                      <span>${f.decoded}</span>
                      ${f.note && html`<span>${f.note}</span>`}
                      <span class="sub">
                        ${toTheMillisecond(Date.parse(f.at))} · <code>${f.hex.replace(/../g, '$& ')}</code>
                      </span>
                    </span>
                  </div>
                </li>`,
            )}
          </ul>
        </div>`
      : count > 0 && q && html`<p class="sub">${t('monitor.none')}</p>`}`;
}
