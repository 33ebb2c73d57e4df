// Every component in every state, for the browser tests. The controls act on a make-believe building below.
import { html, render, signal, useState } from '../ui/lib.js';
import { startTexts, percent, unit, Age, now } from '../ui/i18n.js';
import { startRouter, Page } from '../ui/router.js';
import { Header, Tabs, Banner, Announcements, Empty, Notice, done, useKeys } from '../ui/shell.js';
import { LightCard, ofKelvin, ofRGBW } from '../ui/light.js';
import { ShadeCard, Window, Buttons } from '../ui/shade.js';
import { Slider } from '../ui/slider.js';
import { asking } from '../ui/asked.js';
import { useForm, Summary, Field, Check, Submit, Conflict } from '../ui/form.js';
import { Confirm } from '../ui/dialog.js';
import { JobBar } from '../ui/jobs.js';
import { Spark } from '../ui/spark.js';
import { Icon } from '../ui/icons.js';
import { Problem } from '../ui/api.js';

await startTexts((l) => import(`./i18n/${l}.js`));

/** @type {Window & { sent?: unknown[], link?: unknown }} */
const outside = window;
outside.sent = []; // what would have gone to the server
const level = signal(65);
const real = asking(
  async (v) => {
    outside.sent.push(v);
    await new Promise((r) => setTimeout(r, 150));
    level.value = v;
  },
  () => level.value,
);
const refusing = asking(
  async () => {
    throw Object.assign(new Problem(502, { detail: 'Lobby 3 did not answer within 2 s' }), { href: '/why' });
  },
  () => 40,
);
const still = (v = null) => ({ asked: signal(v), failure: signal(null), busy: signal(false), ask: () => {} });
const position = signal(70);
const shade = asking(
  async (v) => {
    outside.sent.push(v);
    position.value = v;
  },
  () => position.value,
);
const link = signal({ state: 'live' });
const busy = signal(1); // jobs that are under way
Object.assign(window, { busy });
outside.link = link;

const lights = [
  [{ name: 'Open office north', href: '/', words: '16 lights', level: 65, colour: ofKelvin(4000), dims: true }, real],
  [{ name: 'Lobby', href: '/', words: '6 lights', level: 40, colour: ofKelvin(2700), dims: true }, refusing],
  [{ name: 'Canteen', href: '/', words: '6 lights', level: 65, colour: ofKelvin(2700), dims: true }, still(25)],
  [{ name: 'Corridor', href: '/', words: '6 lights', level: 48, low: 20, high: 80, colour: ofKelvin(3500), dims: true }, still()],
  [
    { name: 'Atrium', href: '/', words: '8 lights', level: 90, colour: ofRGBW({ r: 255, g: 60, b: 140, w: 20 }), dims: true },
    still(),
  ],
  [
    {
      name: 'Stage',
      href: '/',
      words: 'sent, cannot be read back',
      icon: 'plane',
      level: 80,
      colour: ofKelvin(6500),
      dims: true,
    },
    still(),
  ],
  [
    {
      name: 'Gallery',
      href: '/',
      words: 'read 4 min ago',
      icon: 'clock',
      stale: true,
      level: 55,
      colour: ofKelvin(3000),
      dims: true,
    },
    still(),
  ],
  [
    {
      name: 'Workshop',
      href: '/',
      words: 'not answering since 08:57',
      icon: 'plug',
      off: true,
      level: 55,
      colour: ofKelvin(3000),
      dims: true,
    },
    still(),
  ],
  [{ name: 'Utility room', href: '/', words: '5 of 6 lights answer', icon: 'plug', level: 100, colour: ofKelvin(4000) }, still()],
  [
    {
      name: 'Parkplatzbeleuchtung Nordwest mit Zufahrtsschranke',
      href: '/',
      words: '1 light',
      level: 0,
      colour: ofKelvin(4000),
      dims: true,
    },
    still(),
  ],
];
const shades = [
  [
    {
      name: 'South façade',
      href: '/',
      words: '8 shades',
      get position() {
        return position.value;
      },
      positions: true,
    },
    shade,
  ],
  [{ name: 'Tower east', href: '/', words: '4 shades', position: 100, positions: true }, still(20)],
  [
    {
      name: 'Tower west',
      href: '/',
      words: 'motor stopped before its goal',
      icon: 'triangle',
      fault: true,
      position: 35,
      positions: true,
    },
    still(),
  ],
  [{ name: 'Old roller', href: '/', words: '1 shade', position: null }, still()],
  [{ name: 'Seen by a guest', href: '/', words: '2 shades', position: 40, positions: true, plain: true }, still()],
];

