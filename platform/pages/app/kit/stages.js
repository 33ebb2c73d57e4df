// How far the devices of a roll-out are, apart from how that is drawn.
import { t } from '../../ui/i18n.js';

/** @typedef {{ is: string, macroVersion?: number, fingerprint?: string, error?: string }} Stage */

// good are the ends that were wanted; quiet is one that somebody should look at.
const good = ['asks', 'removed'],
  bad = ['failed', 'untrusted', 'quiet'];

// fits tells whether something can be done with a device: it has to be known where it is, and what is put on needs a code.
export const fits = (d, action) => !!d.address && (action === 'remove' || d.deployed);

// next tells whether a device is proposed: one that does not run the newest macro, or that was not done before. Nobody is proposed for
// removal.
export const next = (d, stage, action) =>
  action === 'install' && (stage ? !good.includes(stage.is) : d.macroVersion !== d.macroNewest);

// begin is a roll-out of which nothing is done.
/** @type {(ids: string[]) => Record<string, Stage>} */
export const begin = (ids) => Object.fromEntries(ids.map((id) => [id, { is: 'waits' }]));

// take is a roll-out after what was told of one device.
export const take = (stages, { deviceId, ...stage }) => ({ ...stages, [deviceId]: stage });

export const ended = (stage) => good.includes(stage.is) || bad.includes(stage.is);

// words says how many are done, and how many are not.
export function words(stages) {
  const all = Object.values(stages);
  const done = all.filter((s) => good.includes(s.is)).length,
    not = all.filter((s) => bad.includes(s.is)).length;
  const sum = t('rollout.done', { n: done, all: all.length });
  return not ? `${sum} ${t('rollout.not', { n: not })}` : sum;
}
