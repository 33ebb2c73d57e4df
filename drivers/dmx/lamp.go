package dmx

import (
	"math"

	"svc.internal/controller/appliance"
)

// lamp is one output of a fixture in the universe.
type lamp struct {
	ref        appliance.Ref
	out        outputSpec // its slots counted from 1 at the start of the universe
	minLevel   appliance.Level
	startLevel appliance.Level // shown while nothing is known
	state      lampState
}

// lampState is what was sent last. A lamp keeps its colour while it is off.
type lampState struct {
	known  bool
	level  appliance.Level
	colour appliance.RGBW
	kelvin appliance.Kelvin
}

// fresh is the state of a lamp that nobody has commanded yet: white, and as warm
// as most rooms are lit.
func (l *lamp) fresh() lampState {
	s := lampState{level: l.startLevel}
	if l.out.White.used() {
		s.colour = appliance.RGBW{W: 255}
	} else {
		s.colour = appliance.RGBW{R: 255, G: 255, B: 255}
	}
	if l.out.tunable() {
		s.kelvin = appliance.Kelvin(max(l.out.KelvinMin, min(l.out.KelvinMax, neutralKelvin)))
	}
	return s
}

// neutralKelvin is the colour temperature of a lamp that was never told one.
const neutralKelvin = 4000

// with is the state after some of its values were set.
func (s lampState) with(v appliance.Values) lampState {
	if v.Has&(appliance.CanDim|appliance.CanSwitch) != 0 {
		s.level, s.known = v.Level, true
	}
	if v.Has.Has(appliance.CanTune) {
		s.kelvin, s.known = v.Kelvin, true
	}
	if v.Has.Has(appliance.CanColour) {
		s.colour, s.known = v.RGBW, true
	}
	return s
}

func (l *lamp) channel() appliance.Channel {
	ch := appliance.Channel{Abilities: appliance.CanSwitch, MinLevel: l.minLevel, Unverifiable: true}
	if !l.out.Switched {
		ch.Abilities |= appliance.CanDim
	}
	if l.out.coloured() {
		ch.Abilities |= appliance.CanColour
	}
	if l.out.tunable() {
		ch.Abilities |= appliance.CanTune
		ch.KelvinMin, ch.KelvinMax = appliance.Kelvin(l.out.KelvinMin), appliance.Kelvin(l.out.KelvinMax)
	}
	return ch
}

// render writes the lamp's slots for a state into a universe.
func (l *lamp) render(s lampState, u *universe) {
	level := float64(s.level) / 100
	share := level // of the colours: all of the dimming, unless a master slot does it
	if l.out.Level.used() {
		if l.out.Switched && s.level > 0 {
			level = 1
		}
		u.put(l.out.Level, level)
		share = 1
	}
	if l.out.coloured() {
		l.renderColour(s.colour, share, u)
	}
	switch {
	case l.out.Temperature.used():
		span := float64(l.out.KelvinMax - l.out.KelvinMin)
		u.put(l.out.Temperature, (float64(s.kelvin)-float64(l.out.KelvinMin))/span)
	case l.out.Warm.used():
		// They add up to the level: the stronger one is above 0 even at 1 %.
		cool := coolShare(float64(s.kelvin), float64(l.out.KelvinMin), float64(l.out.KelvinMax))
		u.put(l.out.Warm, share*(1-cool))
		u.put(l.out.Cool, share*cool)
	}
}

// renderColour writes the colour slots at a share of their full light. A faint
// colour at a low level would round to darkness: its strongest component stays at 1.
// Two whites add up to the level, so that one of them never rounds to 0.
func (l *lamp) renderColour(c appliance.RGBW, share float64, u *universe) {
	parts := [4]uint8{c.R, c.G, c.B, c.W}
	strongest, dark := 0, true
	for i, at := range l.out.colours() {
		u.put(at, share*float64(parts[i])/255)
		dark = dark && u.dark(at)
		if at.used() && parts[i] > parts[strongest] {
			strongest = i
		}
	}
	if dark && share > 0 && parts[strongest] > 0 {
		u.faintest(l.out.colours()[strongest])
	}
}

// coolShare is the part of the light that the cool one of two whites gives at a
// colour temperature: linear in mirek, as mixing light is. Both parts add up to
// one, so that the brightness does not change with the colour temperature.
func coolShare(kelvin, warm, cool float64) float64 {
	share := (1/warm - 1/kelvin) / (1/warm - 1/cool)
	return math.Max(0, math.Min(1, share))
}

// universe is the 512 slots; slot 1 at index 0.
type universe [UniverseSlots]byte

// put writes a number from 0 to 1 into its slot or slots; none are left out.
func (u *universe) put(at slotSpec, part float64) {
	part = math.Max(0, math.Min(1, part))
	switch {
	case !at.used():
	case at.Fine == 0:
		u[at.Slot-1] = byte(math.Round(part * 255))
	default:
		n := uint16(math.Round(part * 65535))
		u[at.Slot-1], u[at.Fine-1] = byte(n>>8), byte(n)
	}
}

// dark reports whether a slot or its pair is 0, or not there.
func (u *universe) dark(at slotSpec) bool {
	return !at.used() || u[at.Slot-1] == 0 && (at.Fine == 0 || u[at.Fine-1] == 0)
}

// faintest writes 1, the lowest number above 0, into a slot or its pair.
func (u *universe) faintest(at slotSpec) {
	if at.Fine == 0 {
		u[at.Slot-1] = 1
		return
	}
	u[at.Slot-1], u[at.Fine-1] = 0, 1
}
