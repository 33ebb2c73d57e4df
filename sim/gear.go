package sim

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
)

// gearAt names a piece of DALI control gear behind a gateway: line from 1, short
// address 0–63.
type gearAt struct{ line, short int }

// gearMap is all gear behind one gateway.
type gearMap map[gearAt]*lamp

// Limits of a DALI line (IEC 62386-102).
const (
	shortAddresses = 64
	daliGroups     = 16
	daliMask       = 255 // arc power "no change", answer "unknown"
	daliTop        = 254
)

// Colour temperature of tunable gear and strips when the node does not say.
const (
	defaultKelvinMin = 2700
	defaultKelvinMax = 6500
)

// arcPercent is the light of arc power n by the standard dimming curve:
// 10^((n−1)/(253/3) − 1) percent, 1 → 0.1 %, 254 → 100 %.
func arcPercent(n int) float64 {
	if n <= 0 {
		return 0
	}
	return math.Pow(10, float64(n-1)/(253.0/3)-1)
}

// percentArc is the arc power nearest to percent p; 0 only for 0.
func percentArc(p float64) int {
	if p <= 0 {
		return 0
	}
	n := int(math.Round(1 + 253.0/3*(math.Log10(p)+1)))
	return min(max(n, 1), daliTop)
}

// newGear is an LED driver that is off, as the installer wrote it down in the
// node's options: curve (standard, linear), tunable (true, false), fade (time from
// 0 to 100 %) and the kelvin range.
func newGear(node appliance.Node, fade time.Duration) (*lamp, error) {
	l := &lamp{nominal: 35, standby: 0.4, percent: 100, linear: node.Options["curve"] == "linear"}
	if s, ok := node.Options["fade"]; ok {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("option fade %q: want a time such as 700ms", s)
		}
		fade = d
	}
	pace := uint16(min(fade, maxDALIFade).Milliseconds() / 100)
	l.rampUp, l.rampDown = &pace, &pace
	l.press = l.wallGear
	low, high, err := kelvinRange(node)
	if err != nil {
		return nil, err
	}
	if node.Options["tunable"] != "false" {
		l.kelvinMin, l.kelvinMax = low, high
		l.setKelvin(4000)
	}
	return l, nil
}

// wallGear is what a DALI push-button coupler does to gear: in arc power steps.
func (l *lamp) wallGear(now time.Time, p Press) {
	if p.Level != nil {
		setLight(now, l, l.arcLight(l.arc(float64(*p.Level))))
	}
	if p.On != nil {
		l.setOn(now, *p.On)
	}
	if p.ColorTemp != nil {
		l.setKelvin(*p.ColorTemp)
	}
}

// maxDALIFade is the longest fade time of DALI gear, code 15.
const maxDALIFade = 90*time.Second + 500*time.Millisecond

// kelvinRange is what the installer wrote down of the luminaire.
func kelvinRange(node appliance.Node) (low, high int, err error) {
	low, high = defaultKelvinMin, defaultKelvinMax
	for key, p := range map[string]*int{"kelvinMin": &low, "kelvinMax": &high} {
		s, ok := node.Options[key]
		if !ok {
			continue
		}
		if *p, err = strconv.Atoi(s); err != nil || *p < 1000 || *p > 20000 {
			return 0, 0, fmt.Errorf("option %s %q: want kelvin, 1000 to 20000", key, s)
		}
	}
	if low >= high {
		return 0, 0, fmt.Errorf("options kelvinMin %d, kelvinMax %d: the first must be lower", low, high)
	}
	return low, high, nil
}

// daliLine is one DALI line as its gateway commands it.
type daliLine struct {
	gear   map[int]*lamp // by short address
	member [daliGroups][]*lamp
	all    []*lamp
}

// arcLight is the light in percent that arc power n gives: by the standard curve,
// or level / 254 for gear that is set to the linear one (device type 6).
func (l *lamp) arcLight(n int) float64 {
	if l.linear {
		return 100 * float64(n) / daliTop
	}
	return arcPercent(n)
}

// arc is the arc power nearest to a light of p percent.
func (l *lamp) arc(p float64) int {
	if !l.linear {
		return percentArc(p)
	}
	return round(p * daliTop / 100)
}

// setArc is direct arc power control of some gear.
func (d *daliLine) setArc(now time.Time, gear []*lamp, n int) {
	if n == daliMask {
		return
	}
	for _, l := range gear {
		setLight(now, l, l.arcLight(n))
	}
}

// setLight sets a level and keeps the last one above 0 for "on".
func setLight(now time.Time, l *lamp, p float64) {
	l.on = p > 0
	if l.on {
		l.percent = p
	}
	l.follow(now)
}

// Commands without argument (IEC 62386-102, table 15).
const (
	daliOff            = 0
	daliRecallMax      = 5
	daliRecallMin      = 6
	daliGoToLastActive = 10
	daliLastPlain      = 31
)

// minArc is the physical minimum level of the gear: 1 %.
const minArc = 85

// command carries out DALI command 0 to 31 on some gear. Steps (1–4, 7, 8) move
// by one arc power; scenes are stored as MASK, as after a reset, so recalling one
// changes nothing.
func (d *daliLine) command(now time.Time, gear []*lamp, cmd int) {
	for _, l := range gear {
		n := l.arc(l.target())
		switch cmd {
		case daliOff:
			setLight(now, l, 0)
		case 1, 3:
			if n > 0 {
				setLight(now, l, l.arcLight(min(n+1, daliTop)))
			}
		case 2, 4:
			if n > minArc {
				setLight(now, l, l.arcLight(n-1))
			}
		case daliRecallMax:
			setLight(now, l, 100)
		case daliRecallMin:
			setLight(now, l, l.arcLight(minArc))
		case 7:
			if n <= minArc {
				setLight(now, l, 0)
			} else {
				setLight(now, l, l.arcLight(n-1))
			}
		case 8:
			setLight(now, l, l.arcLight(min(max(n+1, minArc), daliTop)))
		case daliGoToLastActive:
			l.setOn(now, true)
		}
	}
}

// status is the answer to QUERY STATUS: bit 2 lamp on, bit 4 fade running.
func (d *daliLine) status(now time.Time, short int) uint16 {
	l := d.gear[short]
	if l == nil {
		return 0
	}
	light := l.light.value(now)
	return bit(light > 0)<<2 | bit(light != l.light.to)<<4
}

// actual is the arc power now; 255, unknown, without gear.
func (d *daliLine) actual(now time.Time, short int) int {
	l := d.gear[short]
	if l == nil {
		return daliMask
	}
	return l.arc(l.light.value(now))
}

// of is the gear with a short address, as a list for the commands above.
func (d *daliLine) of(short int) []*lamp {
	if l := d.gear[short]; l != nil {
		return []*lamp{l}
	}
	return nil
}

func setKelvin(gear []*lamp, k int) {
	for _, l := range gear {
		if l.kelvin != 0 {
			l.setKelvin(k)
		}
	}
}

// mirek converts between kelvin and mirek, either way.
func mirek(v int) int {
	if v <= 0 {
		return 0
	}
	return int(math.Round(1e6 / float64(v)))
}
