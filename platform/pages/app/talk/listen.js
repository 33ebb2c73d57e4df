// Listening as far as the browser can (Web Speech API). What it hears may go to its maker.

/** @typedef {'listen' | 'wait' | 'rest'} State */

// ears are the browser's; nothing where it has none.
export const ears = () => globalThis['SpeechRecognition'] || globalThis['webkitSpeechRecognition'];

// so long a sentence may be, in milliseconds
export const longest = 15_000;
// life is how long a sentence counts from the moment when the button was let go: the same as a tap
export const life = 3000;

const reasons = {
  'not-allowed': 'denied',
  'service-not-allowed': 'denied',
  'audio-capture': 'audio',
  'no-speech': 'silent',
  aborted: 'silent',
  network: 'network',
  'language-not-supported': 'language',
};

// joined makes one sentence of the parts that a browser heard. Some tell the whole again with each part.
export const joined = (parts) => parts.reduce((all, part) => (part.startsWith(all) ? part : `${all} ${part}`.trim()), '');

// listener turns holding a button into a sentence. tell gets {state}, and while one talks {text}; got gets the sentence and the moment
// when the button was let go; not gets why there is none: silent, denied, audio, network, language, late or other.
/**
 * @param {(is: { state: State, text?: string }) => void} tell
 * @param {(text: string, moment: number) => void} got
 * @param {(why: string) => void} not
 */
export function listener(tell, got, not) {
  let now; // who listens
  const start = (language) => {
    if (now) return;
    const Ears = ears();
    const one = { ear: new Ears(), text: '', why: '', moment: undefined, timer: undefined };
    now = one;
    Object.assign(one.ear, { lang: language, interimResults: true, continuous: true });
    one.ear.onresult = (e) => {
      one.text = joined(Array.from(e.results, (r) => r[0].transcript.trim()));
      if (now === one) tell({ state: one.moment === undefined ? 'listen' : 'wait', text: one.text });
    };
    one.ear.onerror = (e) => {
      one.why = reasons[e.error] || 'other';
    };
    one.ear.onend = () => finish(one);
    one.timer = setTimeout(stop, longest);
    tell({ state: 'listen', text: '' });
    try {
      one.ear.start();
    } catch {
      one.why = 'other';
      finish(one);
    }
  };
  // finish ends it once, whoever is first: the browser, or the time.
  const finish = (one) => {
    if (now !== one) return;
    now = undefined;
    clearTimeout(one.timer);
    tell({ state: 'rest' });
    const moment = one.moment ?? performance.now(); // the browser ended by itself
    if (performance.now() - moment >= life) not('late');
    else if (one.text) got(one.text, moment);
    else not(one.why || 'silent');
  };
  const stop = () => {
    const one = now;
    if (!one || one.moment !== undefined) return;
    one.moment = performance.now();
    clearTimeout(one.timer);
    one.timer = setTimeout(() => {
      one.ear.abort();
      finish(one);
    }, life);
    tell({ state: 'wait', text: one.text });
    one.ear.stop();
  };
  // drop forgets what is being said.
  const drop = () => {
    const one = now;
    if (!one) return;
    now = undefined;
    clearTimeout(one.timer);
    one.ear.abort();
    tell({ state: 'rest' });
  };
  return { start, stop, drop };
}
