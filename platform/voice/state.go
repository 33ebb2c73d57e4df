package voice

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// goal is what lights were told, until they report.
type goal struct {
	level *int // percent; nil: not known
	on    bool
	at    time.Time // when that was answered, or no longer waited for
	panel bool      // it is what the panel shows, which may be from before a restart
	done  bool      // the controller said so
}

// goalLife is how long a goal counts of which nothing is reported.
const goalLife = time.Minute

// goals are what rooms were told by voice last.
type goals struct {
	mu sync.Mutex
	of map[string]goal // by device
}

// set notes a gesture for lights that was sent, with what the controller said of them.
func (g *goals) set(device string, did gesture, ack wire.Ack, now time.Time) {
	if !did.lights() {
		return
	}
	one := goal{level: did.percent, on: did.value == "on" || did.percent != nil && *did.percent > 0, at: now, done: ack.Status == wire.Applied}
	if did.percent == nil {
		one.level = brightness(ack.Widgets)
	}
	switch {
	case did.scene != nil:
		one.on = ack.Widgets[wire.LightPower] == "on"
	case did.value == "off":
		one.level = new(int)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, old := range g.of {
		if now.Sub(old.at) > goalLife {
			delete(g.of, id)
		}
	}
	g.of[device] = one
}

// brightness is what a panel shows of it, in percent; nil: nothing.
func brightness(widgets map[string]string) *int {
	n, err := strconv.Atoi(widgets[wire.LightBrightness])
	if err != nil || n < 0 || n > 255 {
		return nil
	}
	percent := wire.PercentOf(n)
	return &percent
}

func (g *goals) forget(device string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.of, device)
}

