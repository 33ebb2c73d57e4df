// The bar of what is under way, above the tabs on every page: one line, which opens to the list where there is more than one.
import { html } from './lib.js';
import { t, number } from './i18n.js';
import { Icon } from './icons.js';

// JobBar: jobs are {id, title, href, done, total, words, canCancel}.
export function JobBar({ jobs, onCancel }) {
  const list = jobs.map(
    (j) => html`
      <div key=${j.id}>
        <div class="row">
          <span class="grow">
            ${j.href ? html`<a href=${j.href}>${j.title}</a>` : html`<b>${j.title}</b>`} <span class="sub">${j.words}</span>
          </span>
          ${j.canCancel && html`
            <button class="button" onClick=${() => onCancel(j)} aria-label=${t('jobs.cancel', { what: j.title })}>
              ${t('cancel')}
            </button>`}
        </div>
        ${j.total
          ? html`<progress max=${j.total} value=${j.done} aria-label=${j.title}>${number(j.done)}</progress>`
          : html`<progress aria-label=${j.title}></progress>`}
      </div>`,
  );
  return html`
    <section class="jobs" aria-label=${t('jobs')} hidden=${!jobs.length}>
      ${jobs.length > 1
        ? html`
          <details>
            <summary>
              <${Icon} name="right" />
              <span class="grow">
                ${t('jobs.n', { n: jobs.length })} <span class="sub">${jobs.map((j) => j.title).join(', ')}</span>
              </span>
            </summary>
            <div class="jobs">${list}</div>
          </details>`
        : list}
    </section>`;
}
