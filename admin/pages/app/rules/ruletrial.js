// When a rule would have acted, by the history, before it is let loose.
import { html, useState } from '../../ui/lib.js';
import { t, moment } from '../../ui/i18n.js';
import { server } from '../house.js';

const shown = 5;

export function Trial({ form, body }) {
  const [told, setTold] = useState(null);
  const look = async () => {
    try {
      setTold(await server.post('/rules/trial?days=14', body(form.values)));
    } catch (p) {
      setTold({ wrong: p.message });
    }
  };
  const last = (told?.times || []).slice(-shown).reverse();
  return html`
    <div class="stack tight">
      <div class="actions start"><button type="button" class="button" onClick=${look}>${t('trial')}</button></div>
      <div role="status">
        ${told?.wrong && html`<p class="wrong">${told.wrong}</p>`}
        ${told && !told.wrong && html`
          <p>
            ${told.since
              ? t('trial.count', { n: told.count, since: moment(Date.parse(told.since)) })
              : t('trial.unknown')}
          </p>`}
        ${last.length > 0 && html`<ul class="plain">${last.map((at) => html`<li>${moment(Date.parse(at))}</li>`)}</ul>`}
      </div>
    </div>`;
}