// goal is what the lights of a room were told last, by voice or on the panel, if that counts still.
func (r *Room) goal(d platform.RoomDevice, now time.Time) (goal, bool) {
	r.goals.mu.Lock()
	one := r.goals.of[d.ID]
	r.goals.mu.Unlock()
	if r.cfg.Answered != nil {
		if widgets, at := r.cfg.Answered(d.Controller, d.ID); at.After(one.at) {
			one = goal{level: brightness(widgets), on: widgets[wire.LightPower] == "on", at: at, panel: true, done: true}
		}
	}
	return one, now.Sub(one.at) <= goalLife
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

// lit tells how bright the lights of a room are on average, nil if that is not known, and whether any is on. A level from before a
// restart is not known, and one that was reported before the room was told something newer is not believed.
func (r *Room) lit(ctx context.Context, d platform.RoomDevice) (level *int, on bool) {
	told, newer := r.goal(d, time.Now())
	sum, n := 0.0, 0
	for _, v := range r.inRoom(ctx, d, platform.KindLight) {
		switch {
		case newer && v.ReportedAt.Before(told.at) && !(told.panel && !reads(v, v.Level)):
			return told.level, told.on
		case reads(v, v.Level):
			sum += v.Level.Value
			n++
			on = on || v.Level.Value > 0
		}
	}
	if n == 0 {
		return nil, false
	}
	mean := int(sum/float64(n) + 0.5)
	return &mean, on
}

// reads reports whether a reading tells how a device is.
func reads(v platform.Device, r *platform.Reading) bool {
	return v.Online && r != nil && r.Source != string(wire.Restored)
}

// inRoom are the lights or the shades of a room.
func (r *Room) inRoom(ctx context.Context, d platform.RoomDevice, kind string) []platform.Device {
	devices, err := r.cfg.Site.Devices(ctx, d.Controller)
	if err != nil {
		r.cfg.Log.Warn("voice: the state of the room is not known", "device", d.ID, "why", err)
		return nil
	}
	return slices.DeleteFunc(slices.Clone(devices), func(v platform.Device) bool {
		return v.Kind != kind || !slices.ContainsFunc(v.Zones, func(z int64) bool { return slices.Contains(d.Clusters, z) })
	})
}

// state answers how the lights or shades of the room are now; false for any other question.
func (r *Room) state(ctx context.Context, d platform.RoomDevice, f understand.Frame) (said saying, ok bool) {
	if f.Topic == understand.Comfort && (f.Aspect == understand.Dark || f.Aspect == understand.Bright || f.Aspect == understand.Sunny) {
		return r.grumbled(ctx, d, f), true
	}
	if fault := f.Topic == understand.Faults || f.Topic == understand.Offline; fault && ours(f) && (!f.Is(understand.Asked) || r.cfg.Assistant == nil && f.Unclear == nil && len(f.Places) == 0) {
		return r.answering(ctx, d, f.Lang)
	}
	percent := !slices.ContainsFunc(f.Conds, func(c understand.Cond) bool { return c.Unit != understand.Percent })
	where := f.By == string(understand.Zone) && f.Form == understand.List // "where are the blinds"
	plain := f.Unclear == nil && f.Is(understand.Asked) && (f.Op == understand.Tell || f.Op == understand.Average) && (f.When == nil || f.When.Now) && f.Against == nil &&
		len(f.Places)+len(f.Except)+len(f.Having) == 0 && percent && !f.Is(understand.Future) && !f.Is(understand.Whole) && (f.By == "" || where) && f.Per == "" && f.Top == 0
	shades := f.Topic == understand.Shades || f.Topic == understand.Inventory && where && f.Kind == understand.Shade
	switch {
	case plain && f.Topic == understand.Lights && slices.Contains([]understand.State{"", understand.On, understand.Off}, f.State):
		text, yes, known := r.lightsAre(ctx, d, f)
		return known.told(f, yes, text), true
	case plain && shades && slices.Contains([]understand.State{"", understand.Open, understand.Closed, understand.Moving}, f.State):
		text, yes, known := r.shadesAre(ctx, d, f)
		return known.told(f, yes, text), true
	case plain && f.Topic == understand.Inventory && (f.Kind == "" || f.Kind == understand.Light || f.Kind == understand.Shade):
		return r.furnished(ctx, d, f.Lang), true
	}
	return said, false
}

// ours reports whether what is said to be broken is of this system: a light or a shade that is named, or nothing else.
func ours(f understand.Frame) bool {
	named := f.Kind == understand.Light || f.Kind == understand.Shade
	return f.Unclear == nil || named && f.Unclear.Why != understand.Absent
}

// answering tells who says that something is broken how many of the room's things answer; false: it has none.
func (r *Room) answering(ctx context.Context, d platform.RoomDevice, lang understand.Lang) (saying, bool) {
	var silent []string
	all := slices.Concat(r.inRoom(ctx, d, platform.KindLight), r.inRoom(ctx, d, platform.KindShade))
	for _, v := range all {
		if !v.Online {
			silent = append(silent, v.Name)
		}
	}
	switch {
	case len(all) == 0:
		return saying{}, false
	case len(silent) == 0:
		return same(in(lang, "All lights and shades here answer. Please tell the building's technician.")), true
	}
	text := in(lang, "%d of %d lights and shades here do not answer.", len(silent), len(all))
	return saying{text, text + " (" + strings.Join(silent, ", ") + ")"}, true
}

// furnished tells what there is in the room to be commanded.
func (r *Room) furnished(ctx context.Context, d platform.RoomDevice, lang understand.Lang) saying {
	var names []string
	lights, shades := r.inRoom(ctx, d, platform.KindLight), r.inRoom(ctx, d, platform.KindShade)
	for _, v := range slices.Concat(lights, shades) {
		names = append(names, v.Name)
	}
	text := in(lang, "Lights here: %d; shades: %d.", len(lights), len(shades))
	return saying{text, text + " " + strings.Join(names, ", ")}
}

// shades are where those of the room stand.
func (r *Room) shades(ctx context.Context, d platform.RoomDevice) values {
	return r.values(ctx, d, platform.KindShade, func(d platform.Device) *platform.Reading { return d.Position })
}

// values are what things of one kind report, in percent, from the lowest on; lit and the like are those above zero.
type values struct {
	all    int // things that there are
	known  []float64
	within float64 // how far off the least certain of them may be
	moving bool    // some are on their way
}

func (r *Room) values(ctx context.Context, d platform.RoomDevice, kind string, of func(platform.Device) *platform.Reading) (v values) {
	for _, one := range r.inRoom(ctx, d, kind) {
		v.all++
		v.moving = v.moving || one.Online && slices.Contains([]string{"opening", "closing", "moving"}, one.Motion)
		if at := of(one); reads(one, at) {
			v.known, v.within = append(v.known, at.Value), max(v.within, at.Within)
		}
	}
	slices.Sort(v.known)
	return v
}

// above are those that are not zero.
func (v values) above() []float64 {
	return v.known[slices.IndexFunc(append(v.known, 1), func(x float64) bool { return x > 0 }):]
}

// hold reports whether all that is known is within what was asked, for instance at 40 percent; near is how far from that still is.
func (v values) hold(conds []understand.Cond, near float64) bool {
	return !slices.ContainsFunc(v.known, func(x float64) bool {
		return slices.ContainsFunc(conds, func(c understand.Cond) bool {
			return !c.Holds(x) && !(c.Rel == understand.Exactly && math.Abs(x-c.Value) <= near)
		})
	})
}

// span says where values lie: one of the forms takes the values before it and one percentage, the other two.
func span(lang understand.Lang, list []float64, one, two string, before ...any) string {
	low, high := int(list[0]+0.5), int(list[len(list)-1]+0.5)
	if low == high {
		return in(lang, one, append(before, low)...)
	}
	return in(lang, two, append(before, low, high)...)
}

// told begins an answer with yes or no where it was asked whether something is so, and says how many did not report.
func (v values) told(f understand.Frame, yes bool, text string) saying {
	switch {
	case len(v.known) == 0:
		return same(text)
	case f.Form != understand.Check || f.State == "" && len(f.Conds) == 0, v.moving && f.State != understand.Moving: // while they move they are neither open nor not
		text = upper(text)
	case yes:
		text = in(f.Lang, "Yes: ") + text
	default:
		text = in(f.Lang, "No: ") + text
	}
	return v.besides(f.Lang, text)
}

// besides adds how many did not report: to what is shown at least.
func (v values) besides(lang understand.Lang, text string) saying {
	if len(v.known) == v.all {
		return same(text)
	}
	reply := text + " " + in(lang, "%d did not report.", v.all-len(v.known))
	if len(strings.Fields(reply)) > speakable {
		return saying{text, reply}
	}
	return same(reply)
}

// reportsWithin is how long after a gesture what was reported before it is not believed: lights that it did not change report nothing new.
const reportsWithin = 5 * time.Second

// lightsAre says how the lights of the room are, and whether that is as was asked.
func (r *Room) lightsAre(ctx context.Context, d platform.RoomDevice, f understand.Frame) (text string, yes bool, v values) {
	told, counts := r.goal(d, time.Now())
	counts = counts && time.Since(told.at) < reportsWithin
	v = r.values(ctx, d, platform.KindLight, func(l platform.Device) *platform.Reading {
		switch {
		case !counts || l.Level == nil || !l.ReportedAt.Before(told.at):
			return l.Level
		case told.level == nil || !told.done:
			return nil
		}
		return &platform.Reading{Value: float64(*told.level)}
	})
	if len(v.known) == 0 {
		return in(f.Lang, "I do not know how the lights are now."), false, v
	}
	on := v.above()
	switch len(on) {
	case 0:
		text = in(f.Lang, "the lights are off.")
	case len(v.known):
		text = span(f.Lang, on, "the lights are on, at %d percent.", "the lights are on, at %d to %d percent.")
	default: // of those that are on: one of six at 90 percent is not 15
		text = span(f.Lang, on, "%d of %d lights are on, at %d percent.", "%d of %d lights are on, at %d to %d percent.", len(on), len(v.known))
	}
	switch {
	case len(f.Conds) > 0:
		yes = v.hold(f.Conds, 0)
	case f.State == understand.Off:
		yes = len(on) == 0
	case f.Is(understand.All):
		yes = len(on) == len(v.known)
	default:
		yes = len(on) > 0
	}
	return text, yes, v
}

// nearShade is how far shades may stand from what was asked, in percent points.
const nearShade = 2

// shadesAre says how the shades of the room are, and whether that is as was asked.
func (r *Room) shadesAre(ctx context.Context, d platform.RoomDevice, f understand.Frame) (text string, yes bool, v values) {
	v = r.shades(ctx, d)
	switch {
	case v.moving:
		v.known = slices.Repeat([]float64{0}, v.all) // where they are is not what counts now
		return in(f.Lang, "the shades are moving."), f.State == understand.Moving, v
	case len(v.known) == 0:
		return in(f.Lang, "I do not know how the shades are now."), false, v
	}
	open := v.above()
	switch low, high := v.known[0], v.known[len(v.known)-1]; {
	case high < 0.5:
		text = in(f.Lang, "the shades are closed.")
	case low >= 99.5:
		text = in(f.Lang, "the shades are open.")
	case v.within > nearShade:
		text = span(f.Lang, v.known, "the shades are about %d percent open.", "the shades are about %d to %d percent open.")
	default:
		text = span(f.Lang, v.known, "the shades are %d percent open.", "the shades are %d to %d percent open.")
	}
	switch {
	case len(f.Conds) > 0:
		yes = v.hold(f.Conds, nearShade)
	case f.State == understand.Open:
		yes = len(open) > 0
	case f.State == understand.Closed:
		yes = len(open) == 0
	}
	return text, yes, v
}

// grumbled answers who says that it is too dark or too bright: how the lights are, and what can be said. It is no order.
func (r *Room) grumbled(ctx context.Context, d platform.RoomDevice, f understand.Frame) saying {
	text, _, v := r.lightsAre(ctx, d, f)
	say := `Say "brighter".`
	switch on := v.above(); {
	case f.Aspect == understand.Bright && len(on) > 0:
		say = `Say "darker".`
	case f.Aspect == understand.Bright, f.Aspect == understand.Sunny:
		say = `Say "close the shades".`
	case len(on) == 0:
		say = `Say "lights on".`
	case len(v.known) > 0 && v.known[0] > 99:
		say = `Say "open the shades".`
	}
	return v.besides(f.Lang, upper(text)+" "+in(f.Lang, say))
}
