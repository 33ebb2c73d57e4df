// What was asked, apart from what is confirmed. The stream alone writes what is confirmed; what was asked ends with the
// outcome of its command, or its deadline, and with nothing else.
import { signal } from './lib.js';

// at most five commands a second while a slider moves
const every = 200;
// for the stream to tell what a command has done
const linger = 2500;

// asking gives a value and a function that sends it: the newest wins, the last one is always sent.
// send(v) does so and resolves when the outcome is known. confirmed() is the value that the stream told last.
export function asking(send, confirmed) {
  const asked = signal(null);
  const failure = signal(null);
  const busy = signal(false);
  let next,
    timer,
    sent = 0,
    count = 0;

  const flush = async () => {
    timer = undefined;
    if (next === undefined) return;
    const mine = ++count,
      v = next;
    next = undefined;
    sent = performance.now();
    let wrong = null;
    try {
      await send(v);
      await until(() => confirmed() === v || mine !== count, linger);
    } catch (e) {
      wrong = e;
    }
    if (mine !== count || next !== undefined) return; // somebody has asked for something newer
    asked.value = null;
    failure.value = wrong;
  };
  const ask = (v, done = true) => {
    failure.value = null;
    busy.value = false;
    if (asked.value === v && next === undefined && !done) return;
    if (done && asked.value === v && next === undefined && performance.now() - sent < every) return; // it is on its way
    asked.value = v;
    next = v;
    timer ??= setTimeout(flush, Math.max(0, sent + every - performance.now()));
  };
  // run does something whose goal is no value, such as "on", which is the level it had last.
  const run = async (act) => {
    // what was asked before is overtaken
    count++;
    next = undefined;
    clearTimeout(timer);
    timer = undefined;
    asked.value = null;
    failure.value = null;
    const mine = count;
    busy.value = true;
    try {
      await act();
    } catch (e) {
      if (mine === count) failure.value = e;
    }
    if (mine === count) busy.value = false;
  };
  return { asked, failure, busy, ask, run };
}

/** @type {(met: () => boolean, longest: number) => Promise<void>} */
const until = (met, longest) =>
  new Promise((resolve) => {
    const end = performance.now() + longest;
    const look = () => (met() || performance.now() > end ? resolve() : setTimeout(look, 50));
    look();
  });
