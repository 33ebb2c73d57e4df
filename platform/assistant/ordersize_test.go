package assistant

import (
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// What depends on how the building is becomes one value a zone, which does what was said to every light and shade of it, or nothing.
func TestAnOrderGoesByWhatThereIs(t *testing.T) {
	levels := func(of string, values ...float64) func(*sitetest.Building) {
		return func(b *sitetest.Building) {
			i := 0
			for k := range b.DeviceList {
				if d := &b.DeviceList[k]; strings.HasPrefix(d.Name, of) && d.Level != nil && i < len(values) {
					d.Level = &platform.Reading{Value: values[i], At: sitetest.Now, Source: "measured"}
					i++
				}
			}
		}
	}
	shades := func(values ...float64) func(*sitetest.Building) {
		return func(b *sitetest.Building) {
			i := 0
			for k := range b.DeviceList {
				if d := &b.DeviceList[k]; strings.HasPrefix(d.Name, "Lobby shade") {
					d.Position, d.Motion = &platform.Reading{Value: values[i], At: sitetest.Now, Source: "measured"}, "stopped"
					i++
				}
			}
		}
	}
	for _, c := range []struct {
		message string
		is      func(*sitetest.Building)
		says    string
		acts    []string
	}{
		{"dim the lobby a little", levels("Lobby ", 10, 10, 10, 10), "Not done yet", []string{"level 7 Lobby"}},
		{"dim the lobby a little", levels("Lobby ", 90, 90, 90, 90), "Not done yet", []string{"level 80 Lobby"}},
		{"a bit more light in the lobby", levels("Lobby ", 6, 6, 6, 6), "Not done yet", []string{"level 8 Lobby"}},
		{"Lobby etwas dunkler", levels("Lobby ", 3, 3, 3, 3), "Noch nicht ausgeführt", []string{"level 2 Lobby"}},
		{"dim the lobby a little", levels("Lobby ", 1, 1, 1, 1), "nothing would change: Lobby (at 1 % already)", nil},
		{"a bit more light in the lobby", levels("Lobby ", 5, 5, 51, 5), "the lights in Lobby are at 5 % to 51 %", nil},
		{"dim the lobby a little", levels("Lobby ", 5, 5, 51, 5), "the lights in Lobby are at 5 % to 51 %", nil},
		{"a bit more light in the lobby", levels("Lobby ", 40, 0, 40, 40), "1 of the 4 lights in Lobby are off and would go on", nil},
		{"a bit more light in the lobby", levels("Lobby ", 0, 0, 0, 0), "nothing would change: Lobby (off)", nil},
		{"dim the lobby", levels("Lobby ", 20, 20, 20, 20), "Not done yet", []string{"level 10 Lobby"}},
		{"dim the lobby", levels("Lobby ", 80, 80, 80, 80), "Not done yet", []string{"level 60 Lobby"}},
		{"dim the lobby by 30 percent", levels("Lobby ", 80, 80, 80, 80), "Not done yet", []string{"level 50 Lobby"}},

		{"make the lobby as bright as the corridor", nil, "set the lights to 25 %: Lobby (4 lights, 4 on now), as bright as Corridor ground floor is on average", []string{"level 25 Lobby"}},
		{"Lobby so hell wie der Flur", nil, "Licht auf 25 %: Lobby (4 Leuchten, jetzt 4 an), so hell wie Corridor ground floor im Mittel", []string{"level 25 Lobby"}},

		{"half close the lobby blinds", shades(100, 80), "Not done yet", []string{"position 50 Lobby"}},
		{"half close the lobby blinds", shades(30, 20), "nothing would change: Lobby (closed as far already, or further)", nil},
		{"half close the lobby blinds", shades(30, 100), "1 of the 2 shades in Lobby are closed further than that, and would open. Say “to 50 %”", nil},
		{"Könntest du die Rollos der Lobby halb schliessen?", shades(30, 30), "es würde sich nichts ändern", nil},
		{"set the lobby blinds to half", shades(30, 30), "Not done yet", []string{"position 50 Lobby"}},
		{"open the lobby blinds halfway", shades(100, 100), "open as far already, or further", nil},
		{"close the lobby blinds to 70 percent", shades(30, 30), "that would open 2 of the 2 shades in Lobby. Say “70 % open” or “30 % open”", nil},
		{"close the lobby blinds to 70 percent", shades(100, 100), "Not done yet", []string{"position 70 Lobby"}},
		{"close the lobby blinds 70 percent", shades(100, 100), "Not done yet", []string{"position 30 Lobby"}},
		{"Rollos der Lobby halb zu", shades(20, 20), "es würde sich nichts ändern", nil},
		{"blinds up in the canteen, lights on", nil, "then set the lights to 100 %: Canteen", []string{"level 100 Canteen", "position 100 Canteen"}},
		{"raise the lobby blinds a little", nil, "I move shades to a position and not by an amount", nil},
		{"Rollos in der Lobby ein Stück runter", nil, "Rollos bewege ich auf eine Stellung", nil},
		{"dim the lobby by half", nil, "Not done yet", []string{"level 20 Lobby"}},
		{"brighten the lobby by a quarter", nil, "Not done yet", []string{"level 50 Lobby"}},
		{"all lights on the ground floor brighter by 10 percent", nil, "; left as it is: Canteen (off)", []string{"level 35 Corridor ground floor", "level 50 Lobby"}},
		{"stop the lobby blinds", shades(30, 30), "they stand still already", []string{"stop Lobby"}},

		{"turn off half of the canteen lights", nil, "not single devices or a part of them (“half of the canteen lights”)", nil},
		{"only lamp 3 in the lobby on", nil, "whole zones, not single devices", nil},
		{"Nur Lampe 3 in der Lobby einschalten", nil, "keine einzelnen Geräte", nil},
		{"from now on turn the lobby off every evening at eleven", nil, "a schedule on the controller can", nil},
		{"Schalte die Lobby jeden Abend um 22 Uhr aus", nil, "(„jeden Abend um 22 Uhr“)", nil},
		{"set Alps to 4000 kelvin and 70 percent", nil, "I cannot set colour temperatures from here", nil},
		{"lobby blue 30 percent", nil, "I cannot set colours from here", nil},
		{"Lobby bitte in Blau mit 30 Prozent", nil, "Farben kann ich von hier aus nicht stellen", nil},
		{"it's too bright in the lobby, take it down by 20 percent", nil, "Not done yet", []string{"level 20 Lobby"}},
	} {
		t.Run(c.message, func(t *testing.T) {
			b := sitetest.New()
			if c.is != nil {
				c.is(b)
			}
			e := on(b)
			preview := ask(t, e, platform.Inquiry{Session: "s", Message: c.message, Control: true}).Text
			if !strings.Contains(preview, c.says) {
				t.Errorf("want %q in: %s", c.says, preview)
			}
			ask(t, e, platform.Inquiry{Session: "s", Message: "yes", Control: true})
			if got := acted(b); !slices.Equal(got, c.acts) {
				t.Errorf("acted %q, want %q: %s", got, c.acts, preview)
			}
		})
	}
}
