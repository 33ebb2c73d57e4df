package automation

import (
	"fmt"
	"strconv"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// order is what a gesture asks for.
type order struct {
	command appliance.Command // without target, origin and expiry
	scene   appliance.ID      // to recall, and no command; 0: the command
	slide   bool              // one of many values of a slider
	final   bool              // the finger has left the slider
}

// stops reports whether nothing may wait before it.
func (o order) stops() bool { return o.command.Kind == appliance.ShadeStop }

// read says what an action of the panel platformControls asks for. acts is false for gestures that belong to one which
// acts (a finger that only touches, a button that is still down).
func read(a wire.WidgetAction) (o order, acts bool, err error) {
	if a.PanelID != wire.ControlsPanel {
		return o, false, fmt.Errorf("panel %q is not known here, only %s", clip(a.PanelID), wire.ControlsPanel)
	}
	switch a.WidgetID {
	case wire.LightPower:
		if a.Action != wire.Changed {
			return o, false, gesture(a, wire.Pressed, wire.Released)
		}
		switch a.Value {
		case "on":
			o.command.Kind = appliance.LightOn
		case "off":
			o.command.Kind = appliance.LightOff
		default:
			return o, false, fmt.Errorf("value %q of %s: want on or off", clip(a.Value), a.WidgetID)
		}
		return o, true, nil
	case wire.LightBrightness, wire.ShadePosition:
		return slider(a)
	case wire.ShadePreset:
		if a.Action != wire.Released {
			return o, false, gesture(a, wire.Pressed)
		}
		p, ok := presets[a.Value]
		if !ok {
			return o, false, fmt.Errorf("value %q of %s: want %s or %s", clip(a.Value), a.WidgetID, wire.PresetOneThird, wire.PresetTwoThirds)
		}
		o.command.Kind, o.command.Position = appliance.ShadeMoveTo, p
		return o, true, nil
	case wire.ShadeStop:
		if a.Action != wire.Clicked {
			return o, false, gesture(a, wire.Pressed, wire.Released)
		}
		o.command.Kind = appliance.ShadeStop
		return o, true, nil
	case wire.SceneRecall:
		if a.Action != wire.Clicked {
			return o, false, gesture(a, wire.Pressed, wire.Released)
		}
		id, err := strconv.ParseInt(a.Value, 10, 32)
		if err != nil || id <= 0 {
			return o, false, fmt.Errorf("value %q of %s: want the number of a scene", clip(a.Value), a.WidgetID)
		}
		o.scene = appliance.ID(id)
		return o, true, nil
	}
	return o, false, fmt.Errorf("widget %q is not on panel %s", clip(a.WidgetID), wire.ControlsPanel)
}

// presets are positions in percent open.
var presets = map[string]appliance.Position{wire.PresetOneThird: 33, wire.PresetTwoThirds: 67}

// gesture is why an action is refused that is none of those which belong to the widget without acting.
func gesture(a wire.WidgetAction, silent ...wire.Gesture) error {
	for _, g := range silent {
		if a.Action == g {
			return nil
		}
	}
	return fmt.Errorf("gesture %q: %s has none", clip(string(a.Action)), a.WidgetID)
}

func slider(a wire.WidgetAction) (o order, acts bool, err error) {
	if a.Action != wire.Changed && a.Action != wire.Released {
		return o, false, gesture(a, wire.Pressed)
	}
	percent, err := percentOf(a)
	if err != nil {
		return o, false, err
	}
	o.slide, o.final = true, a.Action == wire.Released
	switch {
	case a.WidgetID == wire.LightBrightness && percent == 0:
		o.command.Kind = appliance.LightOff
	case a.WidgetID == wire.LightBrightness:
		o.command.Kind, o.command.Level = appliance.LightLevel, appliance.Level(percent)
	case percent == 0: // motors that know their ends only can do these two
		o.command.Kind = appliance.ShadeClose
	case percent == 100:
		o.command.Kind = appliance.ShadeOpen
	default:
		o.command.Kind, o.command.Position = appliance.ShadeMoveTo, appliance.Position(percent)
	}
	return o, true, nil
}

// percentOf a slider: its value counts; percent only where there is none.
func percentOf(a wire.WidgetAction) (int, error) {
	if a.Value == "" && a.Percent != nil {
		if *a.Percent < 0 || *a.Percent > 100 {
			return 0, fmt.Errorf("percent %d of %s: want 0 to 100", *a.Percent, a.WidgetID)
		}
		return *a.Percent, nil
	}
	v, err := strconv.ParseUint(a.Value, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("value %q of %s: want 0 to 255", clip(a.Value), a.WidgetID)
	}
	return wire.PercentOf(int(v)), nil
}

// clip keeps strangers' text short in answers and logs.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
