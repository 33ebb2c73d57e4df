// Questions before something that ends something.
import { html, useEffect, useRef, useState } from './lib.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';

// Dialog is open while it is drawn; onClose() when it was left without an answer.
export function Dialog({ title, onClose, children }) {
  const box = useRef(null);
  useEffect(() => {
    const d = box.current;
    d.showModal();
    return () => d.close();
  }, []);
  return html`
    <dialog ref=${box} aria-label=${title}
      onCancel=${(e) => {
        e.preventDefault();
        onClose();
      }}
      onClick=${(e) => e.target === box.current && onClose()}>
      <div class="stack"><h2 style=${{ fontSize: '1.25rem', color: 'inherit', fontWeight: 650 }}>${title}</h2>${children}</div>
    </dialog>`;
}

// Confirm says what ends and what stays; its button is a verb and a name. typed: a word to be typed first.
export function Confirm({ title, children, verb, typed, onDo, onClose }) {
  const [word, setWord] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(null);
  const cancel = useRef(null);
  useEffect(() => {
    cancel.current.focus();
  }, []);
  const go = async (e) => {
    e.preventDefault();
    if (busy || (typed && word !== typed)) return;
    setBusy(true);
    try {
      await onDo();
      onClose();
    } catch (p) {
      setWrong(p);
      setBusy(false);
    }
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form class="stack" onSubmit=${go}>
        <div class="stack tight">${children}</div>
        ${typed && html`
          <div class="field">
            <label for="typed">${t('confirm.type', { word: typed })}</label>
            <input id="typed" class="input" autocomplete="off" value=${word} onInput=${(e) => setWord(e.target.value)} />
          </div>`}
        ${wrong && html`<div class="notice fault" role="alert"><${Icon} name="triangle" /><div>${wrong.message}</div></div>`}
        <div class="actions">
          <button type="button" class="button" ref=${cancel} onClick=${onClose}>${t('cancel')}</button>
          <button type="submit" class="button primary danger"
            aria-disabled=${busy || (typed && word !== typed) ? 'true' : undefined}>
            ${verb}
          </button>
        </div>
      </form>
    <//>`;
}
