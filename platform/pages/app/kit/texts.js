// The texts of rooms, their devices and tablets: they are fetched with the first page about these, not with the first view.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
