// The texts of what happens by itself: they are fetched with its pages, not with the first view.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
