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
	if shades := h.Intent == ShadesOpen || h.Intent == ShadesClose; shades && (h.Slots.Little || h.Slots.By != nil) {
		by := littlePoints
		if h.Slots.By != nil {
			by = *h.Slots.By
		}
		if h.Intent == ShadesClose {
			by = -by
		}
		return r.nudge(ctx, d, by, lang, earlier)
	}
	if why := r.against(ctx, d, h, lang, earlier); why != "" {
		return g, why
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
		case *level == 0 && h.Slots.Back:
			return say(power("on"), "Lights on.")
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

// nudge moves shades by points of their way from where they stand; where they do not stand alike, or that is not known, a person has to say how far.
func (r *Room) nudge(ctx context.Context, d platform.RoomDevice, by int, lang understand.Lang, earlier []gesture) (g gesture, why string) {
	v := r.shades(ctx, d)
	if v.moving || moved(earlier) || len(v.known) == 0 || len(v.known) < v.all || v.known[len(v.known)-1]-v.known[0] > nearShade {
		return g, in(lang, howFar)
	}
	goal := min(100, max(0, int(v.known[0]+0.5)+by))
	g = slider(wire.ShadePosition, goal)
	g.done = in(lang, "Shades going to %d percent open.", goal)
	return g, ""
}

// moved reports whether shades run after some gestures.
func moved(earlier []gesture) bool {
	return slices.ContainsFunc(earlier, func(g gesture) bool { return g.thing() != "light" })
}

// against asks what is meant where a part was said that lights or shades would go to against the way that was said with it: "blinds up a
// quarter", and they are half open.
func (r *Room) against(ctx context.Context, d platform.RoomDevice, h Heard, lang understand.Lang, earlier []gesture) (why string) {
	goal := map[string]int{wire.PresetOneThird: 33, wire.PresetTwoThirds: 67}[h.Slots.Preset]
	if h.Slots.Percent != nil {
		goal = *h.Slots.Percent
	}
	back := false
	switch toward := h.Slots.Toward; toward {
	case "":
		return ""
	case "darker":
		level, _ := r.lights(ctx, d, earlier)
		back = level != nil && *level < goal
	default:
		v := r.shades(ctx, d)
		near := max(nearShade, v.within)
		back = !v.moving && !moved(earlier) && slices.ContainsFunc(v.known, func(at float64) bool {
			if toward == "open" || toward == "opening" {
				return at > float64(goal)+near
			}
			return at < float64(goal)-near
		})
	}
	part := parts[goal]
	if h.Slots.Toward == "closed" {
		part = parts[100-goal]
	}
	switch {
	case !back:
		return ""
	case part == "" || h.Slots.Toward == "opening" || h.Slots.Toward == "closing":
		return in(lang, howFar)
	}
	return in(lang, "To %s, or by %s? Say it again.", in(lang, part), in(lang, part))
}

// parts are what is said of percentages.
var parts = map[int]string{25: "a quarter", 33: "a third", 50: "half", 67: "two thirds", 75: "three quarters"}

func power(value string) gesture {
	return gesture{widget: wire.LightPower, action: wire.Changed, value: value}
}

func slider(widget string, percent int) gesture {
	return gesture{widget: widget, action: wire.Released, value: strconv.Itoa(wire.SliderOf(percent)), percent: &percent}
}
