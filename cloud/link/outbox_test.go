package link

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
)

func seal(t wire.Type, data any) ([]byte, error) { return envelope(t, "", data) }

// An outage of any length costs memory up to a bound; the newest of everything is kept.
func TestAnOutageIsBounded(t *testing.T) {
	o := newOutbox()
	const many = 100000
	for i := range many {
		text := []byte(fmt.Sprint(i))
		o.answer(parcel{below: wire.UpAck, bytes: text, urgent: true})
		o.event(parcel{below: wire.UpEvent, bytes: text, event: true})
		o.measure([]wire.Sample{{Node: 1, Power: float64(i), At: time.Unix(int64(i), 0)}})
		o.state(key{wire.KindNode, int64(i % 100)}, &wire.State{Kind: wire.KindNode, ID: int64(i % 100), Level: &wire.Value{Value: float64(i)}})
		o.panel([]wire.PanelValue{{DeviceID: fmt.Sprint(i), PanelID: "p"}})
	}
	if waiting, lost := o.size(); waiting != answersMost+eventsMost+samplesMost+100+panelsMost || lost != 3*many-answersMost-eventsMost-samplesMost {
		t.Errorf("%d wait, %d were lost", waiting, lost)
	}
	// While the platform is away, states alone are said.
	for range 100 {
		p, ok, err := o.next(false, seal)
		var s wire.State
		if env, err2 := wire.Open(p.bytes); !ok || err != nil || err2 != nil || env.Read(&s) != nil || s.Level.Value < many-100 {
			t.Fatalf("got %+v %v %v", s, ok, err)
		}
	}
	if p, ok, _ := o.next(false, seal); ok {
		t.Errorf("to a platform that is away: %+v", p)
	}
	p, _, _ := o.next(true, seal)
	if want := fmt.Sprint(many - answersMost); string(p.bytes) != want {
		t.Errorf("first answer %s, want %s", p.bytes, want)
	}
	// What was not acknowledged goes out first.
	o.back(p)
	if again, _, _ := o.next(true, seal); string(again.bytes) != string(p.bytes) {
		t.Errorf("got %s, want %s again", again.bytes, p.bytes)
	}
	largest := 0
	for {
		p, ok, err := o.next(true, seal)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		largest = max(largest, len(p.bytes))
	}
	if largest > wire.MaxMessage {
		t.Errorf("a message of %d bytes", largest)
	}
	if waiting, _ := o.size(); waiting != 0 {
		t.Errorf("%d are left", waiting)
	}
}

func TestTheNewestStateOfAThingIsSaid(t *testing.T) {
	o := newOutbox()
	k := key{wire.KindNode, 1}
	o.state(k, &wire.State{Kind: wire.KindNode, ID: 1, Name: "old"})
	o.state(k, &wire.State{Kind: wire.KindNode, ID: 1, Name: "new"})
	p, _, _ := o.next(true, seal)
	var s wire.State
	if env, err := wire.Open(p.bytes); err != nil || env.Read(&s) != nil || s.Name != "new" || !p.keep {
		t.Errorf("got %+v %v", s, err)
	}
	if _, ok, _ := o.next(true, seal); ok {
		t.Error("the old one is said, too")
	}
	o.state(k, nil)
	if p, ok, err := o.next(true, seal); !ok || err != nil || len(p.bytes) != 0 || !p.keep {
		t.Errorf("what is gone: %+v %v %v", p, ok, err)
	}
}

// Panels with as many scenes as there may be, of names as long as they may be, fit their messages.
func TestPanelsWithScenesFit(t *testing.T) {
	o := newOutbox()
	for i := range panelsMost {
		v := wire.PanelValue{DeviceID: fmt.Sprint("device-", i), PanelID: wire.ControlsPanel, Widgets: map[string]string{wire.LightPower: "on"}}
		for k := range wire.ScenesMost {
			v.Scenes = append(v.Scenes, wire.Scene{ID: int64(k + 1), Name: strings.Repeat("<", wire.SceneName), Lights: true, Shades: true})
		}
		o.panel([]wire.PanelValue{v})
	}
	panels := 0
	for {
		p, ok, err := o.next(true, seal)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		var values wire.PanelValues
		env, err := wire.Open(p.bytes)
		if err != nil || env.Read(&values) != nil || len(values.Panels) == 0 {
			t.Fatalf("%v: %s", err, p.bytes)
		}
		panels += len(values.Panels)
	}
	if panels != panelsMost {
		t.Errorf("%d panels were told of %d", panels, panelsMost)
	}
}
