// Long work: how it is worded, begun and cancelled.
import { html, computed } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { JobBar } from '../ui/jobs.js';
import { done } from '../ui/shell.js';
import { house, heldBack, server, may, noteJob, command } from './house.js';

export const over = (j) => ['done', 'failed', 'cancelled'].includes(j.state);
export const running = computed(() => house.jobs.value.filter((j) => !over(j)));
export const titleOf = (j) =>
  t('job.' + j.kind, {
    what:
      j.kind === 'calibrate' || j.kind === 'direction'
        ? house.shades.peek(j.shade)?.name || j.subject
        : j.kind === 'identify'
          ? `${j.bus} ${j.address}`
          : j.bus || j.subject,
  });

const hrefOf = (j) =>
  j.kind === 'calibrate' || j.kind === 'direction'
    ? '/commission/shade/' + j.shade
    : j.kind === 'migration'
      ? '/more/migrate'
      : j.bus
        ? '/buses/' + encodeURIComponent(j.bus)
        : undefined;

if (localStorage.outbox) import('./outbox.js');

export function Works() {
  const HeldBack = heldBack.value;
  const jobs = running.value.map((j) => ({
    id: j.id,
    title: titleOf(j),
    href: hrefOf(j),
    words: [j.progress.text, j.found > 0 && t('job.found', { n: j.found })].filter(Boolean).join(' · '),
    done: (j.progress.share || 0) * 100,
    total: j.progress.share ? 100 : 0,
    canCancel: may('operate'),
  }));
  return html`${HeldBack && html`<${HeldBack} />`}<${JobBar} jobs=${jobs} onCancel=${cancel} />`;
}

export async function cancel(j) {
  try {
    await server.del('/jobs/' + j.id);
  } catch (p) {
    if (p.status !== 409) done(p.message);
  }
}

// begin starts a job. If its subject has one under way already, that one is given.
export async function begin(request) {
  try {
    return keep(await server.post('/jobs', request));
  } catch (p) {
    if (p.status === 409 && p.body.job) {
      done(p.message);
      return keep(await server.get('/jobs/' + p.body.job));
    }
    throw p;
  }
}

// keep takes over a job that was asked for. Of one that the stream has told of already it told more: it may be over since.
function keep(j) {
  if (!jobOf((x) => x.id === j.id)) noteJob(j);
  return j;
}

// jobOf is the newest of a kind on a subject.
export const jobOf = (test) => house.jobs.value.find(test);

// shows reports whether devices of a bus can show themselves.
export const shows = (bus) => ['dali', 'sdn', 'dmx'].includes(house.buses.peek(bus)?.driver);

// identify makes a light or a shade show itself. Where devices cannot, the light is switched thrice and left as it was.
export async function identify(request) {
  try {
    const n = house.nodes.peek(request.node);
    if (n && !shows(n.bus)) {
      done(t('identify.begun'));
      await blink(n);
      return;
    }
    await begin({ kind: 'identify', ...request });
    done(t('identify.begun'));
  } catch (p) {
    done(p.message);
  }
}

async function blink(n) {
  const target = { scope: 'node', id: n.id },
    was = n.level?.value || 0,
    why = { why: 'identify' };
  const to = (v) => (v ? command('light-level', target, { level: v, ...why }) : command('light-off', target, why));
  try {
    for (let i = 0; i < 3; i++) {
      await to(was ? 0 : 100);
      await new Promise((r) => setTimeout(r, 600));
      await to(was || 0);
      if (i < 2) await new Promise((r) => setTimeout(r, 600));
    }
  } catch (p) {
    await to(was).catch(() => {}); // the first failure is what is told
    throw p;
  }
}
