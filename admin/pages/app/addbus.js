// A new bus: where it is connected, what is on it, which the controller finds out, and its name. Ports come and go as
// adapters are plugged in.
import { html, useEffect, useState } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Page, go } from '../ui/router.js';
import { Empty, Notice, done } from '../ui/shell.js';
import { useForm, Summary, Submit } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { house, server, may } from './house.js';
import { begin, cancel, jobOf, over } from './works.js';
import { AddressField, BusFields, checkBus, editOf, freeName, labelsOfBus, portOf, settingWords, valuesOf } from './busform.js';

/** @import { PortAnswer } from '../records' */

const blank = () => valuesOf({ driver: 'modbus', port: '', line: {}, found: undefined });

// wordsOf is what answered, in a line: driver, settings, gateway.
/** @type {(p: PortAnswer) => string} */
const wordsOf = (p) =>
  [
    t('driver.' + p.driver),
    settingWords(p.line),
    p.driver === 'dali' && t('gateway.' + p.options?.gateway),
    p.port.startsWith('rtu+tcp') && t('bus.scheme.rtu'),
  ]
    .filter(Boolean)
    .join(' · ');

export default function AddBus() {
  const [known, setKnown] = useState(false); // somebody knows what is there
  const [wrong, setWrong] = useState(null);
  const form = useForm(
    blank(),
    async (v) => {
      const b = await server.post('/buses', editOf(v));
      done(t('addbus.done', { name: v.name.trim() }));
      if (b) go('/commission/' + encodeURIComponent(b.name) + '?new');
    },
    checkBus,
  );
  const v = form.values,
    port = v.port && (v.port !== 'tcp' || v.address.trim()) ? portOf({ ...v, driver: '' }) : '';
  // what was found out may stand in the form more completely than it was typed
  const found = (a) => !a.found.trouble && a.port.endsWith('://' + v.address);
  const j = port && jobOf((x) => x.kind === 'findout' && (x.address === port || !!x.items?.some(found))),
    live = j && !over(j);
  const answers = /** @type {PortAnswer[]} */ (j?.items || []);
  const best = answers.find((a) => !a.found.trouble);
  const answered = best && j.id;
  const [taken, setTaken] = useState(''); // the job whose answer stands in the form
  useEffect(() => {
    // what was found out takes the place of what stands in the form
    if (answered) form.fill(valuesOf({ ...best, name: freeName(best.driver) }));
    setTaken(answered || '');
  }, [answered]);
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const back = { href: '/buses', text: t('buses') };
  if (!may('operate'))
    return html`<${Page} title=${t('addbus')} back=${back}><${Empty} icon="buses" text=${t('role.viewer')} /><//>`;
  const serial = house.ports.value.find((p) => p.port === v.port);
  const choose = (p) => {
    setKnown(false);
    setWrong(null);
    form.set('port', p);
  };
  const find = async () => {
    setWrong(null);
    try {
      await begin({ kind: 'findout', port });
    } catch (p) {
      setWrong(p);
    }
  };
  const knows = () => {
    if (!v.name) form.set('name', freeName(v.driver));
    setKnown(true);
  };
  const free = port && !serial?.bus;
  return html`
    <${Page} title=${t('addbus')} back=${back}>
      <form class="stack" onSubmit=${form.submit} noValidate>
        <fieldset class="panel narrow">
          <legend class="reader">${t('addbus.where')}</legend>
          <h2>${t('addbus.where')}</h2>
          ${house.ports.value.map(
            (p) => html`
              <label class="check" key=${p.port}>
                <input type="radio" name="port" checked=${v.port === p.port} onChange=${() => choose(p.port)} />
                <span>
                  ${p.name}
                  <br />
                  <span class="sub">${p.bus ? t('port.used', { bus: p.bus }) : t('port.free', { device: p.device })}</span>
                </span>
              </label>`,
          )}
          <label class="check">
            <input type="radio" name="port" checked=${v.port === 'tcp'} onChange=${() => choose('tcp')} />
            <span>${t('port.network')}<br /><span class="sub">${t('port.network.hint')}</span></span>
          </label>
          ${v.port === 'tcp' && html`<${AddressField} form=${form} />`}
          <p class="sub" role="status">
            ${house.ports.value.length ? t('port.more') : t('port.none')}
          </p>
          ${v.port && v.port !== 'tcp' && !serial && html`<${Notice} kind="warn" icon="plug">${t('port.unplugged')}<//>`}
        </fieldset>
        ${serial?.bus && html`
          <${Notice}>
            <a href=${'/buses/' + encodeURIComponent(serial.bus)}>${t('port.usedby', { bus: serial.bus })}</a>
          <//>`}
        ${free && html`
          <section class="panel narrow">
            <h2>${t('findout')}</h2>
            ${wrong && html`<${Notice} kind="fault">${wrong.message}<//>`}
            <div role="status" class="stack tight">${answers.map((a) =>
              a.found.trouble
                ? html`
                  <${Notice} kind="warn" key=${a.found.finding}>
                    <p>${a.found.detail}</p>
                    <p>${a.found.advice}</p>
                  <//>`
                : html`
                  <${Notice} icon="check" key=${a.driver + a.found.address}>
                    <p><b>${wordsOf(a)}</b></p>
                    <p>${a.found.address ? t('findout.at', { address: a.found.address, what: a.found.detail }) : a.found.detail}</p>
                  <//>`,
            )}</div>
            ${live
              ? html`
                <p aria-live="off">${j.progress.text}</p>
                <progress max="100" value=${(j.progress.share || 0) * 100} aria-label=${t('findout')}></progress>
                <div class="actions start">
                  <button type="button" class="button" onClick=${() => cancel(j)}>${t('cancel')}</button>
                </div>`
              : html`
                ${!best && html`<p class="sub">${t('findout.why')}</p>`}
                ${j?.error && html`<${Notice} kind=${j.state === 'failed' ? 'fault' : ''}>${j.error}<//>`}
                <button type="button" class=${'button big' + (best ? '' : ' primary')} onClick=${find}>
                  <${Icon} name="search" />
                  ${j ? t('findout.again') : t('findout.do')}
                </button>
                ${!best && !known && html`
                  <button type="button" class="button big" onClick=${knows}>${t('findout.known')}</button>`}`}
          </section>`}
        ${free && !live && (known || (best && taken === answered)) && html`
          <section class="panel narrow">
            <div class="form">
              <${Summary} form=${form} labels=${labelsOfBus()} />
              <${BusFields} form=${form} />
              <${Submit} form=${form} big>${t('addbus.do')}<//>
            </div>
          </section>`}
      </form>
    <//>`;
}
