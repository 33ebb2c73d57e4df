package sim

import (
	"math"
	"time"

	"svc.internal/controller/appliance"
)

// Value range of the DALION's registers.
const dalionTop = 255

// buildDALION is the DALION gateway: Modbus TCP, four DALI lines of 128 holding
// registers each, values 0–255.
//
//	0–63    lamp levels, percent = value·100/255
//	64–79   groups         80  broadcast
//	81–96   scene per group, 97 scene broadcast (1–16)
//	98–113  colour temperature per group, 114 broadcast: 0–255 over the mirek range
//
// Source: docs.bacmove.com. Choices of this model: line n begins at 128·(n−1);
// value 0 is the low end of the mirek range, the coolest white; the range of a
// group is that of its first gear; group registers read back what was written;
// scenes are empty; offsets 115–127 answer exception 02.
func buildDALION(u *unit, f *fitting) error {
	for number := 1; number <= 4; number++ {
		d, err := f.daliLineOf(u, number)
		if err != nil {
			return err
		}
		d.dalionCells(u, 128*(number-1))
	}
	return nil
}

func (d *daliLine) dalionCells(u *unit, base int) {
	level := func(gear []*lamp) cell {
		return action(upTo(dalionTop), func(now time.Time, v uint16) {
			for _, l := range gear {
				setLight(now, l, float64(v)*100/dalionTop)
			}
		})
	}
	warmth := func(gear []*lamp) cell {
		return action(upTo(dalionTop), func(_ time.Time, v uint16) { spreadMirek(gear, int(v)) })
	}
	scene := action(upTo(16), func(time.Time, uint16) {})
	for s := range shortAddresses {
		c := level(d.of(s))
		if l := d.gear[s]; l != nil {
			l.raw = func() int { return dalionValue(l) }
			c.get = func(time.Time) uint16 { return uint16(dalionValue(l)) }
		}
		u.at(holding, base+s, c)
	}
	for g := range daliGroups {
		u.at(holding, base+64+g, level(d.member[g]))
		u.at(holding, base+81+g, scene)
		u.at(holding, base+98+g, warmth(d.member[g]))
	}
	u.at(holding, base+80, level(d.all))
	u.at(holding, base+97, scene)
	u.at(holding, base+114, warmth(d.all))
}

func dalionValue(l *lamp) int { return int(math.Round(l.target() * dalionTop / 100)) }

// spreadMirek sets a colour temperature as 0–255 of the gear's mirek range.
func spreadMirek(gear []*lamp, v int) {
	for _, l := range gear {
		if l.kelvin == 0 {
			continue
		}
		low, high := 1e6/float64(l.kelvinMax), 1e6/float64(l.kelvinMin)
		l.setKelvin(int(math.Round(1e6 / (low + (high-low)*float64(v)/dalionTop))))
	}
}

// groupsOf reads the DALI groups of a node: numbers 0 to 15.
func groupsOf(node appliance.Node) ([daliGroups]bool, error) {
	var in [daliGroups]bool
	for _, s := range node.Groups {
		g, err := number(s, 0, daliGroups-1)
		if err != nil {
			return in, err
		}
		in[g] = true
	}
	return in, nil
}
