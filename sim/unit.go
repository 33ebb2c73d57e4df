package sim

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// unit is one device with a Modbus address of its own, and all site nodes that
// live in it.
type unit struct {
	space
	number  byte
	profile string
	latency time.Duration // after t3.5, before the answer begins
	// watchdog points to the register with the seconds without polling after
	// which the device goes to its safe state; nil: it has none.
	watchdog *uint16
	lamps    []*lamp  // output 1 first; gateways have none here
	gear     gearMap  // gateways only
	motors   []*motor // shade output 1 first
	meter    *meter
	nodes    []*place

	last           time.Time // last frame for this unit
	safeStates     uint64    // times the watchdog ran out
	frames, writes uint64
}

// place is a site node and where it lives in its unit.
type place struct {
	node   appliance.Node
	lamps  []*lamp // channel 1 first
	shades []placedShade
	meter  *meter
}

type placedShade struct {
	shade appliance.Shade
	motor *motor
}

// hasShades reports whether something hangs on its motors: they are stuck by themselves,
// not by writes that change nothing.
func (u *unit) hasShades() bool {
	return slices.ContainsFunc(u.nodes, func(p *place) bool { return len(p.shades) > 0 })
}

// power is what the unit's outputs draw together, in W. A meter draws nothing.
func (u *unit) power(now time.Time) float64 {
	var sum float64
	for _, l := range u.lamps {
		sum += l.power(now)
	}
	for _, l := range u.gear {
		sum += l.power(now)
	}
	for _, m := range u.motors {
		sum += m.power(now)
	}
	return sum
}

// seen notes that a frame for the unit arrived, and whether the watchdog ran out
// before it.
func (u *unit) seen(now time.Time) {
	if u.expired(now) {
		u.safeStates++
	}
	u.last = now
	u.frames++
}

// expired reports whether the device is in its safe state because nobody polled
// it. What it does then is a setting of real modules that may be "nothing", which
// is what these do: they count it.
func (u *unit) expired(now time.Time) bool {
	return u.watchdog != nil && *u.watchdog > 0 && !u.last.IsZero() &&
		now.Sub(u.last) > time.Duration(*u.watchdog)*time.Second
}

// aims lists what the unit's outputs aim at, in words, to tell what a write
// changed.
func (u *unit) aims(now time.Time) []aim {
	var out []aim
	for _, p := range u.nodes {
		for i, l := range p.lamps {
			a := aim{node: p.node.ID, channel: i + 1, level: round(l.target()), kelvin: l.kelvin}
			if l.colour != nil {
				a.colour = *l.colour
			}
			out = append(out, a)
		}
		for _, s := range p.shades {
			s.motor.advance(now)
			out = append(out, aim{node: p.node.ID, shade: s.shade.ID, motion: s.motor.asked()})
		}
	}
	return out
}

// aim is what one output is after.
type aim struct {
	node    appliance.ID
	shade   appliance.ID
	channel int
	level   int
	kelvin  int
	colour  [4]uint8
	motion  direction
}

// Change is what a write changed at one channel or shade. Level, ColorTemp and
// RGBW are what the output aims at now.
type Change struct {
	NodeID    appliance.ID `json:"nodeId"`
	Channel   int          `json:"channel,omitempty"`
	ShadeID   appliance.ID `json:"shadeId,omitempty"`
	Level     *int         `json:"level,omitempty"`
	ColorTemp *int         `json:"colorTemp,omitempty"`
	RGBW      string       `json:"rgbw,omitempty"`
	Motion    string       `json:"motion,omitempty"`
}
