// Questions about the buildings, and the answers as they come.
import { html, signal, useEffect, useRef } from '../ui/lib.js';
import { t, time } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { say } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { events } from './feed.js';
import { said } from './said.js';
import { server } from './session.js';

// A conversation lasts as long as the tab, whichever page is shown in between.
const talk = signal([]); // {from: 'me' | 'it', text, at, agent, wrong}
const under = signal(null); // {text, status} of the answer that is coming
const draft = signal('');
let stop,
  name = newName();
function newName() {
  return 'pages-' + Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
}

async function send(text) {
  const mine = new AbortController();
  stop = mine;
  draft.value = '';
  talk.value = [...talk.peek(), { from: 'me', text, at: Date.now() }];
  under.value = { text: '', status: t('chat.asking') };
  let end = null;
  try {
    const answer = await server.call(
      'POST',
      '/assistant/chat',
      { message: text, sessionId: name, useSSE: true },
      { raw: true, signal: mine.signal },
    );
    await events(answer, (event, data) => {
      if (event === 'status') under.value = { ...under.peek(), status: data.message };
      if (event === 'delta') under.value = { ...under.peek(), text: under.peek().text + data.text };
      if (event === 'result') end = { text: data.reply, agent: data.metadata.agent };
      if (event === 'error') end = { text: said(data.message), wrong: true };
    });
    end ||= { text: t('chat.cut'), wrong: true };
  } catch (p) {
    end = mine.signal.aborted ? { text: under.peek().text || t('chat.stopped') } : { text: p.message, wrong: true };
  }
  stop = null;
  under.value = null;
  talk.value = [...talk.peek(), { from: 'it', at: Date.now(), ...end }];
  say(end.text);
}

const examples = ['chat.try.energy', 'chat.try.lights', 'chat.try.faults'];

export default function Chat() {
  const field = useRef(null),
    foot = useRef(null);
  const busy = !!under.value;
  const lines = talk.value;
  useEffect(() => {
    if (lines.length || busy) foot.current?.scrollIntoView({ block: 'end' });
  }, [lines.length, busy, under.value?.text.length]);
  const submit = (e) => {
    e?.preventDefault();
    const text = draft.peek().trim();
    if (text && !under.peek()) send(text);
    field.current?.focus();
  };
  const key = (e) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) submit(e);
  };
  const fresh = () => {
    stop?.abort();
    talk.value = [];
    name = newName();
    field.current?.focus();
  };
  return html`
    <${Page} title=${t('chat')} sub=${t('chat.sub')}
      actions=${lines.length > 0 && html`
        <button class="button" onClick=${fresh}><${Icon} name="plus" />${t('chat.new')}</button>`}>
      <section class="talk" aria-label=${t('chat.log')}>
        ${!lines.length && !busy && html`
          <div class="stack tight">
            <p class="sub">${t('chat.try')}</p>
            <div class="chips">
              ${examples.map((k) => html`<button class="chip" key=${k} onClick=${() => send(t(k))}>${t(k)}</button>`)}
            </div>
          </div>`}
        ${lines.map(
          (l, i) => html`
            <article key=${i} class=${`said ${l.from}${l.wrong ? ' wrong' : ''}`}>
              <h2>
                ${l.from === 'me' ? t('chat.you') : l.agent ? t('chat.agent', { agent: l.agent }) : t('platform')} · ${time(l.at)}
              </h2>
              <p class="pre">${l.wrong && html`<span class="with-icon"><${Icon} name="triangle" /></span> `}${l.text}</p>
            </article>`,
        )}
        ${busy && html`
          <article class="said it" aria-busy="true">
            <h2>${under.value.status}</h2>
            ${under.value.text && html`<p class="pre">${under.value.text}</p>`}
          </article>`}
        <div ref=${foot}></div>
      </section>
      <form class="ask" onSubmit=${submit}>
        <div class="field">
          <label class="reader" for="question">${t('chat.question')}</label>
          <textarea id="question" class="input" rows="2" maxlength="4000" placeholder=${t('chat.question')} ref=${field}
            value=${draft.value}
            onInput=${(e) => {
              draft.value = e.target.value.trimStart();
            }}
            onKeyDown=${key}></textarea>
        </div>
        ${busy
          ? html`
            <button type="button" class="button" onClick=${() => stop?.abort()}><${Icon} name="stop" />${t('chat.stop')}</button>`
          : html`
            <button type="submit" class="button primary" aria-disabled=${draft.value.trim() ? undefined : 'true'}>
              <${Icon} name="plane" />
              ${t('chat.send')}
            </button>`}
      </form>
    <//>`;
}
