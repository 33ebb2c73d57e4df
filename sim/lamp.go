package sim

import (
	"math"
	"time"
)

// ramp is a quantity that follows its target at a given pace. It is computed
// from the time whenever somebody looks, so an idle lamp costs nothing.
type ramp struct {
	from, to float64
	start    time.Time
	pace     time.Duration // per unit; 0 jumps
}

func (r *ramp) value(now time.Time) float64 {
	if r.pace <= 0 {
		return r.to
	}
	gone := now.Sub(r.start).Seconds() / r.pace.Seconds()
	if gone < 0 {
		gone = 0
	}
	if r.to >= r.from {
		return math.Min(r.to, r.from+gone)
	}
	return math.Max(r.to, r.from-gone)
}

func (r *ramp) aim(now time.Time, to float64, pace time.Duration) {
	r.from, r.to, r.start, r.pace = r.value(now), to, now, pace
}

// lamp is one light output and what hangs on it.
type lamp struct {
	nominal float64 // W at full light
	standby float64 // W of this output's share of the electronics, always drawn

	// Pace of fades in milliseconds per percent; registers of the device point
	// here. Nil: the lamp jumps.
	rampUp, rampDown *uint16

	on      bool
	percent float64 // level in percent, kept while off
	light   ramp

	kelvin               int // 0: the lamp has one white only
	kelvinMin, kelvinMax int
	colour               *[4]uint8 // outputs R, G, B, W; nil: not a colour lamp

	linear bool // DALI gear set to the linear dimming curve

	// raw gives the device's own number for the level; nil: percent.
	raw func() int
	// press does locally what a wall button does, in the device's own registers.
	// Nil: the lamp's own on, percent and kelvin are all there is.
	press func(now time.Time, p Press)
}

// target is the level aimed at, in percent: 0 while off.
func (l *lamp) target() float64 {
	if !l.on {
		return 0
	}
	return l.percent
}

// follow lets the light go to the target from now on.
func (l *lamp) follow(now time.Time) {
	to := l.target()
	pace := l.rampUp
	if to < l.light.value(now) {
		pace = l.rampDown
	}
	var each time.Duration
	if pace != nil {
		each = time.Duration(*pace) * time.Millisecond
	}
	if to != l.light.to || each != l.light.pace {
		l.light.aim(now, to, each)
	}
}

// setOn switches; the level is kept.
func (l *lamp) setOn(now time.Time, on bool) {
	l.on = on
	l.follow(now)
}

// setPercent sets the level; on or off is kept.
func (l *lamp) setPercent(now time.Time, p float64) {
	l.percent = p
	l.follow(now)
}

// setBoth sets the level and switches on, or off when it is 0.
func (l *lamp) setBoth(now time.Time, p float64) {
	l.percent, l.on = p, p > 0
	l.follow(now)
}

// setKelvin takes a colour temperature; the lamp silently stays within what it
// can do, as DALI gear does.
func (l *lamp) setKelvin(k int) {
	l.kelvin = min(max(k, l.kelvinMin), l.kelvinMax)
}

// power is what the output draws, in W.
func (l *lamp) power(now time.Time) float64 {
	return l.standby + l.nominal*l.light.value(now)/100
}

// Press is what somebody does at a wall switch. Absent fields are left alone.
type Press struct {
	On        *bool
	Level     *int // 0–100; 0 switches off
	ColorTemp *int // kelvin
	RGBW      *[4]uint8
}

func (l *lamp) wall(now time.Time, p Press) {
	if l.press != nil {
		l.press(now, p)
		return
	}
	if p.Level != nil {
		l.setBoth(now, float64(*p.Level))
	}
	if p.On != nil {
		if *p.On && l.percent == 0 {
			l.percent = 100
		}
		l.setOn(now, *p.On)
	}
	if p.ColorTemp != nil && l.kelvin != 0 {
		l.setKelvin(*p.ColorTemp)
	}
}

// Cells that most devices share.

// coil is the on/off coil of a lamp.
func (l *lamp) coil() cell {
	return cell{
		get: func(time.Time) uint16 { return bit(l.on) },
		set: func(now time.Time, v uint16) { l.setOn(now, v != 0) },
	}
}

// levelRegister holds percent 0–100 and keeps on or off.
func (l *lamp) levelRegister() cell {
	return cell{
		get: func(time.Time) uint16 { return uint16(math.Round(l.percent)) },
		ok:  upTo(100),
		set: func(now time.Time, v uint16) { l.setPercent(now, float64(v)) },
	}
}

// autoOnRegister holds percent 0–100 and switches on, or off with 0.
func (l *lamp) autoOnRegister() cell {
	c := l.levelRegister()
	c.set = func(now time.Time, v uint16) { l.setBoth(now, float64(v)) }
	return c
}
