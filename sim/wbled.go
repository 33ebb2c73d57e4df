package sim

import (
	"math"
	"time"
)

// Modes of a WB-LED (holding 4000) that are simulated.
const (
	ledFourWhite = 0
	ledTwoCCT    = 34
	ledRGBW      = 256

	notInThisMode = 0xFFFF // what registers of the other modes read
)

// ledStrip is the LED dimmer Wiren Board WB-LED (firmware ≥ 3.8; WB-MRGBW-D
// firmware 3 alike) set to one mode.
//
//	holding 4000                      mode
//	coil 9, holding 2011–2013         RGB on/off, R, G, B 0–255
//	holding 2014–2016                 hue 0–360, saturation, brightness 0–100
//	coil 0–3, holding 2000–2003       W1–W4 on/off, level 0–100 (W4 also beside RGB)
//	coil 7, 8, holding 2007–2010      CCT on/off; temperature 0–100 % of range, brightness 0–100
//	holding 3000+, 3100+              ramp up, down in ms
//	input 400, 402                    board temperature, over-current
//	holding 8                         watchdog in s
//
// Source: wirenboard/wb-mqtt-serial 2.260.3. Choices of this model: W1–W3 follow
// the pattern of W4; the ramp at 3000+i belongs to holding 2000+i, is kept and has
// no effect: lamps fade at 5 ms per percent; temperature 0 % is the warm end;
// registers of another mode read FFFF, their coils 0, writes to them are refused
// with exception 03; the mode is fixed by the wiring and takes no other value.
func ledStrip(mode uint16) func(*unit, *fitting) error {
	return func(u *unit, f *fitting) error {
		s := &strip{unit: u, mode: mode, pace: 5}
		u.watched()
		u.wirenBoard("")
		u.at(holding, 4000, stored(&s.mode, within(mode, mode)))
		u.at(input, 400, fixed(35))
		u.at(input, 402, fixed(0))
		ramps := make([]uint16, 34)
		for i := range 17 {
			ramps[i], ramps[17+i] = 500, 500
			u.at(holding, 3000+i, stored(&ramps[i], nil))
			u.at(holding, 3100+i, stored(&ramps[17+i], nil))
		}
		s.whites()
		s.rgb()
		return s.cct(f)
	}
}

// strip is the state behind the register views.
type strip struct {
	unit *unit
	mode uint16
	pace uint16

	rgbOn, whiteOn bool
	r, g, b        uint8
	white          uint16 // percent
	lamp           *lamp  // RGBW: all four outputs as one
}

// foreign cells belong to a mode that this strip is not in.
func (s *strip) foreign(tab table, addr int) {
	c := cell{ok: func(uint16) bool { return false }, set: func(time.Time, uint16) {},
		get: func(time.Time) uint16 { return notInThisMode }}
	if tab == coils {
		c.get = func(time.Time) uint16 { return 0 }
	}
	s.unit.at(tab, addr, c)
}

func (s *strip) whites() {
	for n := range 4 {
		switch {
		case s.mode == ledFourWhite:
			l := &lamp{nominal: 24, standby: 0.2, rampUp: &s.pace, rampDown: &s.pace}
			s.unit.lamps = append(s.unit.lamps, l)
			s.unit.at(coils, n, l.coil())
			s.unit.at(holding, 2000+n, l.levelRegister())
		case s.mode == ledRGBW && n == 3:
			s.unit.at(coils, n, s.switchCell(&s.whiteOn))
			s.unit.at(holding, 2000+n, s.fade(stored(&s.white, upTo(100))))
		default:
			s.foreign(coils, n)
			s.foreign(holding, 2000+n)
		}
	}
}

func (s *strip) cct(f *fitting) error {
	for n := range 2 {
		if s.mode != ledTwoCCT {
			s.foreign(coils, 7+n)
			s.foreign(holding, 2007+2*n)
			s.foreign(holding, 2008+2*n)
			continue
		}
		low, high, err := kelvinRange(f.nodeOf(n + 1))
		if err != nil {
			return err
		}
		l := &lamp{nominal: 48, standby: 0.4, rampUp: &s.pace, rampDown: &s.pace,
			kelvin: low, kelvinMin: low, kelvinMax: high}
		s.unit.lamps = append(s.unit.lamps, l)
		s.unit.at(coils, 7+n, l.coil())
		s.unit.at(holding, 2008+2*n, l.levelRegister())
		s.unit.at(holding, 2007+2*n, cell{
			get: func(time.Time) uint16 { return uint16(percentOf(l.kelvin, low, high)) },
			ok:  upTo(100),
			set: func(_ time.Time, v uint16) { l.setKelvin(low + int(math.Round(float64(v)*float64(high-low)/100))) },
		})
	}
	return nil
}

