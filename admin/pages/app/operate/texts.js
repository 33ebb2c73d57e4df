// The texts of pages that are for setting up and running the controller: they are fetched with the first of these, not with
// the first view.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
