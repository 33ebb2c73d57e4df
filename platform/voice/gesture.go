package voice

import (
	"context"
	"slices"
	"strconv"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// gesture is the finished gesture on the panel that a sentence stands for, and what is said when it is done. Without a
// widget nothing is sent: the panel is to be shown.
type gesture struct {
	widget  string
	action  wire.Gesture
	value   string
	percent *int
	scene   *wire.Scene // that it recalls; nil: none
	done    string
}

// lights reports whether a gesture sets lights.
func (g gesture) lights() bool {
	return g.widget == wire.LightPower || g.widget == wire.LightBrightness || g.scene != nil && g.scene.Lights
}

// moves reports whether shades run after a gesture.
func (g gesture) moves() bool {
	return g.widget == wire.ShadePosition || g.widget == wire.ShadePreset || g.scene != nil && g.scene.Shades
}

// thing is what a gesture moves.
func (g gesture) thing() string {
	switch {
	case g.scene != nil && g.scene.Lights && g.scene.Shades:
		return "device"
	case g.lights():
		return "light"
	}
	return "shade"
}

// stepPoints of "brighter" and "dimmer" without a number.
const stepPoints = 20

// gesture of an intent, or why there is none. What depends on how the room is looks there, and at what the sentence does
// earlier: a toggle becomes on or off before it is sent, a step a level.
func (r *Room) gesture(ctx context.Context, d platform.RoomDevice, h Heard, lang understand.Lang, earlier []gesture) (g gesture, why string) {
	say := func(g gesture, done string, values ...any) (gesture, string) {
		g.done = in(lang, done, values...)
		return g, ""
	}
	if h.Slots.Little {
		return r.nudge(ctx, d, h.Intent == ShadesOpen, lang, earlier)
	}
	switch h.Intent {
	case LightsOn:
		return say(power("on"), "Lights on.")
	case LightsOff:
		return say(power("off"), "Lights off.")
	case LightsToggle:
		if _, on := r.lights(ctx, d, earlier); on {
			return say(power("off"), "Lights off.")
		}
		return say(power("on"), "Lights on.")
	case LightsSet:
		return say(slider(wire.LightBrightness, *h.Slots.Percent), "Lights at %d percent.", *h.Slots.Percent)
	case LightsDim, LightsBrighten:
		level, _ := r.lights(ctx, d, earlier)
		switch {
		case level == nil:
			return g, in(lang, darkness)
		case *level == 0 && (h.Intent == LightsDim || h.Slots.Part && *h.Slots.By == 100): // nothing becomes brighter by that, nor doubled
			return g, in(lang, "The lights are off.")
		}
		by := stepPoints
		if h.Slots.By != nil {
			by = *h.Slots.By
		}
		if h.Slots.Part && *level > 0 {
			by = (*level*by + 50) / 100
		}
		if h.Intent == LightsDim {
			by = -by
		}
		goal := min(100, max(1, *level+by))
		return say(slider(wire.LightBrightness, goal), "Lights at %d percent.", goal)
	case ShadesOpen:
		return say(slider(wire.ShadePosition, 100), "Shades opening.")
	case ShadesClose:
		return say(slider(wire.ShadePosition, 0), "Shades closing.")
	case ShadesSet:
		return say(slider(wire.ShadePosition, *h.Slots.Percent), "Shades going to %d percent open.", *h.Slots.Percent)
	case ShadesPreset:
		name := map[string]string{wire.PresetOneThird: "one third", wire.PresetTwoThirds: "two thirds"}[h.Slots.Preset]
		return say(gesture{widget: wire.ShadePreset, action: wire.Released, value: h.Slots.Preset}, "Shades going to "+name+".")
	case ShadesStop:
		return say(gesture{widget: wire.ShadeStop, action: wire.Clicked}, "Shades stopped.")
	case PanelShow:
		return say(gesture{}, "Here are the controls.")
	}
	return g, in(lang, unheard)
}

// littlePoints are what shades move that go a little.
const littlePoints = 10

// nudge moves shades a little from where they stand; where they do not stand alike, or that is not known, a person has to say how far.
func (r *Room) nudge(ctx context.Context, d platform.RoomDevice, open bool, lang understand.Lang, earlier []gesture) (g gesture, why string) {
	v := r.shades(ctx, d)
	told := slices.ContainsFunc(earlier, func(g gesture) bool { return g.thing() != "light" })
	if v.moving || told || len(v.known) == 0 || len(v.known) < v.all || v.known[len(v.known)-1]-v.known[0] > nearShade {
		return g, in(lang, howFar)
	}
	goal := int(v.known[0]+0.5) - littlePoints
	if open {
		goal += 2 * littlePoints
	}
	goal = min(100, max(0, goal))
	g = slider(wire.ShadePosition, goal)
	g.done = in(lang, "Shades going to %d percent open.", goal)
	return g, ""
}

func power(value string) gesture {
	return gesture{widget: wire.LightPower, action: wire.Changed, value: value}
}

func slider(widget string, percent int) gesture {
	return gesture{widget: widget, action: wire.Released, value: strconv.Itoa(wire.SliderOf(percent)), percent: &percent}
}
