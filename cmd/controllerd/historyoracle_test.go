package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
)

const (
	commandLife = 11 * time.Second // a command whose answer nobody heard is over by then
	recovery    = 30 * time.Second // until who was ill is known to be well
	settles     = 1500 * time.Millisecond
	endLasts    = 12 * time.Second
	nextPacket  = 60 * time.Millisecond // of a universe
	nearKelvin  = 60
	unread      = 10 * time.Second // may a shade be on its way, and is taken to have gone on
	colourSteps = 3                // of 255: outputs have steps of a percent
)

// open notes an order that is about to be given.
func (h *history) open(o *order) {
	o.from = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range o.things {
		h.orders[x] = append(h.orders[x], o)
	}
}

// until is when an order is over. Called with mu held.
func (o *order) until() time.Time {
	if o.to.IsZero() || o.answer.status == -1 {
		return o.from.Add(commandLife)
	}
	return o.to
}

// rivals are the other orders for a thing that were under way, or came, between two moments.
func (h *history) rivals(x *thing, o *order, from, to time.Time) (out []*order) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, other := range h.orders[x] {
		if other != o && !other.from.After(to) && !other.until().Before(from) {
			out = append(out, other)
		}
	}
	return out
}

// alike reports whether orders ask for the same.
func (o *order) alike(p *order) bool {
	valued := o.verb == "DIM" || o.verb == "POS" || o.verb == "TINT" || o.verb == "COLOUR"
	return o.verb == p.verb && (!valued || o.value == p.value) && maps.Equal(o.colour, p.colour)
}

// judge compares what was said of an order with what the devices do.
func (h *history) judge(o *order) {
	h.mu.Lock()
	o.to = time.Now()
	h.outcomes[outcome(o.answer)]++
	h.mu.Unlock()
	h.note("%v: %d %s", o, o.answer.status, o.answer.said)
	if o.answer.status == 0 {
		h.unharmed(o)
	}
	did := h.confirmed(o)
	if len(did) == 0 {
		return
	}
	devices := map[string][]sim.Device{} // by bus, all as they are now
	for _, x := range did {
		if !x.shade && devices[x.bus] == nil {
			devices[x.bus] = h.building.DevicesOn(x.bus)
		}
	}
	for _, x := range did {
		if !x.shade {
			h.lit(o, x, devices[x.bus])
		}
	}
	for _, x := range did {
		if x.shade {
			h.moved(o, x)
		}
	}
}

func outcome(a answer) string {
	switch {
	case a.status == 1:
		return "done"
	case a.status == 0:
		if why := reason(a.said); len(why) < 40 {
			return why
		}
		return "not done"
	}
	return a.said
}

// confirmed are the things of which the ledger says that they have it.
func (h *history) confirmed(o *order) (out []*thing) {
	members := map[*thing]bool{}
	for id := range strings.SplitSeq(o.answer.command, ", ") {
		e, ok := h.boss.Load().core.Entry(id)
		if !ok {
			continue
		}
		for _, m := range e.Members {
			for _, x := range o.things {
				if x.shade && m.Ref.Shade == x.id || !x.shade && m.Ref.Shade == 0 && m.Ref.Node == x.id {
					had, known := members[x]
					members[x] = m.Err == "" && !m.Offline && (had || !known)
				}
			}
		}
	}
	if len(members) == 0 && o.answer.status == 1 && o.scope.Scope == appliance.One {
		return o.things
	}
	for _, x := range o.things { // in the order of the site
		if members[x] {
			out = append(out, x)
		}
	}
	return out
}

// lit looks whether a light that was confirmed is as it was wanted.
func (h *history) lit(o *order, x *thing, devices []sim.Device) {
	var d sim.Device
	var wants []*order
	for range 3 {
		if x.bus == "dmx" { // what an interface took is in its next packet, which may be half on its way
			time.Sleep(nextPacket)
			devices = h.building.DevicesOn(x.bus)
			if h.wasIll(x, o.from) || h.killedSince(o.from) {
				return // pulled meanwhile: nobody can have confirmed it; or told again what was on the disk
			}
		}
		d = devices[slices.IndexFunc(devices, func(d sim.Device) bool { return d.NodeID == x.node })]
		wants = append(h.rivals(x, o, o.from, time.Now()), o)
		if o.shown(x, d, wants) || h.heldAtTheWall(x, o) {
			return
		}
		if x.bus != "dmx" {
			break
		}
	}
	h.wrong("false 1: %v %v (%s at %s %s): the device has %v, %d K, %s; at once with %v",
		o, o.colour, x.make, x.bus, x.at, targets(d), d.Channels[0].ColorTemp, d.Channels[0].RGBW, wants[:len(wants)-1])
}

