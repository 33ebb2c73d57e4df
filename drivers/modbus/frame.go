package modbus

import (
	"encoding/binary"
	"fmt"

	goburrow "github.com/goburrow/modbus"
)

// function is a Modbus function code (Modbus Application Protocol V1.1b3, §6).
type function byte

const (
	readCoils          function = 0x01
	readDiscretes      function = 0x02
	readHolding        function = 0x03
	readInput          function = 0x04
	writeCoil          function = 0x05
	writeRegister      function = 0x06
	writeCoils         function = 0x0F
	writeRegisters     function = 0x10
	maskWrite          function = 0x16
	readWrite          function = 0x17
	readDeviceID       function = 0x2B // with MEI type 0E
	exceptionBit       function = 0x80
	meiDeviceID        byte     = 0x0E
	maxReadBits                 = 2000
	maxReadRegisters            = 125
	maxWriteBits                = 1968
	maxWriteRegisters           = 123
	maxReadWriteWrites          = 121
)

var functionNames = map[function]string{
	readCoils: "read coils", readDiscretes: "read discrete inputs",
	readHolding: "read holding registers", readInput: "read input registers",
	writeCoil: "write coil", writeRegister: "write register",
	writeCoils: "write coils", writeRegisters: "write registers",
	maskWrite: "mask write register", readWrite: "read and write registers",
	readDeviceID: "read device identification",
}

func (f function) String() string {
	if name, ok := functionNames[f&^exceptionBit]; ok {
		return name
	}
	return fmt.Sprintf("function %02X", byte(f))
}

// request is one question to one unit. Which fields mean something depends on
// the function.
type request struct {
	unit   byte // 0 broadcasts
	fn     function
	addr   uint16   // first address; of the read part in readWrite
	qty    uint16   // how many to read
	waddr  uint16   // first address written by readWrite
	values []uint16 // registers written; {and, or} in maskWrite
	bits   []bool   // coils written
}

// check refuses what the standard does not allow, before it is sent.
func (r request) check() error {
	count, most := int(r.qty), 0
	switch r.fn {
	case readCoils, readDiscretes:
		most = maxReadBits
	case readHolding, readInput:
		most = maxReadRegisters
	case writeCoil:
		count, most = len(r.bits), 1
	case writeCoils:
		count, most = len(r.bits), maxWriteBits
	case writeRegister:
		count, most = len(r.values), 1
	case writeRegisters:
		count, most = len(r.values), maxWriteRegisters
	case maskWrite:
		if len(r.values) != 2 {
			return fmt.Errorf("%v: want an and mask with an or mask", r.fn)
		}
		count, most = 1, 1
	case readWrite:
		if n := len(r.values); n < 1 || n > maxReadWriteWrites || int(r.waddr)+n > 1<<16 {
			return fmt.Errorf("%v: %d registers written at %d: want 1 to %d", r.fn, n, r.waddr, maxReadWriteWrites)
		}
		most = maxReadRegisters
	case readDeviceID:
		count, most = 1, 1
	default:
		return fmt.Errorf("%v is not supported", r.fn)
	}
	if count < 1 || count > most {
		return fmt.Errorf("%v: %d at once: want 1 to %d", r.fn, count, most)
	}
	if int(r.addr)+count > 1<<16 {
		return fmt.Errorf("%v: %d from address %d go beyond 65535", r.fn, count, r.addr)
	}
	if r.unit == 0 && !r.writes() {
		return fmt.Errorf("%v: only writes can be broadcast", r.fn)
	}
	return nil
}

// writes reports whether r changes something and expects nothing but an echo.
func (r request) writes() bool {
	switch r.fn {
	case writeCoil, writeRegister, writeCoils, writeRegisters, maskWrite:
		return true
	}
	return false
}

