package sim

import (
	"math"
	"time"
)

// buildLegacyRGBW is the Wiren Board WB-MRGBW-D with firmware older than 3.
//
//	holding 0 = green, 1 = red, 2 = blue, 3 = white, 0–255
//
// Source: wirenboard/wb-mqtt-serial 2.260.3. The order is the maker's. Choice of
// this model: there is no on/off coil, and no fade.
func buildLegacyRGBW(u *unit, _ *fitting) error {
	l := &lamp{nominal: 48, standby: 0.6, colour: new([4]uint8)}
	settle := func(now time.Time) {
		c := l.colour
		l.setBoth(now, 100*float64(max(c[0], c[1], c[2], c[3]))/255)
	}
	l.raw = func() int { return int(max(l.colour[0], l.colour[1], l.colour[2], l.colour[3])) }
	l.press = func(now time.Time, p Press) {
		if p.RGBW != nil {
			*l.colour = *p.RGBW
		}
		if off := p.On != nil && !*p.On || p.Level != nil && *p.Level == 0; off {
			*l.colour = [4]uint8{}
		} else if p.Level != nil {
			*l.colour = [4]uint8{3: uint8(math.Round(float64(*p.Level) * 255 / 100))}
		} else if p.On != nil && l.percent == 0 {
			*l.colour = [4]uint8{3: 255}
		}
		settle(now)
	}
	u.lamps = append(u.lamps, l)
	for addr, component := range []int{1, 0, 2, 3} {
		u.at(holding, addr, cell{
			get: func(time.Time) uint16 { return uint16(l.colour[component]) },
			ok:  upTo(255),
			set: func(now time.Time, v uint16) {
				l.colour[component] = uint8(v)
				settle(now)
			},
		})
	}
	return nil
}
