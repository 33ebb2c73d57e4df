// Talking at a room: hold to talk where the browser can listen, a line to type in everywhere.
import './texts.js';
import { html, useEffect, useRef, useState, sheet } from '../../ui/lib.js';
import { t, language } from '../../ui/i18n.js';
import { address } from '../../ui/router.js';
import { api } from '../../ui/api.js';
import { Notice } from '../../ui/shell.js';
import { Icon } from '../../ui/icons.js';
import { codeOf } from '../panel.js';
import { reckon } from '../reckon.js';
import { refusal, said } from '../said.js';
import { ears, listener } from './listen.js';

await sheet(new URL('talk.css', import.meta.url).href);
const tongues = { en: 'en-US', de: 'de-DE' };
// an answer takes twelve seconds at most, when many motors run
const patience = 15_000;

// room is the platform's side of a room, for whoever has its code.
export function room(device, code) {
  const server = api({
    prefix: '/api/conferencing/panels/' + encodeURIComponent(device),
    headers: () => ({ Authorization: 'Bearer ' + code }),
    refusal,
  });
  const { hear, at } = reckon();
  const view = async () => {
    const v = await server.get('');
    hear(v.time);
    return v;
  };
  // say gives {text, ok, spoken}; moment is when it was said, by our monotonic clock.
  const say = async (text, moment) => {
    const signal = AbortSignal.timeout(patience);
    try {
      const got = await server.post('/say', { text, at: at(moment) }, { signal });
      if (got.time) hear(got.time);
      return { text: said(got.reply), spoken: said(got.speak), ok: got.success };
    } catch (p) {
      const why = signal.aborted || !p.status ? t('talk.lost') : p.message;
      return { text: why, spoken: why, ok: false };
    }
  };
  return { view, say };
}

// aloud speaks as the browser does.
function aloud(text, tongue) {
  const s = new SpeechSynthesisUtterance(text);
  s.lang = tongues[tongue];
  speechSynthesis.cancel();
  speechSynthesis.speak(s);
}

