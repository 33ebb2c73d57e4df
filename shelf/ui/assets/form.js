// Forms: labels above, checked when sent and from then on; what the server finds wrong stands at its field and, in one
// summary with links, on top. What was typed is never cleared.
import { html, useEffect, useRef, useState, useId } from './lib.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { Table } from './shell.js';

// useForm(start, send): fields of start by name. send(values) may throw a Problem. check(values) gives {name: sentence}.
const fieldOf = (error) => error.pointer.split('/')[1];

// atFields gives what a server finds wrong by the fields of a form that it points at; the rest is for the summary.
export function atFields(errors, values) {
  const own = errors.filter((e) => Object.hasOwn(values, fieldOf(e)));
  return Object.fromEntries(own.map((e) => [fieldOf(e), e.detail]));
}

/**
 * @template {Record<string, any>} V
 * @param {V} start
 * @param {(values: V) => Promise<unknown>} send
 * @param {(values: V) => Partial<Record<keyof V, string>>} [check]
 */
export function useForm(start, send, check = () => ({})) {
  const [values, setValues] = useState(start);
  const [errors, setErrors] = useState({});
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const underway = useRef(false); // two taps may come before busy is drawn
  const [tried, setTried] = useState(false);
  const [wait, setWait] = useState(0);
  const id = useId();
  useEffect(() => {
    if (!wait) return undefined;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);

  const set = (name, v) => {
    const next = { ...values, [name]: v };
    setValues(next);
    if (tried) setErrors(check(next));
  };
  // fill sets several at once
  const fill = (some) => setValues({ ...values, ...some });
  const submit = async (e) => {
    e?.preventDefault();
    if (underway.current || wait) return;
    setTried(true);
    setProblem(null);
    const found = check(values);
    setErrors(found);
    if (Object.keys(found).length) {
      setProblem({ local: true });
      return;
    }
    underway.current = true;
    setBusy(true);
    try {
      await send(values);
    } catch (p) {
      if (p.status === undefined) throw p;
      setErrors(atFields(p.errors, values));
      setProblem(p);
      if (p.status === 429 || p.status === 503) setWait(p.wait);
    } finally {
      underway.current = false;
      setBusy(false);
    }
  };
  return { values, set, fill, errors, problem, busy, wait, submit, id, tried };
}

// Summary lists what is wrong, and takes the focus when it appears.
export function Summary({ form, labels = {} }) {
  const box = useRef(null);
  const { problem, errors, id } = form;
  useEffect(() => {
    if (!problem) return undefined;
    box.current?.focus();
    const before = document.title;
    document.title = t('form.title', { title: before });
    return () => {
      document.title = before;
    };
  }, [problem]);
  if (!problem) return null;
  const known = Object.entries(errors);
  const others = (problem.errors || []).filter((e) => !(fieldOf(e) in errors));
  if (problem.local && !known.length) return null;
  return html`
    <div class="notice fault" tabindex="-1" ref=${box} role="alert">
      <${Icon} name="triangle" />
      <div class="stack tight">
        <p><b>${problem.local ? t('form.wrong', { n: known.length }) : problem.message}</b></p>
        ${known.length > 0 && html`
          <ul>
            ${known.map(
              ([name, text]) => html`
                <li>
                  <a href=${`#${id}${name}`}
                    onClick=${(e) => {
                      e.preventDefault();
                      document.getElementById(id + name)?.focus();
                    }}>
                    ${labels[name] || name}
                    : ${text}
                  </a>
                </li>`,
            )}
          </ul>`}
        ${others.map((e) => !problem.message.includes(e.detail) && html`<p>${e.pointer}: ${e.detail}</p>`)}
        ${form.wait > 0 && html`<p>${t('form.wait', { n: form.wait })}</p>`}
        ${problem.id && problem.status >= 500 && html`<p class="sub">${t('form.request', { id: problem.id })}</p>`}
      </div>
    </div>`;
}

// grouped puts choices that name a group under it, in the order of their first.
function grouped(options) {
  const groups = new Map();
  for (const o of options) groups.set(o[2], [...(groups.get(o[2]) || []), o]);
  return [...groups];
}

// Field: one line of text, a choice (options: [value, text] rows, with a group to put them under) or an area of text (rows).
export function Field({ form, name, label, hint, type = 'text', options, rows, code, ...more }) {
  const id = form.id + name;
  const wrong = form.errors[name];
  const common = {
    id,
    name,
    class: 'input' + (code ? ' code' : ''),
    'aria-invalid': wrong ? 'true' : undefined,
    'aria-describedby': [hint && id + 'h', wrong && id + 'e'].filter(Boolean).join(' ') || undefined,
    ...more,
  };
  const change = (e) => form.set(name, e.target.value);
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${hint && html`<span class="hint" id=${id + 'h'}>${hint}</span>`}
      ${wrong && html`<span class="wrong" id=${id + 'e'}><${Icon} name="triangle" />${wrong}</span>`}
      ${options
        ? html`
          <select ...${common} value=${form.values[name]} onChange=${change}>
            ${grouped(options).map(([group, list]) => {
              const all = list.map(([v, text]) => html`<option value=${v} selected=${v === form.values[name]}>${text}</option>`);
              return group ? html`<optgroup label=${group}>${all}</optgroup>` : all;
            })}
          </select>`
        : rows
        ? html`<textarea ...${common} rows=${rows} value=${form.values[name]} onInput=${change}></textarea>`
        : html`<input ...${common} type=${type} value=${form.values[name]} onInput=${change} />`}
    </div>`;
}

// Check is a box to tick.
export const Check = ({ form, name, label, hint }) => html`
  <label class="check">
    <input type="checkbox" checked=${form.values[name]} onChange=${(e) => form.set(name, e.target.checked)} />
    <span>${label}${hint && html`<br /><span class="sub">${hint}</span>`}</span>
  </label>`;

// Submit says what it does; while that is under way, it says so and cannot be pressed again.
export const Submit = ({ form, children, danger, big }) => html`
  <button type="submit" class=${`button primary${danger ? ' danger' : ''}${big ? ' big' : ''}`}
    aria-disabled=${form.busy || form.wait > 0 ? 'true' : undefined}>
    ${form.busy ? t('form.busy') : form.wait ? t('form.wait', { n: form.wait }) : children}
  </button>`;

// Conflict turns a 412 into a choice: theirs, or mine on top of it.
export function Conflict({ mine, theirs, labels, onMine, onTheirs }) {
  const differ = Object.keys(mine).filter((k) => JSON.stringify(mine[k]) !== JSON.stringify(theirs[k]) && labels[k]);
  return html`
    <div class="notice warn" role="alert">
      <${Icon} name="triangle" />
      <div class="stack tight">
        <p><b>${t('conflict')}</b></p>
        <${Table} label=${t('conflict')}>
          <thead><tr><th>${t('conflict.field')}</th><th>${t('conflict.mine')}</th><th>${t('conflict.theirs')}</th></tr></thead>
          <tbody>
            ${differ.map((k) => html`<tr><th>${labels[k]}</th><td>${String(mine[k])}</td><td>${String(theirs[k])}</td></tr>`)}
          </tbody>
        <//>
        <div class="actions start">
          <button type="button" class="button" onClick=${onMine}>${t('conflict.keep')}</button>
          <button type="button" class="button" onClick=${onTheirs}>${t('conflict.take')}</button>
        </div>
      </div>
    </div>`;
}

// Password can be looked at while it is typed.
export function Password({ form, name, label, hint = undefined, autocomplete }) {
  const [seen, setSeen] = useState(false);
  return html`
    <div class="stack tight">
      <${Field} form=${form} name=${name} label=${label} hint=${hint} type=${seen ? 'text' : 'password'}
        autocomplete=${autocomplete} />
      <label class="check">
        <input type="checkbox" checked=${seen} onChange=${(e) => setSeen(e.target.checked)} />
        <span>${t('password.show')}</span>
      </label>
    </div>`;
}
