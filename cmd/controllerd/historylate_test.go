package main

import (
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/sim"
)

const (
	moveLasts  = 25 * time.Second      // of a shade, by way of its end
	frameLasts = 40 * time.Millisecond // that a gateway had when its adapter was pulled
	notWritten = 5 * time.Second       // may be lost by a daemon that is killed
	noticed    = 6 * time.Second       // is a gateway that hangs: by the next that asks it
	queued     = 4                     // requests, of this daemon and of the one before, wait in a gateway that is slow
)

// newWrites are what devices carried out since they were looked at last.
func (h *history) newWrites() (all []sim.Write) {
	for _, b := range h.building.Buses() {
		writes, err := h.building.Writes(b.Name, h.since[b.Name], 0)
		if err != nil {
			h.t.Fatal(err)
		}
		if n := len(writes); n > 0 {
			h.since[b.Name] = writes[n-1].Seq
		}
		all = append(all, writes...)
	}
	return all
}

// inTime looks whether somebody waited for a change when it was made.
func (h *history) inTime(w sim.Write, c sim.Change) {
	for _, x := range h.things {
		if c.ShadeID != 0 && (!x.shade || x.id != c.ShadeID) || c.ShadeID == 0 && (x.shade || x.node != c.NodeID) {
			continue
		}
		if x.shade && c.Motion == "stopped" {
			return
		}
		h.mu.Lock()
		in := slices.ContainsFunc(h.orders[x], func(o *order) bool {
			most := frameLasts
			if x.shade {
				most = moveLasts
			}
			his := c.Level == nil || o.met(x, []int{*c.Level})
			again := x.bus == "dmx" && c.Level != nil && his // a widget that is back is told all again
			return !w.At.Before(o.from) && (again || !w.At.After(o.until().Add(most)) || his && h.held(x, o, w))
		})
		h.mu.Unlock()
		if !in && !h.fellBack(x, w) {
			h.wrong("late: %s %s at %s was changed at %v (%+v, %s), when nobody waited for it", x.make, x.at, x.bus, w.At.Sub(bubbleBegins), c, w.PDU)
		}
		return
	}
}

// held reports whether a gateway that hung had an order, which was the first that it did not answer, or one that is slow had it
// behind another. Called with mu held.
func (h *history) held(x *thing, o *order, w sim.Write) bool {
	for _, g := range h.hangs {
		switch {
		case g.bus != x.bus || w.At.Before(g.from) || o.until().Before(g.from):
		case g.slow > 0:
			if !w.At.After(o.until().Add(queued * g.slow)) {
				return true
			}
		case o.from.Before(g.from.Add(noticed)) && (g.held == nil || g.held == o):
			g.held = o
			return true
		}
	}
	return false
}

// killedSince reports whether a daemon was killed since.
func (h *history) killedSince(since time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.kills, func(at time.Time) bool { return !at.Before(since) })
}

// fellBack reports whether a fixture, which cannot be read, got what was last on the disk from a daemon that was started
// after another was killed: what it had not longer than notWritten before.
func (h *history) fellBack(x *thing, w sim.Write) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := -1
	for k, at := range h.kills {
		told := at.Add(settles)
		if well := h.ill[x.bus]; well.After(at) { // its interface was not there then
			told = well.Add(recovery)
		}
		if !w.At.Before(at) && w.At.Before(told) {
			i = k // the last
		}
	}
	if x.bus != "dmx" || i < 0 {
		return false
	}
	level := []int{shone(x, w.PDU)}
	for _, o := range slices.Backward(h.orders[x]) { // as they came
		if o.from.After(h.kills[i]) {
			continue
		}
		if o.met(x, level) {
			return true
		}
		if o.answer.status == 1 && o.until().Before(h.kills[i].Add(-notWritten)) {
			return false
		}
	}
	return math.Abs(float64(level[0]-h.rested[x])) <= 1
}

// shone is the level of a fixture in a packet of an interface: of several colours the brightest.
func shone(x *thing, packet string) int {
	raw, err := hex.DecodeString(packet)
	first, err2 := strconv.Atoi(x.at)
	if errors.Join(err, err2) != nil {
		return -1
	}
	const ahead = 4 // 7E, label, length; the start code is slot 0
	slots := raw[ahead+first:][:1]
	if x.make == "dmx-rgbw" {
		slots = raw[ahead+first:][:4]
	}
	return int(math.Round(float64(slices.Max(slots)) / 255 * 100))
}
