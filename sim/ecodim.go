package sim

import (
	"slices"
	"time"
)

// buildECOdim is the ECOdim DALI GW2, one DALI line, all holding registers.
//
//	            broadcast  group g   short d
//	level 0–254   1000     2000+5g   3000+5d   write
//	command 0–31  1001     2001+5g   3001+5d   write
//	kelvin        1005     2620+5g   3320+5d   write, 1000–10000
//	present, status, level           3002+5d, 3003+5d, 3004+5d   read
//	kelvin                           3324+5d   read
//	29 bus status, 31 number of devices, 30 start scan,
//	25 raw forward frame, 24 its status, 26 its answer
//
// Choices of this model: what is for writing reads back the value last written;
// an absent short address takes writes, as nobody acknowledges on DALI, and reads
// 0 (level 255); status of a raw frame: 0 no answer, 1 answer in 26.
func buildECOdim(u *unit, f *fitting) error {
	d, err := f.daliLineOf(u, 1)
	if err != nil {
		return err
	}
	row := func(level, command, kelvin int, gear []*lamp) {
		u.at(holding, level, action(upTo(daliTop), func(now time.Time, v uint16) { d.setArc(now, gear, int(v)) }))
		u.at(holding, command, action(upTo(daliLastPlain), func(now time.Time, v uint16) { d.command(now, gear, int(v)) }))
		u.at(holding, kelvin, action(within(1000, 10000), func(_ time.Time, v uint16) { setKelvin(gear, int(v)) }))
	}
	row(1000, 1001, 1005, d.all)
	for g := range daliGroups {
		row(2000+5*g, 2001+5*g, 2620+5*g, d.member[g])
	}
	for s := range shortAddresses {
		row(3000+5*s, 3001+5*s, 3320+5*s, d.of(s))
		u.at(holding, 3002+5*s, fixed(bit(d.gear[s] != nil)))
		u.at(holding, 3003+5*s, cell{get: func(now time.Time) uint16 { return d.status(now, s) }})
		u.at(holding, 3004+5*s, cell{get: func(now time.Time) uint16 { return uint16(d.actual(now, s)) }})
		u.at(holding, 3324+5*s, cell{get: func(time.Time) uint16 {
			if l := d.gear[s]; l != nil {
				return uint16(l.kelvin)
			}
			return 0
		}})
	}
	u.at(holding, 29, fixed(0))
	u.at(holding, 30, action(nil, func(time.Time, uint16) {}))
	u.at(holding, 31, fixed(uint16(len(d.all))))
	d.rawFrames(u)
	return nil
}

// rawFrames puts the registers that send a forward frame as it is.
func (d *daliLine) rawFrames(u *unit) {
	var status, answer uint16
	u.at(holding, 24, cell{get: func(time.Time) uint16 { return status }})
	u.at(holding, 26, cell{get: func(time.Time) uint16 { return answer }})
	u.at(holding, 25, action(nil, func(now time.Time, v uint16) {
		a, ok := d.forward(now, byte(v>>8), byte(v))
		status, answer = bit(ok), uint16(a)
	}))
}

// Queries that the gear answers (IEC 62386-102).
const (
	queryStatus  = 0x90
	queryPresent = 0x91
	queryActual  = 0xA0
	queryGroups  = 0xC0 // 0 to 7; the next one 8 to 15
	daliYes      = 0xFF
)

// forward carries out a forward frame; ok tells whether gear answered.
func (d *daliLine) forward(now time.Time, addr, data byte) (answer byte, ok bool) {
	var gear []*lamp
	short := -1
	switch {
	case addr&0x80 == 0:
		short = int(addr >> 1)
		gear = d.of(short)
	case addr&0xE0 == 0x80:
		gear = d.member[addr>>1&0x0F]
	case addr&0xFE == 0xFE:
		gear = d.all
	default:
		return 0, false
	}
	switch {
	case addr&1 == 0:
		d.setArc(now, gear, int(data))
	case data <= daliLastPlain:
		d.command(now, gear, int(data))
	case short < 0 || len(gear) == 0:
	case data == queryStatus:
		return byte(d.status(now, short)), true
	case data == queryPresent:
		return daliYes, true
	case data == queryActual:
		return byte(d.actual(now, short)), true
	case data&^1 == queryGroups:
		return d.groupBits(gear[0], 8*int(data&1)), true
	}
	return 0, false
}

// groupBits tells in which of eight groups from the first gear is, one bit each.
func (d *daliLine) groupBits(l *lamp, first int) (bits byte) {
	for i := range 8 {
		if slices.Contains(d.member[first+i], l) {
			bits |= 1 << i
		}
	}
	return bits
}

// action is a register whose writes do something and which reads back what was
// written last.
func action(ok func(uint16) bool, do func(now time.Time, v uint16)) cell {
	var last uint16
	return cell{
		get: func(time.Time) uint16 { return last },
		ok:  ok,
		set: func(now time.Time, v uint16) {
			last = v
			do(now, v)
		},
	}
}
