package voice

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// A part said with a direction never moves anything the other way: it goes that way, stays where it is at an end, or is asked about. With "by"
// it is done, wherever things are.
func TestAPartGoesTheWayThatWasSaid(t *testing.T) {
	type way struct {
		up           bool
		before, tail string // around "the shades" and the fraction
	}
	say := func(text string, lights, shades float64) (level, position float64, sent int) {
		b := &building{lights: []platform.Device{light(lights), shade(shades, "")}, ack: wire.Ack{Status: wire.Applied}}
		r := NewRoom(Config{Devices: b, Send: b, Site: b, Log: slog.New(slog.DiscardHandler)})
		if _, err := r.Say(context.Background(), "room", text, ""); err != nil {
			t.Fatal(err)
		}
		level, position = lights, shades
		for _, a := range b.sent {
			switch a.WidgetID {
			case wire.LightBrightness:
				level = float64(*a.Percent)
			case wire.ShadePosition:
				position = float64(*a.Percent)
			case wire.ShadePreset:
				position = map[string]float64{wire.PresetOneThird: 33, wire.PresetTwoThirds: 67}[a.Value]
			default:
				t.Errorf("%q: sent %+v", text, a)
			}
		}
		return level, position, len(b.sent)
	}
	// fractions have a form with "by" or "um", which has to be done, and one without.
	english := [][2]string{{"by a quarter", "a quarter"}, {"by a third", "a third"}, {"by half", "half"}, {"by half", "halfway"}, {"by two thirds", "two thirds"}, {"by three quarters", "three quarters"}}
	german := [][2]string{{"um ein Viertel", "ein Viertel"}, {"um ein Drittel", "ein Drittel"}, {"um die Hälfte", "halb"}, {"um zwei Drittel", "zwei Drittel"}, {"um drei Viertel", "drei Viertel"}}
	for _, c := range []struct {
		thing     string
		lights    bool
		fractions [][2]string
		ways      []way
	}{
		{"the shades", false, english, []way{
			{true, "raise ", ""}, {true, "open ", ""}, {true, "lift ", ""}, {true, "", " up"}, {true, "", " higher"}, {true, "move ", " up"}, {true, "pull ", " up"},
			{false, "lower ", ""}, {false, "close ", ""}, {false, "drop ", ""}, {false, "shut ", ""}, {false, "", " down"}, {false, "", " lower"}, {false, "bring ", " down"}}},
		{"die Rollos", false, german, []way{
			{true, "", " hoch"}, {true, "", " höher"}, {true, "", " rauf"}, {true, "fahr ", " hoch"}, {true, "öffne ", ""}, {true, "", " hochfahren"}, {true, "mach ", " auf"},
			{false, "", " runter"}, {false, "", " tiefer"}, {false, "", " herunter"}, {false, "fahr ", " runter"}, {false, "schließ ", ""}, {false, "senke ", ""}, {false, "mach ", " zu"}}},
		{"the lights", true, english, []way{
			{true, "raise ", ""}, {true, "brighten ", ""}, {true, "increase ", ""}, {true, "turn ", " up"}, {true, "make ", " brighter"}, {true, "", " up"}, {true, "", " brighter"},
			{false, "lower ", ""}, {false, "dim ", ""}, {false, "reduce ", ""}, {false, "turn ", " down"}, {false, "make ", " darker"}, {false, "", " down"}, {false, "", " dimmer"}}},
		{"das Licht", true, german, []way{
			{true, "", " hoch"}, {true, "", " heller"}, {true, "mach ", " heller"}, {true, "dreh ", " hoch"}, {true, "erhöhe ", ""},
			{false, "", " runter"}, {false, "", " dunkler"}, {false, "mach ", " dunkler"}, {false, "dimme ", ""}, {false, "reduziere ", ""}, {false, "senke ", ""}}},
	} {
		for _, w := range c.ways {
			for _, f := range c.fractions {
				for i, part := range f {
					for _, from := range []float64{20, 50, 80} {
						text := fmt.Sprintf("%s%s %s%s", w.before, c.thing, part, w.tail)
						level, position, sent := say(text, from, from)
						to, other := position, level
						if c.lights {
							to, other = level, position
						}
						if other != from || w.up && to < from || !w.up && to > from {
							t.Errorf("%q at %.0f: lights at %.0f, shades at %.0f", text, from, level, position)
						}
						if by := i == 0; by && (sent != 1 || to == from) {
							t.Errorf("%q at %.0f: nothing is done", text, from)
						}
					}
				}
			}
		}
	}
}

// How far a part goes: of shades it is one of the whole way, of lights one of what there is.
func TestAPartIsOfTheWholeWayOrOfWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		text           string
		lights, shades float64
		says           string
	}{
		{"raise the shades by a quarter", 50, 50, "Shades going to 75 percent open."},
		{"Jalousien um ein Viertel hoch", 50, 50, "Rollos fahren auf 75 Prozent offen."},
		{"fahr die Rollos ein Viertel tiefer", 50, 80, "Rollos fahren auf 55 Prozent offen."},
		{"open the blinds a quarter more", 50, 20, "Shades going to 45 percent open."},
		{"lower the blinds by half", 50, 20, "Shades going to 0 percent open."},
		{"lights up a quarter", 40, 50, "Lights at 50 percent."},
		{"lights down a quarter", 40, 50, "Lights at 30 percent."},
		// Without "by" it is a place, and asked about where that lies the other way.
		{"blinds up a quarter", 50, 10, "Shades going to 25 percent open."},
		{"blinds up a quarter", 50, 50, "To a quarter, or by a quarter? Say it again."},
		{"Rollos ein Drittel runter", 50, 30, "Auf ein Drittel oder um ein Drittel? Sagen Sie es noch einmal."},
		{"raise the blinds halfway", 50, 80, "To half, or by half? Say it again."},
		{"lower the blinds to 60 percent", 50, 20, howFar},
		{"dim the lights half", 30, 50, "To half, or by half? Say it again."},
		{"blinds a bit further down", 50, 50, "Shades going to 40 percent open."},
	} {
		b := &building{lights: []platform.Device{light(c.lights), shade(c.shades, "")}, ack: wire.Ack{Status: wire.Applied}}
		if out := b.say(t, c.text); out.Speak != c.says {
			t.Errorf("%q says %q, want %q", c.text, out.Speak, c.says)
		}
	}
	b := &building{lights: []platform.Device{shade(20, ""), shade(60, "")}}
	if out := b.say(t, "raise the shades by a quarter"); out.Speak != howFar || len(b.sent) > 0 {
		t.Errorf("shades that differ: %+v, sent %v", out, b.sent)
	}
}
