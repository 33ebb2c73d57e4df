package voice

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// gesture is the finished gesture on the panel that a sentence stands for, and what is said when it is done. Without a
// widget nothing is sent: the panel is to be shown.
type gesture struct {
	widget  string
	action  wire.Gesture
	value   string
	percent *int
	done    string
}

// thing is what a gesture moves.
func (g gesture) thing() string {
	if g.widget == wire.LightPower || g.widget == wire.LightBrightness {
		return "light"
	}
	return "shade"
}

// stepPoints of "brighter" and "dimmer" without a number.
const stepPoints = 20

// gesture of an intent, or why there is none. What depends on how the room is looks there, and at what the sentence does
// earlier: a toggle becomes on or off before it is sent, a step a level.
func (r *Room) gesture(ctx context.Context, d platform.RoomDevice, h Heard, earlier []gesture) (g gesture, why string) {
	switch h.Intent {
	case LightsOn:
		return power(true), ""
	case LightsOff:
		return power(false), ""
	case LightsToggle:
		_, on := r.lights(ctx, d, earlier)
		return power(!on), ""
	case LightsSet:
		return slider(wire.LightBrightness, *h.Slots.Percent, "Lights at %d percent."), ""
	case LightsDim, LightsBrighten:
		level, _ := r.lights(ctx, d, earlier)
		if level == nil {
			return g, `I don't know how bright the lights are now. Say for instance "lights to 50 percent".`
		}
		by := stepPoints
		if h.Slots.By != nil {
			by = *h.Slots.By
		}
		if h.Intent == LightsDim {
			by = -by
		}
		return slider(wire.LightBrightness, min(100, max(1, *level+by)), "Lights at %d percent."), ""
	case ShadesOpen:
		g = slider(wire.ShadePosition, 100, "")
		g.done = "Shades opening."
		return g, ""
	case ShadesClose:
		g = slider(wire.ShadePosition, 0, "")
		g.done = "Shades closing."
		return g, ""
	case ShadesSet:
		return slider(wire.ShadePosition, *h.Slots.Percent, "Shades going to %d percent open."), ""
	case ShadesPreset:
		name := map[string]string{wire.PresetOneThird: "one third", wire.PresetTwoThirds: "two thirds"}[h.Slots.Preset]
		return gesture{widget: wire.ShadePreset, action: wire.Released, value: h.Slots.Preset, done: "Shades going to " + name + "."}, ""
	case ShadesStop:
		return gesture{widget: wire.ShadeStop, action: wire.Clicked, done: "Shades stopped."}, ""
	case PanelShow:
		return gesture{done: "Here are the controls."}, ""
	}
	return g, cannot
}

func power(on bool) gesture {
	if on {
		return gesture{widget: wire.LightPower, action: wire.Changed, value: "on", done: "Lights on."}
	}
	return gesture{widget: wire.LightPower, action: wire.Changed, value: "off", done: "Lights off."}
}

func slider(widget string, percent int, done string) gesture {
	g := gesture{widget: widget, action: wire.Released, value: strconv.Itoa(wire.SliderOf(percent)), percent: &percent}
	if done != "" {
		g.done = fmt.Sprintf(done, percent)
	}
	return g
}

// lights tells how bright the lights of a room will be after the gestures before, nil if that is not known, and whether any
// will be on.
func (r *Room) lights(ctx context.Context, d platform.RoomDevice, earlier []gesture) (level *int, on bool) {
	level, on = r.lit(ctx, d)
	for _, g := range earlier {
		switch turned := g.value == "on"; {
		case g.widget == wire.LightBrightness:
			level, on = g.percent, *g.percent > 0
		case g.widget == wire.LightPower && turned != on:
			level, on = nil, turned // how bright they come on is the controller's
		}
	}
	return level, on
}

// lit tells how bright the lights of a room are on average, nil if that is not known, and whether any is on. A level from
// before a restart is not known.
func (r *Room) lit(ctx context.Context, d platform.RoomDevice) (level *int, on bool) {
	devices, err := r.cfg.Site.Devices(ctx, d.Controller)
	if err != nil {
		r.cfg.Log.Warn("voice: the state of the room is not known", "device", d.ID, "why", err)
		return nil, false
	}
	sum, n := 0.0, 0
	for _, v := range devices {
		if v.Kind != platform.KindLight || !v.Online || v.Level == nil || v.Level.Source == string(wire.Restored) || !slices.ContainsFunc(v.Zones, func(z int64) bool { return slices.Contains(d.Clusters, z) }) {
			continue
		}
		sum += v.Level.Value
		n++
		on = on || v.Level.Value > 0
	}
	if n == 0 {
		return nil, false
	}
	mean := int(sum/float64(n) + 0.5)
	return &mean, on
}
