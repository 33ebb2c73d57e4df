package voice

import (
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

func (b *building) say(t *testing.T, text string) Response {
	t.Helper()
	_, out := b.open(t, false)(good, `{"deviceId":"room","text":`+quoted(text)+`}`)
	return out
}

// What can be said is told with what there is in the room.
func TestHelpHasExamplesThatWork(t *testing.T) {
	for _, c := range []struct {
		text, says string
		room       []platform.Device
	}{
		{"what can I say here?", `Say "lights to 50 percent", "brighter" or "shades down".`, []platform.Device{light(40), shade(70, "")}},
		{"Was kann ich sagen?", `Sagen Sie „Licht an“, „heller“ oder „Licht auf 50 Prozent“.`, []platform.Device{light(40)}},
		{"help", `Say "shades up", "shades down" or "shades 30 percent".`, []platform.Device{shade(70, "")}},
	} {
		b := &building{lights: c.room, scenes: []wire.Scene{{ID: 1, Name: "Talk"}}}
		if out := b.say(t, c.text); !out.Success || out.Speak != c.says || len(b.sent) > 0 || !strings.Contains(out.Reply, "Talk") {
			t.Errorf("%q: %+v", c.text, out)
		}
	}
}

// Every reason is spoken in one short sentence of the speaker's language; more is shown.
func TestAReasonIsSpokenShortly(t *testing.T) {
	for text, says := range map[string]string{
		"lights to 150 percent":         refusals[understand.Value],
		"Licht auf 150 Prozent":         "Ich brauche eine ganze Zahl von 0 bis 100.",
		"turn the lights up 20":         "To 20, or by 20? Say it again.",
		"dimm das Licht 20 Prozent":     "Auf 20 prozent oder um 20 prozent? Sagen Sie es noch einmal.",
		"triple the brightness":         refusals[understand.Multiple],
		"undo that":                     refusals[understand.Undo],
		"don't touch the lights":        refusals[understand.Negated],
		"Licht nicht ausmachen":         "Dann tue ich nichts.",
		"turn everything off":           whichOf,
		"alles aus":                     german[whichOf],
		"Licht im Flur aus":             "Ich steuere Licht und Rollos dieses Raums, und zwar alle.",
		"Licht blau":                    "Farben kann ich nicht stellen.",
		"set the heating to 20 degrees": refusals[understand.Heating],
		"who is in the building":        "I only know how the lights and shades are.",
		"play some music":               refusals[understand.Missing],
		"Spiel bitte Musik":             german[refusals[understand.Missing]],
		"lorem ipsum dolor":             unheard,
		"Hol mir bitte ein Bier":        german[refusals[understand.Missing]],
		"Hol mir bitte einen Zwirbel":   german[unheard],
		// Expected refusals have their reason in German, too.
		"unmute the microphone":           refusals[understand.Missing],
		"Mikrofon einschalten":            german[refusals[understand.Missing]],
		"Heizung runter":                  german[refusals[understand.Heating]],
		"Abendmodus bitte":                german[refusals[understand.SceneSet]],
		"concert mode please":             refusals[understand.SceneSet],
		"um Viertel nach acht Licht an":   german[refusals[understand.Later]],
		"um sieben die Rollos runter":     german[refusals[understand.Later]],
		"um 18 Uhr 15 Licht an":           german[refusals[understand.Later]],
		"Licht für eine Viertelstunde an": german[refusals[understand.For]],
		"Licht auf dreihundertzehn":       german[refusals[understand.Value]],
		"shades up and down again":        refusals[understand.Contrary],
		"Licht an und wieder aus":         german[refusals[understand.Contrary]],
		"leave the blinds where they are": refusals[understand.Negated],
		"put it at thirty percent":        whichOf,
		"the phone over there is broken":  refusals[understand.Missing],
		"Das Mikrofon geht nicht":         german[refusals[understand.Missing]],
	} {
		b := &building{lights: []platform.Device{light(50)}, ack: wire.Ack{Status: wire.Applied}}
		out := b.say(t, text)
		if out.Success || len(b.sent) > 0 || out.Speak != says || out.Message != says {
			t.Errorf("%q says %q, want %q; sent %v", text, out.Speak, says, b.sent)
		}
	}
	for en, de := range german {
		for _, text := range []string{en, de} {
			shown := []string{cannot, german[cannot]}
			if n := len(strings.Fields(text)); n > speakable && !slices.Contains(shown, text) && !strings.Contains(text, "; t") {
				t.Errorf("%d words: %s", n, text)
			}
		}
		if strings.Count(en, "%") != strings.Count(de, "%") {
			t.Errorf("%q and %q take other values", en, de)
		}
	}
	for _, why := range refusals {
		if german[why] == "" {
			t.Errorf("%q has no German", why)
		}
	}
}

// Who speaks German is answered in German.
func TestAGermanSentenceIsAnsweredInGerman(t *testing.T) {
	for text, says := range map[string]string{
		"Licht an":                              "Licht an.",
		"Licht auf 40 Prozent":                  "Licht auf 40 Prozent.",
		"mach es bitte etwas heller":            "Licht auf 70 Prozent.",
		"Rollos zu und Licht aus":               "Rollos fahren zu. Licht aus.",
		"Rollos zu zwei Dritteln öffnen":        "Rollos fahren auf zwei Drittel.",
		"Könnten Sie bitte die Rollos anhalten": "Rollos angehalten.",
	} {
		b := &building{lights: []platform.Device{light(50)}, ack: wire.Ack{Status: wire.Applied}}
		if out := b.say(t, text); !out.Success || out.Speak != says {
			t.Errorf("%q says %q, want %q", text, out.Speak, says)
		}
	}
	b := &building{ack: wire.Ack{Status: wire.Failed, Things: 14, Not: []wire.Exception{{Name: "Fenster 5", Why: wire.WhyBus}}}}
	if out := b.say(t, "Licht aus"); out.Speak != "13 von 14 erledigt; Fenster 5 antwortet nicht." || out.Reply != "13 von 14 erledigt; Fenster 5 ist nicht zu erreichen: sein Bus ist ausgefallen." {
		t.Errorf("%+v", out)
	}
}

// What is spoken names no bus, no node and no file; what is shown may.
func TestOnlyWhatIsShownTellsOfBuses(t *testing.T) {
	for _, c := range []struct {
		ack          wire.Ack
		speak, reply string
	}{
		{wire.Ack{Status: wire.Failed, Things: 3, Not: []wire.Exception{{Name: "West", Why: wire.WhyBus}}}, "2 of 3 done; West does not answer.", "2 of 3 done; West cannot be reached: its bus is down."},
		{wire.Ack{Status: wire.Failed, Things: 9, Not: []wire.Exception{{Name: "West", Why: wire.WhySilent}, {Name: "East", Why: wire.WhySilent}}}, "2 of 9 do not obey.", "7 of 9 done; West does not answer; East does not answer."},
		{wire.Ack{Status: wire.Failed, Things: 2, Not: []wire.Exception{{Name: "the long lamp beside the second window of the small hall upstairs", Why: wire.WhySilent}}}, "1 of 2 do not obey.", "1 of 2 done; the long lamp beside the second window of the small hall upstairs does not answer."},
		{wire.Ack{Status: wire.Failed, Detail: "node 7: write /dev/ttyUSB0: timeout"}, "Not all of it was done.", "Not done: node 7: write /dev/ttyUSB0: timeout."},
	} {
		b := &building{ack: c.ack}
		if out := b.say(t, "lights off"); out.Speak != c.speak || out.Reply != c.reply {
			t.Errorf("spoken %q, shown %q; want %q, %q", out.Speak, out.Reply, c.speak, c.reply)
		}
	}
}
