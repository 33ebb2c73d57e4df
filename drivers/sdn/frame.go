package sdn

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Lengths of a frame and of what is in it, in bytes.
const (
	headerLen   = 9
	checksumLen = 2
	minFrame    = headerLen + checksumLen
	maxFrame    = 32
	maxData     = maxFrame - minFrame

	ackBit = 0x80
)

// Address of a node, a host or a group, most significant byte first as it is
// printed on labels. On the wire the order is the reverse.
type Address [3]byte

// Addresses with a meaning of their own.
var (
	Everybody = Address{0xFF, 0xFF, 0xFF}
	Nobody    = Address{} // destination of messages to a group; an unused entry of a group table
)

// ParseAddress reads an address as it is printed: 06.1A.2B.
func ParseAddress(text string) (Address, error) {
	var a Address
	if len(text) == 8 && text[2] == '.' && text[5] == '.' {
		if _, err := hex.Decode(a[:], []byte(text[:2]+text[3:5]+text[6:])); err == nil {
			return a, nil
		}
	}
	return Address{}, fmt.Errorf("address %q: want three bytes in hexadecimal as printed on the label, such as 06.1A.2B", text)
}

// String prints an address as labels do.
func (a Address) String() string { return fmt.Sprintf("%02X.%02X.%02X", a[0], a[1], a[2]) }

// IsGroup reports whether a is in the range of group addresses.
func (a Address) IsGroup() bool { return a[0] == 0x01 && a[1] == 0x01 }

func (a Address) reversed() [3]byte { return [3]byte{a[2], a[1], a[0]} }

// address takes the first three bytes of a wire field.
func address(b []byte) Address { return Address{b[2], b[1], b[0]} }

// NodeType is the kind of a node, as its frames tell it; 0 is a host, or any.
type NodeType uint8

// Frame is one message.
type Frame struct {
	ID          MessageID
	Ack         bool     // an ACK or NACK is asked for
	From, To    NodeType // 0 to 15; To 0: any
	Source      Address
	Destination Address
	Data        []byte // at most 21 bytes
}

// Bytes is the frame as it is sent. Data beyond 21 bytes and types beyond 15 do
// not fit and are an error.
func (f Frame) Bytes() ([]byte, error) {
	if len(f.Data) > maxData {
		return nil, fmt.Errorf("%v: %d bytes of data, at most %d fit", f.ID, len(f.Data), maxData)
	}
	if f.From > 15 || f.To > 15 {
		return nil, fmt.Errorf("%v: node types %d and %d: want 0 to 15", f.ID, f.From, f.To)
	}
	b := f.logical()
	for i := range b {
		b[i] = ^b[i]
	}
	return binary.BigEndian.AppendUint16(b, sum(b)), nil
}

// logical is the frame without checksum, before inversion.
func (f Frame) logical() []byte {
	length := byte(minFrame + len(f.Data))
	if f.Ack {
		length |= ackBit
	}
	src, dst := f.Source.reversed(), f.Destination.reversed()
	b := make([]byte, 0, maxFrame)
	b = append(b, byte(f.ID), length, byte(f.From)<<4|byte(f.To))
	b = append(b, src[:]...)
	b = append(b, dst[:]...)
	return append(b, f.Data...)
}

// sum adds bytes as they are on the wire.
func sum(b []byte) uint16 {
	var s uint16
	for _, c := range b {
		s += uint16(c)
	}
	return s
}

// frameLen is the length that the second byte of a frame on the wire tells; 0 if
// it cannot be one.
func frameLen(second byte) int {
	n := int(^second &^ ackBit)
	if n < minFrame || n > maxFrame {
		return 0
	}
	return n
}

// ParseFrame reads exactly one frame. Its error says what is wrong with the bytes.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < minFrame {
		return Frame{}, fmt.Errorf("%d bytes: the shortest frame has %d", len(b), minFrame)
	}
	n := frameLen(b[1])
	if n == 0 {
		return Frame{}, fmt.Errorf("length byte %02X says %d bytes: want %d to %d (are the bytes inverted?)", b[1], ^b[1]&^ackBit, minFrame, maxFrame)
	}
	if n != len(b) {
		return Frame{}, fmt.Errorf("length byte says %d bytes, there are %d", n, len(b))
	}
	body := b[:n-checksumLen]
	if want, got := sum(body), binary.BigEndian.Uint16(b[n-checksumLen:]); got != want {
		return Frame{}, fmt.Errorf("checksum %04X, want %04X", got, want)
	}
	var plain [maxFrame]byte
	for i, c := range body {
		plain[i] = ^c
	}
	f := Frame{
		ID: MessageID(plain[0]), Ack: plain[1]&ackBit != 0,
		From: NodeType(plain[2] >> 4), To: NodeType(plain[2] & 0x0F),
		Source: address(plain[3:]), Destination: address(plain[6:]),
	}
	if len(body) > headerLen {
		f.Data = append([]byte(nil), plain[headerLen:len(body)]...)
	}
	return f, nil
}

// peel looks at the beginning of a stream. It returns
//   - ok: a frame, which takes the first n bytes;
//   - not ok, n > 0: n bytes with which no frame begins;
//   - not ok, n == 0: too few bytes to tell.
func peel(b []byte) (f Frame, n int, ok bool) {
	for i := range b {
		rest := b[i:]
		if len(rest) < 2 {
			return Frame{}, i, false
		}
		length := frameLen(rest[1])
		if length == 0 {
			continue
		}
		if len(rest) < length {
			return Frame{}, i, false
		}
		f, err := ParseFrame(rest[:length])
		if err != nil {
			continue
		}
		if i > 0 {
			return Frame{}, i, false
		}
		return f, length, true
	}
	return Frame{}, len(b), false
}

// lookAhead finds the first frame that fits behind bytes that may or may not be
// the beginning of another one, so that a byte of noise with an unlucky successor
// does not hide an answer. It returns where the frame begins, or 0.
func lookAhead(b []byte, fits func(Frame) bool) int {
	for i := 1; i+minFrame <= len(b); i++ {
		length := frameLen(b[i+1])
		if length == 0 || i+length > len(b) {
			continue
		}
		if f, err := ParseFrame(b[i : i+length]); err == nil && fits(f) {
			return i
		}
	}
	return 0
}
