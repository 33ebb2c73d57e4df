package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"svc.internal/controller/sim"
)

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

// heldAtTheWall reports whether a lamp is stuck where a hand at the wall set it while it was ordered something else: as far as
// its readings tell, that is a limit of its own.
func (h *history) heldAtTheWall(x *thing, o *order) bool {
	h.mu.Lock()
	stuck := h.broken[x.bus+"/"+x.at].stuck
	h.mu.Unlock()
	return stuck && h.pushedBefore(x, o)
}
