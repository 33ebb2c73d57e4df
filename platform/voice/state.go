package voice

import (
	"context"
	"slices"
	"strconv"
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
	one := goal{level: did.percent, on: did.value == "on" || did.percent != nil && *did.percent > 0, at: now}
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
			one = goal{level: brightness(widgets), on: widgets[wire.LightPower] == "on", at: at, panel: true}
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
func (r *Room) state(ctx context.Context, d platform.RoomDevice, f understand.Frame) (text string, ok bool) {
	plain := f.Unclear == nil && f.Is(understand.Asked) && (f.Op == understand.Tell || f.Op == understand.Average) && (f.When == nil || f.When.Now) && f.Against == nil &&
		len(f.Places)+len(f.Except)+len(f.Conds)+len(f.Having) == 0 && !f.Is(understand.Future) && !f.Is(understand.Whole) && f.By == "" && f.Per == "" && f.Top == 0
	switch {
	case plain && f.Topic == understand.Lights && slices.Contains([]understand.State{"", understand.On, understand.Off}, f.State):
		return r.lightsAre(ctx, d, f), true
	case plain && f.Topic == understand.Shades && slices.Contains([]understand.State{"", understand.Open, understand.Closed, understand.Moving}, f.State):
		return r.shadesAre(ctx, d, f), true
	}
	return "", false
}

// lightsAre says how the lights of the room are.
func (r *Room) lightsAre(ctx context.Context, d platform.RoomDevice, f understand.Frame) string {
	all := r.inRoom(ctx, d, platform.KindLight)
	sum, known, on := 0.0, 0, 0
	for _, v := range all {
		if reads(v, v.Level) {
			known++
			if sum += v.Level.Value; v.Level.Value > 0 {
				on++
			}
		}
	}
	if known == 0 {
		return in(f.Lang, "I do not know how the lights are now.")
	}
	text, bright := "", int(sum/float64(max(on, 1))+0.5) // of those that are on: one of six at 90 percent is not 15
	switch on {
	case 0:
		text = in(f.Lang, "the lights are off.")
	case known:
		text = in(f.Lang, "the lights are on, at %d percent.", bright)
	default:
		text = in(f.Lang, "%d of %d lights are on, at %d percent.", on, known, bright)
	}
	yes := on > 0
	switch {
	case f.State == understand.Off:
		yes = on == 0
	case f.Is(understand.All):
		yes = on == known
	}
	return checked(f, yes, text) + unreported(f.Lang, len(all)-known)
}

// shadesAre says how the shades of the room are.
func (r *Room) shadesAre(ctx context.Context, d platform.RoomDevice, f understand.Frame) string {
	all := r.inRoom(ctx, d, platform.KindShade)
	sum, known, moving := 0.0, 0, false
	for _, v := range all {
		moving = moving || v.Online && slices.Contains([]string{"opening", "closing", "moving"}, v.Motion)
		if reads(v, v.Position) {
			known++
			sum += v.Position.Value
		}
	}
	if moving {
		return checked(f, f.State == understand.Moving, in(f.Lang, "the shades are moving."))
	}
	if known == 0 {
		return in(f.Lang, "I do not know how the shades are now.")
	}
	open := int(sum/float64(known) + 0.5)
	text := in(f.Lang, "the shades are %d percent open.", open)
	switch open {
	case 0:
		text = in(f.Lang, "the shades are closed.")
	case 100:
		text = in(f.Lang, "the shades are open.")
	}
	yes := map[understand.State]bool{understand.Open: open > 0, understand.Closed: open == 0}[f.State]
	return checked(f, yes, text) + unreported(f.Lang, len(all)-known)
}

// checked begins an answer with yes or no where it was asked whether something is so.
func checked(f understand.Frame, yes bool, text string) string {
	switch {
	case f.Form != understand.Check || f.State == "":
		return upper(text)
	case yes:
		return in(f.Lang, "Yes: ") + text
	}
	return in(f.Lang, "No: ") + text
}

func unreported(lang understand.Lang, n int) string {
	if n == 0 {
		return ""
	}
	return " " + in(lang, "%d did not report.", n)
}
