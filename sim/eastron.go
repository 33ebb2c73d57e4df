package sim

import (
	"math"
	"time"
)

// busMeter is what a meter of a bus sees at a moment.
type busMeter struct {
	watts float64
	kWh   float64 // since the building began
}

type phases int

// Wiring of the Eastron meters.
const (
	singlePhase phases = iota
	threePhase
	threePhaseNoVolts // the first SDM72
)

// meter is a meter's readings.
type meter struct {
	load func(now time.Time) busMeter
	wire phases
}

// firstKWh is what the meter had counted before the building began.
const firstKWh = 1234.5

// Shares of the load on the three phases.
var phaseShare = [3]float64{0.5, 0.3, 0.2}

// eastron is an Eastron SDM meter: values by function 04, IEEE 754 float32 in two
// registers, high word first, at most 60 registers in one request, whole values
// only.
//
//	           SDM120/220/230            SDM630/72
//	0x0000     voltage                   voltage L1 (not SDM72)
//	0x0006     current                   current L1 (not SDM72)
//	0x000C     active power              active power L1; L2 0x000E, L3 0x0010
//	0x0034                               total active power
//	0x0046     frequency
//	0x0048     import kWh, 0x004A export kWh
//	0x0156     total kWh
//
// Holding FC00 is the serial number (32 bits), FC02 the product code, FC03 the
// firmware; a code of 0 is a meter that has none of these.
//
// Source: volkszaehler/mbmd, SDM72D-M manual; for the holding registers the
// open-source dbus-modbus-client of Victron Energy. Choices of this model: everything
// else answers exception 02; mains of 230 V and 50 Hz that breathe a little;
// power factor 0.95.
func eastron(wire phases, code uint16) func(*unit, *fitting) error {
	return func(u *unit, f *fitting) error {
		if code != 0 {
			u.number32(0xFC00, eastronFirstSerial)
			u.at(holding, 0xFC02, fixed(code))
			u.at(holding, 0xFC03, fixed(0x0105))
		}
		m := &meter{load: f.load, wire: wire}
		u.meter = m
		u.limit, u.wholePair = 60, true
		power := func(share float64) func(time.Time) float64 {
			return func(now time.Time) float64 { return share * m.load(now).watts }
		}
		first := 1.0
		if wire != singlePhase {
			first = phaseShare[0]
			u.float(0x000E, power(phaseShare[1]))
			u.float(0x0010, power(phaseShare[2]))
			u.float(0x0034, power(1))
		}
		u.float(0x000C, power(first))
		if wire != threePhaseNoVolts {
			u.float(0x0000, voltage)
			u.float(0x0006, func(now time.Time) float64 { return power(first)(now) / voltage(now) / 0.95 })
		}
		u.float(0x0046, func(now time.Time) float64 { return 50 + 0.02*wave(now, 13) })
		energy := func(now time.Time) float64 { return firstKWh + m.load(now).kWh }
		u.float(0x0048, energy)
		u.float(0x004A, func(time.Time) float64 { return 0 })
		u.float(0x0156, energy)
		return nil
	}
}

func voltage(now time.Time) float64 { return 230 + 1.5*wave(now, 97) }

// wave swings between −1 and 1 in so many seconds.
func wave(now time.Time, seconds float64) float64 {
	return math.Sin(2 * math.Pi * math.Mod(float64(now.UnixMilli())/1000, seconds) / seconds)
}

// float puts a float32 at two input registers. The high word keeps the value for
// the low word, so that both are of one moment.
func (u *unit) float(addr int, value func(now time.Time) float64) {
	var bits uint32
	u.at(input, addr, cell{get: func(now time.Time) uint16 {
		bits = math.Float32bits(float32(value(now)))
		return uint16(bits >> 16)
	}})
	u.at(input, addr+1, cell{get: func(time.Time) uint16 { return uint16(bits) }})
}
