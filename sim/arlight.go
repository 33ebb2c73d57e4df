package sim

import "time"

// buildArlight is the Arlight DALI-LOGIC-LITE-PS-x1, one DALI line, Modbus TCP,
// all holding registers.
//
//	              short d   group g
//	level 0–254   256+d     384+g     write
//	last level    2560+d    2688+g    read
//	mirek 80–1000 1792+d    1920+g
//	scene 0–15    512+d     640+g     write
//	status        0+d                 read, as DALI QUERY STATUS
//
// Choices of this model: the last level is what gear aims at, 255 without gear,
// and of a group what was last sent to it; scenes are empty, so recalling one
// changes nothing.
func buildArlight(u *unit, f *fitting) error {
	d, err := f.daliLineOf(u, 1)
	if err != nil {
		return err
	}
	row := func(level, last, warmth, scene int, gear []*lamp) {
		var sent uint16
		u.at(holding, level, action(upTo(daliTop), func(now time.Time, v uint16) {
			sent = v
			d.setArc(now, gear, int(v))
		}))
		u.at(holding, last, cell{get: func(time.Time) uint16 { return sent }})
		u.at(holding, warmth, action(within(80, 1000), func(_ time.Time, v uint16) { setKelvin(gear, mirek(int(v))) }))
		u.at(holding, scene, action(upTo(15), func(time.Time, uint16) {}))
	}
	for g := range daliGroups {
		row(384+g, 2688+g, 1920+g, 640+g, d.member[g])
	}
	for s := range shortAddresses {
		row(256+s, 2560+s, 1792+s, 512+s, d.of(s))
		u.at(holding, s, cell{get: func(now time.Time) uint16 { return d.status(now, s) }})
		u.at(holding, 2560+s, cell{get: func(time.Time) uint16 {
			if l := d.gear[s]; l != nil {
				return uint16(l.arc(l.target()))
			}
			return daliMask
		}})
		if l := d.gear[s]; l != nil {
			c := u.tables[holding][1792+s]
			c.get = func(time.Time) uint16 { return uint16(mirek(l.kelvin)) }
			u.at(holding, 1792+s, c)
		}
	}
	return nil
}
