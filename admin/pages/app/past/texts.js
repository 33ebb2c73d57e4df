// The texts of the history, fetched with its page.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
