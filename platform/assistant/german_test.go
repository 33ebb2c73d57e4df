package assistant

import (
	"regexp"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// verbs are the places for values in a sentence, apart from their order.
var verbs = regexp.MustCompile(`%(\[\d+\])?[a-z.0-9]*[a-z]`)

// A German sentence takes as many values as its English one.
func TestTheCatalogueTakesTheSameValues(t *testing.T) {
	for en, de := range german {
		if a, b := len(verbs.FindAllString(strings.ReplaceAll(en, "%%", ""), -1)), len(verbs.FindAllString(strings.ReplaceAll(de, "%%", ""), -1)); a != b {
			t.Errorf("%q takes %d values, %q %d", en, a, de, b)
		}
	}
}

// Who asks in German about lights, shades and what is offline, or gives an order, is answered in German, whole, with the figures
// that the same question in English gets; who asks in English hears no German.
func TestGermanQuestionsAreAnsweredInGerman(t *testing.T) {
	english := regexp.MustCompile(`\b(the|of|is|are|lights?|shades?|open|closed|on|off|without|known|Source|old|measured|and|which|not|do|seen)\b`)
	germanWords := regexp.MustCompile(`\b(der|die|das|ist|sind|von|und|Leuchten?|Quelle|nicht)\b`)
	names := regexp.MustCompile(`“[^”]*”|Meter open offices|Open office (north|south)( \d+)?|(Lobby|Lounge|Canteen) shade( \d)?|Meeting room \w+`)
	figures := regexp.MustCompile(`\d+ (of|von) \d+|\d+ %|[\d.]+ k?Wh?\b`)
	e := on(sitetest.New())
	for de, en := range map[string]string{
		"Welche Lichter sind an?":                                  "Which lights are on?",
		"Welche Lichter sind an, außer in der Lobby?":              "which lights are on except in the lobby?",
		"Wie viele Lichter sind in der Lobby an?":                  "how many lights are on in the lobby?",
		"Sind alle Lichter im Canteen aus?":                        "are all lights in the canteen off?",
		"Welche Rollos sind offen?":                                "which shades are open?",
		"Welche Geräte sind offline?":                              "which devices are offline?",
		"Wie viel Energie hat das Erdgeschoss gestern verbraucht?": "how much energy did the ground floor use yesterday?",
		"Verbrauch der Lobby heute?":                               "consumption of the lobby today?",
		"Wie hoch war der Stromverbrauch letzte Woche?":            "how much energy did we use last week?",
		"Wie viel Strom brauchte die Tower lounge vorgestern?":     "how much energy did the tower lounge use the day before yesterday?",
		"Was zieht das Haus jetzt an Leistung?":                    "what does the building draw now?",
		"Wie viel Leistung zieht der Annex workshop?":              "how much power does the annex workshop draw?",
		"Welche Lichter sind heller als 50 %?":                     "which lights are above 50 %?",
		"Sind die Jalousien in der Lobby geschlossen?":             "are the blinds in the lobby closed?",
	} {
		gr, er := ask(t, e, platform.Inquiry{Message: de}).Text, ask(t, e, platform.Inquiry{Message: en}).Text
		if bad := english.FindAllString(names.ReplaceAllString(gr, ""), -1); bad != nil {
			t.Errorf("%q: English %v in: %s", de, bad, gr)
		}
		if germanWords.MatchString(er) {
			t.Errorf("%q: German in: %s", en, er)
		}
		if g, w := figures.FindAllString(strings.ReplaceAll(gr, " von ", " of "), -1), figures.FindAllString(er, -1); strings.Join(g, ", ") != strings.Join(w, ", ") {
			t.Errorf("%q has %v, %q has %v:\n%s\n%s", de, g, en, w, gr, er)
		}
	}
	for said, want := range map[string]string{
		"Schalte das Licht in der Lobby aus":                 "Noch nicht ausgeführt. Es wäre: Licht aus: Lobby (4 Leuchten, jetzt 4 an).",
		"Schalte das Licht in der Lobby für eine Stunde aus": "Ich habe nichts getan: Nur für eine Weile",
		"Sind die Feuermelder an?":                           "kenne ich in",
	} {
		if r := ask(t, e, platform.Inquiry{Message: said, Control: true}); !strings.Contains(r.Text, want) {
			t.Errorf("%q: want %q in: %s", said, want, r.Text)
		}
	}
}
