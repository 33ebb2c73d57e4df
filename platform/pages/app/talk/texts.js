// The texts of talking: they are fetched with its page, not with the first view.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
