import '../../../shelf/ui/tests/browser.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTexts } from '../ui/i18n.js';
import { said, startSaid } from '../app/said.js';

const speak = async (language) => {
  Object.defineProperty(globalThis, 'navigator', { value: { languages: [language] }, configurable: true });
  await startTexts((l) => import(`../app/i18n/${l}.js`));
  await startSaid();
};

describe('what the platform says', () => {
  it('stays as it is on English pages', async () => {
    await speak('en');
    assert.equal(said('Wrong username or password'), 'Wrong username or password');
  });
  it('is German on German pages, whatever stands in it', async () => {
    await speak('de-CH');
    for (const [en, de] of Object.entries({
      'Wrong username or password': 'Falscher Benutzername oder falsches Passwort',
      'Too many requests; try again in 12 s': 'Zu viele Anfragen; in 12 s geht es weiter',
      "This room's controller is offline. Check its power and its network.":
        'Der Controller dieses Raums ist offline. Prüfen Sie seinen Strom und sein Netz.',
      'Lights: 3 of 8 done; Lobby (1) does not answer; Hall 2 is offline; A+B refuses it; and 2 more.':
        'Licht: 3 von 8 erledigt; Lobby (1) antwortet nicht; Hall 2 ist offline; A+B lehnt es ab; und 2 weitere.',
      'Lights: Done. 1 device is offline. Shades: Not done: West 5 cannot be reached: its bus is down.':
        'Licht: Erledigt. 1 Gerät ist offline. Storen: Nicht erledigt: West 5 ist nicht zu erreichen: sein Bus ist ausgefallen.',
      'controllerId: there is no controller "x y"': 'Einen Controller „x y“ gibt es nicht',
      'Lights to 20 percent.': 'Lights to 20 percent.', // of a voice, which has a language of its own
    }))
      assert.equal(said(en), de);
  });
});
