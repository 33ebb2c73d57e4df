// How things were: a thing's day, a room's day with who did what, weeks compared, and what was used by floor and hour.
import './texts.js';
import { html, useMemo } from '../../ui/lib.js';
import { t, number, now } from '../../ui/i18n.js';
import { Page, address } from '../../ui/router.js';
import { Empty, Notice, Table } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { house } from '../house.js';
import { useServer } from '../useserver.js';
import { Entry } from '../entries.js';
import { Chart, inks } from './chart.js';
import { Power } from './power.js';
import { Weeks } from './weeks.js';
import { Csv, Nothing, Turn, change, has, most, ticks, usePast, words } from './parts.js';
import { dayOf, daysOn, exactlyIn, hourIn, isDay, lengthOf, mondayOf, named, timeIn } from './when.js';

/** @import { Past, PastTrack } from '../../records' */
/** @import { Line } from './chart.js' */

const families = { node: 'nodes', shade: 'shades', cluster: 'clusters' };
const pages = { node: '/devices/', shade: '/shades/', cluster: '/clusters/' };

export default function History() {
  if (!house.whole.value) return html`<main aria-busy="true"><div class="skeleton"></div></main>`;
  const q = address.value.query,
    today = dayOf(now.peek(), house.site.value?.timeZone);
  const day = isDay(q.get('day')) && q.get('day') <= today ? q.get('day') : today;
  const kind = Object.keys(families).find((k) => q.get(k));
  if (!kind) return html`<${Power} day=${day} today=${today} />`;
  const id = Number(q.get(kind)),
    record = house[families[kind]].get(id).value;
  if (!record)
    return html`
      <${Page} title=${t('device.gone')} back=${{ href: '/more/history', text: t('history') }}>
        <${Empty} icon="search" text=${t('device.gone')} />
      <//>`;
  const weeks = q.get('view') === 'weeks',
    of = `${kind}=${id}`,
    from = weeks ? mondayOf(day) : day;
  const Day = kind === 'cluster' ? Room : Thing;
  return html`
    <${Page} title=${record.name} sub=${t('history')} back=${{ href: pages[kind] + id, text: record.name }}
      actions=${html`<${Csv} of=${of} from=${from} to=${daysOn(from, weeks ? 7 : 1)} />`}>
      <div class="chips" role="group" aria-label=${t('past.view')}>
        ${['day', 'weeks'].map(
          (view) => html`
            <button type="button" class="chip" aria-pressed=${weeks === (view === 'weeks') ? 'true' : 'false'}
              onClick=${() => change({ view })}>${t(view === 'weeks' ? 'past.weeks' : 'past.day')}</button>`,
        )}
      </div>
      ${weeks
        ? html`
          <${Turn} day=${from} today=${mondayOf(today)} by=${7} what="week"
            name=${t('past.week', { day: named(from, { day: 'numeric', month: 'long' }) })} />
          <${Weeks} key=${of + from} of=${of} monday=${from} />`
        : html`
          <${Turn} day=${day} today=${today} by=${1} what="day"
            name=${named(day, { weekday: 'long', day: 'numeric', month: 'long' })} />
          <${Day} key=${of + day} of=${of} day=${day} cluster=${id} />`}
    <//>`;
}

/** @type {(past: Past, aspect: string) => PastTrack[]} */
const ofAspect = (past, aspect) => past.tracks.filter((track) => track.aspect === aspect && has(track));

/** @type {(track: PastTrack) => string} */
const nameOf = (track) => (track.channel > 1 ? `${track.name} · ${number(track.channel)}` : track.name);

