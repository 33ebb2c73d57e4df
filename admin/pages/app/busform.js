// What a bus is, as fields: where it is connected, what is spoken there, and how. The usual settings come first.
import { html } from '../ui/lib.js';
import './operate/texts.js';
import { t } from '../ui/i18n.js';
import { Field, Check } from '../ui/form.js';
import { house } from './house.js';

/** @import { Bus, BusEdit, Line, PortAnswer } from '../records' */

const drivers = ['modbus', 'sdn', 'dali', 'dmx'];
const usual = ['9600 none 2', '9600 none 1', '19200 even 1', '19200 none 1', '9600 even 1', '38400 none 1', '115200 none 1'];
const other = 'other';

// settingWords is what people call line settings: 9600 8N2.
/** @type {(line: Line) => string} */
export const settingWords = (l) =>
  l.baudRate ? `${l.baudRate} ${l.dataBits || 8}${(l.parity || 'none')[0].toUpperCase()}${l.stopBits || 1}` : '';

// freeName is one that no bus has: the driver's, and a number.
export function freeName(driver) {
  const word = t('driver.' + driver);
  for (let i = 1; ; i++) if (!house.buses.peek(`${word} ${i}`)) return `${word} ${i}`;
}

const socket = /^(tcp|rtu\+tcp):\/\/(.*)$/;

// valuesOf are the fields' values for a bus, or for what answered on a port.
/** @type {(b: Bus | (PortAnswer & { name?: string, disabled?: boolean })) => Record<string, any>} */
export function valuesOf(b) {
  const [, scheme, address] = socket.exec(b.port) || [];
  const l = b.line;
  const settings = l.baudRate ? `${l.baudRate} ${l.parity || 'none'} ${l.stopBits || 1}` : usual[0];
  return {
    name: b.name || '',
    driver: b.driver,
    port: scheme ? 'tcp' : b.port,
    address: address || '',
    scheme: scheme || 'tcp',
    settings: usual.includes(settings) ? settings : other,
    baudRate: String(l.baudRate || 9600),
    parity: l.parity || 'none',
    stopBits: String(l.stopBits || 1),
    gateway: b.options?.gateway || 'luba',
    interface: b.options?.interface || 'enttec-pro',
    echo: b.options?.echo === 'true',
    disabled: !!b.disabled,
  };
}

// portOf is the port as a bus has it.
export const portOf = (v) =>
  v.port === 'tcp' ? `${v.driver === 'modbus' ? v.scheme : 'tcp'}://${v.address.trim().replace(/^[a-z+]*:\/\//, '')}` : v.port;

// editOf is what is sent; options that the form does not show stay.
/** @type {(v: Record<string, any>, had?: Record<string, string>) => BusEdit} */
export function editOf(v, had = {}) {
  const { gateway: _g, interface: _i, echo: _e, ...options } = had;
  if (v.driver === 'dali') options.gateway = v.gateway;
  if (v.driver === 'dmx') options.interface = v.interface;
  if (v.echo && echoes(v)) options.echo = 'true';
  const [baudRate, parity, stopBits] =
    v.settings === other ? [v.baudRate, v.parity, v.stopBits] : /** @type {string} */ (v.settings).split(' ');
  return {
    name: v.name.trim(),
    driver: v.driver,
    port: portOf(v),
    line: v.driver === 'modbus' && v.port !== 'tcp' ? { baudRate: +baudRate, parity, dataBits: 8, stopBits: +stopBits } : {},
    options,
    disabled: v.disabled,
  };
}

const echoes = (v) => (v.driver === 'modbus' || v.driver === 'sdn') && v.port !== 'tcp';

// checkBus says what is missing.
export const checkBus = (v) => ({
  ...(!v.name.trim() && { name: t('needed') }),
  ...(!v.port && { port: t('needed') }),
  ...(v.port === 'tcp' && !v.address.trim() && { address: t('needed') }),
});

export const labelsOfBus = () => ({
  name: t('name'),
  driver: t('bus.driver'),
  port: t('bus.port'),
  address: t('bus.address'),
  line: t('bus.line'),
});

// ports are those that are there, and the one that the bus has, which may be unplugged.
const ports = (v) => {
  const here = house.ports.value.map((p) => [p.port, p.name]);
  if (v.port && v.port !== 'tcp' && !here.some(([p]) => p === v.port)) here.push([v.port, v.port]);
  return [...here, ['tcp', t('port.network')]];
};

// BusFields are all of them; where says whether the port is chosen here too.
export function BusFields({ form, where = false }) {
  const v = form.values;
  return html`
    ${where && html`<${Field} form=${form} name="port" label=${t('bus.port')} options=${ports(v)} />`}
    ${where && v.port === 'tcp' && html`<${AddressField} form=${form} />`}
    <${Field} form=${form} name="driver" label=${t('bus.driver')} options=${drivers.map((d) => [d, t('driver.' + d)])} />
    ${v.driver === 'modbus' && v.port === 'tcp' && html`
      <${Field} form=${form} name="scheme" label=${t('bus.scheme')}
        options=${[['tcp', t('bus.scheme.tcp')], ['rtu+tcp', t('bus.scheme.rtu')]]} />`}
    ${v.driver === 'modbus' && v.port !== 'tcp' && html`
      <${Field} form=${form} name="settings" label=${t('bus.line')} hint=${t('bus.line.hint')}
        options=${[...usual.map((s) => [s, settingWords(lineOf(s))]), [other, t('bus.line.other')]]} />
      ${v.settings === other && html`
        <${Field} form=${form} name="baudRate" label=${t('bus.baud')} inputmode="numeric" autocomplete="off" />
        <${Field} form=${form} name="parity" label=${t('bus.parity')}
          options=${['none', 'even', 'odd'].map((p) => [p, t('parity.' + p)])} />
        <${Field} form=${form} name="stopBits" label=${t('bus.stop')} options=${[['1', '1'], ['2', '2']]} />`}`}
    ${v.driver === 'dali' && html`
      <${Field} form=${form} name="gateway" label=${t('bus.gateway')}
        options=${['luba', 'sci', 'atx'].map((g) => [g, t('gateway.' + g)])} />`}
    ${v.driver === 'dmx' && html`
      <${Field} form=${form} name="interface" label=${t('bus.interface')}
        options=${['enttec-pro', 'open-dmx'].map((i) => [i, t('interface.' + i)])} />`}
    ${echoes(v) && html`<${Check} form=${form} name="echo" label=${t('bus.echo')} hint=${t('bus.echo.hint')} />`}
    <${Field} form=${form} name="name" label=${t('name')} hint=${t('bus.name.hint')} autocomplete="off" />`;
}

export const AddressField = ({ form }) => html`
  <${Field} form=${form} name="address" label=${t('bus.address')} hint=${t('bus.address.hint')} autocomplete="off"
    autocapitalize="none" spellcheck=${false} />`;

/** @type {(s: string) => Line} */
const lineOf = (s) => {
  const [baudRate, parity, stopBits] = s.split(' ');
  return { baudRate: +baudRate, parity: /** @type {Line['parity']} */ (parity), stopBits: +stopBits };
};
