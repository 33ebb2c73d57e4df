package sim

import "time"

// buildWaveshare is the Waveshare "Modbus RTU Relay", 8 channels, firmware 2.00.
//
//	coil 0–7          relays; single writes also take 5500, toggle
//	coil 0x00FF       all relays, write only
//	holding 0x4000    unit address
//	holding 0x2000    UART settings, write only
//	holding 0x8000    firmware, 200 = 2.00
//
// Source: Waveshare wiki, "Modbus RTU Relay", "Modbus RTU IO 8CH".
func buildWaveshare(u *unit, f *fitting) error {
	u.toggles = true
	for n := range 8 {
		l := &lamp{nominal: 60, percent: 100}
		u.lamps = append(u.lamps, l)
		u.at(coils, n, l.coil())
	}
	u.at(coils, 0x00FF, cell{set: func(now time.Time, v uint16) {
		for _, l := range u.lamps {
			l.setOn(now, v != 0)
		}
	}})
	u.at(holding, 0x4000, cell{
		get: func(time.Time) uint16 { return uint16(u.number) },
		ok:  func(v uint16) bool { return v >= 1 && v <= 255 && (v == uint16(u.number) || f.readdress(byte(v))) },
		set: func(time.Time, uint16) {}, // moved already, or there already
	})
	var uart uint16
	c := stored(&uart, nil)
	c.get = nil
	u.at(holding, 0x2000, c)
	u.at(holding, 0x8000, fixed(200))
	return nil
}
