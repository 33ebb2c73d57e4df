package sim

import "fmt"

// An RTU frame (Modbus over Serial Line V1.02, clause 2.5.1):
//
//	unit (1) │ PDU (1…253) │ CRC (2, low byte first)
const (
	minRTUFrame = 4
	maxRTUFrame = 256
)

// crc16 is CRC-16/MODBUS: start FFFF, reflected polynomial A001, no final xor.
func crc16(b []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, c := range b {
		crc = crc>>8 ^ crcTable[byte(crc)^c]
	}
	return crc
}

var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i)
		for range 8 {
			if crc&1 != 0 {
				crc = crc>>1 ^ 0xA001
			} else {
				crc >>= 1
			}
		}
		t[i] = crc
	}
	return t
}()

// rtuFrame packs a PDU.
func rtuFrame(unit byte, pdu []byte) []byte {
	out := make([]byte, 0, len(pdu)+3)
	out = append(out, unit)
	out = append(out, pdu...)
	crc := crc16(out)
	return append(out, byte(crc), byte(crc>>8))
}

// parseRTU takes one whole request frame, as a device does that saw silence
// before and after it.
func parseRTU(b []byte) (unit byte, pdu []byte, err error) {
	switch n := len(b); {
	case n < minRTUFrame:
		return 0, nil, fmt.Errorf("%d bytes are too few for a frame", n)
	case n > maxRTUFrame:
		return 0, nil, fmt.Errorf("%d bytes are too many for a frame", n)
	}
	end := len(b) - 2
	if want, got := crc16(b[:end]), uint16(b[end])|uint16(b[end+1])<<8; want != got {
		return 0, nil, fmt.Errorf("checksum %04x, want %04x", got, want)
	}
	return b[0], b[1:end], nil
}

// requestLength is the length of the request frame that b begins, as far as its
// first bytes tell; 0 means not known yet, negative that the function is unknown
// and only silence can tell. For streams, where no silence can be seen.
func requestLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	countAt := 0
	switch b[1] {
	case fnReadCoils, fnReadDiscrete, fnReadHolding, fnReadInput, fnWriteCoil, fnWriteRegister:
		return 8
	case fnMaskWrite:
		return 10
	case fnWriteCoils, fnWriteRegisters:
		countAt = 6
	case fnReadWrite:
		countAt = 10
	default:
		return -1
	}
	if len(b) <= countAt {
		return 0
	}
	return countAt + 1 + int(b[countAt]) + 2
}
