package voice

import (
	"log/slog"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

func shade(position float64, motion string) platform.Device {
	return platform.Device{Kind: platform.KindShade, Online: true, Zones: []int64{1}, Position: &platform.Reading{Value: position}, Motion: motion}
}

func guessed(d platform.Device, within float64) platform.Device { d.Position.Within = within; return d }

func away(d platform.Device) platform.Device { d.Online = false; return d }

// How the lights and shades of the room are is answered, of this room and without the assistant.
func TestAQuestionAboutTheRoomIsAnswered(t *testing.T) {
	other := light(100)
	other.Zones = []int64{9}
	for _, c := range []struct {
		text string
		room []platform.Device
		says string
	}{
		{"are the lights on?", []platform.Device{light(30), light(50)}, "Yes: the lights are on, at 30 to 50 percent."},
		{"are the lights on?", []platform.Device{light(0), other}, "No: the lights are off."},
		{"are the lights on?", []platform.Device{light(0), light(40), light(50)}, "Yes: 2 of 3 lights are on, at 40 to 50 percent."},
		{"are all the lights on?", []platform.Device{light(0), light(50)}, "No: 1 of 2 lights are on, at 50 percent."},
		{"are the lights off?", []platform.Device{light(0)}, "Yes: the lights are off."},
		{"how bright are the lights?", []platform.Device{light(40), away(light(80))}, "The lights are on, at 40 percent. 1 did not report."},
		{"are the lights on?", []platform.Device{restored(light(50))}, "I do not know how the lights are now."},
		{"are the blinds open?", []platform.Device{shade(100, "")}, "Yes: the shades are open."},
		{"are the shades closed?", []platform.Device{shade(30, "")}, "No: the shades are 30 percent open."},
		{"how far open are the blinds?", []platform.Device{shade(30, ""), shade(50, "")}, "The shades are 30 to 50 percent open."},
		{"are the blinds open?", []platform.Device{shade(30, "closing")}, "The shades are moving."},
		{"are the blinds half open?", []platform.Device{shade(49, ""), shade(52, "")}, "Yes: the shades are 49 to 52 percent open."},
		{"are the blinds half open?", []platform.Device{shade(70, "")}, "No: the shades are 70 percent open."},
		{"where are the blinds right now?", []platform.Device{shade(70, "")}, "The shades are 70 percent open."},
		{"how far open are the blinds?", []platform.Device{guessed(shade(50, ""), 8), shade(50, "")}, "The shades are about 50 percent open."},
		{"Wo stehen die Storen?", []platform.Device{guessed(shade(20, ""), 8), shade(60, "")}, "Die Rollos sind zu etwa 20 bis 60 Prozent offen."},
		{"how bright is it in here?", []platform.Device{light(40)}, "The lights are on, at 40 percent."},
		{"what level are the lights at?", []platform.Device{light(40)}, "The lights are on, at 40 percent."},
		{"how strong are the lights?", []platform.Device{light(40)}, "The lights are on, at 40 percent."},
		{"are the lights at 40 percent?", []platform.Device{light(40)}, "Yes: the lights are on, at 40 percent."},
		{"are the lights at 40 percent?", []platform.Device{light(40), light(60)}, "No: the lights are on, at 40 to 60 percent."},
		{"are the lights above 50 percent?", []platform.Device{light(60)}, "Yes: the lights are on, at 60 percent."},
		{"are the lights at 40 percent?", []platform.Device{away(light(40))}, "I do not know how the lights are now."},
		{"Wie hell ist es hier?", []platform.Device{light(40)}, "Das Licht ist an, mit 40 Prozent."},
		{"Ist das Licht auf 40 Prozent?", []platform.Device{light(0)}, "Nein: das Licht ist aus."},
		{"Sind die Storen halb offen?", []platform.Device{shade(50, "")}, "Ja: die Rollos sind zu 50 Prozent offen."},
		{"Wo stehen die Storen?", []platform.Device{shade(20, "")}, "Die Rollos sind zu 20 Prozent offen."},
		// Who complains is told how it is, and what to say; nothing moves.
		{"it is far too dark in here", []platform.Device{light(40)}, `The lights are on, at 40 percent. Say "brighter".`},
		{"it is far too dark in here", []platform.Device{light(0)}, `The lights are off. Say "lights on".`},
		{"it's so dark in here", []platform.Device{light(100), shade(0, "")}, `The lights are on, at 100 percent. Say "open the shades".`},
		{"it is way too bright in here", []platform.Device{light(80)}, `The lights are on, at 80 percent. Say "darker".`},
		{"it's too bright", []platform.Device{light(0), shade(100, "")}, `The lights are off. Say "close the shades".`},
		{"Es ist viel zu dunkel hier drin", []platform.Device{light(40), light(50), away(light(0))}, "Das Licht ist an, mit 40 bis 50 Prozent. Sagen Sie „heller“."},
		{"these lights are too bright", []platform.Device{light(80)}, `The lights are on, at 80 percent. Say "darker".`},
		{"Warum ist es hier so dunkel?", []platform.Device{light(0)}, "Das Licht ist aus. Sagen Sie „Licht an“."},
		{"what percentage are the lights set to?", []platform.Device{light(80)}, "The lights are on, at 80 percent."},
		{"Mir ist das zu hell", []platform.Device{light(40)}, "Das Licht ist an, mit 40 Prozent. Sagen Sie „dunkler“."},
		{"Ist das Licht an?", []platform.Device{light(40)}, "Ja: das Licht ist an, mit 40 Prozent."},
		{"Sind die Rollos zu?", []platform.Device{shade(0, "")}, "Ja: die Rollos sind zu."},
		{"The sun is blinding me", []platform.Device{light(80), shade(100, "")}, `The lights are on, at 80 percent. Say "close the shades".`},
		{"Die Sonne blendet mich", []platform.Device{light(80)}, "Das Licht ist an, mit 80 Prozent. Sagen Sie „Rollos zu“."},
		// So is who says that something is broken, and who asks what there is.
		{"The lights don't work", []platform.Device{light(0), away(light(0)), shade(0, "")}, "1 of 3 lights and shades here do not answer."},
		{"this blind is stuck again", []platform.Device{light(0), shade(0, "")}, "All lights and shades here answer. Please tell the building's technician."},
		{"Die Lampe da vorne flackert dauernd", []platform.Device{light(0)}, "Hier antworten alle. Bitte sagen Sie es der Haustechnik."},
		{"the blinds do not seem to be working", []platform.Device{light(0), shade(0, "")}, "All lights and shades here answer. Please tell the building's technician."},
		{"What are the curtains at?", []platform.Device{shade(70, "")}, "The shades are 70 percent open."},
		{"what level is the light at", []platform.Device{light(40)}, "The lights are on, at 40 percent."},
		{"Auf wie viel Prozent sind die Storen", []platform.Device{shade(30, "")}, "Die Rollos sind zu 30 Prozent offen."},
		{"Brennen hier noch Lampen", []platform.Device{light(40)}, "Ja: das Licht ist an, mit 40 Prozent."},
		{"This glare is awful", []platform.Device{light(80)}, `The lights are on, at 80 percent. Say "darker".`},
		{"Man kann auf der Leinwand gar nichts sehen", []platform.Device{light(80)}, "Das Licht ist an, mit 80 Prozent. Sagen Sie „dunkler“."},
		{"Welche Lampen gibt es hier?", []platform.Device{light(0), light(9), shade(0, ""), other}, "Leuchten hier: 2; Rollos: 1."},
	} {
		b := &building{lights: c.room}
		if out := b.say(t, c.text); !out.Success || out.Speak != c.says || len(b.sent) > 0 {
			t.Errorf("%q says %q, want %q; sent %v", c.text, out.Speak, c.says, b.sent)
		}
	}
}

// Brighter and darker count from what the room was told last, not from what was reported before.
func TestAStepCountsFromTheNewestIntent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first string
		ack   wire.Ack
		slow  bool
		then  string
		says  string
	}{
		{"a level", "lights to 20 percent", wire.Ack{Status: wire.Applied}, false, "brighter", "Lights at 40 percent."},
		{"a level that was not answered", "lights to 20 percent", wire.Ack{}, true, "brighter", "Sent."},
		{"two steps", "brighter", wire.Ack{Status: wire.Applied}, false, "brighter", "Lights at 100 percent."},
		{"off", "lights off", wire.Ack{Status: wire.Applied}, false, "toggle the lights", "Lights on."},
		{"on, as the controller says", "lights on", wire.Ack{Status: wire.Applied, Widgets: map[string]string{wire.LightBrightness: "128"}}, false, "dim the lights by 10 percent", "Lights at 40 percent."},
		{"on, nobody says how bright", "lights on", wire.Ack{Status: wire.Applied}, false, "brighter", darkness},
		{"what was not done", "lights to 20 percent", wire.Ack{Status: wire.Failed}, false, "brighter", "That was not done."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := light(70)
			before.ReportedAt = time.Now().Add(-time.Second)
			b := &building{lights: []platform.Device{before}, ack: c.ack, slow: c.slow}
			say := b.open(t, false)
			say(good, `{"deviceId":"room","text":`+quoted(c.first)+`}`)
			_, out := say(good, `{"deviceId":"room","text":`+quoted(c.then)+`}`)
			if out.Speak != c.says {
				t.Errorf("says %q, want %q", out.Speak, c.says)
			}
			if last := b.sent[len(b.sent)-1]; c.slow && (last.Percent == nil || *last.Percent != 40) {
				t.Errorf("sent %+v", last)
			}
			if last := b.sent[len(b.sent)-1]; c.name == "what was not done" && *last.Percent != 90 {
				t.Errorf("sent %+v", last)
			}
		})
	}
	t.Run("a tap", func(t *testing.T) {
		before := light(70)
		before.ReportedAt = time.Now().Add(-time.Second)
		b := &building{lights: []platform.Device{before}, ack: wire.Ack{Status: wire.Applied}}
		b.answered = func() (map[string]string, time.Time) {
			return map[string]string{wire.LightBrightness: "51", wire.LightPower: "on"}, time.Now()
		}
		if out := b.say(t, "brighter"); out.Speak != "Lights at 40 percent." {
			t.Errorf("says %q", out.Speak)
		}
		b.lights[0] = restored(b.lights[0])
		if out := b.say(t, "brighter"); out.Speak != darkness {
			t.Errorf("a level from before a restart: says %q", out.Speak)
		}
	})
	t.Run("until it reports", func(t *testing.T) {
		b := &building{lights: []platform.Device{light(70)}, ack: wire.Ack{Status: wire.Applied}}
		say := b.open(t, false)
		say(good, `{"deviceId":"room","text":"lights to 20 percent"}`)
		b.lights[0] = light(50) // a hand on the switch
		b.lights[0].ReportedAt = time.Now().Add(time.Second)
		if _, out := say(good, `{"deviceId":"room","text":"brighter"}`); out.Speak != "Lights at 70 percent." {
			t.Errorf("says %q", out.Speak)
		}
	})
}

