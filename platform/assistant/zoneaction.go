package assistant

import (
	"math"
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// action is what is sent to one zone. What depends on how the zone is becomes an absolute value, so that the yes is to a known thing.
// stays tells why the zone is left as it is, why why nothing can be done of the whole order.
func (a *asked) action(d understand.Do, z platform.Zone) (action platform.Action, stays, why string) {
	level := func(v int) platform.Action { return platform.Action{Level: &v} }
	t := a.site.Levels(a.site.ZoneScope(z.ID))
	switch d.Switch {
	case "on":
		return level(100), "", ""
	case "off":
		return level(0), "", ""
	case "stop":
		return platform.Action{StopShade: true}, "", ""
	case "toggle":
		if len(lit(t)) > 0 {
			return level(0), "", ""
		}
		return level(100), "", ""
	case "dim", "brighten":
		v, stays, why := a.stepped(d, z, t)
		return level(v), stays, why
	}
	v := 0
	switch {
	case len(d.Like) > 0:
		there := a.scopeIn(d.Like)
		mean, ok := a.site.MeanLevel(there)
		if !ok {
			return action, "", a.f("I do not know how bright %s is now; say to what level, from 0 to 100 %%.", there.Label)
		}
		v = int(math.Round(mean))
	case d.Thirds > 0:
		v = []int{0, 33, 67}[d.Thirds]
	case d.Percent != nil:
		v = *d.Percent
	}
	if d.Kind == understand.Shade {
		stays, why := a.further(d, z, v)
		return platform.Action{Position: &v}, stays, why
	}
	return level(v), "", ""
}

func lit(t facts.Things) []facts.Thing {
	return t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 })
}

// The least and the most that "a little" changes, in points and as a part of what there is.
const (
	littlePoints = 10
	littlePart   = 3
)

// stepped is the level that a zone is brought to by a step. All its lights get one level, so that a step which would make some brighter
// and others darker is none; and a little never switches anything on.
func (a *asked) stepped(d understand.Do, z platform.Zone, t facts.Things) (level int, stays, why string) {
	known, on := t.Where(facts.Current, nil), lit(t)
	down := d.Switch == "dim"
	switch {
	case len(known) == 0:
		return 0, "", a.f("I do not know how bright %s is now; say to what level, from 0 to 100 %%.", label(z.Name))
	case len(on) == 0 && (down || d.Size == "little"): // what is off is not switched on to be dimmer
		return 0, a.f("off"), ""
	case len(on) < len(known) && d.Size == "little":
		return 0, "", a.f("%d of the %d lights in %s are off and would go on; say to what level, from 0 to 100 %%.", len(known)-len(on), len(known), label(z.Name))
	}
	low, high, sum := 100.0, 0.0, 0.0
	for _, one := range on {
		low, high, sum = min(low, *one.Value), max(high, *one.Value), sum+*one.Value
	}
	mean := sum / float64(max(1, len(on)))
	by := float64(stepPoints)
	switch {
	case d.By != nil:
		if by = float64(*d.By); d.Size == understand.ByPart && len(on) > 0 {
			by = mean * by / 100
		}
	case d.Size == "little":
		by = max(1, min(littlePoints, mean/littlePart))
	case down:
		by = min(by, mean/2)
	}
	if down {
		by = -by
	}
	goal := int(math.Round(min(100, max(1, mean+by))))
	switch {
	case len(on) > 1 && (down && low < float64(goal) || !down && high > float64(goal)):
		return 0, "", a.f("the lights in %s are at %s to %s, and I can give a zone one level only: some would get brighter and others darker. Say to what level, from 0 to 100 %%.", label(z.Name), percent(low), percent(high))
	case len(on) > 0 && goal == int(math.Round(mean)):
		return 0, a.f("at %s already", percent(mean)), ""
	}
	return goal, "", ""
}

// further tells of an order to close or open a part of the way that the shades of a zone are there already, or that some of them would
// go back.
func (a *asked) further(d understand.Do, z platform.Zone, goal int) (stays, why string) {
	t := a.site.Positions(a.site.ZoneScope(z.ID))
	closes := d.Toward == "closed" || d.Toward == "closing"
	beyond := t.Where(facts.Current, func(one facts.Thing) bool {
		return closes && *one.Value < float64(goal)-shadeEnd || d.Toward == "open" && *one.Value > float64(goal)+shadeEnd
	})
	there := t.Where(facts.Current, func(one facts.Thing) bool { return math.Abs(*one.Value-float64(goal)) <= shadeEnd })
	switch {
	case len(beyond) == 0:
		return "", ""
	case d.Toward == "closing":
		return "", a.f("that would open %d of the %d shades in %s. Say “%d %% open” or “%d %% open”, as you mean it.", len(beyond), len(t.All), label(z.Name), goal, 100-goal)
	case len(beyond)+len(there) == len(t.All):
		return a.f(map[string]string{"closed": "closed as far already, or further", "open": "open as far already, or further"}[d.Toward]), ""
	case closes:
		return "", a.f("%d of the %d shades in %s are closed further than that, and would open. Say “to %d %%” if you want that.", len(beyond), len(t.All), label(z.Name), goal)
	}
	return "", a.f("%d of the %d shades in %s are open further than that, and would close. Say “to %d %%” if you want that.", len(beyond), len(t.All), label(z.Name), goal)
}

// stands reports whether all shades of a zone are known to stand still.
func (a *asked) stands(z platform.Zone) bool {
	return !slices.ContainsFunc(a.site.In(a.site.ZoneScope(z.ID), platform.KindShade), func(d platform.Device) bool { return !d.Online || d.Motion != "stopped" })
}
