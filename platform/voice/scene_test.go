package voice

import (
	"strings"
	"testing"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

var roomScenes = []wire.Scene{
	{ID: 7, Name: "Presentation", Lights: true, Shades: true}, {ID: 8, Name: "Movie night", Lights: true}, {ID: 9, Name: "Alles dicht", Shades: true},
	{ID: 10, Name: "Lunch", Lights: true}, {ID: 11, Name: "lunch", Lights: true}, {ID: 12, Name: "Reading mode", Lights: true},
}

// A scene of the room is recalled by its name and a word that calls for it, if every other word leaves the meaning as it is.
func TestASceneIsRecalledByItsName(t *testing.T) {
	for text, want := range map[string]string{
		"scene presentation":                                   "7 Scene Presentation.",
		"Presentation mode, please":                            "7 Scene Presentation.",
		"could you switch the lights to the presentation mode": "7 Scene Presentation.",
		"activate the Movie Night scene":                       "8 Scene Movie night.",
		"set the movie-night mood":                             "8 Scene Movie night.",
		"Bitte die Szene Alles dicht abrufen":                  "9 Szene Alles dicht.",
		"Ruf die Szene Presentation ab":                        "7 Szene Presentation.",
		"Kannst du bitte die Szene Movie Night einstellen":     "8 Szene Movie night.",
		"reading mode":                                         "12 Scene Reading mode.",

		"start the presentation":                      " ",
		"the movie night was great":                   " ",
		"don't activate the presentation scene":       " ",
		"end the presentation scene":                  " ",
		"schalte die Szene Presentation ab":           " ",
		"presentation scene in ten minutes":           " ",
		"presentation scene in the lobby":             " ",
		"presentation scene and lights to 20 percent": " ",
		"is the presentation scene on?":               " ",
		"activate the concert scene":                  " This room has no such scene.",
		"lunch scene":                                 " Several scenes have that name. Tap one.",
		"movie night":                                 ` Say "scene Movie night".`,
	} {
		b := &building{lights: []platform.Device{light(50)}, scenes: roomScenes, ack: wire.Ack{Status: wire.Applied}}
		out := b.say(t, text)
		value, says, _ := strings.Cut(want, " ")
		sent := ""
		for _, a := range b.sent {
			sent += a.Value
			if a.WidgetID != wire.SceneRecall || a.Action != wire.Clicked || a.Origin != wire.OriginVoice {
				t.Errorf("%q sent %+v", text, a)
			}
		}
		if sent != value || out.Success != (value != "") || says != "" && out.Speak != says || len(strings.Fields(out.Speak)) > speakable {
			t.Errorf("%q sends %q and says %q, want %q", text, sent, out.Speak, want)
		}
	}
	none := &building{}
	if out := none.say(t, "presentation scene"); out.Success || out.Speak != "This room has no such scene." {
		t.Errorf("a room without scenes says %+v", out)
	}
	b := &building{scenes: roomScenes}
	if out := b.say(t, "activate the concert scene"); !strings.Contains(out.Reply, "Presentation, Movie night, Alles dicht") {
		t.Errorf("which scenes there are is not shown: %s", out.Reply)
	}
}

// After a scene brighter and darker count from what the controller says that it led to.
func TestAStepAfterASceneCountsFromIt(t *testing.T) {
	b := &building{lights: []platform.Device{light(50)}, scenes: roomScenes, ack: wire.Ack{Status: wire.Applied, Offline: 1, Widgets: map[string]string{wire.LightPower: "on", wire.LightBrightness: "51"}}}
	b.open(t, false)
	say := b.open(t, false)
	if _, out := say(good, `{"deviceId":"room","text":"presentation mode"}`); out.Speak != "Scene Presentation. 1 device is offline." {
		t.Errorf("says %q", out.Speak)
	}
	if _, out := say(good, `{"deviceId":"room","text":"brighter"}`); !strings.HasPrefix(out.Speak, "Lights at 40 percent.") {
		t.Errorf("says %q", out.Speak)
	}
}