// What was reported before the room was told something is not told after it.
func TestAQuestionCountsWhatTheRoomWasJustTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first string
		ack   wire.Ack
		slow  bool
		says  string
	}{
		{"a level", "lights to 40 percent", wire.Ack{Status: wire.Applied}, false, "Yes: the lights are on, at 40 percent."},
		{"off", "lights off", wire.Ack{Status: wire.Applied}, false, "No: the lights are off."},
		{"on, nobody says how bright", "lights on", wire.Ack{Status: wire.Applied}, false, "I do not know how the lights are now."},
		{"what nobody answered", "lights to 40 percent", wire.Ack{}, true, "I do not know how the lights are now."},
		{"what was not done", "lights to 40 percent", wire.Ack{Status: wire.Failed}, false, "Yes: the lights are on, at 70 percent."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := light(70)
			before.ReportedAt = time.Now().Add(-time.Second)
			b := &building{lights: []platform.Device{before}, ack: c.ack, slow: c.slow}
			say := b.open(t, false)
			say(good, `{"deviceId":"room","text":`+quoted(c.first)+`}`)
			if _, out := say(good, `{"deviceId":"room","text":"are the lights on?"}`); out.Speak != c.says {
				t.Errorf("says %q, want %q", out.Speak, c.says)
			}
			b.lights[0] = light(30)
			b.lights[0].ReportedAt = time.Now().Add(time.Second)
			if _, out := say(good, `{"deviceId":"room","text":"are the lights on?"}`); out.Speak != "Yes: the lights are on, at 30 percent." {
				t.Errorf("since they reported it says %q", out.Speak)
			}
		})
	}
}

