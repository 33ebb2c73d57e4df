package modbus

import (
	"math"
	"time"

	"svc.internal/controller/appliance"
)

// components of a colour in register order.
func components(c appliance.RGBW) [4]uint8 { return [4]uint8{c.R, c.G, c.B, c.W} }

// colourRaws are the registers' numbers for a colour at a level. A faint colour at
// a low level would round to darkness: its strongest component stays at 1.
func (t *thing) colourRaws(c appliance.RGBW, p appliance.Level) (raws [4]float64) {
	parts := components(c)
	strongest, dark := 0, true
	for i, component := range parts {
		spec := t.out.colour[i].spec
		raws[i] = spec.componentRaw(component, p)
		dark = dark && raws[i] == spec.componentRaw(0, 0)
		if component > parts[strongest] {
			strongest = i
		}
	}
	if spec := t.out.colour[strongest].spec; dark && p > 0 && parts[strongest] > 0 {
		raws[strongest] = spec.turned(spec.bottom() + 1)
	}
	return raws
}

// knownRaws are the colour registers as read last.
func (t *thing) knownRaws() (raws [4]float64, at time.Time, ok bool) {
	for i, v := range t.out.colour {
		raw, when, known := t.number(v.read)
		if !known {
			return raws, time.Time{}, false
		}
		if i == 0 || when.Before(at) {
			at = when
		}
		raws[i] = raw
	}
	return raws, at, true
}

// readColour takes colour and level apart. Registers hold their product.
func (t *thing) readColour(r *appliance.Reading, seen func(time.Time)) {
	on, known, onAt := t.on()
	if known && !on {
		r.Has |= appliance.CanDim
		r.Level = 0
		seen(onAt)
	}
	raws, at, ok := t.knownRaws()
	if !ok {
		return
	}
	if known && on && t.darken(&raws) && raws == t.colourRaws(appliance.RGBW{}, 0) {
		r.Has |= appliance.CanDim // what is switched on is dark; the rest keeps its colour
		r.Level = 0
		seen(at)
		seen(onAt)
		return
	}
	colour, level, hasColour := t.split(raws)
	if hasColour {
		r.Has |= appliance.CanColour
		r.RGBW = colour
		seen(at)
	}
	if known && on {
		r.Has |= appliance.CanDim
		r.Level = level
		seen(at)
		if !onAt.IsZero() {
			seen(onAt)
		}
	}
}

// darken takes out the components whose own switch is off, and reports whether there
// are any.
func (t *thing) darken(raws *[4]float64) (some bool) {
	for i, v := range t.out.colour {
		n := v.spec.Switch
		if n == 0 {
			continue
		}
		if x, _, ok := t.number(t.out.switches[n-1]); ok && x == 0 {
			raws[i], some = v.spec.componentRaw(0, 0), true
		}
	}
	return some
}

// split finds colour and level that explain the registers: what was asked last,
// or the colour asked last at another level, or the brightest component taken as
// the level. hasColour is false if the registers are dark and no colour is known.
func (t *thing) split(raws [4]float64) (colour appliance.RGBW, level appliance.Level, hasColour bool) {
	m := t.memory
	dark := raws == t.colourRaws(appliance.RGBW{}, 0)
	if dark && (m.off || !m.hasColour || m.colour != (appliance.RGBW{})) {
		return m.colour, 0, m.hasColour
	}
	if m.hasColour {
		if m.level > 0 && t.colourRaws(m.colour, m.level) == raws {
			return m.colour, m.level, true
		}
		for p := appliance.Level(100); p > 0; p-- {
			if t.colourRaws(m.colour, p) == raws {
				return m.colour, p, true
			}
		}
	}
	var parts [4]float64
	brightest := 0.0
	for i, v := range t.out.colour {
		parts[i] = v.spec.componentOf(raws[i])
		brightest = max(brightest, parts[i])
	}
	if brightest == 0 {
		return appliance.RGBW{}, 0, true
	}
	for i := range parts {
		parts[i] = math.Round(parts[i] * 255 / brightest)
	}
	level = appliance.Level(max(math.Round(brightest*100/255), 1))
	return appliance.RGBW{R: uint8(parts[0]), G: uint8(parts[1]), B: uint8(parts[2]), W: uint8(parts[3])}, level, true
}

// present is the colour and level that the thing has now, as far as is known: a
// wish for one of the two keeps the other.
func (t *thing) present() (colour appliance.RGBW, level appliance.Level) {
	colour, level = t.memory.colour, t.memory.level
	has := t.memory.hasColour
	if raws, _, ok := t.knownRaws(); ok {
		c, p, known := t.split(raws)
		if known {
			colour, has = c, true
		}
		if p > 0 {
			level = p
		}
		if len(t.out.switches) == 0 {
			level = p
		}
	} else if t.memory.off && len(t.out.switches) == 0 {
		level = 0
	}
	if !has {
		colour = appliance.RGBW{W: 255} // nothing was ever asked: white
	}
	if level == 0 && len(t.out.switches) > 0 {
		level = 100
	}
	return colour, level
}
