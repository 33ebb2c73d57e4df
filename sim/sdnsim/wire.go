package sdnsim

import (
	"fmt"
	"strconv"
	"strings"
)

// Message is one frame, as it is meant: before inversion.
//
//	id │ ack(1 bit) length(7 bits) │ from type·to type │ source (3, low first) │ destination (3, low first) │ data │ sum (2, high first)
type Message struct {
	ID       byte
	Ack      bool
	From, To byte // node types
	Src, Dst uint32
	Data     []byte
}

// Lengths on the wire.
const (
	shortest = 11
	longest  = 32
)

// Addresses with a meaning.
const (
	everybody = 0xFFFFFF
	nobody    = 0x000000
)

// Pack makes the bytes on the wire: everything inverted, then the sum of what is
// sent.
func (m Message) Pack() []byte {
	length := shortest + len(m.Data)
	head := []byte{
		m.ID, byte(length), m.From<<4 | m.To&15,
		byte(m.Src), byte(m.Src >> 8), byte(m.Src >> 16),
		byte(m.Dst), byte(m.Dst >> 8), byte(m.Dst >> 16),
	}
	if m.Ack {
		head[1] += 128
	}
	total := 0
	wire := make([]byte, 0, length)
	for _, c := range append(head, m.Data...) {
		wire = append(wire, 255-c)
		total += int(255 - c)
	}
	return append(wire, byte(total/256), byte(total%256))
}

// unpack reads exactly one frame.
func unpack(wire []byte) (m Message, ok bool) {
	if len(wire) < shortest || len(wire) > longest {
		return m, false
	}
	total := 0
	plain := make([]byte, len(wire)-2)
	for i := range plain {
		plain[i] = 255 - wire[i]
		total += int(wire[i])
	}
	if total != int(wire[len(wire)-2])*256+int(wire[len(wire)-1]) || int(plain[1]%128) != len(wire) {
		return m, false
	}
	three := func(b []byte) uint32 { return uint32(b[0]) + uint32(b[1])*256 + uint32(b[2])*65536 }
	return Message{
		ID: plain[0], Ack: plain[1] >= 128, From: plain[2] / 16, To: plain[2] % 16,
		Src: three(plain[3:6]), Dst: three(plain[6:9]), Data: plain[9:],
	}, true
}

// take finds the first frame in a stream. It returns how many bytes are used up,
// and how many of these were in front of it; used is 0 when more is needed.
func take(b []byte) (m Message, used, junk int, ok bool) {
	for junk < len(b) {
		rest := b[junk:]
		if len(rest) < 2 {
			return m, junk, junk, false
		}
		length := int(255-rest[1]) % 128
		if length < shortest || length > longest {
			junk++
			continue
		}
		if len(rest) < length {
			return m, junk, junk, false
		}
		if m, ok = unpack(rest[:length]); ok {
			return m, junk + length, junk, true
		}
		junk++
	}
	return m, junk, junk, false
}

// number reads an address such as 06.1A.2B.
func number(address string) (uint32, error) {
	parts := strings.Split(address, ".")
	if len(parts) == 3 && len(address) == 8 {
		if n, err := strconv.ParseUint(strings.Join(parts, ""), 16, 24); err == nil {
			return uint32(n), nil
		}
	}
	return 0, fmt.Errorf("address %q: want three bytes in hexadecimal, such as 06.1A.2B", address)
}

// name prints an address.
func name(n uint32) string {
	return fmt.Sprintf("%02X.%02X.%02X", n>>16&255, n>>8&255, n&255)
}