// shown reports whether a light is as one of several orders at once wants it.
func (o *order) shown(x *thing, d sim.Device, wants []*order) bool {
	got := targets(d)
	for _, w := range wants {
		switch {
		case w.verb == "press", x.coloured() && !w.alike(o): // the second may be half on its way
			return true
		case o.verb == "TINT" && w.verb == "TINT" && math.Abs(float64(d.Channels[0].ColorTemp-w.value)) <= nearKelvin:
			return true
		case o.verb != "TINT" && w.met(x, got) && (o.verb != "COLOUR" || o.mixed(d.Channels[0], wants)):
			return true
		}
	}
	return false
}

// mixed reports whether a lamp has the colour. What an output is set to is colour and level, so that others who dim it at
// once leave nothing to compare.
func (o *order) mixed(c sim.DeviceChannel, wants []*order) bool {
	if slices.ContainsFunc(wants, func(w *order) bool { return !w.alike(o) }) {
		return true
	}
	var parts [4]int
	if _, err := fmt.Sscanf(c.RGBW, "%d:%d:%d:%d", &parts[0], &parts[1], &parts[2], &parts[3]); err != nil {
		return false
	}
	for i, name := range []string{"R", "G", "B", "W"} {
		if math.Abs(float64(parts[i])-float64(o.colour[name])*float64(o.value)/100) > colourSteps {
			return false
		}
	}
	return true
}

// met reports whether levels are as an order wants them.
func (o *order) met(x *thing, got []int) bool {
	level := o.value
	switch o.verb {
	case "press":
		return true
	case "TINT":
		return false
	case "OFF":
		level = 0
	case "ON":
		return !slices.Contains(got, 0)
	}
	if x.make == relays && level > 0 {
		level = 100
	}
	return !slices.ContainsFunc(got, func(g int) bool {
		return g < level-x.within() || g > level+x.within() || (g == 0) != (level == 0)
	})
}

