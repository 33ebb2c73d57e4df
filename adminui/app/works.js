// Long work: how it is worded, begun and cancelled.
import { html, computed } from '../ui/lib.js';
import { t, percent } from '../ui/i18n.js';
import { JobBar } from '../ui/jobs.js';
import { done } from '../ui/shell.js';
import { house, server, may, noteJob } from './house.js';

export const over = (j) => ['done', 'failed', 'cancelled'].includes(j.state);
export const running = computed(() => house.jobs.value.filter((j) => !over(j)));
export const titleOf = (j) => t('job.' + j.kind, { what: j.kind === 'calibrate' || j.kind === 'direction' ? house.shades.peek(j.shade)?.name || j.subject : j.kind === 'identify' ? `${j.bus} ${j.address}` : j.bus || j.subject });

const hrefOf = (j) => (j.kind === 'calibrate' || j.kind === 'direction' ? '/commission/shade/' + j.shade : j.bus ? '/buses/' + encodeURIComponent(j.bus) : undefined);

export function Works() {
  const jobs = running.value.map((j) => ({
    id: j.id, title: titleOf(j), href: hrefOf(j), words: [j.progress.text, j.found > 0 && t('job.found', { n: j.found })].filter(Boolean).join(' · '),
    done: (j.progress.share || 0) * 100, total: j.progress.share ? 100 : 0, canCancel: may('operate'),
  }));
  return html`<${JobBar} jobs=${jobs} onCancel=${cancel} />`;
}

export async function cancel(j) {
  try { await server.del('/jobs/' + j.id); } catch (p) { if (p.status !== 409) done(p.message); }
}

// begin starts a job. If its subject has one under way already, that one is given.
export async function begin(request) {
  try {
    return keep(await server.post('/jobs', request));
  } catch (p) {
    if (p.status === 409 && p.body.job) { done(p.message); return keep(await server.get('/jobs/' + p.body.job)); }
    throw p;
  }
}

function keep(j) {
  noteJob(j);
  return j;
}

// jobOf is the newest of a kind on a subject.
export const jobOf = (test) => house.jobs.value.find(test);

// identify makes a light or a shade show itself.
export async function identify(request) {
  try { await begin({ kind: 'identify', ...request }); done(t('identify.begun')); } catch (p) { done(p.message); }
}
