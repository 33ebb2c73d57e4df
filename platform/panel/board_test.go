package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// A controller that reports more devices than a house has leaves the places of the others free.
func TestOneControllerCannotFillTheBoard(t *testing.T) {
	b := NewBoard()
	for i := range spotsMost + 1 {
		b.set("greedy", fmt.Sprint("device-", i), map[string]string{"light_power": "on"})
	}
	b.set("house", "lobby", map[string]string{"light_power": "on"})
	if got, _, _ := b.of("house", "lobby"); got["light_power"] != "on" {
		t.Errorf("the lobby shows %v after another controller reported %d devices, want its light on", got, spotsMost+1)
	}
	if n := len(b.shown); n > spotsOne+1 {
		t.Errorf("%d devices are remembered, want at most %d", n, spotsOne+1)
	}
	b.set("greedy", "device-0", map[string]string{"light_power": "off"})
	if got, _, _ := b.of("greedy", "device-0"); got["light_power"] != "off" {
		t.Errorf("a device that is known shows %v, want its light off", got)
	}
}

// An answer to a command is told apart from what a controller reports of itself.
func TestTheBoardKnowsWhenACommandWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBoard()
		on := map[string]string{"light_power": "on"}
		b.set("house", "lobby", on)
		if _, at := b.Answered("house", "lobby"); !at.IsZero() {
			t.Errorf("answered at %v, before anything was asked", at)
		}
		time.Sleep(time.Minute)
		b.Shown("house", "lobby", on)
		first := time.Now()
		time.Sleep(time.Minute)
		b.set("house", "lobby", map[string]string{"light_power": "off"})
		if widgets, at := b.Answered("house", "lobby"); !at.Equal(first) || widgets["light_power"] != "off" {
			t.Errorf("shows %v, answered at %v", widgets, at)
		}
		b.Late("house", wire.WidgetAction{DeviceID: "lobby"}, wire.Ack{Status: wire.Applied, Widgets: on})
		if _, at := b.Answered("house", "lobby"); !at.Equal(time.Now()) {
			t.Errorf("a late answer counts from %v", at)
		}
		b.Shown("house", "stranger", nil)
		if _, at := b.Answered("house", "stranger"); !at.IsZero() {
			t.Errorf("nothing was shown, and it counts from %v", at)
		}
	})
}

// How something ended of which all that could be told was that it is sent stands on the panel for a minute, or until something else
// is done there, in words for whoever stands before it.
func TestThePanelSaysHowSomethingEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBoard()
		r := New(Config{Board: b, Store: nowhere{}})
		says := func() string {
			v, _, err := r.view(t.Context(), platform.RoomDevice{ID: "lobby", Controller: "house"})
			if err != nil {
				t.Fatal(err)
			}
			return v.Message
		}
		light := wire.WidgetAction{DeviceID: "lobby", WidgetID: wire.LightPower}
		on := map[string]string{wire.LightPower: "on"}
		b.set("house", "lobby", on)
		silent := wire.Ack{
			Status: wire.Failed, Detail: "node 7 (Lobby 1): modbus unit 7 on /dev/ttyUSB0: no answer", Widgets: on, Things: 4,
			Not: []wire.Exception{{Kind: wire.KindNode, ID: 7, Name: "Lobby 1", Why: wire.WhySilent}},
		}
		b.take()
		b.Late("house", light, silent)
		if got := says(); got != "Lights: 3 of 4 done; Lobby 1 does not answer." {
			t.Errorf("it says %q", got)
		}
		if todo, _ := b.take(); !todo[spot{"house", "lobby"}] {
			t.Error("the panel shows what was tapped on")
		}
		b.Late("house", light, wire.Ack{Status: wire.Stale, Detail: "superseded"})
		if got := says(); got != "Lights: 3 of 4 done; Lobby 1 does not answer." {
			t.Errorf("after what was overtaken it says %q", got)
		}
		time.Sleep(saidFor)
		if got := says(); got != "" {
			t.Errorf("a minute later it says %q", got)
		}
		b.Late("house", light, wire.Ack{Status: wire.Applied, Widgets: on})
		if got := says(); got != "Lights: Done." {
			t.Errorf("it says %q", got)
		}
		b.tell("house", "lobby", ofShades, "") // as a tap of the shades does
		if got := says(); got != "Lights: Done." {
			t.Errorf("after the shades were tapped it says %q", got)
		}
		b.Late("house", wire.WidgetAction{DeviceID: "lobby", WidgetID: wire.ShadeStop}, silent)
		if got := says(); got != "Lights: Done. Shades: 3 of 4 done; Lobby 1 does not answer." {
			t.Errorf("of both it says %q", got)
		}
		time.Sleep(saidFor)
		b.tell("house", "lobby", ofLights, "")
		if got := says(); got != "" {
			t.Errorf("after the next tap it says %q", got)
		}
		b.Late("house", wire.WidgetAction{DeviceID: "nowhere", WidgetID: wire.ShadeStop}, wire.Ack{Status: wire.Applied})
		if len(b.told) != 1 {
			t.Errorf("a device that shows nothing says something: %v", b.told)
		}
	})
}