// Nothing goes further than was said: shades that go a little, and a dark room that is to be darker.
func TestALittleIsNotTheWholeWay(t *testing.T) {
	for _, c := range []struct {
		text string
		room []platform.Device
		to   int // percent; -1: nothing is sent
		says string
	}{
		{"lower the blinds a little", []platform.Device{shade(50, "")}, 40, "Shades going to 40 percent open."},
		{"raise the blinds a touch", []platform.Device{shade(50, ""), shade(51, "")}, 60, "Shades going to 60 percent open."},
		{"Rollos ein bisschen hoch", []platform.Device{shade(95, "")}, 100, "Rollos fahren auf 100 Prozent offen."},
		{"lower the blinds a little", []platform.Device{shade(50, ""), shade(80, "")}, -1, howFar},
		{"lower the blinds a little", []platform.Device{shade(50, "opening")}, -1, howFar},
		{"lower the blinds a little", []platform.Device{shade(50, ""), away(shade(50, ""))}, -1, howFar},
		{"lower the blinds", []platform.Device{shade(50, "")}, 0, "Shades closing."},
		{"a bit darker, please", []platform.Device{light(0)}, -1, "The lights are off."},
		{"dim the lights by half", []platform.Device{light(0)}, -1, "The lights are off."},
		{"Etwas dunkler bitte", []platform.Device{light(0)}, -1, "Das Licht ist aus."},
		{"a bit darker, please", []platform.Device{light(30)}, 10, "Lights at 10 percent."},
	} {
		b := &building{lights: c.room, ack: wire.Ack{Status: wire.Applied}}
		out := b.say(t, c.text)
		if out.Speak != c.says || (len(b.sent) > 0) != (c.to >= 0) || len(b.sent) > 0 && *b.sent[0].Percent != c.to {
			t.Errorf("%q says %q, want %q; sent %+v, want to %d", c.text, out.Speak, c.says, b.sent, c.to)
		}
	}
}

