package dalisim

import (
	"math"
	"math/rand/v2"
	"time"
)

// mask means "no value": an unset short address, an unknown level, a colour
// channel that is left alone.
const mask = 0xFF

// sendTwice is how soon the second of two equal frames must follow.
const sendTwice = 100 * time.Millisecond

// initialiseFor is how long gear stays open for addressing.
const initialiseFor = 15 * time.Minute

// gear is one control gear.
type gear struct {
	cfg    GearConfig
	like   *gear // the one whose address it shares; nil: none
	rng    *rand.Rand
	short  byte // mask: none
	groups uint16
	scenes [16]byte

	from, to       byte // level before and after the fade
	begun, ends    moment
	lastActive     byte
	changed        moment // when the level asked for last was reached
	min, max       byte
	fade, fadeRate byte
	powerOn        byte
	failureLevel   byte
	dtr            [3]byte
	enabled        byte // device type for the next frame; 0: none
	enabledNow     byte
	pending        uint16 // a frame that must come twice
	pendingAt      moment
	hasPending     bool

	random      uint32
	fresh       uint32 // random address that will be there soon
	freshAt     moment
	search      uint32
	initialised moment // until
	withdrawn   bool

	tc, tempTc     uint16
	rgbwaf, temp   [6]byte
	lampFailure    bool
	deafUntil      moment
	reset, powered bool
}

func newGear(c GearConfig, rng *rand.Rand) *gear {
	g := &gear{cfg: c, rng: rng, random: 0xFFFFFF, search: 0xFFFFFF, fresh: 0xFFFFFF, short: mask, groups: c.Groups,
		min: c.Min, max: c.Max, fade: c.FadeTime, fadeRate: 7, powerOn: 254, failureLevel: 254, powered: true}
	if c.Short >= 0 {
		g.short = byte(c.Short)
	}
	for i := range g.scenes {
		g.scenes[i] = mask
	}
	for i := range g.temp {
		g.temp[i] = mask
	}
	g.tempTc = 0xFFFF
	g.tc = min(max(250, c.Coolest), c.Warmest)
	g.set(c.Level, 0)
	return g
}

// level at a moment.
func (g *gear) level(t moment) byte {
	if t >= g.ends || g.ends <= g.begun {
		return g.to
	}
	part := float64(t-g.begun) / float64(g.ends-g.begun)
	from := float64(g.from)
	if g.from == 0 {
		from = float64(g.min)
	}
	to := float64(g.to)
	if g.to == 0 {
		to = float64(g.min)
	}
	return byte(math.Round(from + part*(to-from)))
}

func (g *gear) fading(t moment) bool { return t < g.ends }

// set changes the level at once.
func (g *gear) set(level byte, t moment) {
	if level != 0 {
		g.lastActive = level
	}
	if level != g.to || g.fading(t) {
		g.changed = t
	}
	g.from, g.to, g.begun, g.ends = level, level, t, t
}

// fadeTo takes the fade time, 0.5·√(2^f) s, to a level.
func (g *gear) fadeTo(level byte, t moment) {
	if g.fade == 0 {
		g.set(level, t)
		return
	}
	from := g.level(t)
	g.from, g.to, g.begun = from, level, t
	g.ends = t + moment(0.5*math.Sqrt(math.Pow(2, float64(g.fade)))*float64(time.Second))
	g.changed = g.ends
	if from == level {
		g.ends = t
	}
	if level != 0 {
		g.lastActive = level
	}
}

func (g *gear) clip(level byte) byte {
	if level == 0 {
		return 0
	}
	return min(max(level, g.min), g.max)
}

// randomAt is the random address at a moment: a new one is there within 100 ms.
func (g *gear) randomAt(t moment) uint32 {
	if t >= g.freshAt {
		g.random = g.fresh
	}
	return g.random
}

func (g *gear) open(t moment) bool { return t < g.initialised }

// addressed reports whether an address byte means this gear.
func (g *gear) addressed(b byte) bool {
	switch {
	case b < 0x80:
		return g.short == b>>1
	case b < 0xA0:
		return g.groups>>(b>>1&0x0F)&1 != 0
	case b >= 0xFE:
		return true
	case b >= 0xFC:
		return g.short == mask
	}
	return false
}

// isSpecial reports whether an address byte makes a special command.
func isSpecial(b byte) bool { return b >= 0xA0 && b < 0xFC && b&1 != 0 }

// hear takes a forward frame whose last bit was over at t. ok tells whether the
// gear answers.
func (g *gear) hear(frame uint16, t moment) (answer byte, ok bool) {
	address, data := byte(frame>>8), byte(frame)
	g.enabledNow, g.enabled = g.enabled, 0
	repeated := g.hasPending && g.pending == frame && t-g.pendingAt <= sendTwice+16*time.Millisecond
	g.hasPending = false
	if isSpecial(address) {
		return g.special(address, data, frame, repeated, t)
	}
	if !g.addressed(address) {
		return 0, false
	}
	if address&1 == 0 {
		if data != mask {
			g.fadeTo(g.clip(data), t)
			g.reset = false
		} else {
			g.set(g.level(t), t)
		}
		return 0, false
	}
	switch {
	case data >= 0xE0:
		return g.extended(data, t)
	case data >= 0x20 && data < 0x90:
		if repeated {
			g.configure(data, t)
		} else {
			g.pending, g.pendingAt, g.hasPending = frame, t, true
		}
		return 0, false
	case data >= 0x90:
		return g.query(data, t)
	}
	g.act(data, t)
	return 0, false
}

