package sim

import (
	"math"
	"time"
)

// buildIntesis is the Intesis IBMBSDAL0640000, one DALI line, holding registers.
//
//	7000·line + 100·short +  5  status bits   + 6  actual level %
//	                      +  7  device type   +15  arc power %, read and write
//	7000·line + 6800 level %, 6803 recall min, 6804 recall max, 6805 scene 0–15:
//	                      broadcast, write
//
// Source: Intesis user manual. Choices of this model: the manual's line counts
// from 0, so the one line of this gateway begins at register 0; device type is 8,
// colour gear; status as DALI QUERY STATUS; percent is light; recalls act on any
// value but 0; registers of absent gear read 0 and take writes.
func buildIntesis(u *unit, f *fitting) error {
	d, err := f.daliLineOf(u, 1)
	if err != nil {
		return err
	}
	setPercent := func(gear []*lamp) func(time.Time, uint16) {
		return func(now time.Time, v uint16) {
			for _, l := range gear {
				setLight(now, l, float64(v))
			}
		}
	}
	for s := range shortAddresses {
		l := d.gear[s]
		base := 100 * s
		power := action(upTo(100), setPercent(d.of(s)))
		actual, kind := fixed(0), uint16(0)
		if l != nil {
			kind = 8
			l.raw = nil
			actual = cell{get: func(now time.Time) uint16 { return uint16(math.Round(l.light.value(now))) }}
			power.get = func(time.Time) uint16 { return uint16(math.Round(l.target())) }
		}
		u.at(holding, base+5, cell{get: func(now time.Time) uint16 { return d.status(now, s) }})
		u.at(holding, base+6, actual)
		u.at(holding, base+7, fixed(kind))
		u.at(holding, base+15, power)
	}
	recall := func(cmd int) cell {
		return action(nil, func(now time.Time, v uint16) {
			if v != 0 {
				d.command(now, d.all, cmd)
			}
		})
	}
	u.at(holding, 6800, action(upTo(100), setPercent(d.all)))
	u.at(holding, 6803, recall(daliRecallMin))
	u.at(holding, 6804, recall(daliRecallMax))
	u.at(holding, 6805, action(upTo(15), func(time.Time, uint16) {}))
	return nil
}
