package main

import (
	"fmt"
	"net/http"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
)

// faultsMost are in force at once.
const faultsMost = 4

// fault makes a device or a bus ill, for a while.
func (h *history) fault() {
	if len(h.building.Faults()) >= faultsMost {
		return
	}
	x := h.things[h.dice.IntN(len(h.things))]
	if h.last != nil && h.dice.IntN(2) == 0 {
		x = h.last // in the middle of what it was told
	}
	kinds := ailments[x.bus]
	f := sim.Fault{Bus: x.bus, Address: x.at, DurationMs: 300 + h.dice.IntN(25_000)}
	place := x.bus + "/" + x.at
	if x.healthy || len(kinds.one) == 0 || h.dice.IntN(8) == 0 {
		f.Address, place = "", x.bus
		f.Kind = kinds.all[h.dice.IntN(len(kinds.all))]
	} else if f.Kind = kinds.one[h.dice.IntN(len(kinds.one))]; x.timed && h.dice.IntN(3) == 0 {
		f.Kind = sim.FaultPower
	}
	switch f.Kind {
	case sim.FaultSilent, sim.FaultPower, sim.FaultStuck, sim.FaultUnplug, sim.FaultHang, sim.FaultClose, sim.FaultDelay, sim.FaultRefuse, sim.FaultBusy, sim.FaultForeign:
	case sim.FaultBabble:
		f.Rate = 0.5
	case sim.FaultNoise:
		f.Rate = 0.1 + 0.4*h.dice.Float64()
	default:
		f.Rate = 0.1 + 0.9*h.dice.Float64()
	}
	if f.Kind == sim.FaultDelay {
		f.DelayMs = 50 + h.dice.IntN(1500)
		if f.Address == "" {
			f.DelayMs += 1000
		}
	}
	if _, err := h.building.AddFault(f); err != nil {
		h.t.Fatalf("fault %+v: %v", f, err)
	}
	h.cue("%s at %s for %d ms, %d ms", f.Kind, place, f.DurationMs, f.DelayMs)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	until := now.Add(time.Duration(f.DurationMs) * time.Millisecond)
	if until.After(h.ill[place]) {
		h.ill[place] = until
	}
	switch {
	case f.Kind == sim.FaultHang:
		h.hangs = append(h.hangs, &hang{bus: x.bus, from: now})
	case f.Kind == sim.FaultDelay && (x.bus == "tcp" || x.bus == "gateway"):
		h.hangs = append(h.hangs, &hang{bus: x.bus, from: now, slow: time.Duration(f.DelayMs) * time.Millisecond})
	}
	if f.Kind == sim.FaultPower || f.Kind == sim.FaultStuck {
		b := breakage{at: now, until: until, stuck: f.Kind == sim.FaultStuck}
		if old := h.broken[place]; old.stuck && old.until.After(now) { // both at once
			b.stuck = true
			if old.until.After(until) {
				b.until = old.until
			}
		}
		h.broken[place] = b
	}
}

// findBack sends shades to an end that have no eyes, and were stuck or moved by hand for shorter than anybody looks: where
// they are is known again then.
func (h *history) findBack() {
	var lost []*thing
	for _, x := range h.things {
		if x.timed && (h.broken[x.bus+"/"+x.at].hides() || h.pushed[x]) {
			lost = append(lost, x)
			delete(h.pushed, x)
		}
	}
	h.mu.Lock()
	clear(h.broken)
	h.mu.Unlock()
	if len(lost) > 0 {
		time.Sleep(recovery)
	}
	for _, x := range lost {
		o := &order{door: "/svc/api", verb: "UP", things: []*thing{x}, scope: appliance.Target{Scope: appliance.One, ID: x.id}}
		h.give(o, 15*time.Second, h.ask(o))
	}
}

// breakage is what stops a motor.
type breakage struct {
	at, until time.Time
	stuck     bool // it hums; else it has no power
}

// hides reports whether it may show to nobody where a shade without eyes stands.
func (b breakage) hides() bool {
	return b.stuck || !b.at.IsZero() && b.until.Sub(b.at) < unread
}

