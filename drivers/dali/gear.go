package dali

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// gear is one control gear of the line and what is known of it. It belongs to the
// bus's goroutine.
type gear struct {
	ref      appliance.Ref
	title    string
	short    int
	key      string
	groups   uint16 // as configured; bit n: group n
	inGroups uint16 // as last read
	profile  profile
	kind     string // name of the profile
	curve    *curve
	fade     time.Duration
	minLevel appliance.Level

	asked memory
	// settled: nothing that was sent since can still be fading.
	settled bool
	// silent counts queries without an answer since the last one.
	silent int
	// failure that the last status told of; empty: none.
	failure string
	// found is what the gear told about itself; limits are not known before.
	found facts

	last   raw // what it answered last
	turn   int // of the slow questions
	colour [4]reading8
}

// memory is what was last asked of a gear, to tell apart what its answers alone do
// not say.
type memory struct {
	values    appliance.Values
	arc       byte      // of the level
	at        time.Time // when the level was sent
	fadeKnown bool      // the gear was at rest before, so a fade seen now is ours
	// colourKnown: the gear was at rest before the colour was sent.
	colourKnown bool
}

// facts a gear told about itself; 0: it did not yet.
type facts struct {
	min, max         byte
	coolest, warmest uint16 // mirek
}

type raw struct {
	level byte
	known bool
}

// reading8 is a colour component as it was read.
type reading8 struct {
	value byte
	at    time.Time
}

// longestFade is the longest fade that a gear takes by itself (fade time 15), with
// a margin.
const longestFade = 95 * time.Second

// channel is what the core is told.
func (g *gear) channel() appliance.Channel {
	return appliance.Channel{
		Abilities: g.profile.abilities, KelvinMin: g.profile.kelvinMin, KelvinMax: g.profile.kelvinMax,
		MinLevel: g.minLevel, Fade: g.fade,
	}
}

// light is the ability by which a level is told.
func (g *gear) light() appliance.Ability {
	return g.profile.abilities & hasLight
}

// recall takes over what was known before a restart.
func (g *gear) recall(last appliance.Values) {
	g.asked.values, g.asked.arc = last, g.arcOf(last.Level)
}

// arcOf is the arc power level for a percentage. A gear that only switches knows
// off and full.
func (g *gear) arcOf(p appliance.Level) byte {
	if !g.profile.abilities.Has(appliance.CanDim) {
		if p > 0 {
			return MaxArc
		}
		return 0
	}
	return g.curve.arcOf(p)
}

// levelOf prefers what was asked for, as long as it explains what the gear says.
func (g *gear) levelOf(arc byte) appliance.Level {
	switch {
	case !g.profile.abilities.Has(appliance.CanDim):
		if arc > 0 {
			return 100
		}
		return 0
	case arc == 0:
		return 0
	case g.asked.values.Has&hasLight != 0 && g.arcOf(g.asked.values.Level) == arc:
		return g.asked.values.Level
	}
	return g.curve.levelOf(arc)
}

// held is a level as the gear holds it to its limits, as far as they are known.
func (g *gear) held(arc byte) byte {
	if arc == 0 {
		return 0
	}
	arc = max(arc, g.found.min)
	if g.found.max > 0 {
		arc = min(arc, g.found.max)
	}
	return arc
}

// told notes that a level was sent.
func (g *gear) told(p appliance.Level, at time.Time) {
	g.asked.fadeKnown = g.settled || at.Sub(g.asked.at) > longestFade
	v := &g.asked.values
	v.Has, v.Level = v.Has|hasLight, p
	g.asked.arc, g.asked.at = g.arcOf(p), at
	g.settled = false
}

// sentColour notes that a colour was sent.
func (g *gear) sentColour(w wish, at time.Time) {
	v := &g.asked.values
	if w.Has.Has(appliance.CanTune) {
		v.Kelvin = w.kelvin()
	}
	if w.Has.Has(appliance.CanColour) {
		v.RGBW = w.RGBW
	}
	v.Has |= w.Has & (appliance.CanTune | appliance.CanColour)
	g.asked.colourKnown = g.settled || at.Sub(g.asked.at) > longestFade
}

// fading reports whether the gear may still be on its way to what was asked last.
func (g *gear) fading(now time.Time) bool {
	return !g.settled && now.Before(g.asked.at.Add(g.fade))
}

// String names the gear for errors.
func (g *gear) String() string { return fmt.Sprintf("short address %d", g.short) }