// moved looks whether a shade that was confirmed goes where it was sent, or is there. An actuator waits before it turns
// round.
func (h *history) moved(o *order, x *thing) {
	if len(h.rivals(x, o, o.from, o.to)) > 0 || o.verb == "POS" && x.timed && h.pushedBefore(x, o) {
		return
	}
	for {
		s := h.truth(x.id)
		at := s.ExactPosition
		switch {
		case o.verb == "UP" && (s.Motion == "opening" || at > 99.5),
			o.verb == "DOWN" && (s.Motion == "closing" || at < 0.5),
			o.verb == "STOP" && !s.Moving,
			o.verb == "POS" && (s.Moving || math.Abs(at-float64(o.value)) <= h.within(x)):
			return
		}
		most := settles
		if x.timed && o.verb == "POS" && (at < 0.5 || at > 99.5) { // it makes sure that it is at an end, and comes from there
			if most = endLasts; h.wasIll(x, o.from) || h.restartedSince(o.from) {
				return // not if it was not read on its way there, or by a daemon that knows of no way
			}
		}
		if len(h.rivals(x, o, o.to, time.Now())) > 0 || h.broke(x, o.from) {
			return
		}
		if now := time.Now(); now.Sub(o.to) > most {
			h.wrong("false 1: %v (%s at %s %s), which is %+v %v later", o, x.make, x.bus, x.at, s, now.Sub(o.to))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// broke reports whether something holds a shade up that its controller need not have known: a motor that got stuck, which
// shows to nobody if it has no eyes, or lost its power after it was seen to run.
func (h *history) broke(x *thing, since time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.broken[x.bus+"/"+x.at]
	return !p.at.IsZero() && (!p.at.Before(since) || p.stuck && x.timed && time.Now().Before(p.until))
}

// heldAtTheWall reports whether a lamp is stuck where a hand at the wall set it while it was ordered something else: as far as
// its readings tell, that is a limit of its own.
func (h *history) heldAtTheWall(x *thing, o *order) bool {
	h.mu.Lock()
	stuck := h.broken[x.bus+"/"+x.at].stuck
	h.mu.Unlock()
	return stuck && h.pushedBefore(x, o)
}

// pushedBefore reports whether somebody at the wall was at a thing in this round: of a shade without eyes that may have been over
// before anybody looked.
func (h *history) pushedBefore(x *thing, o *order) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.orders[x], func(p *order) bool { return p.verb == "press" && p.from.Before(o.from) })
}

// wasIll reports whether a thing, or its bus, was ill at any time since.
func (h *history) wasIll(x *thing, since time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.ill[x.bus].Before(since) || !h.ill[x.bus+"/"+x.at].Before(since)
}

// restartedSince reports whether the daemon was started again since, or is being.
func (h *history) restartedSince(at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.again.Before(at)
}

// unharmed looks whether somebody failed who was well: his neighbours, or what others ask of them, are no reason.
func (h *history) unharmed(o *order) {
	if o.scope.Scope != appliance.One || !h.calm || o.door == "event" {
		return
	}
	x := o.things[0]
	if !x.healthy || h.restartedSince(o.from.Add(-recovery)) || h.wasIll(x, o.from.Add(-recovery)) || o.answer.said == "overloaded" {
		return
	}
	for _, other := range h.rivals(x, o, o.from, o.to) {
		if !other.alike(o) {
			return
		}
	}
	h.wrong("%v (%s at %s %s) is well, and it was said: %s", o, x.make, x.bus, x.at, o.answer.said)
}

// rest looks at what has to be right when nothing happens: nothing came late, what is shown is what is, and no motor runs.
func (h *history) rest() {
	for _, w := range h.newWrites() {
		h.lines = append(h.lines, fmt.Sprintf("%015d %s %d %s %s", w.At.Sub(bubbleBegins), w.Bus, w.Unit, w.Source, w.PDU))
		if w.Source == "wall" {
			continue
		}
		for _, c := range w.Changes {
			h.inTime(w, c)
		}
	}
	snap := h.boss.Load().core.Snapshot()
	devices := h.building.Devices()
	for _, x := range h.things {
		i := slices.IndexFunc(devices, func(d sim.Device) bool { return d.NodeID == x.node })
		n := snap.Node(x.node)
		if n == nil || !n.Online {
			h.wrong("%s %s at %s is well again, and offline after a minute", x.make, x.at, x.bus)
			continue
		}
		if x.shade {
			h.standing(x, snap.Shade(x.id))
			continue
		}
		for k, c := range n.Channels {
			if k >= len(devices[i].Channels) || c.Abilities&(appliance.CanSwitch|appliance.CanDim) == 0 {
				continue
			}
			if got := devices[i].Channels[k].TargetLevel; c.Level.OK() && math.Abs(float64(got)-float64(c.Level.Value)) > float64(x.within()) {
				h.wrong("%s %s at %s, channel %d: shown %v (%v), and it is %d", x.make, x.at, x.bus, k+1, c.Level.Value, c.Level.Source, got)
			}
		}
	}
	h.mu.Lock()
	clear(h.orders)
	h.kills, h.hangs = nil, nil
	for _, x := range h.things {
		if i := slices.IndexFunc(devices, func(d sim.Device) bool { return d.NodeID == x.node }); x.bus == "dmx" {
			h.rested[x] = targets(devices[i])[0]
		}
	}
	h.mu.Unlock()
	h.closeRecord()
}

// glance compares a shade without eyes that stands with what is shown of it, whatever else goes on.
func (h *history) glance(x *thing) {
	if !x.timed {
		return
	}
	shown, s := h.boss.Load().core.Snapshot().Shade(x.id), h.truth(x.id)
	if shown == nil || shown.Motion != appliance.Stopped || !shown.Position.OK() || shown.Position.Source == appliance.Restored || s.Moving {
		return
	}
	h.mu.Lock()
	hidden := h.broken[x.bus+"/"+x.at].hides() || slices.ContainsFunc(h.orders[x], func(o *order) bool { return o.verb == "press" })
	h.mu.Unlock()
	if within := h.within(x); !hidden && math.Abs(s.ExactPosition-float64(shown.Position.Value)) > within {
		h.wrong("shade %d (%s at %s %s): shown %v ±%d (%v), and it is %.1f", x.id, x.make, x.bus, x.at, shown.Position.Value, shown.Uncertainty, shown.Position.Source, s.ExactPosition)
	}
}

// within is how wrong the position of a shade may be: that of one without eyes is reckoned.
func (h *history) within(x *thing) float64 {
	return math.Max(6, float64(h.boss.Load().core.Snapshot().Shade(x.id).Uncertainty)+3)
}

// standing compares a shade at rest with what is shown of it.
func (h *history) standing(x *thing, shown *appliance.ShadeState) {
	s := h.truth(x.id)
	if s.Moving {
		h.wrong("shade %d at %s runs on: %+v", x.id, x.bus, s)
	}
	within := h.within(x)
	if shown.Position.OK() && shown.Position.Source != appliance.Restored && math.Abs(s.ExactPosition-float64(shown.Position.Value)) > within {
		h.wrong("shade %d (%s at %s %s): shown %v ±%d (%v), and it is %.1f", x.id, x.make, x.bus, x.at, shown.Position.Value, shown.Uncertainty, shown.Position.Source, s.ExactPosition)
	}
	if shown.Motion != appliance.Stopped && shown.Motion != appliance.MotionUnknown {
		h.wrong("shade %d (%s at %s %s): shown %v, and it stands", x.id, x.make, x.bus, x.at, shown.Motion)
	}
}
