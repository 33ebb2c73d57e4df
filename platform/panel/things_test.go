package panel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

func at(v float64) *platform.Reading { return &platform.Reading{Value: v} }

// A panel is told each light and shade of its clusters, and nothing of others, of meters, or of what is not known.
func TestThingsOfARoom(t *testing.T) {
	dims, moves := []string{"switch", "dim", "tune"}, []string{"move", "position"}
	h := houses{devices: func(context.Context, string) ([]platform.Device, error) {
		return []platform.Device{
			{Kind: platform.KindLight, Name: "Lobby 1", Zones: []int64{3}, Abilities: dims, Online: true, Level: at(89.6), Kelvin: at(3000)},
			{Kind: platform.KindLight, Name: "Lobby 2", Zones: []int64{9, 4}, Abilities: dims, Level: at(0.3)},
			{Kind: platform.KindLight, Name: "Lobby 3", Zones: []int64{3, 4}, Abilities: []string{"switch"}, Online: true},
			{Kind: platform.KindLight, Name: "Lobby 4", Zones: []int64{4}, Abilities: dims, Online: true, Level: at(5), Colour: &platform.Colour{0, 255, 0, 9}},
			{Kind: platform.KindLight, Name: "Canteen", Zones: []int64{5}, Abilities: dims, Online: true, Level: at(10)},
			{Kind: platform.KindLight, Name: "Actuator of shades", Zones: []int64{3}, Abilities: moves, Online: true},
			{Kind: platform.KindPeripheral, Name: "Meter", Zones: []int64{3}, Online: true, Power: at(100)},
			{Kind: platform.KindShade, Name: "South", Zones: []int64{3}, Abilities: moves, Online: true, Position: at(40), Motion: "closing"},
			{Kind: platform.KindShade, Name: "West", Zones: []int64{4}, Abilities: moves, Online: true, Position: at(0), Motion: "stopped"},
			{Kind: platform.KindShade, Name: "East", Zones: []int64{3}, Abilities: moves, Motion: "opening"},
		}, nil
	}}
	got, err := h.room(t.Context(), platform.Controller{ID: "house", Revision: 1}, []int64{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"lights":[{"name":"Lobby 1","online":true,"level":90,"kelvin":3000},{"name":"Lobby 2","online":false,"level":1},{"name":"Lobby 3","online":true},{"name":"Lobby 4","online":true,"level":5,"rgbw":[0,255,0,9]}],` +
		`"shades":[{"name":"South","online":true,"position":40,"motion":"closing"},{"name":"West","online":true,"position":0},{"name":"East","online":false}]}`
	if string(said) != want {
		t.Errorf("the panel is told\n%s, want\n%s", said, want)
	}
}

// All devices of a controller are read once for all its panels, again when it reported something, and then no oftener than a
// reading may cost; one house with thousands of lights in a room sends no panel a list of them.
func TestThingsAreReadOnceForAllPanels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, takes := 0, time.Millisecond
		h := houses{devices: func(_ context.Context, controller string) (out []platform.Device, err error) {
			read++
			time.Sleep(takes)
			for i := range map[string]int{"large": thingsMost + 1}[controller] + 1 {
				out = append(out, platform.Device{Kind: platform.KindLight, Name: fmt.Sprint(i), Zones: []int64{1}, Abilities: []string{"dim"}, Level: at(float64(read))})
			}
			return out, nil
		}}
		shown := func(c platform.Controller) int {
			t.Helper()
			got, err := h.room(t.Context(), c, []int64{1})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Lights) == 0 {
				return 0
			}
			return *got.Lights[0].Level
		}
		one := platform.Controller{ID: "house", Revision: 7}
		for range 5 {
			if got := shown(one); got != 1 || read != 1 {
				t.Fatalf("level %d after %d readings, want 1 after 1", got, read)
			}
		}
		one.Revision++
		if got := shown(one); got != 1 {
			t.Errorf("read again after no time at all: %d", got)
		}
		time.Sleep(restLeast + time.Millisecond)
		if got := shown(one); got != 2 {
			t.Errorf("%d, not read again after it reported something", got)
		}
		takes = time.Second // a large house on a busy machine
		one.Revision++
		time.Sleep(restLeast + time.Millisecond)
		shown(one)
		one.Revision++
		time.Sleep(9 * time.Second)
		if got := shown(one); got != 3 {
			t.Errorf("reading %d: a house that is slow to read is read all the time", got)
		}
		time.Sleep(2 * time.Second)
		if got := shown(one); got != 4 {
			t.Errorf("reading %d, want the fourth", got)
		}
		if got := shown(platform.Controller{ID: "large", Revision: 1}); got != 0 {
			t.Error("a panel is told of thousands of lights")
		}
		takes = 0
		for i := range 3 * housesMost {
			shown(platform.Controller{ID: fmt.Sprint(i), Revision: 1})
		}
		if len(h.all) > housesMost {
			t.Errorf("%d houses are remembered", len(h.all))
		}
	})
}

// unable sends nothing.
type unable struct{ err error }

func (u unable) SendAs(context.Context, string, string, time.Time, time.Time, wire.WidgetAction) (wire.Ack, error) {
	return wire.Ack{}, u.err
}

// Of a tap from before this program began nobody knows whether the one before sent it.
func TestATapFromBeforeTheStartIsNotToldAsLeft(t *testing.T) {
	d := platform.RoomDevice{ID: "lobby", Workspace: "Lobby", Controller: "house", Clusters: []int64{1}, Deployed: true}
	for _, err := range []error{platform.ErrOffline, errors.New("broken")} {
		r := New(Config{Board: NewBoard(), Send: unable{err}, Log: slog.New(slog.DiscardHandler)})
		tap := Tap{Widget: wire.LightPower, Type: wire.Changed, Value: "on", Finger: true}
		tap.Made = r.began.Add(-time.Second)
		if out := r.put(t.Context(), d, tap); out.Success || out.Status != unknown || out.Message != nothingKnown {
			t.Errorf("%v: of before %+v", err, out)
		}
		tap.Made = r.began.Add(time.Second)
		if out := r.put(t.Context(), d, tap); out.Success || out.Status != "" || out.Message == nothingKnown {
			t.Errorf("%v: of after %+v", err, out)
		}
	}
}