// percentOf is where v lies between low and high.
func percentOf(v, low, high int) int {
	return int(math.Round(100 * float64(v-low) / float64(high-low)))
}

func (s *strip) rgb() {
	if s.mode != ledRGBW {
		s.foreign(coils, 9)
		for addr := 2011; addr <= 2016; addr++ {
			s.foreign(holding, addr)
		}
		return
	}
	s.lamp = &lamp{nominal: 48, standby: 0.6, rampUp: &s.pace, rampDown: &s.pace, colour: new([4]uint8)}
	s.lamp.raw = func() int { return int(max(s.r, s.g, s.b)) }
	s.lamp.press = s.press
	s.unit.lamps = append(s.unit.lamps, s.lamp)
	s.unit.at(coils, 9, s.switchCell(&s.rgbOn))
	for i, p := range []*uint8{&s.r, &s.g, &s.b} {
		s.unit.at(holding, 2011+i, s.fade(cell{
			get: func(time.Time) uint16 { return uint16(*p) },
			ok:  upTo(255),
			set: func(_ time.Time, v uint16) { *p = uint8(v) },
		}))
	}
	for i, top := range []uint16{360, 100, 100} {
		s.unit.at(holding, 2014+i, s.fade(cell{
			get: func(time.Time) uint16 { return toHSV(s.r, s.g, s.b)[i] },
			ok:  upTo(top),
			set: func(_ time.Time, v uint16) {
				hsv := toHSV(s.r, s.g, s.b)
				hsv[i] = v
				s.r, s.g, s.b = toRGB(hsv)
			},
		}))
	}
}

func (s *strip) switchCell(on *bool) cell {
	return s.fade(cell{
		get: func(time.Time) uint16 { return bit(*on) },
		set: func(_ time.Time, v uint16) { *on = v != 0 },
	})
}

// fade lets the light follow after the cell was written.
func (s *strip) fade(c cell) cell {
	set := c.set
	c.set = func(now time.Time, v uint16) {
		set(now, v)
		s.settle(now)
	}
	return c
}

// settle works out what the four outputs give together: the brightest counts.
func (s *strip) settle(now time.Time) {
	var out [4]uint8
	if s.rgbOn {
		out[0], out[1], out[2] = s.r, s.g, s.b
	}
	if s.whiteOn {
		out[3] = uint8(math.Round(float64(s.white) * 255 / 100))
	}
	*s.lamp.colour = out
	s.lamp.setBoth(now, 100*float64(max(out[0], out[1], out[2], out[3]))/255)
}

func (s *strip) press(now time.Time, p Press) {
	if p.RGBW != nil {
		s.r, s.g, s.b = p.RGBW[0], p.RGBW[1], p.RGBW[2]
		s.white = uint16(math.Round(float64(p.RGBW[3]) * 100 / 255))
		s.rgbOn, s.whiteOn = true, true
	}
	if p.Level != nil {
		brightest := max(float64(max(s.r, s.g, s.b)), float64(s.white)*255/100)
		scale := float64(*p.Level) / 100
		if brightest > 0 {
			scale *= 255 / brightest
		} else {
			s.white = 100
		}
		if *p.Level > 0 {
			for _, c := range []*uint8{&s.r, &s.g, &s.b} {
				*c = uint8(math.Round(float64(*c) * scale))
			}
			s.white = uint16(math.Round(float64(s.white) * scale))
		}
		s.rgbOn, s.whiteOn = *p.Level > 0, *p.Level > 0
	}
	if p.On != nil {
		s.rgbOn, s.whiteOn = *p.On, *p.On
	}
	s.settle(now)
}

// toHSV gives hue 0–360, saturation and brightness 0–100.
func toHSV(r8, g8, b8 uint8) [3]uint16 {
	r, g, b := float64(r8), float64(g8), float64(b8)
	top, low := max(r, g, b), min(r, g, b)
	span := top - low
	var hue, sat float64
	switch {
	case span == 0:
	case top == r:
		hue = 60 * math.Mod((g-b)/span+6, 6)
	case top == g:
		hue = 60 * ((b-r)/span + 2)
	default:
		hue = 60 * ((r-g)/span + 4)
	}
	if top > 0 {
		sat = 100 * span / top
	}
	return [3]uint16{uint16(math.Round(hue)), uint16(math.Round(sat)), uint16(math.Round(100 * top / 255))}
}

func toRGB(hsv [3]uint16) (r, g, b uint8) {
	hue, sat, top := float64(hsv[0])/60, float64(hsv[1])/100, float64(hsv[2])/100*255
	part := func(n float64) uint8 {
		k := math.Mod(n+hue, 6)
		return uint8(math.Round(top - top*sat*max(0, min(k, 4-k, 1))))
	}
	return part(5), part(3), part(1)
}
