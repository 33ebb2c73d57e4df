package sim

import (
	"encoding/binary"
	"time"
)

// Function codes (Modbus Application Protocol V1.1b3, clause 6).
const (
	fnReadCoils      = 0x01
	fnReadDiscrete   = 0x02
	fnReadHolding    = 0x03
	fnReadInput      = 0x04
	fnWriteCoil      = 0x05
	fnWriteRegister  = 0x06
	fnWriteCoils     = 0x0F
	fnWriteRegisters = 0x10
	fnMaskWrite      = 0x16
	fnReadWrite      = 0x17

	exceptionBit = 0x80
)

// exception is a Modbus exception code; 0 means none.
type exception byte

// The exceptions (clause 7).
const (
	noException      exception = 0x00
	illegalFunction  exception = 0x01
	illegalAddress   exception = 0x02
	illegalValue     exception = 0x03
	deviceFailure    exception = 0x04
	deviceBusy       exception = 0x06
	targetNoResponse exception = 0x0B
)

// Limits of one request (clause 6): the largest quantity per function.
const (
	maxReadBits       = 2000
	maxWriteBits      = 1968
	maxReadRegisters  = 125
	maxWriteRegisters = 123
	maxReadWriteWrite = 121
)

// isWrite reports whether function fn changes something.
func isWrite(fn byte) bool {
	switch fn {
	case fnWriteCoil, fnWriteRegister, fnWriteCoils, fnWriteRegisters, fnMaskWrite, fnReadWrite:
		return true
	}
	return false
}

// execute carries out request PDU pdu on sp at moment now. It returns the answer
// PDU, which for a refused request is an exception; a refused request changes
// nothing. An empty PDU has no answer.
func (sp *space) execute(now time.Time, pdu []byte) []byte {
	if len(pdu) == 0 {
		return nil
	}
	answer, exc := sp.dispatch(now, pdu[0], pdu[1:])
	if exc != noException {
		return []byte{pdu[0] | exceptionBit, byte(exc)}
	}
	return answer
}

func (sp *space) dispatch(now time.Time, fn byte, data []byte) ([]byte, exception) {
	if !sp.serves(fn) {
		return nil, illegalFunction
	}
	if len(data) < 4 {
		return nil, illegalValue
	}
	addr, second := int(be(data)), int(be(data[2:]))
	switch fn {
	case fnReadCoils:
		return sp.readBits(now, fn, coils, addr, second, data)
	case fnReadDiscrete:
		return sp.readBits(now, fn, discrete, addr, second, data)
	case fnReadHolding:
		return sp.readRegisters(now, fn, holding, addr, second, data)
	case fnReadInput:
		return sp.readRegisters(now, fn, input, addr, second, data)
	case fnWriteCoil:
		return sp.writeCoil(now, addr, second, data)
	case fnWriteRegister:
		if len(data) != 4 {
			return nil, illegalValue
		}
		if exc := sp.write(now, holding, addr, []uint16{uint16(second)}); exc != noException {
			return nil, exc
		}
		return echo(fn, data), noException
	case fnWriteCoils:
		return sp.writeCoils(now, addr, second, data)
	case fnWriteRegisters:
		return sp.writeRegisters(now, addr, second, data)
	case fnMaskWrite:
		return sp.maskWrite(now, addr, data)
	case fnReadWrite:
		return sp.readWrite(now, addr, second, data)
	}
	return nil, illegalFunction
}

func (sp *space) readBits(now time.Time, fn byte, tab table, addr, count int, data []byte) ([]byte, exception) {
	if len(data) != 4 || count < 1 || count > maxReadBits {
		return nil, illegalValue
	}
	values, exc := sp.read(now, tab, addr, count)
	if exc != noException {
		return nil, exc
	}
	out := make([]byte, 2+(count+7)/8)
	out[0], out[1] = fn, byte(len(out)-2)
	for i, v := range values {
		if v != 0 {
			out[2+i/8] |= 1 << (i % 8)
		}
	}
	return out, noException
}

