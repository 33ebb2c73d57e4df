// The frames that pass on a bus, live and in words, and the flight recorder as a file.
import { html, useEffect, useState } from '../ui/lib.js';
import { t, timeExactly, number } from '../ui/i18n.js';
import { Table, Notice } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';

const most = 100;

export function Monitor({ bus }) {
  const [on, setOn] = useState(false);
  return html`<section class="panel"><div class="row"><div class="grow"><h2>${t('monitor')}</h2><p class="sub">${t('monitor.sub')}</p></div>
    <a class="button" href=${`/api/v1/buses/${encodeURIComponent(bus)}/frames`} download=${`frames-${bus}.json`}><${Icon} name="download" />${t('monitor.export')}</a>
    <button class="button" aria-pressed=${on ? 'true' : 'false'} onClick=${() => setOn(!on)}>${on ? t('monitor.stop') : t('monitor.start')}</button></div>
    ${on && html`<${Frames} bus=${bus} />`}</section>`;
}

function Frames({ bus }) {
  const [frames, setFrames] = useState([]);
  const [lost, setLost] = useState(false);
  const [count, setCount] = useState(0);
  useEffect(() => {
    let waiting = [];
    const source = new EventSource(`/api/v1/buses/${encodeURIComponent(bus)}/monitor`);
    source.addEventListener('frame', (e) => { waiting.push(JSON.parse(e.data)); if (waiting.length > most) waiting.shift(); });
    source.onopen = () => setLost(false);
    source.onerror = () => setLost(true);
    const timer = setInterval(() => { // four times a second is as fast as anybody reads
      if (!waiting.length) return;
      const fresh = waiting.reverse();
      waiting = [];
      setCount((n) => n + fresh.length);
      setFrames((old) => [...fresh, ...old].slice(0, most));
    }, 250);
    return () => { source.close(); clearInterval(timer); };
  }, [bus]);
  return html`${lost && html`<${Notice} kind="warn">${t('monitor.lost')}<//>`}
    ${!frames.length ? html`<p class="sub">${t('monitor.waits')}</p>` : html`<p class="sub">${t('monitor.seen', { n: count })}</p><div class="frames"><${Table} label=${t('monitor')}><thead><tr><th>${t('ledger.when')}</th><th>${t('frame.way')}</th><th>${t('monitor.words')}</th><th>${t('frame')}</th></tr></thead>
      <tbody>${frames.map((f) => html`<tr key=${f.at + f.hex}><td class="nowrap">${timeExactly(Date.parse(f.at))}</td><td>${t('frame.' + f.direction)}</td><td>${f.note || '–'}</td><td><code>${f.hex.replace(/../g, '$& ')}</code></td></tr>`)}</tbody><//></div>`}`;
}