// nowhere is a store without controllers.
type nowhere struct{ Store }

func (nowhere) Enrolment(context.Context, string) (platform.Enrolment, error) {
	return platform.Enrolment{}, platform.ErrNotFound
}

// A panel has the scenes that its controller reported last, within bounds, and none of a controller that does not say.
func TestThePanelHasTheScenesOfItsRoom(t *testing.T) {
	b := NewBoard()
	r := New(Config{Board: b, Store: nowhere{}})
	report := func(scenes ...wire.Scene) (next <-chan struct{}) {
		t.Helper()
		_, _, next = b.of("house", "lobby")
		payload, err := wire.Envelope{ID: "1", Type: wire.TypePanel, TS: time.Now()}.Seal(wire.PanelValues{Panels: []wire.PanelValue{
			{DeviceID: "lobby", PanelID: wire.ControlsPanel, Widgets: map[string]string{wire.LightPower: "on"}, Scenes: scenes},
		}})
		if err == nil {
			err = b.Take("house", payload)
		}
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	shows := func() []wire.Scene {
		t.Helper()
		v, _, err := r.view(t.Context(), platform.RoomDevice{ID: "lobby", Controller: "house"})
		if err != nil {
			t.Fatal(err)
		}
		return v.Scenes
	}
	talk := wire.Scene{ID: 7, Name: "Talk", Lights: true, Shades: true}
	report()
	select {
	case <-report(talk):
	default:
		t.Error("nobody is told of a new scene")
	}
	if got := shows(); !slices.Equal(got, []wire.Scene{talk}) {
		t.Errorf("it has %+v", got)
	}
	select {
	case <-report(talk):
		t.Error("the same scenes are told as news")
	default:
	}
	if b.Shown("house", "lobby", map[string]string{wire.LightPower: "off"}); len(shows()) != 1 {
		t.Error("after a tap the scenes are gone")
	}
	many := []wire.Scene{{ID: 1, Lights: true}, {ID: 0, Name: "Nobody", Lights: true}, {ID: 2, Name: "Nothing"}, {ID: 3, Name: strings.Repeat("ä", 300), Lights: true}}
	for i := range 2 * wire.ScenesMost {
		many = append(many, wire.Scene{ID: int64(i + 10), Name: fmt.Sprint("Scene ", i), Shades: true})
	}
	report(many...)
	if got := shows(); len(got) != wire.ScenesMost || got[0].Name != strings.Repeat("ä", wire.SceneName) {
		t.Errorf("it has %d scenes, the first %q", len(got), got[0].Name)
	}
	report()
	if got := shows(); got != nil {
		t.Errorf("after they were removed it has %+v", got)
	}
	b.offer("house", "stranger", []wire.Scene{talk})
	if got := b.Scenes("house", "stranger"); got != nil {
		t.Errorf("a device that shows nothing has %+v", got)
	}
}
