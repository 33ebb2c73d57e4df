export default {
  "talk": "Sprechen",
  "talk.aloud": "Antworten vorlesen",
  "talk.back": "Bedienfeld",
  "talk.hear": "Höre zu … loslassen zum Senden",
  "talk.hold": "Zum Sprechen halten",
  "talk.language": "Sprache",
  "talk.language.de": "Deutsch",
  "talk.language.en": "Englisch",
  "talk.late": "Das Verstehen hat zu lange gedauert, darum wurde nichts gesendet. Sagen Sie es noch einmal.",
  "talk.lost": "Es kam keine Antwort. Sehen Sie nach, ob es getan ist.",
  "talk.none": "Dieser Browser kann nicht zuhören. Tippen Sie, oder nehmen Sie das Mikrofon der Tastatur.",
  "talk.not.audio": "Hier gibt es kein Mikrofon.",
  "talk.not.denied":
    "Der Browser darf das Mikrofon nicht benutzen. Erlauben Sie es in seinen Einstellungen für diese Seite, oder tippen " +
      "Sie.",
  "talk.not.language": "Der Browser versteht diese Sprache nicht.",
  "talk.not.network": "Der Sprachdienst des Browsers ist nicht zu erreichen. Tippen Sie stattdessen.",
  "talk.not.other": "Der Browser konnte nicht zuhören. Versuchen Sie es noch einmal, oder tippen Sie.",
  "talk.not.silent": "Es war nichts zu hören. Halten Sie die Taste, während Sie sprechen.",
  "talk.off": "Sprache ist auf dieser Plattform ausgeschaltet.",
  "talk.privacy":
    "Solange Sie die Taste halten, hört der Browser zu. Er sendet das Gehörte vielleicht an seinen Hersteller, der Text " +
      "daraus macht. Die Plattform bekommt nur den Text.",
  "talk.said": "Sie sagten: {text}",
  "talk.type": "Oder tippen",
  "talk.try": "Zum Beispiel: „Licht auf 40 Prozent“, „Storen auf“, „Ist das Licht an?“"
};