function Gallery() {
  const [removing, setRemoving] = useState(false);
  useKeys({ h: '/' }, () => done('help'));
  const form = useForm(
    { name: '', role: 'viewer', remember: true },
    async () => {
      throw new Problem(422, {
        detail: 'the name is taken',
        request: 'x-1',
        errors: [
          { pointer: '/name', detail: 'another user has it' },
          { pointer: '/else', detail: 'is odd' },
        ],
      });
    },
    (v) => (v.name ? {} : { name: 'a name is needed' }),
  );
  return html`
    <${Header} name="Gallery" link=${link} />
    <${Page} title="Gallery" sub="components in every state" back=${{ href: '/', text: 'Home' }}
      actions=${html`<button class="button primary" onClick=${() => setRemoving(true)}>Remove user</button>`}>
      <${Banner} link=${link} />
      <section class="stack">
        <h2>Lights</h2>
        <div class="cards">
          ${lights.map(
            ([item, a]) => html`
              <${LightCard} item=${a === real ? { ...item, level: level.value } : item} asking=${a}
                onSwitch=${(on) => a.ask(on ? 100 : 0)} />`,
          )}
        </div>
      </section>
      <section class="stack">
        <h2>Shades</h2>
        <div class="cards shades">
          ${shades.map(([item, a]) => html`<${ShadeCard} item=${item} asking=${a} onMove=${(what) => outside.sent.push(what)} />`)}
        </div>
      </section>
      <section class="columns">
        <div class="panel">
          <h3>Window</h3>
          <${Window} position=${position.value} asked=${shade.asked.value} onAsk=${shade.ask} />
          <div class="row"><${Buttons} large name="South façade" onMove=${() => {}} /></div>
        </div>
        <div class="panel">
          <h3>Colour temperature</h3>
          <${Slider} kind="kelvin" label="Colour temperature" min=${2700} max=${6500} step=${50} value=${4000}
            text=${unit(4000, 'K')} onAsk=${() => {}} />
          <${Spark} label="Level"
            points=${[
              [0, 20],
              [10, 40],
              [20, 40],
              [30, null],
              [40, 90],
              [50, 65],
            ]}
            show=${percent} />
          <p class="sub"><${Age} at=${now.peek() - 3000} /></p>
          <p class="row">
            <span class="badge">1 of 3</span>
            <span class="badge warn"><${Icon} name="clock" size=${16} /> stale</span>
            <span class="badge fault"><${Icon} name="triangle" size=${16} /> fault</span>
          </p>
        </div>
        <form class="panel form" onSubmit=${form.submit} noValidate>
          <h3>A form</h3>
          <${Summary} form=${form} labels=${{ name: 'Name' }} />
          <${Field} form=${form} name="name" label="Name" hint="as it stands on the door" />
          <${Field} form=${form} name="role" label="Role"
            options=${[
              ['viewer', 'Viewer'],
              ['admin', 'Administrator'],
            ]} />
          <${Check} form=${form} name="remember" label="Remember" hint="on this device" />
          <div class="actions"><${Submit} form=${form}>Create user<//></div>
        </form>
        <div class="panel">
          <${Conflict} mine=${{ name: 'Lobby' }} theirs=${{ name: 'Entrance' }} labels=${{ name: 'Name' }} />
          <${Notice} kind="fault">The bus is down.<//>
          <${Notice}>All is well.<//>
        </div>
      </section>
      <${Empty} icon="devices" text="No devices yet."><a class="button primary" href="/">Add devices</a><//>
      ${removing && html`
        <${Confirm} title="Remove Ana?" verb="Remove Ana" typed="Ana" onClose=${() => setRemoving(false)}
          onDo=${async () => done('Ana was removed', async () => {})}>
          <p>Ana can log in no longer. What she did stays in the log.</p>
        <//>`}
    <//>
    <div class="below">
      <${JobBar} jobs=${['ground-floor', 'tower', 'upper-floor'].slice(0, busy.value).map((bus, id) => ({
          id,
          title: 'Scan of ' + bus,
          words: '32 of 247 addresses, 5 found',
          done: 32,
          total: 247,
          canCancel: true,
          href: '/',
        }))}
        onCancel=${() => {}} />
    </div>
    <${Tabs} tabs=${[
        ['/', 'home', 'Home'],
        ['/devices', 'devices', 'Devices'],
        ['/rules', 'rules', 'Rules'],
        ['/buses', 'buses', 'Buses'],
        ['/more', 'more', 'More'],
      ].map(([href, icon, text]) => ({ href, icon, text }))} />
    <${Announcements} />`;
}
startRouter((path) => path !== '/outside');
render(html`<${Gallery} />`, document.getElementById('app'));