// Who only says "stop" means shades that run, and nothing else.
func TestABareStopIsForShadesThatRun(t *testing.T) {
	b := &building{lights: []platform.Device{light(40), shade(60, "")}, ack: wire.Ack{Status: wire.Applied}}
	r := NewRoom(Config{Devices: b, Send: b, Site: b, Log: slog.New(slog.DiscardHandler)})
	for _, c := range []struct {
		text, motion, says string
	}{
		{"stop", "", unheard},
		{"stop", "closing", "Shades stopped."}, // by the panel or a switch
		{"lights off", "", "Lights off."},
		{"stop", "", unheard},
		{"close the blinds and switch the lights on", "", "Shades closing. Lights on."},
		{"hold it, that's enough", "", "Shades stopped."}, // nothing was reported yet
		{"stop", "", unheard},
		{"Rollos hoch", "", "Rollos fahren auf."},
		{"Halt, das reicht so", "", "Rollos angehalten."},
		{"open the blinds", "", "Shades opening."},
		{"stop talking", "", "I command only lights and shades."},
	} {
		b.lights[1].Motion = c.motion
		if out, err := r.Say(t.Context(), "room", c.text, ""); err != nil || out.Speak != c.says {
			t.Errorf("%q says %q, want %q; %v", c.text, out.Speak, c.says, err)
		}
	}
}