// lineOf draws a track: what held last holds until the end of what is told.
/** @type {(track: PastTrack, i: number, past: Past, name?: string) => Line} */
function lineOf(track, i, past, name = nameOf(track)) {
  const at = track.at.slice(),
    value = track.value.slice();
  if (at.length) {
    at.push(Date.parse(past.to) / 1000);
    value.push(value[value.length - 1]);
  }
  for (let j = at.length - 1; j > 0; j--) // a line in steps ends where nothing is known any more, not at its last step
    if (value[j] == null && value[j - 1] != null) {
      at.splice(j, 0, at[j] - 0.5);
      value.splice(j, 0, value[j - 1]);
    }
  return { name, at, value, colour: inks[i % inks.length], dashed: i >= inks.length, steps: true };
}

// DayChart is one aspect of a day.
function DayChart({ past, day, aspect, lines, marks }) {
  const zone = past.timeZone,
    from = Date.parse(past.from) / 1000,
    splits = useMemo(() => [0, 6, 12, 18, 24].map((h) => from + h * 3600), [from]);
  const label = `${t('past.' + aspect)}, ${named(day, { dateStyle: 'long' })}`;
  return html`
    <section class="panel">
      <h2>${t('past.' + aspect)}</h2>
      <${Chart} label=${label} lines=${lines} marks=${marks} from=${from} to=${from + lengthOf(from, zone)} most=${most[aspect]}
        splits=${splits} name=${(x) => hourIn(x * 1000, zone)} when=${(x) => timeIn(x * 1000, zone)}
        words=${words[aspect]} tick=${ticks[aspect]} />
      <${Figures} of=${t('past.' + aspect)} lines=${lines} say=${words[aspect]} when=${(x) => exactlyIn(x * 1000, zone)} />
    </section>`;
}

const figuresMost = 300;

// Figures are the same as a table.
function Figures({ of, lines, say, when }) {
  const many = lines.length > 1;
  const rows = lines.flatMap((l) => l.at.slice(0, -1).map((at, i) => ({ at, name: l.name, value: l.value[i] })));
  const told = rows.filter((r) => r.at % 1 === 0).sort((a, b) => a.at - b.at); // without where lines end
  return html`
    <details>
      <summary><${Icon} name="right" />${t('past.figures')}</summary>
      <${Table} label=${`${of}: ${t('past.figures')}`}>
        <thead>
          <tr><th>${t('past.time')}</th>${many && html`<th>${t('name')}</th>`}<th class="num">${t('past.change')}</th></tr>
        </thead>
        <tbody>
          ${told.slice(0, figuresMost).map(
            (r, i) => html`
              <tr key=${i}>
                <td class="nowrap">${when(r.at)}</td>${many && html`<td><bdi>${r.name}</bdi></td>`}
                <td class="num">${r.value == null ? '–' : say(r.value)}</td>
              </tr>`,
          )}
        </tbody>
      <//>
      ${told.length > figuresMost && html`<p class="sub">${t('past.figures.more', { n: figuresMost })}</p>`}
    </details>`;
}

const commandsMost = 200;

// useCommands are those of a day, newest first, and when they were.
function useCommands(of, day) {
  const whose = of.replace('cluster', 'members');
  const { data } = useServer(`/ledger?limit=${commandsMost}&given=true&${whose}&from=${day}&to=${daysOn(day, 1)}`);
  const marks = useMemo(() => (data || []).map((e) => Date.parse(e.acceptedAt) / 1000), [data]);
  return { commands: data, marks };
}

const Commands = ({ commands, zone }) => html`
  <section class="panel flush">
    <h2 class="padded">${t('past.commands')}</h2>
    ${!commands
      ? html`<div class="skeleton"></div>`
      : commands.length
      ? html`
        <ul class="list">
          ${commands.map((e) => html`<${Entry} key=${e.id} e=${e} when=${exactlyIn(Date.parse(e.acceptedAt), zone)} />`)}
        </ul>`
      : html`<p class="padded sub">${t('past.commands.none')}</p>`}
    ${commands?.length === commandsMost && html`<p class="padded sub">${t('past.commands.more', { n: commandsMost })}</p>`}
  </section>`;