// pdu packs function and data.
func (r request) pdu() *goburrow.ProtocolDataUnit {
	data := make([]byte, 0, r.requestLen())
	be := binary.BigEndian
	switch r.fn {
	case readCoils, readDiscretes, readHolding, readInput:
		data = be.AppendUint16(be.AppendUint16(data, r.addr), r.qty)
	case writeCoil:
		value := uint16(0)
		if r.bits[0] {
			value = 0xFF00
		}
		data = be.AppendUint16(be.AppendUint16(data, r.addr), value)
	case writeRegister:
		data = be.AppendUint16(be.AppendUint16(data, r.addr), r.values[0])
	case writeCoils:
		data = be.AppendUint16(be.AppendUint16(data, r.addr), uint16(len(r.bits)))
		packed := packBits(r.bits)
		data = append(append(data, byte(len(packed))), packed...)
	case writeRegisters:
		data = be.AppendUint16(be.AppendUint16(data, r.addr), uint16(len(r.values)))
		data = appendWords(append(data, byte(2*len(r.values))), r.values)
	case maskWrite:
		data = appendWords(be.AppendUint16(data, r.addr), r.values)
	case readWrite:
		data = be.AppendUint16(be.AppendUint16(data, r.addr), r.qty)
		data = be.AppendUint16(be.AppendUint16(data, r.waddr), uint16(len(r.values)))
		data = appendWords(append(data, byte(2*len(r.values))), r.values)
	case readDeviceID:
		data = append(data, meiDeviceID, 0x01, 0x00) // basic identification, from object 0
	}
	return &goburrow.ProtocolDataUnit{FunctionCode: byte(r.fn), Data: data}
}

// requestLen and answerLen count the bytes of the PDUs; answerLen is 0 where only
// the answer itself can tell.
func (r request) requestLen() int {
	switch r.fn {
	case writeCoils:
		return 6 + (len(r.bits)+7)/8
	case writeRegisters:
		return 6 + 2*len(r.values)
	case maskWrite:
		return 7
	case readWrite:
		return 10 + 2*len(r.values)
	case readDeviceID:
		return 4
	}
	return 5
}

func (r request) answerLen() int {
	switch r.fn {
	case readCoils, readDiscretes:
		return 2 + (int(r.qty)+7)/8
	case readHolding, readInput, readWrite:
		return 2 + 2*int(r.qty)
	case maskWrite:
		return 7
	case readDeviceID:
		return 0
	}
	return 5
}

// String says what is asked, for errors.
func (r request) String() string {
	first, count := r.addr, int(r.qty)
	switch r.fn {
	case writeCoil, writeCoils:
		count = len(r.bits)
	case writeRegister, writeRegisters:
		count = len(r.values)
	case readDeviceID:
		return r.fn.String()
	case maskWrite:
		count = 1
	}
	if count <= 1 {
		return fmt.Sprintf("%v %d", r.fn, first)
	}
	return fmt.Sprintf("%v %d–%d", r.fn, first, int(first)+count-1)
}

func packBits(bits []bool) []byte {
	packed := make([]byte, (len(bits)+7)/8)
	for i, on := range bits {
		if on {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return packed
}

func unpackBits(packed []byte, n int) []bool {
	bits := make([]bool, n)
	for i := range bits {
		bits[i] = packed[i/8]&(1<<(i%8)) != 0
	}
	return bits
}

func appendWords(b []byte, words []uint16) []byte {
	for _, w := range words {
		b = binary.BigEndian.AppendUint16(b, w)
	}
	return b
}

func words(b []byte) []uint16 {
	list := make([]uint16, len(b)/2)
	for i := range list {
		list[i] = binary.BigEndian.Uint16(b[2*i:])
	}
	return list
}

// crc16 is CRC-16/MODBUS: start FFFF, reflected polynomial A001. On the wire its
// low byte comes first.
func crc16(b []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, c := range b {
		crc = crc>>8 ^ crcTable[byte(crc)^c]
	}
	return crc
}

var crcTable = makeCRCTable()

func makeCRCTable() (table [256]uint16) {
	for i := range table {
		crc := uint16(i)
		for range 8 {
			if crc&1 != 0 {
				crc = crc>>1 ^ 0xA001
			} else {
				crc >>= 1
			}
		}
		table[i] = crc
	}
	return table
}

// crcOK reports whether the last two bytes of an RTU frame are its checksum.
func crcOK(frame []byte) bool {
	n := len(frame) - 2
	return n >= 2 && crc16(frame[:n]) == binary.LittleEndian.Uint16(frame[n:])
}
