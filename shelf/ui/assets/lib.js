// What every component needs, from the libraries in vendor/.
import { h, render, Fragment } from './vendor/preact.js';
import htm from './vendor/htm.js';

export { render, Fragment };
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useId } from './vendor/hooks.js';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from './vendor/signals.js';

/**
 * @template T
 * @typedef {import('./vendor/signals.js').Signal<T>} Signal
 */

export const html = htm.bind(h);

// within keeps v within lo and hi.
export const within = (v, lo, hi) => Math.min(hi, Math.max(lo, v));

// sheet brings a style sheet that only one page needs; the page is shown when it is there or cannot be had, so that nothing
// jumps from under a finger.
export function sheet(/** @type {string} */ href) {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  return new Promise((done) => document.head.append(Object.assign(link, { onload: done, onerror: done })));
}