// act carries out a command that changes the light.
func (g *gear) act(data byte, t moment) {
	now := g.level(t)
	switch {
	case data == 0x00:
		g.set(0, t)
	case data == 0x01 && now > 0:
		g.set(g.clip(min(now, 251)+3), t)
	case data == 0x02 && now > 0:
		g.set(g.clip(max(now, 4)-3), t)
	case data == 0x03 && now > 0:
		g.set(g.clip(min(now, 253)+1), t)
	case data == 0x04 && now > 0:
		g.set(g.clip(now-1), t)
	case data == 0x05:
		g.set(g.max, t)
	case data == 0x06:
		g.set(g.min, t)
	case data == 0x07:
		if now <= g.min {
			g.set(0, t)
		} else {
			g.set(now-1, t)
		}
	case data == 0x08:
		g.set(g.clip(min(now, 253)+1), t)
	case data == 0x0A:
		g.fadeTo(g.clip(g.lastActive), t)
	case data >= 0x10 && data < 0x20:
		if l := g.scenes[data-0x10]; l != mask {
			g.fadeTo(g.clip(l), t)
		}
	}
}

// configure carries out a command that came twice.
func (g *gear) configure(data byte, t moment) {
	switch {
	case data == 0x20:
		g.fade, g.fadeRate, g.groups, g.min, g.max, g.reset = 0, 7, 0, g.cfg.PhysicalMin, 254, true
		for i := range g.scenes {
			g.scenes[i] = mask
		}
		g.set(254, t)
	case data == 0x2A:
		g.max = min(max(g.dtr[0], g.min), 254)
		g.set(g.clip(g.level(t)), t)
	case data == 0x2B:
		g.min = min(max(g.dtr[0], g.cfg.PhysicalMin), g.max)
		g.set(g.clip(g.level(t)), t)
	case data == 0x2C:
		g.failureLevel = g.dtr[0]
	case data == 0x2D:
		g.powerOn = g.dtr[0]
	case data == 0x2E:
		g.fade = min(g.dtr[0], 15)
	case data == 0x2F:
		g.fadeRate = min(max(g.dtr[0], 1), 15)
	case data >= 0x40 && data < 0x50:
		g.scenes[data-0x40] = g.dtr[0]
	case data >= 0x50 && data < 0x60:
		g.scenes[data-0x50] = mask
	case data >= 0x60 && data < 0x70:
		g.groups |= 1 << (data - 0x60)
	case data >= 0x70 && data < 0x80:
		g.groups &^= 1 << (data - 0x70)
	case data == 0x80:
		switch {
		case g.dtr[0] == mask:
			g.short = mask
		case g.dtr[0]&0x81 == 1:
			g.short = g.dtr[0] >> 1
		}
	}
}

func yes(b bool) (byte, bool) { return 0xFF, b }

// query answers a question to this gear.
func (g *gear) query(data byte, t moment) (byte, bool) {
	now := g.level(t)
	switch {
	case data == 0x90:
		return g.status(t), true
	case data == 0x91:
		return 0xFF, true
	case data == 0x92:
		return yes(g.lampFailure)
	case data == 0x93:
		return yes(now > 0 && !g.lampFailure)
	case data == 0x96:
		return yes(g.short == mask)
	case data == 0x97:
		return 8, true
	case data == 0x98:
		return g.dtr[0], true
	case data == 0x99:
		return g.cfg.Type, true
	case data == 0x9A:
		return g.cfg.PhysicalMin, true
	case data == 0x9C:
		return g.dtr[1], true
	case data == 0x9D:
		return g.dtr[2], true
	case data == 0xA0:
		if g.lampFailure {
			return mask, true
		}
		return now, true
	case data == 0xA1:
		return g.max, true
	case data == 0xA2:
		return g.min, true
	case data == 0xA3:
		return g.powerOn, true
	case data == 0xA4:
		return g.failureLevel, true
	case data == 0xA5:
		return g.fade<<4 | g.fadeRate, true
	case data >= 0xB0 && data < 0xC0:
		return g.scenes[data-0xB0], true
	case data == 0xC0:
		return byte(g.groups), true
	case data == 0xC1:
		return byte(g.groups >> 8), true
	case data >= 0xC2 && data <= 0xC4:
		return byte(g.randomAt(t) >> (8 * (0xC4 - data))), true
	}
	return 0, false
}

func (g *gear) status(t moment) byte {
	var s byte
	for bit, on := range []bool{false, g.lampFailure, g.level(t) > 0 && !g.lampFailure, false, g.fading(t), g.reset, g.short == mask, g.powered} {
		if on {
			s |= 1 << bit
		}
	}
	return s
}
