package assistant

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/platform"
)

// What is said besides changes an answer, or stops it: no word of an operation, a place, a time, a state or a bound gets lost behind
// another one. Every question is asked with every addition; the same answer as without it is a fault, but where an addition is true of
// all that is told anyway.
func TestNothingThatIsSaidBesidesGetsLost(t *testing.T) {
	e := on(unchanged().Remember())
	anyway := []string{"since when are the lights on per floor", "who switched the lights per floor", "why are the lights on per floor", "energy by floor per floor", "power by floor per floor",
		"is consumption going up since Monday", "how many lights are there since Monday", "energy per square metre since Monday", "wer hat das Licht geschaltet je Etage", "welche Lichter gibt es seit Montag"}
	age := regexp.MustCompile(`\d+ s|\d+ min`)
	say := func(text string) string {
		return age.ReplaceAllString(ask(t, e, platform.Inquiry{Message: text}).Text, "")
	}
	n := 0
	check := func(questions, additions []string) {
		for _, q := range questions {
			plain := say(q)
			if strings.Contains(plain, "do not know") || strings.Contains(plain, "weiß es nicht") {
				continue
			}
			for _, a := range additions {
				n++
				text := q + " " + a
				if got := say(text); got == plain && !slices.Contains(anyway, text) {
					t.Errorf("%q is answered as %q: %.200s", text, q, got)
				}
			}
		}
	}
	check([]string{
		"which lights are on", "how many lights are on", "how bright is the building", "are all lights off", "which lights are off", "which rooms have lights on", "what is the average brightness",
		"which is the brightest room", "which lamp is the dimmest", "what share of the lights is on", "how many lights are there", "which shades are open", "how far are the shades open", "are the blinds closed",
		"what is the average opening of the blinds", "how much energy did we use", "how much power do we draw", "which zone used the most energy", "which meter draws the most power", "energy by floor", "power by floor",
		"is our consumption usual", "is consumption going up", "energy per square metre", "are there any faults", "which devices are offline", "who switched the lights", "since when are the lights on", "why are the lights on",
		"what is the colour temperature", "which lights can be dimmed",
	}, []string{"in the lobby", "except the lobby", "on the ground floor", "in the lobby and the canteen", "yesterday", "since Monday", "at 6 pm yesterday", "compared with last week", "per floor", "by hour", "per light",
		"above 50 percent", "between 20 and 60 percent", "for more than 3 hours", "more than 20 kWh", "over 1 kW", "top 2", "without a meter", "of type dmx", "tomorrow", "by hand", "through the panel", "twice"})
	check([]string{"welche Lichter sind an", "wie viele Lichter sind an,", "sind alle Lichter aus,", "welche Rollos sind offen", "wie viel Energie haben wir verbraucht,", "wie viel Leistung ziehen wir", "welche Zone hat am meisten Energie verbraucht",
		"welche Geräte sind offline", "gibt es Störungen", "welche Lichter gibt es", "wer hat das Licht geschaltet"},
		[]string{"in der Lobby", "außer in der Lobby", "im Erdgeschoss", "gestern", "seit Montag", "je Etage", "über 50 Prozent", "zwischen 20 und 60 Prozent", "seit mehr als 3 Stunden", "mehr als 20 kWh", "ohne Zähler", "morgen", "von Hand", "zweimal"})
	t.Logf("%d questions", n)
}
