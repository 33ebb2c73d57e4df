// The building itself: its name, the clock and the sun that rules go by, and how shades are told to others.
import './operate/texts.js';
import { html, useEffect } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice, done } from '../ui/shell.js';
import { useForm, Summary, Field, Check, Submit } from '../ui/form.js';
import { house, server, may, session } from './house.js';
import { FileField } from './filefield.js';
import { SiteFile } from './sitefile.js';
import { useServer } from './useserver.js';
import { dates } from './calendar.js';

const zones = () => [
  ['', t('settings.zone.none')],
  ...Intl.supportedValuesOf('timeZone').map((z) => [z, z.replaceAll('_', ' ')]),
];

// holidaysOf reads a line each: the days, and what they are called.
const holidaysOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [when, ...name] = line.split(/\s+/);
      return { dates: when, ...(name.length && { name: name.join(' ') }) };
    });

function SiteForm({ site }) {
  const form = useForm(
    {
      name: site.name,
      timeZone: site.timeZone,
      latitude: String(site.latitude ?? ''),
      longitude: String(site.longitude ?? ''),
      invertShades: site.invertShades,
      holidays: site.holidays.map((h) => (h.dates + ' ' + (h.name || '')).trim()).join('\n'),
    },
    async (v) => {
      const place = v.latitude !== '' && { latitude: +v.latitude, longitude: +v.longitude };
      await server.patch(
        '/site',
        { name: v.name.trim(), invertShades: v.invertShades, timeZone: v.timeZone, ...place, holidays: holidaysOf(v.holidays) },
        { etag: house.site.peek().etag },
      );
      done(t('saved', { name: v.name }));
    },
    (v) => ({
      ...(!v.name.trim() && { name: t('needed') }),
      ...(v.latitude !== '' && v.longitude === '' && { longitude: t('needed') }),
      ...(v.longitude !== '' && v.latitude === '' && { latitude: t('needed') }),
      ...(!holidaysOf(v.holidays).every((h) => dates.test(h.dates)) && { holidays: t('settings.holidays.hint') }),
    }),
  );
  return html`
    <form class="form" onSubmit=${form.submit} noValidate>
      <${Summary} form=${form}
        labels=${{
          name: t('name'),
          timeZone: t('settings.zone'),
          latitude: t('settings.latitude'),
          longitude: t('settings.longitude'),
          holidays: t('settings.holidays'),
        }} />
      <${Field} form=${form} name="name" label=${t('name')} autocomplete="off" />
      <${Field} form=${form} name="timeZone" label=${t('settings.zone')} hint=${t('settings.zone.hint')} options=${zones()} />
      <${Field} form=${form} name="latitude" type="number" step="any" label=${t('settings.latitude')}
        hint=${t('settings.place.hint')} />
      <${Field} form=${form} name="longitude" type="number" step="any" label=${t('settings.longitude')} />
      <${Field} form=${form} name="holidays" rows="4" label=${t('settings.holidays')} hint=${t('settings.holidays.hint')} />
      <${Check} form=${form} name="invertShades" label=${t('settings.invert')} hint=${t('settings.invert.hint')} />
      <div class="actions start"><${Submit} form=${form}>${t('save')}<//></div>
    </form>`;
}

// Update tells what runs and how the last update ended; where the system takes updates from here, one is handed over as a file.
function Update() {
  const update = useServer('/update'),
    now = update.data,
    busy = now?.status === 'under way';
  useEffect(() => {
    if (!busy) return undefined;
    const look = setInterval(update.again, 4000);
    return () => clearInterval(look);
  }, [busy]);
  const form = useForm(
    { file: null, url: '' },
    async ({ file, url }) => {
      if (file) await server.post('/update', file);
      else await server.post('/update/fetch', { url: url.trim() });
      update.again();
    },
    ({ file, url }) => (file || url.trim() ? {} : { file: t('needed') }),
  );
  return html`
    <section class="panel">
      <h2>${t('settings.update')}</h2>
      ${update.wrong && html`
        <${Notice} kind=${busy ? 'warn' : 'fault'}>${busy ? t('settings.update.restarting') : update.wrong.message}<//>`}
      <dl class="facts">
        <dt>${t('version')}</dt><dd>${now?.system || session.value.version}</dd>
        <dt>${t('settings.update.last')}</dt>
        <dd><span role="status">${now ? t('settings.update.' + now.status.replace(' ', '')) : '–'}</span></dd>
      </dl>
      ${now?.report && html`<${Notice} kind=${now.status === 'updated' ? undefined : 'warn'}>${now.report}<//>`}
      ${now?.canInstall && may('administer') && !busy && html`
        <form class="form" onSubmit=${form.submit} noValidate>
          <${Summary} form=${form} labels=${{ file: t('settings.update.file'), url: t('settings.update.url') }} />
          <${FileField} form=${form} name="file" label=${t('settings.update.file')} hint=${t('settings.update.hint')}
            accept=".raucb" />
          <${Field} form=${form} name="url" type="url" inputmode="url" label=${t('settings.update.url')} autocomplete="off" />
          <div class="actions start"><${Submit} form=${form}>${t('settings.update.do')}<//></div>
        </form>`}
    </section>`;
}

export default function Settings() {
  const site = house.site.value;
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  return html`
    <${Page} title=${t('settings')} back=${{ href: '/more', text: t('more') }}>
      <div class="columns">
        <section class="panel">
          <h2>${t('settings.building')}</h2>
          ${may('administer')
            ? html`<${SiteForm} site=${site} />`
            : html`
              <dl class="facts">
                <dt>${t('name')}</dt><dd>${site.name}</dd>
                <dt>${t('settings.zone')}</dt><dd>${site.timeZone || t('unknown')}</dd>
              </dl>`}
        </section>
        <${SiteFile} />
        <${Update} />
      </div>
    <//>`;
}
