package sim

import "time"

// table is one of the four address spaces of a Modbus device.
type table uint8

// The tables.
const (
	coils table = iota
	discrete
	holding
	input
	tableCount
)

// cell is one address of a device's register map.
type cell struct {
	// get gives the value at a moment; nil: the address cannot be read.
	get func(now time.Time) uint16
	// ok judges a value before anything is written; nil: every value will do.
	ok func(v uint16) bool
	// set takes a value that ok let pass; nil: the address cannot be written.
	set func(now time.Time, v uint16)
}

// space is the register map of one device. Addresses without a cell answer
// exception 02, functions without a table exception 01.
type space struct {
	tables [tableCount]map[int]cell

	toggles   bool // a single coil write may carry 5500
	combined  bool // serves mask write and read/write (functions 16 and 17)
	limit     int  // registers per read; 0 means 125
	wholePair bool // input registers are 32-bit values: only whole ones are read
}

// at puts a cell at an address.
func (sp *space) at(tab table, addr int, c cell) {
	if sp.tables[tab] == nil {
		sp.tables[tab] = map[int]cell{}
	}
	sp.tables[tab][addr] = c
}

func (sp *space) readLimit() int {
	if sp.limit > 0 {
		return sp.limit
	}
	return maxReadRegisters
}

// serves reports whether the device knows function fn at all.
func (sp *space) serves(fn byte) bool {
	switch fn {
	case fnReadCoils, fnWriteCoil, fnWriteCoils:
		return sp.tables[coils] != nil
	case fnReadDiscrete:
		return sp.tables[discrete] != nil
	case fnReadHolding, fnWriteRegister, fnWriteRegisters:
		return sp.tables[holding] != nil
	case fnReadInput:
		return sp.tables[input] != nil
	case fnMaskWrite, fnReadWrite:
		return sp.combined && sp.tables[holding] != nil
	}
	return false
}

// check reports whether count cells from addr can all be read.
func (sp *space) check(_ time.Time, tab table, addr, count int) exception {
	if sp.wholePair && tab == input && (addr%2 != 0 || count%2 != 0) {
		return illegalAddress
	}
	for i := range count {
		if sp.tables[tab][addr+i].get == nil {
			return illegalAddress
		}
	}
	return noException
}

func (sp *space) read(now time.Time, tab table, addr, count int) ([]uint16, exception) {
	if exc := sp.check(now, tab, addr, count); exc != noException {
		return nil, exc
	}
	out := make([]uint16, count)
	for i := range out {
		out[i] = sp.tables[tab][addr+i].get(now)
	}
	return out, noException
}

// write writes all values or, if one of them cannot be written, none.
func (sp *space) write(now time.Time, tab table, addr int, values []uint16) exception {
	for i := range values {
		if sp.tables[tab][addr+i].set == nil {
			return illegalAddress
		}
	}
	for i, v := range values {
		if c := sp.tables[tab][addr+i]; c.ok != nil && !c.ok(v) {
			return illegalValue
		}
	}
	for i, v := range values {
		sp.tables[tab][addr+i].set(now, v)
	}
	return noException
}

// Building blocks for register maps.

// upTo accepts 0 to top.
func upTo(top uint16) func(uint16) bool {
	return func(v uint16) bool { return v <= top }
}

// within accepts low to high.
func within(low, high uint16) func(uint16) bool {
	return func(v uint16) bool { return v >= low && v <= high }
}

// stored is a setting that is kept and has no effect of its own.
func stored(p *uint16, ok func(uint16) bool) cell {
	return cell{
		get: func(time.Time) uint16 { return *p },
		ok:  ok,
		set: func(_ time.Time, v uint16) { *p = v },
	}
}

// fixed is a read-only constant.
func fixed(v uint16) cell {
	return cell{get: func(time.Time) uint16 { return v }}
}

func bit(b bool) uint16 {
	if b {
		return 1
	}
	return 0
}
