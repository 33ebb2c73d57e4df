// The texts of what home fetches when it is there: what needs somebody, what was used, all lights off.
import { addTexts, language } from '../../ui/i18n.js';

addTexts((await import(`./i18n/${language}.js`)).default);