export default function Talk({ params }) {
  const code = codeOf(location.hash || '', address.peek().query);
  const [view, setView] = useState(null);
  const [wrong, setWrong] = useState(null);
  const at = useRef(null);
  useEffect(() => {
    let here = true;
    at.current = room(params.device, code);
    const ask = () =>
      at.current.view().then(
        (v) => {
          if (!here) return;
          setView(v);
          setWrong(null);
        },
        (p) => here && setWrong(p),
      );
    ask();
    const again = setInterval(() => document.hidden || ask(), 60_000); // so that its time stays near
    return () => {
      here = false;
      clearInterval(again);
    };
  }, [params.device, code]);
  const name = view?.workspaceName || params.device;
  useEffect(() => {
    document.title = `${t('talk')} · ${name}`;
  }, [name]);
  if (wrong?.status === 401)
    return html`<main class="alone"><h1>${t('talk')}</h1><${Notice} kind="warn">${t('panel.code')}<//></main>`;
  const back = `/panel/${encodeURIComponent(params.device)}${location.hash ? '' : location.search}${location.hash || ''}`;
  return html`
    <main class="alone talk">
      <a class="back" href=${back} target="_self"><${Icon} name="left" size=${18} />${t('talk.back')}</a>
      <h1><bdi>${name}</bdi></h1>
      ${wrong && html`<${Notice} kind="fault" icon="plug">${wrong.message}<//>`}
      ${view && !view.voice && html`<${Notice} kind="warn">${t('talk.off')}<//>`}
      ${view?.voice && html`<${Talking} say=${(...of) => at.current.say(...of)} />`}
    </main>`;
}

function Talking({ say }) {
  const [is, setIs] = useState({ state: 'rest', text: '' });
  const [told, setTold] = useState(null); // {said, text, ok}
  const [tongue, setTongue] = useState(localStorage.getItem('talk.tongue') || language);
  const [loud, setLoud] = useState(localStorage.getItem('talk.aloud') === '1');
  const keep = useRef(null);
  keep.current = { tongue, loud };
  const send = async (text, moment) => {
    setTold({ said: text });
    setIs({ state: 'wait', text: '' });
    const got = await say(text, moment);
    setTold({ said: text, ...got });
    setIs({ state: 'rest', text: '' });
    if (keep.current.loud && 'speechSynthesis' in window) aloud(got.spoken, keep.current.tongue);
  };
  const ear = useRef(null);
  useEffect(() => {
    if (!ears()) return undefined;
    const not = (why) => setTold({ text: why === 'late' ? t('talk.late') : t('talk.not.' + why), ok: false });
    ear.current = listener((now) => setIs((old) => ({ ...old, ...now })), send, not);
    const away = () => document.hidden && ear.current.drop();
    document.addEventListener('visibilitychange', away);
    return () => {
      document.removeEventListener('visibilitychange', away);
      ear.current.drop();
    };
  }, []);
  const speak = (e) => {
    localStorage.setItem('talk.tongue', e.target.value);
    setTongue(e.target.value);
  };
  const read = (e) => {
    localStorage.setItem('talk.aloud', e.target.checked ? '1' : '');
    setLoud(e.target.checked);
  };
  return html`
    ${ears()
      ? html`
        <${Hold} state=${is.state} onStart=${() => {
          if (is.state !== 'rest') return;
          if ('speechSynthesis' in window) speechSynthesis.cancel();
          setTold(null);
          ear.current.start(tongues[tongue]);
        }} onStop=${() => ear.current.stop()} />`
      : html`<${Notice}>${t('talk.none')}<//>`}
    <div class="heard" role="status">
      ${is.text ? html`<p class="sub">${is.text}</p>` : told?.said && html`<p class="sub">${t('talk.said', { text: told.said })}</p>`}
      ${told?.text && html`
        <p class=${'answer with-icon ' + (told.ok ? '' : 'fault')}>
          <${Icon} name=${told.ok ? 'check' : 'triangle'} />
          <span>${told.text}</span>
        </p>`}
      ${!is.text && !told && html`<p class="sub">${t('talk.try')}</p>`}
    </div>
    <${Type} busy=${is.state !== 'rest'} onSay=${send} />
    ${ears() && html`
      <div class="field">
        <label for="tongue">${t('talk.language')}</label>
        <select id="tongue" class="input" value=${tongue} onChange=${speak}>
          ${Object.keys(tongues).map((l) => html`<option value=${l} selected=${l === tongue}>${t('talk.language.' + l)}</option>`)}
        </select>
      </div>`}
    ${'speechSynthesis' in window && html`
      <label class="check">
        <input type="checkbox" checked=${loud} onChange=${read} />
        <span>${t('talk.aloud')}</span>
      </label>`}
    ${ears() && html`<p class="sub">${t('talk.privacy')}</p>`}`;
}

// Hold is a button that is held while one talks, with a finger, a mouse or a key; who can only press it, as screen readers do, presses
// it again to end.
function Hold({ state, onStart, onStop }) {
  const held = useRef(false); // by a finger or a key, of which a click comes, too
  const down = (e) => {
    e.preventDefault();
    e.currentTarget.focus();
    e.currentTarget.setPointerCapture(e.pointerId);
    held.current = true;
    onStart();
  };
  const cancel = () => {
    held.current = false;
    onStop();
  };
  const key = (e) => {
    if (e.key !== ' ' && e.key !== 'Enter') return;
    e.preventDefault();
    if (e.type === 'keyup') onStop();
    else if (!e.repeat) onStart();
  };
  const click = () => {
    if (!held.current) (state === 'listen' ? onStop : onStart)();
    held.current = false;
  };
  const listens = state === 'listen';
  return html`
    <button type="button" class="hold" data-state=${state} aria-pressed=${listens ? 'true' : 'false'} onPointerDown=${down}
      onPointerUp=${onStop} onPointerCancel=${cancel} onKeyDown=${key} onKeyUp=${key} onBlur=${onStop} onClick=${click}
      onContextMenu=${(e) => e.preventDefault()}>
      <${Icon} name="mic" size=${48} />
      ${t(listens ? 'talk.hear' : 'talk.hold')}
    </button>`;
}

// Type takes a sentence by keyboard, whose microphone may listen, too.
function Type({ busy, onSay }) {
  const [text, setText] = useState('');
  const submit = (e) => {
    e.preventDefault();
    if (busy || !text.trim()) return;
    onSay(text.trim(), performance.now());
    setText('');
  };
  return html`
    <form class="type" onSubmit=${submit}>
      <label class="reader" for="say">${t('talk.type')}</label>
      <input id="say" class="input" autocomplete="off" maxlength="500" placeholder=${t('talk.type')} value=${text}
        onInput=${(e) => setText(e.target.value)} />
      <button type="submit" class="button" aria-disabled=${busy || !text.trim() ? 'true' : undefined}>
        <${Icon} name="chat" />
        ${t('panel.send')}
      </button>
    </form>`;
}
