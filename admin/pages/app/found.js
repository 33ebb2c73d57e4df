// What scans found that the site did not have, and how much of it has a name since.
import { house } from './house.js';

/** @import { Found, Job } from '../records' */

// newOf lists what a scan found that the site did not have.
/** @type {(job: Job) => Found[]} */
export function newOf(j) {
  const items = /** @type {Found[]} */ (j?.items || []);
  return items.filter((f) => f.finding === 'device' && !f.gateway && f.new && f.kind);
}

// unnamed lists what of it has no name still.
/** @type {(job: Job) => Found[]} */
export function unnamed(j) {
  const named = new Set(
    house.nodes
      .all()
      .filter((n) => n.bus === j?.bus)
      .map((n) => n.address.toLowerCase()),
  );
  return newOf(j).filter((f) => !named.has(f.address.toLowerCase()));
}
