// Text to be taken elsewhere, with a button that copies it.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    done(t('copied'));
  } catch {
    done(t('copy.failed'));
  }
}

// Snippet is text with several lines; shown is what stands there if it is not what is copied.
export const Snippet = ({ label, text, shown }) => html`
  <div class="snippet">
    <pre tabindex="0" role="region" aria-label=${label}>${shown || text}</pre>
    <button class="button" aria-label=${t('copy.of', { what: label })} onClick=${() => copy(text)}>
      <${Icon} name="copy" />
      ${t('copy')}
    </button>
  </div>`;
