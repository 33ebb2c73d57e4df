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
