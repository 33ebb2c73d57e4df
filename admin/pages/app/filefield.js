// A field of a form that takes a file; form.values has it, or null.
import { html } from '../ui/lib.js';
import { Icon } from '../ui/icons.js';

export function FileField({ form, name, label, hint, accept }) {
  const id = form.id + name,
    wrong = form.errors[name];
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${hint && html`<span class="hint" id=${id + 'h'}>${hint}</span>`}
      ${wrong && html`<span class="wrong" id=${id + 'e'}><${Icon} name="triangle" />${wrong}</span>`}
      <input id=${id} class="input" type="file" accept=${accept} aria-invalid=${wrong ? 'true' : undefined}
        aria-describedby=${[hint && id + 'h', wrong && id + 'e'].filter(Boolean).join(' ') || undefined}
        onChange=${(e) => form.set(name, e.target.files[0] || null)} />
    </div>`;
}
