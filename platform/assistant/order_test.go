package assistant

import (
	"fmt"
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

// What is left out of an order, why it is given, and what it is on condition of, in many words.
func TestOrdersSaidAroundTheBush(t *testing.T) {
	e := on(unchanged())
	for i, c := range []struct {
		said  string
		want  []string
		never string
	}{
		{"Dim the ground floor to 15 percent, not the lobby though", []string{"Not done yet", "Canteen", "Corridor ground floor"}, "Lobby"},
		{"Leave the canteen alone and dim the lobby to 15", []string{"Not done yet", "15 %: Lobby"}, "Canteen"},
		{"Don't touch Alps, but switch everything off upstairs", []string{"Not done yet", "Open office north", "Meeting room Lakes"}, "Alps"},
		{"Don't touch the lobby, but lights off downstairs and blinds down", []string{"I did nothing"}, "Not done yet"},
		{"Mach das ganze Erdgeschoss aus, aber den Flur nicht", []string{"Noch nicht ausgeführt", "Lobby", "Canteen"}, "Corridor"},
		{"Im Obergeschoss das Licht aus, Alps aber nicht", []string{"Noch nicht ausgeführt", "Open office north"}, "Alps"},
		{"Alle Rollos runter, die in der Kantine bleiben oben", []string{"Noch nicht ausgeführt", "Lobby"}, "Canteen"},
		{"Set the lobby to half but leave Lobby 3 off", []string{"I command whole zones"}, "Not done yet"},
		{"close the lobby blinds except number 1", []string{"I command whole zones", "number 1"}, "nothing called"},
		{"Lights on in the canteen, my boss left his phone", []string{"Not done yet", "Canteen"}, "nothing called"},
		{"Half the light in the corridor downstairs, we lost a contact lens", []string{"in Corridor ground floor"}, "nothing called"},
		{"lights on in the canteen, I am not in the lobby", []string{""}, "Not done yet"},
		{"Lower the lobby blinds to 40 percent open and dim the lobby to 35", []string{"shades to 40 % open: Lobby", "lights to 35 %: Lobby"}, "whole number"},
		{"light of in the canteen", []string{"lights off: Canteen"}, "0 of 5"},
		{"Licht in der Kanitne aus", []string{"Licht aus: Canteen"}, "kenne ich"},
		{"If the canteen is above 40 percent, bring it down to 20", []string{"condition (“If”)"}, "Not done yet"},
		{"Everything below 20 percent up to 40", []string{"condition (“below 20 percent”)"}, "Not done yet"},
		{"Könntest du die Lobby bitte rot machen?", []string{"Farben"}, "verstehe"},
		{"Rollos der Kantine halb zu", []string{"Sagen Sie „50 % offen“"}, "ausgeführt"},
	} {
		e.converse(t, fmt.Sprint("bush", i), c.said, c.want, c.never)
	}
}
