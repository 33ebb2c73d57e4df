package assistant

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// What an order says is done whole, after a preview that lists all of it, or nothing is, and the reason is said.
func TestAnOrderIsDoneWholeOrNotAtAll(t *testing.T) {
	all := func(what string, except ...int64) (out []string) {
		for _, z := range sitetest.New().ZoneList {
			if !slices.Contains(except, z.ID) {
				out = append(out, what+" "+z.Name)
			}
		}
		return out
	}
	for _, c := range []struct {
		message string
		says    []string // of the preview, or why not
		acts    []string // zone by zone; nil: nothing moves
	}{
		{"turn off the lobby lights and open the lobby shades", []string{"Not done yet", "switch the lights off: Lobby (", "; then move the shades to 100 % open: Lobby ("}, []string{"level 0 Lobby", "position 100 Lobby"}},
		{"canteen to 50 %, lobby to 20 %, and close the lobby shades", []string{"set the lights to 50 %: Canteen", "; then set the lights to 20 %: Lobby", "; then close the shades: Lobby"}, []string{"level 50 Canteen", "level 20 Lobby", "position 0 Lobby"}},
		{"turn off the lobby lights and recall the evening scene", []string{"I did nothing", "scenes"}, nil},
		{"turn off the lobby lights and set the heating to 20 degrees", []string{"I did nothing"}, nil},
		{"turn off the lobby lights and the ballroom lights", []string{"ballroom"}, nil},
		{"turn off the lobby lights and open the corridor shades", []string{"I did nothing", "shade"}, nil},
		{"turn off the lobby lights and at 8 pm the canteen lights", []string{"I did nothing", "8 pm"}, nil},

		{"all lights off but the lobby", []string{"Not done yet", "Canteen ("}, all("level 0", sitetest.Lobby)},
		{"switch off all lights except in the lobby and the canteen", []string{"Not done yet"}, all("level 0", sitetest.Lobby, sitetest.Canteen)},
		{"turn everything off on the ground floor but not the corridor", []string{"Not done yet"}, []string{"level 0 Lobby", "level 0 Canteen"}},
		{"all lights off but Lobby 1", []string{"I did nothing", "whole zones"}, nil},
		{"all lights off except the ballroom", []string{"ballroom"}, nil},

		{"turn the lobby up 20", []string{"I did nothing", "“20” may be a value to set or one to change by"}, nil},
		{"Lobby um die Hälfte dimmen", []string{"Noch nicht ausgeführt"}, []string{"level 20 Lobby"}},
		{"set the lobby back to how it was", []string{"I did nothing", "no earlier state"}, nil},
		{"triple the brightness in the lobby", []string{"I did nothing", "to what level"}, nil},
		{"double the brightness in the lobby", []string{"Not done yet"}, []string{"level 80 Lobby"}},
		{"switch the lobby on and off again", []string{"I did nothing", "“on” and “off” exclude each other"}, nil},
		{"lights off downstairs, but leave the lobby and the corridor on", []string{"Not done yet"}, []string{"level 0 Canteen"}},
		{"close the lobby blinds and turn the lights there on", []string{"Not done yet"}, []string{"level 100 Lobby", "position 0 Lobby"}},
		{"it is far too bright in the lobby", []string{"Not done yet", "This would set the lights to"}, []string{"level 20 Lobby"}},
		{"lobby to 30, sorry, 40 percent", []string{"Not done yet", "set the lights to 40 %: Lobby"}, []string{"level 40 Lobby"}},

		{"lobby lights off at 8 pm", []string{"I did nothing", "cannot do it later (“at 8 pm”)"}, nil},
		{"lobby lights off in ten minutes", []string{"I did nothing", "cannot do it later", "ten minutes"}, nil},
		{"lobby lights on tomorrow morning", []string{"I did nothing", "cannot do it later", "tomorrow", "morning"}, nil},
		{"lobby lights off for an hour", []string{"I did nothing", "for a while only", "for an hour"}, nil},
		{"lobby lights on until six", []string{"I did nothing", "six"}, nil},
		{"close the lobby shades when it gets dark", []string{"I did nothing", "condition"}, nil},
		{"mach das Licht in der Lobby um 20 Uhr aus", []string{"Ich habe nichts getan", "um 20 Uhr"}, nil},
		{"mach das Licht in der Lobby für eine Stunde aus", []string{"Ich habe nichts getan", "für eine Stunde"}, nil},
	} {
		t.Run(c.message, func(t *testing.T) {
			b := sitetest.New()
			e := on(b)
			e.Act = b
			preview := ask(t, e, platform.Inquiry{Session: "s", Message: c.message, Control: true}).Text
			for _, want := range c.says {
				if !strings.Contains(preview, want) {
					t.Errorf("%q is missing in: %s", want, preview)
				}
			}
			if c.acts == nil && strings.Contains(preview, "Not done yet") {
				t.Errorf("previewed: %s", preview)
			}
			if len(b.Acted) > 0 {
				t.Fatalf("a preview acted: %v", b.Acted)
			}
			answer := ask(t, e, platform.Inquiry{Session: "s", Message: "yes", Control: true}).Text
			if got := acted(b); !slices.Equal(got, slices.Sorted(slices.Values(c.acts))) {
				t.Errorf("acted %q, want %q\npreview: %s\nanswer: %s", got, c.acts, preview, answer)
			}
		})
	}
}

// acted lists what was ordered, with the names of zones.
func acted(b *sitetest.Building) (out []string) {
	for _, a := range b.Acted {
		where, what, _ := strings.Cut(a, " ")
		_, id, _ := strings.Cut(where, "/")
		for _, z := range b.ZoneList {
			if id == strconv.FormatInt(z.ID, 10) {
				out = append(out, what+" "+z.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}
