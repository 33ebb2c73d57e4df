package assistant

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"svc.internal/controller/platform"
)

// verbs are the places for values in a sentence, apart from their order.
var verbs = regexp.MustCompile(`%(\[\d+\])?[a-z.0-9]*[a-z]`)

// A German sentence takes as many values as its English one.
func TestTheCatalogueTakesTheSameValues(t *testing.T) {
	all := maps.Clone(german)
	maps.Copy(all, germanAnswers)
	for en, de := range all {
		if a, b := len(verbs.FindAllString(strings.ReplaceAll(en, "%%", ""), -1)), len(verbs.FindAllString(strings.ReplaceAll(de, "%%", ""), -1)); a != b {
			t.Errorf("%q takes %d values, %q %d", en, a, de, b)
		}
	}
}

// Who asks in German, or gives an order, is answered in German, whole, with the figures that the same question in English gets; who
// asks in English hears no German.
func TestGermanQuestionsAreAnsweredInGerman(t *testing.T) {
	english := regexp.MustCompile(`\b(the|of|is|are|lights?|shades?|open|closed|on|off|without|known|Source|old|measured|and|which|not|do|seen)\b`)
	germanWords := regexp.MustCompile(`\b(der|die|das|ist|sind|von|und|Leuchten?|Quelle|nicht)\b`)
	names := regexp.MustCompile(`\bshades: |“[^”]*”|Meter (open offices|ground floor|workshop|Alps|lobby)|Open office (north|south)( \d+)?|(Lobby|Lounge|Canteen) shade( \d)?|Meeting room \w+|Ground floor|Upper floor|Annex \w+|Corridor ground floor( \d)?|Wall station lobby|\b(meters|offices|shades)( \(|: “)|\((ground floor|lobby|workshop|open offices)\)`)
	figures := regexp.MustCompile(`\d+ (of|von) \d+|\d+ %|[\d.]+ k?Wh?\b`)
	e := on(unchanged())
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

		// what there is
		"Wie viele Leuchten gibt es im Erdgeschoss?": "how many lights are there on the ground floor?", "Welche Zonen gibt es?": "which zones are there?",
		"Welche Räume gibt es auf jeder Etage?": "how many zones are there on each floor?", "Welche Zonen haben keinen Zähler?": "which zones have no meter?", "Welche Zähler gibt es?": "which meters are there?",
		"Welche Räume haben Licht, aber keine Rollos?": "which rooms have lights but no shades?", "Welche Räume haben mehr als 4 Leuchten?": "which rooms have more than 4 lights?",
		"Wie viele Leuchten hat jede Zone?": "how many lights does each zone have?", "Auf welcher Etage ist die Lobby?": "which floor is the lobby on?", "Wie groß ist das Gebäude?": "how big is the building?",
		"Welche Leuchten sind dimmbar?": "which lights are dimmable?", "Welche Busse gibt es?": "which buses are there?", "Welche Controller sind online?": "which controllers are online?",
		// trouble
		"Gibt es Störungen?": "are there faults?", "Gab es gestern Störungen?": "were there faults yesterday?", "Welche Geräte sind seit mehr als einem Tag offline?": "which devices are offline for more than a day?",
		"Wie lange ist Lounge shade schon offline?": "how long is Lounge shade offline?",
		// what nobody measures, and where it comes from
		"Wie warm ist es in der Lobby?": "how warm is it in the lobby?", "Ist jemand in der Lobby?": "is anybody in the lobby?", "Welche Szenen gibt es?": "which scenes are there?", "Wie viel Energie brauchen wir morgen?": "how much energy will we use tomorrow?",
		"Woher kommen deine Daten?": "where does your data come from?", "Wie können wir Energie sparen?": "how can we save energy?", "Was kannst du?": "what can you do?",
		// rows, comparisons, shares, units
		"Verbrauch pro Tag letzte Woche": "consumption per day last week", "Stündlicher Verbrauch gestern": "hourly consumption yesterday", "Welcher Raum hat letzte Woche am meisten verbraucht?": "which room used the most last week?",
		"Verbrauch nach Etagen gestern": "consumption by floor yesterday", "Vergleiche diese Woche mit letzter Woche": "compare this week with last week", "Lobby und Workshop zusammen gestern": "lobby and workshop together yesterday",
		"Hat die Lobby gestern mehr verbraucht als der Workshop?": "did the lobby use more than the workshop yesterday?", "Verbrauch pro Quadratmeter im Erdgeschoss gestern": "energy per square metre on the ground floor yesterday",
		"Watt pro Leuchte in der Lobby": "watts per light in the lobby", "Ist der Verbrauch üblich?": "is the consumption usual?", "Steigt der Verbrauch?": "is the consumption rising?",
		"Mehr als 20 kWh gestern im Erdgeschoss?": "more than 20 kWh yesterday on the ground floor?", "An welchen Tagen letzte Woche mehr als 20 kWh?": "on which days last week more than 20 kWh?",
		"Zieht das Erdgeschoss mehr als 1 kW?": "does the ground floor draw more than 1 kW?", "Welche Räume ziehen mehr als 500 W?": "which rooms draw more than 500 W?", "Spitzenleistung gestern": "peak power yesterday",
		"Mittlere Leistung gestern": "mean power yesterday", "Leistung nach Zonen": "power by zone", "Vergleiche die Leistung von Lobby und Workshop": "compare the power of lobby and workshop",
		"Was kostete die Energie gestern?": "what did the energy cost yesterday?", "Welche Farbtemperatur hat Alps?": "what is the colour temperature of Alps?", "Verbrauch im November": "consumption in November",
		"In welchen Räumen brennt Licht?": "which rooms have their lights on?", "Wie viele Lichter sind auf jeder Etage an?": "how many lights are on on each floor?", "Welcher Raum ist am hellsten?": "which room is the brightest?",
		"Ist Alps heller als die Lobby?": "is Alps brighter than the lobby?", "Rollos nach Zonen": "shades by zone", "Bericht über die Lobby": "report on the lobby", "Bericht für letzte Woche": "report for last week",
		// not served
		"Verbrauch nach Bus gestern": "consumption by bus yesterday",
	} {
		gr, er := ask(t, e, platform.Inquiry{Message: de}).Text, ask(t, e, platform.Inquiry{Message: en}).Text
		if bad := english.FindAllString(names.ReplaceAllString(gr, ""), -1); bad != nil {
			t.Errorf("%q: English %v in: %s", de, bad, gr)
		}
		if germanWords.MatchString(er) {
			t.Errorf("%q: German in: %s", en, er)
		}
		if g, w := figures.FindAllString(decimalPoints(strings.ReplaceAll(gr, " von ", " of ")), -1), figures.FindAllString(er, -1); strings.Join(g, ", ") != strings.Join(w, ", ") {
			t.Errorf("%q has %v, %q has %v:\n%s\n%s", de, g, en, w, gr, er)
		}
	}
	for said, want := range map[string]string{
		"Schalte das Licht in der Lobby aus":                 "Noch nicht ausgeführt. Das würde geschehen: Licht aus: Lobby (4 Leuchten, jetzt 4 an).",
		"Schalte das Licht in der Lobby für eine Stunde aus": "Ich habe nichts getan: Nur für eine Weile",
		"Sind die Feuermelder an?":                           "kenne ich in",
	} {
		if r := ask(t, e, platform.Inquiry{Message: said, Control: true}); !strings.Contains(r.Text, want) {
			t.Errorf("%q: want %q in: %s", said, want, r.Text)
		}
	}
}

var decimalComma = regexp.MustCompile(`(\d),(\d)`)

// decimalPoints writes the figures of a German answer as an English one has them.
func decimalPoints(text string) string { return decimalComma.ReplaceAllString(text, "$1.$2") }
