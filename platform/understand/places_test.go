package understand

import (
	"fmt"
	"strings"
	"testing"
)

// Every place can stand in every wording, alone, beside another, and left out; the rest of the frame does not change.
func TestEveryPlaceInEveryWording(t *testing.T) {
	names := house()
	places := []string{"Open office north", "Open office south", "Lobby", "Canteen", "Corridor ground floor", "Meeting room Alps", "Meeting room Lakes", "Annex workshop", "Annex gallery", "Tower lounge",
		"Ground floor", "Upper floor", "Annex"}
	wordings := map[string]string{
		"which lights are on in the %s":                    "lights on %s",
		"are all lights off in the %s?":                    "lights off all %s",
		"how bright is the %s":                             "lights %s",
		"which lights are above 60 %% in the %s":           "lights >60%% %s",
		"which blinds are open in the %s":                  "shades open %s",
		"how much energy did the %s use yesterday":         "energy %s 1117T0000-1118T0000",
		"consumption of the %s last week by day":           "energy %s by:day 1109T0000-1116T0000",
		"what does the %s draw right now":                  "power %s",
		"is the %s's consumption usual today":              "energy.usual %s 1118T0000-1119T0000",
		"any faults in the %s?":                            "faults %s",
		"which devices in the %s are offline":              "offline %s",
		"how many lights does the %s have":                 "inventory light %s",
		"how warm is it in the %s":                         "comfort temperature %s",
		"who switched the lights on in the %s":             "lights.who on %s",
		"why are the lights on in the %s":                  "lights.why on %s",
		"since when are the lights on in the %s":           "lights.since on %s",
		"turn off the lights in the %s":                    "set light=off %s",
		"turn the %s lights on":                            "set light=on %s",
		"set the %s to 40 %%":                              "set light=40 %s",
		"dim the %s by 10 percent":                         "step light=-10 %s",
		"close the blinds in the %s":                       "set shade=0 %s",
		"move the shades in the %s to 30 percent":          "set shade=30 %s",
		"please make the %s brighter":                      "step light=+ %s",
		"welche Lichter sind an in: %s":                    "lights on %s",
		"schalte das Licht in %s aus":                      "set light=off %s",
		"turn off all lights except the %s":                "set light=off all -%s",
		"which lights are on, apart from the %s":           "lights on -%s",
		"energy yesterday without the %s":                  "energy -%s 1117T0000-1118T0000",
		"close all blinds but not in the %s":               "set shade=0 all -%s",
		"welche Lichter sind an, außer in %s":              "lights on -%s",
		"turn the lights off in the %s for 10 minutes":     "!for for 10 minutes",
		"turn the lights in the %s off at 9 pm":            "!time at 9 pm",
		"turn the lights in the %s off if nobody is there": "!condition if",
		"don't turn off the lights in the %s":              "!negated not",
		"set the %s to 140 %%":                             "!value 140",
		"which fire doors are open in the %s":              "? absent fire doors",
		"how many parking spaces does the %s have":         "? absent parking spaces",
		"is the %s's coffee machine on":                    "? absent coffee machine",
		"how much energy per employee does the %s use":     "? words employee",
		"are the windows in the %s closed":                 "? absent windows",
	}
	n := 0
	check := func(text, want string) {
		n++
		if got := Read(text, names, now).Alone().String(); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	mark := func(name string) string { return "@" + strings.ReplaceAll(name, " ", "_") }
	for wording, want := range wordings {
		for i, p := range places {
			fill := func(said string, marks ...string) {
				expected := strings.ReplaceAll(want, "%%", "%")
				if strings.Contains(want, "-%s") {
					expected = strings.Replace(expected, "-%s", "-"+strings.Join(marks, " -"), 1)
				} else {
					expected = strings.Replace(expected, "%s", strings.Join(marks, " "), 1)
				}
				check(fmt.Sprintf(wording, said), expected)
			}
			fill(p, mark(p))
			if o := places[(i+3)%len(places)]; !strings.Contains(wording, "'s ") && !strings.HasPrefix(want, "?") && !strings.Contains(p, o) && !strings.Contains(o, p) {
				joint := " and the "
				if strings.Contains(wording, "Licht") {
					joint = " und "
				}
				a, b := mark(p), mark(o)
				if a > b {
					a, b = b, a
				}
				fill(p+joint+o, a, b)
			}
		}
	}
	t.Logf("%d sentences", n)
}