func (sp *space) readRegisters(now time.Time, fn byte, tab table, addr, count int, data []byte) ([]byte, exception) {
	if len(data) != 4 || count < 1 || count > sp.readLimit() {
		return nil, illegalValue
	}
	values, exc := sp.read(now, tab, addr, count)
	if exc != noException {
		return nil, exc
	}
	return packRegisters(fn, values), noException
}

func packRegisters(fn byte, values []uint16) []byte {
	out := make([]byte, 2, 2+2*len(values))
	out[0], out[1] = fn, byte(2*len(values))
	for _, v := range values {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}

// toggleValue is the third value that some relay boards take in a single coil
// write (Waveshare wiki, "Modbus RTU Relay").
const toggleValue = 0x5500

func (sp *space) writeCoil(now time.Time, addr, value int, data []byte) ([]byte, exception) {
	var v uint16
	switch {
	case len(data) != 4:
		return nil, illegalValue
	case value == 0xFF00:
		v = 1
	case value == 0:
	case value == toggleValue && sp.toggles:
		before, exc := sp.read(now, coils, addr, 1)
		if exc != noException {
			return nil, exc
		}
		v = 1 - before[0]
	default:
		return nil, illegalValue
	}
	if exc := sp.write(now, coils, addr, []uint16{v}); exc != noException {
		return nil, exc
	}
	return echo(fnWriteCoil, data), noException
}

func (sp *space) writeCoils(now time.Time, addr, count int, data []byte) ([]byte, exception) {
	if count < 1 || count > maxWriteBits || len(data) < 5 ||
		int(data[4]) != (count+7)/8 || len(data) != 5+int(data[4]) {
		return nil, illegalValue
	}
	values := make([]uint16, count)
	for i := range values {
		values[i] = uint16(data[5+i/8]>>(i%8)) & 1
	}
	if exc := sp.write(now, coils, addr, values); exc != noException {
		return nil, exc
	}
	return echo(fnWriteCoils, data[:4]), noException
}

func (sp *space) writeRegisters(now time.Time, addr, count int, data []byte) ([]byte, exception) {
	if count < 1 || count > maxWriteRegisters || len(data) < 5 ||
		int(data[4]) != 2*count || len(data) != 5+2*count {
		return nil, illegalValue
	}
	if exc := sp.write(now, holding, addr, unpack(data[5:])); exc != noException {
		return nil, exc
	}
	return echo(fnWriteRegisters, data[:4]), noException
}

func (sp *space) maskWrite(now time.Time, addr int, data []byte) ([]byte, exception) {
	if len(data) != 6 {
		return nil, illegalValue
	}
	before, exc := sp.read(now, holding, addr, 1)
	if exc != noException {
		return nil, exc
	}
	and, or := be(data[2:]), be(data[4:])
	value := before[0]&and | or&^and
	if exc := sp.write(now, holding, addr, []uint16{value}); exc != noException {
		return nil, exc
	}
	return echo(fnMaskWrite, data), noException
}

func (sp *space) readWrite(now time.Time, addr, count int, data []byte) ([]byte, exception) {
	if len(data) < 9 {
		return nil, illegalValue
	}
	waddr, wcount := int(be(data[4:])), int(be(data[6:]))
	if count < 1 || count > sp.readLimit() || wcount < 1 || wcount > maxReadWriteWrite ||
		int(data[8]) != 2*wcount || len(data) != 9+2*wcount {
		return nil, illegalValue
	}
	if exc := sp.check(now, holding, addr, count); exc != noException {
		return nil, exc
	}
	if exc := sp.write(now, holding, waddr, unpack(data[9:])); exc != noException {
		return nil, exc
	}
	values, exc := sp.read(now, holding, addr, count)
	if exc != noException {
		return nil, exc
	}
	return packRegisters(fnReadWrite, values), noException
}

func be(b []byte) uint16 { return binary.BigEndian.Uint16(b) }

func unpack(b []byte) []uint16 {
	out := make([]uint16, len(b)/2)
	for i := range out {
		out[i] = be(b[2*i:])
	}
	return out
}

func echo(fn byte, data []byte) []byte {
	return append([]byte{fn}, data...)
}
