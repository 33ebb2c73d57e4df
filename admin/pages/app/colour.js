// Colour temperature and colour of a light or a cluster, where it has them.
import { html, useState } from '../ui/lib.js';
import { t, unit } from '../ui/i18n.js';
import { Slider } from '../ui/slider.js';
import { ofRGBW, Reason } from '../ui/light.js';
import { ask, command, may } from './house.js';

const value = (v) => (v != null && typeof v === 'object' && 'value' in v ? v.value : v);

// Colour: record is that of a node or a cluster, nodes those that it consists of.
export function Colour({ scope, id, record, nodes }) {
  const able = (what) => nodes.some((n) => n.abilities.includes(what));
  if (!may('operate') || (!able('tune') && !able('colour'))) return null;
  const off = !nodes.some((n) => n.online);
  return html`
    <div class="panel">
      ${able('tune') && html`<${Tune} scope=${scope} id=${id} record=${record} nodes=${nodes} off=${off} />`}
      ${able('colour') && html`<${Mix} scope=${scope} id=${id} record=${record} off=${off} />`}
    </div>`;
}

function Tune({ scope, id, record, nodes, off }) {
  const asking = ask(scope, id, 'kelvin');
  const limits = nodes.flatMap((n) => n.channels).filter((c) => c.kelvinMin);
  const min = Math.min(...limits.map((c) => c.kelvinMin), 6500),
    max = Math.max(...limits.map((c) => c.kelvinMax), 2700);
  const k = value(record.kelvin),
    asked = asking.asked.value;
  const shown = asked ?? k;
  return html`
    <div class="stack tight">
      <div class="row">
        <h2 class="plain grow">${t('kelvin')}</h2>
        <b class=${asked != null && asked !== k ? 'accent' : ''}>${shown ? unit(shown, 'K') : '–'}</b>
      </div>
      <div class="control row">
        <${Slider} kind="kelvin" label=${t('kelvin.of', { name: record.name })} value=${k} asked=${asked}
          min=${min < max ? min : 2700} max=${min < max ? max : 6500} step=${50} text=${shown ? unit(shown, 'K') : '–'} off=${off}
          onAsk=${asking.ask} />
      </div>
      <${Reason} of=${asking.failure.value} />
    </div>`;
}

function Mix({ scope, id, record, off }) {
  const now = value(record.rgbw) || { r: 0, g: 0, b: 0, w: 0 };
  const [wanted, setWanted] = useState(null);
  const [wrong, setWrong] = useState(null);
  const shown = wanted || now;
  const set = (part) => async (v, done) => {
    const next = { ...shown, [part]: v };
    setWanted(next);
    if (!done) return;
    setWrong(null);
    try {
      await command('light-rgbw', { scope, id }, { rgbw: next });
    } catch (p) {
      setWrong(p);
    }
    setWanted(null);
  };
  return html`
    <div class="stack tight">
      <div class="row">
        <h2 class="plain grow">${t('colour')}</h2>
        <code>${shown.r}:${shown.g}:${shown.b}:${shown.w}</code>
        <span class="swatch" style=${{ background: `rgb(${ofRGBW(shown)})` }}></span>
      </div>
      ${[
        ['r', '235 60 50'],
        ['g', '60 190 80'],
        ['b', '70 120 250'],
        ['w', '250 240 220'],
      ].map(
        ([part, colour]) => html`
          <div class="row" key=${part}>
            <span class="sub" style=${{ width: '4.5rem' }}>${t('colour.' + part)}</span>
            <${Slider} label=${t('colour.' + part + '.of', { name: record.name })} value=${now[part]}
              asked=${wanted && wanted[part] !== now[part] ? wanted[part] : null} max=${255} text=${String(shown[part])}
              colour=${colour} off=${off} onAsk=${set(part)} />
          </div>`,
      )}
      <${Reason} of=${wrong} />
    </div>`;
}