const Waiting = ({ wrong }) => (wrong ? html`<${Notice} kind="fault">${wrong.message}<//>` : html`<div class="skeleton"></div>`);

const Foot = ({ zone }) => html`<p class="sub">${t('past.gap')} ${t('past.zone', { zone })}</p>`;

// Thing is the day of a node or a shade.
function Thing({ of, day }) {
  const { data, wrong } = usePast(of, day, daysOn(day, 1));
  const { commands, marks } = useCommands(of, day);
  const charts = useMemo(
    () =>
      data &&
      Object.keys(words)
        .map((aspect) => ({ aspect, lines: ofAspect(data, aspect).map((track, i) => lineOf(track, i, data)) }))
        .filter((c) => c.lines.length),
    [data],
  );
  if (!data) return html`<${Waiting} wrong=${wrong} />`;
  return html`
    ${!charts.length && html`<${Nothing} past=${data} />`}
    ${charts.map((c) => html`<${DayChart} key=${c.aspect} past=${data} day=${day} ...${c} marks=${marks} />`)}
    <${Silence} past=${data} />
    <${Commands} commands=${commands} zone=${data.timeZone} />
    <${Foot} zone=${data.timeZone} />`;
}

const silencesMost = 12;

// Silence tells when a thing did not answer.
function Silence({ past }) {
  const track = past.tracks.find((x) => x.aspect === 'online'),
    end = Date.parse(past.to) / 1000,
    told = (x) => exactlyIn(x * 1000, past.timeZone);
  const times = (track?.at || []).flatMap((at, i) => (track.value[i] === 0 ? [[at, track.at[i + 1] ?? end]] : []));
  if (!times.length) return null;
  return html`
    <section class="panel">
      <h2>${t('past.offline')}</h2>
      <ul class="plain">
        ${times.slice(0, silencesMost).map(
          ([from, to]) => html`<li>${t('past.offline.from', { from: told(from), to: told(to) })}</li>`,
        )}
      </ul>
      ${times.length > silencesMost && html`<p class="sub">${t('andmore', { n: times.length - silencesMost })}</p>`}
    </section>`;
}

// Room is the day of a cluster: its lights together, its shades one by one, and who did what.
function Room({ of, day, cluster }) {
  const all = usePast(of, day, daysOn(day, 1), '&aspect=level,power&step=5m&together=true');
  const each = usePast(of, day, daysOn(day, 1), '&aspect=position');
  const { commands, marks } = useCommands(of, day);
  const charts = useMemo(() => {
    if (!all.data || !each.data) return null;
    const together = (track, i) => ({ ...lineOf(track, i, all.data, t('past.together')), filled: true });
    return [
      ...['level', 'power'].map((aspect) => ({ aspect, past: all.data, lines: ofAspect(all.data, aspect).map(together) })),
      { aspect: 'position', past: each.data, lines: ofAspect(each.data, 'position').map((track, i) => lineOf(track, i, each.data)) },
    ].filter((c) => c.lines.length);
  }, [all.data, each.data]);
  if (!charts) return html`<${Waiting} wrong=${all.wrong || each.wrong} />`;
  const record = house.clusters.get(cluster).value;
  const link = (kind) => (id) => {
    const name = house[families[kind]].peek(id)?.name;
    return name && html`<a class="chip" key=${kind + id} href=${`/more/history?${kind}=${id}&day=${day}`}><bdi>${name}</bdi></a>`;
  };
  return html`
    ${!charts.length && html`<${Nothing} past=${all.data} />`}
    ${charts.map((c) => html`<${DayChart} key=${c.aspect} day=${day} ...${c} marks=${marks} />`)}
    <${Commands} commands=${commands} zone=${all.data.timeZone} />
    <section class="panel">
      <h2>${t('past.each')}</h2>
      <div class="chips">${(record?.nodes || []).map(link('node'))}${(record?.shades || []).map(link('shade'))}</div>
    </section>
    <${Foot} zone=${all.data.timeZone} />`;
}
