// The way to how a thing was.
import { html } from '../../ui/lib.js';
import { t } from '../../ui/i18n.js';
import { Icon } from '../../ui/icons.js';

// Past leads to how a thing was.
export const Past = ({ of }) => html`<a class="button" href=${'/more/history?' + of}><${Icon} name="clock" />${t('history')}</a>`;
