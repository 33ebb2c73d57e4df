package sim

import (
	"math"
	"time"
)

// wbWatchdog is the factory setting of the Wiren Board register with the seconds
// without polling after which a module goes to its safe state.
const wbWatchdog = 10

// watched gives the unit the watchdog register of Wiren Board modules, holding 8.
func (u *unit) watched() {
	seconds := uint16(wbWatchdog)
	u.watchdog = &seconds
	u.at(holding, 8, stored(u.watchdog, nil))
}

// buildMDM3 is the mains dimmer Wiren Board WB-MDM3.
//
//	coil 0–2                 on/off
//	holding 0–2              level 0–100, keeps on or off
//	holding 4–6              level with auto-on
//	holding 140–142/150–152  ramp up/down in ms per percent
//	input 100                over-current
//	holding 8                watchdog in s
//
// Source: wirenboard/wb-mqtt-serial 2.260.3. Choice of this model: ramps come set
// to 5 ms per percent, half a second from end to end.
func buildMDM3(u *unit, _ *fitting) error {
	u.watched()
	u.wirenBoard("WBMD3")
	for n := range 3 {
		up, down := uint16(5), uint16(5)
		l := &lamp{nominal: 75, standby: 0.5, rampUp: &up, rampDown: &down}
		u.lamps = append(u.lamps, l)
		u.at(coils, n, l.coil())
		u.at(holding, n, l.levelRegister())
		u.at(holding, 4+n, l.autoOnRegister())
		u.at(holding, 140+n, stored(&up, nil))
		u.at(holding, 150+n, stored(&down, nil))
	}
	u.at(input, 100, fixed(0))
	return nil
}

// buildMAO4 is the analogue output module Wiren Board WB-MAO4 with four drivers
// for luminaires on 0–10 V.
//
//	coil 16–19     on/off
//	holding 16–19  level 0–100
//	holding 20–23  level with auto-on
//	holding 0–3    output in mV, 0–10000
//	holding 10     0 PWM, 1 analogue 0–10 V
//
// Source: wirenboard/wb-mqtt-serial 2.260.3. Choice of this model: the outputs in
// mV are read only.
func buildMAO4(u *unit, _ *fitting) error {
	u.wirenBoard("WBMAO4")
	kind := uint16(1)
	u.at(holding, 10, stored(&kind, upTo(1)))
	for n := range 4 {
		l := &lamp{nominal: 40, standby: 0.3}
		u.lamps = append(u.lamps, l)
		u.at(coils, 16+n, l.coil())
		u.at(holding, 16+n, l.levelRegister())
		u.at(holding, 20+n, l.autoOnRegister())
		u.at(holding, n, cell{get: func(now time.Time) uint16 {
			return uint16(math.Round(100 * l.light.value(now)))
		}})
	}
	return nil
}