// hang of a gateway, which holds what it was sent when that began, or is slow with everything.
type hang struct {
	bus  string
	from time.Time
	slow time.Duration // with each; 0: it does nothing
	held *order        // was sent then, and is carried out when nobody waits for it any more: nobody can take it back
}

// recovered notes that no fault is in force any more.
func (h *history) recovered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for place, until := range h.ill {
		if until.After(now) {
			h.ill[place] = now
		}
	}
	for place, b := range h.broken {
		if b.until.After(now) { // shorter than it was to be
			b.until = now
			h.broken[place] = b
		}
	}
}

// press is a hand at the wall.
func (h *history) press() {
	x := h.things[h.dice.IntN(len(h.things))]
	o := &order{door: "the wall", verb: "press", things: []*thing{x}}
	action := []string{"open", "close", "stop"}[h.dice.IntN(3)]
	level := h.dice.IntN(101)
	if x.bus == "dali" && h.wasIll(x, time.Now()) {
		return // its switches are on the line, and what they say waits there until somebody serves it
	}
	press := sim.Press{Level: &level}
	if on := level > 50; x.make == relays {
		press = sim.Press{On: &on}
	}
	h.open(o)
	h.pushed[x] = true
	var err error
	if x.shade {
		output := 1
		for _, s := range h.house.site.Shades {
			if s.ID == x.id {
				output = s.Output
			}
		}
		err = h.building.PressShade(x.bus, x.at, output, action)
	} else {
		err = h.building.PressChannel(x.bus, x.at, 1, press)
	}
	h.mu.Lock()
	o.to = o.from.Add(settles) // until the controller has seen it
	h.mu.Unlock()
	h.note("%v, %s %d: %v", o, action, level, err != nil)
}

// twoWhoStop are two clients who say STOP for one shade until they are told that it stands.
func (h *history) twoWhoStop() {
	var shades []*thing
	for _, x := range h.things {
		if x.shade {
			shades = append(shades, x)
		}
	}
	x := shades[h.dice.IntN(len(shades))]
	for range 2 {
		every := time.Duration(100+h.dice.IntN(200)) * time.Millisecond
		pause := time.Duration(1 + h.dice.IntN(int(20*time.Millisecond))) // nobody is as quick as another
		orders := make([]*order, 8)
		for i := range orders {
			orders[i] = &order{door: "/svc/api", verb: "STOP", things: []*thing{x}, scope: appliance.Target{Scope: appliance.One, ID: x.id}}
		}
		h.number += len(orders)
		first := h.number
		h.underway.Go(func() {
			for i, o := range orders {
				o.number = first - i
				time.Sleep(pause)
				h.open(o)
				h.carry(o, every, h.ask(o))
				if o.answer.status == 1 {
					return
				}
			}
		})
	}
}

// changeSite is somebody with a phone, who adds and takes away what is not there, and gives names.
func (h *history) changeSite() {
	admin := churn{house: h.house, token: h.tokens["admin"], dice: h.dice, given: h.given}
	h.cue("the site changes")
	switch n := h.dice.IntN(3); {
	case n == 0 && len(h.guests) > 0:
		i := h.dice.IntN(len(h.guests))
		admin.ask(http.MethodDelete, fmt.Sprint("/nodes/", h.guests[i]), nil)
		h.guests = append(h.guests[:i], h.guests[i+1:]...)
		h.places = append(h.places[:i], h.places[i+1:]...)
	case n == 1 && len(h.guests) < 3:
		place := guestsFrom + h.dice.IntN(100)
		for _, taken := range h.places {
			if place == taken {
				return
			}
		}
		id := admin.made("/nodes", map[string]any{"name": "Guest", "bus": "tcp", "address": fmt.Sprint(place), "profile": "wirenboard-wb-mdm3"})
		h.guests, h.places = append(h.guests, id), append(h.places, place)
	default:
		x := h.things[h.dice.IntN(len(h.things))]
		admin.ask(http.MethodPatch, fmt.Sprint("/nodes/", x.node), map[string]any{"name": fmt.Sprint("Named ", h.number)})
	}
}
