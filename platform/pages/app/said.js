// What the platform says, in the language of the page. It answers programs, too, and in English.
const plain = (text) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
let forms = []; // of [how a sentence looks, the same in the page's language]

// startSaid loads what the page needs; nothing for English.
export async function startSaid() {
  if (document.documentElement.lang !== 'de' || forms.length) return;
  const all = (await import('./german.js')).default;
  forms = all.map(([en, de]) => [new RegExp('^' + plain(en).replace(/\{(\w+)\}/g, '(?<$1>.+?)') + '$', 's'), de]);
}

// Values that are said likewise: sentences, and a list of who did not do something.
const parts = { said: (s) => [s], also: (s) => [s], who: (s) => s.split('; ') };

// said is a sentence of the platform as the page says it. What nobody foresaw stays as it is.
export function said(text) {
  for (const [looks, words] of forms) {
    const found = looks.exec(text);
    if (found)
      return words.replace(/\{(\w+)\}/g, (_, name) => {
        const value = found.groups[name];
        return parts[name] ? parts[name](value).map(said).join('; ') : value;
      });
  }
  return text;
}

// refusal is what the platform refuses with, in the language of the page.
export const refusal = (answer) => (answer?.message ? { ...answer, message: said(answer.message) } : answer);
