package panel

import (
	"context"
	"fmt"
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
