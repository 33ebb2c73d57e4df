package automation

import (
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// Of a switch that is tapped again and again the newest tap is what somebody wants: those that wait are left out. What is asked of
// another widget keeps its place.
func TestTheNewestTapOfASwitchCounts(t *testing.T) {
	taps := 0
	tap := func(widget string, kind appliance.Kind, how wire.Gesture, value string) task {
		taps++
		e := event{Envelope: wire.Envelope{ID: value}, WidgetAction: wire.WidgetAction{WidgetID: widget, PanelID: wire.ControlsPanel, Action: how, Value: value}}
		o, acts, err := read(e.WidgetAction)
		if err != nil || !acts || o.command.Kind != kind {
			t.Fatalf("%s %s: %+v %v %v", widget, value, o, acts, err)
		}
		return task{event: e, order: o}
	}
	on := func() task { return tap(wire.LightPower, appliance.LightOn, wire.Changed, "on") }
	off := func() task { return tap(wire.LightPower, appliance.LightOff, wire.Changed, "off") }
	l := &lane{}
	if overtaken, interrupt := l.offer(on()); overtaken != nil || interrupt {
		t.Errorf("the first: %v %v", overtaken, interrupt)
	}
	now := time.Now()
	if first, _, ok := l.next(now); !ok || first.Value != "on" {
		t.Fatalf("next is %+v", first)
	}
	level := tap(wire.LightBrightness, appliance.LightLevel, wire.Released, "102")
	l.offer(level)
	for i := range 19 {
		next := off
		if i%2 == 1 {
			next = on
		}
		overtaken, interrupt := l.offer(next())
		if want := min(i, 1); len(overtaken) != want || interrupt {
			t.Fatalf("tap %d leaves out %d, want %d; it interrupts: %v", i+2, len(overtaken), want, interrupt)
		}
	}
	var left []string
	for {
		one, _, ok := l.next(now)
		if !ok {
			break
		}
		left = append(left, one.WidgetID+" "+one.Value)
	}
	if want := []string{"light_brightness 102", "light_power off"}; !slices.Equal(left, want) {
		t.Errorf("%v are done, want %v", left, want)
	}

	shades := &lane{}
	shades.offer(tap(wire.ShadePreset, appliance.ShadeMoveTo, wire.Released, wire.PresetOneThird))
	if overtaken, interrupt := shades.offer(tap(wire.ShadePreset, appliance.ShadeMoveTo, wire.Released, wire.PresetTwoThirds)); len(overtaken) != 1 || interrupt {
		t.Errorf("the second preset leaves out %v", overtaken)
	}
}
