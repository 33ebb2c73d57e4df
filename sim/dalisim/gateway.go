package dalisim

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// order is what a gateway was told to do.
type order struct {
	kind  orderKind
	frame uint16
	twice bool
	level bool // goes before others on the line
	// reply that a gateway gives at once, without the line.
	reply []byte
}

type orderKind byte

const (
	orderSend orderKind = iota
	orderReply
	orderForeign // not from the port: another master's frame
)

// result is what became of a frame on the line.
type result byte

const (
	resultNone result = iota
	resultValue
	resultGarbled
	resultConflict
)

// gatewayModel speaks one of the protocols.
type gatewayModel interface {
	baud() int
	// take reads the first order off b; n 0: not complete. ok false: n bytes of
	// nonsense, which the gateway ignores.
	take(b []byte) (o order, n int, ok bool)
	// accepted is said when a frame was queued; nil: nothing.
	accepted(id byte) []byte
	// refused is said when a frame is not taken; nil: it cannot say that.
	refused() []byte
	// sent is said when a forward frame is over; nil: nothing.
	sent(id byte, frame uint16, at moment) []byte
	// outcome is said when the time for an answer is over; nil: nothing.
	outcome(r result, value byte, at moment) []byte
	// heard is said of another master's frame; nil: nothing.
	heard(frame uint16, at moment) []byte
	gap(o order) (low, high time.Duration)
}

// The gap before a forward frame by priority, 2 for levels and 5 for the rest.
func gapByPriority(o order) (low, high time.Duration) {
	if o.level {
		return 14900 * time.Microsecond, 16100 * time.Microsecond
	}
	return 19500 * time.Microsecond, 21100 * time.Microsecond
}

// hat is the ATX LED HAT.
type hat struct{}

func (hat) baud() int { return 19200 }

func (hat) take(b []byte) (order, int, bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return order{}, 0, false
	}
	n := end + 1
	if end != 5 || b[0] != 'h' && b[0] != 't' {
		return order{}, n, false
	}
	v, err := strconv.ParseUint(string(b[1:5]), 16, 16)
	if err != nil {
		return order{}, n, false
	}
	return order{frame: uint16(v), twice: b[0] == 't', level: true}, n, true
}

func (hat) accepted(byte) []byte             { return nil }
func (hat) refused() []byte                  { return nil }
func (hat) sent(byte, uint16, moment) []byte { return nil }
func (hat) heard(uint16, moment) []byte      { return nil }

func (hat) outcome(r result, value byte, _ moment) []byte {
	switch r {
	case resultValue:
		return fmt.Appendf(nil, "J%02X\n", value)
	case resultGarbled:
		return []byte("X\n")
	case resultConflict:
		return []byte("Z\n")
	}
	return []byte("N\n")
}

func (hat) gap(o order) (low, high time.Duration) { return gapByPriority(o) }

// lunatone is LUBA over RS-232.
type lunatone struct{}

func (lunatone) baud() int { return 38400 }

// checked frames a message: start, command, length, payload, exclusive or.
func checked(command byte, payload ...byte) []byte {
	sum := command ^ byte(len(payload))
	for _, p := range payload {
		sum ^= p
	}
	return append(append([]byte{'Y', command, byte(len(payload))}, payload...), sum)
}

func (lunatone) take(b []byte) (order, int, bool) {
	if i := bytes.IndexByte(b, 'Y'); i != 0 {
		if i < 0 {
			i = len(b)
		}
		return order{}, i, false
	}
	if len(b) < 3 {
		return order{}, 0, false
	}
	n := 4 + int(b[2])
	if b[2] > 20 {
		return order{}, 1, false
	}
	if len(b) < n {
		return order{}, 0, false
	}
	payload := b[3 : n-1]
	if !bytes.Equal(checked(b[1], payload...), b[:n]) {
		return order{}, 1, false
	}
	switch {
	case b[1] == 0x32 && len(payload) == 7 && payload[1] == 16:
		return order{
			frame: uint16(payload[3])<<8 | uint16(payload[4]), twice: payload[2]>>7 == 1, level: payload[2]&7 <= 2,
		}, n, true
	case b[1] == 0x2A && len(payload) == 3:
		return order{kind: orderReply, reply: checked(0x2B, payload...)}, n, true
	case b[1] == 0x20:
		return order{kind: orderReply, reply: checked(0x21, make([]byte, 20)...)}, n, true
	}
	return order{kind: orderReply, reply: checked(b[1]+1, 0xFF)}, n, true
}

func tick(at moment) (high, low byte) {
	ms := at.Milliseconds()
	return byte(ms >> 8), byte(ms)
}

func (lunatone) accepted(id byte) []byte { return checked(0x33, id, 0) }

// refused: one byte, an error code; which codes there are is not known.
func (lunatone) refused() []byte { return checked(0x33, 1) }

func (lunatone) sent(id byte, frame uint16, at moment) []byte {
	h, l := tick(at)
	return checked(0x31, h, l, 0, 0, id, byte(frame>>8), byte(frame))
}

func (lunatone) heard(frame uint16, at moment) []byte {
	h, l := tick(at)
	return checked(0x31, h, l, 0, 0x80|16, byte(frame>>8), byte(frame))
}

func (lunatone) outcome(r result, value byte, at moment) []byte {
	h, l := tick(at)
	switch r {
	case resultValue:
		return checked(0x31, h, l, 0, 0x80|8, value)
	case resultGarbled:
		return checked(0x31, h, l, 0, 0x80|63)
	}
	return nil
}

func (lunatone) gap(o order) (low, high time.Duration) { return gapByPriority(o) }

// box is the SCI: five bytes either way. Where its document was not at hand this
// model does what the public driver for it expects: a confirmation when the frame
// is over, then the answer.
type box struct{}

const boxID = 0x10

func (box) baud() int { return 38400 }

func (box) take(b []byte) (order, int, bool) {
	if len(b) < 5 {
		return order{}, 0, false
	}
	if b[0]^b[1]^b[2]^b[3] != b[4] {
		return order{}, 1, false
	}
	if b[0]&0x0F != 3 {
		return order{kind: orderReply, reply: fives(7, 0, 0, 4)}, 5, true
	}
	return order{frame: uint16(b[1])<<8 | uint16(b[2]), twice: b[0]&0x10 != 0, level: true}, 5, true
}

func fives(code, high, mid, low byte) []byte {
	code |= boxID
	return []byte{code, high, mid, low, code ^ high ^ mid ^ low}
}

func (box) accepted(byte) []byte { return nil }

func (box) refused() []byte { return fives(7, 0, 0, 4) }

func (box) sent(byte, uint16, moment) []byte { return fives(0, 0, 0, 0) }

func (box) heard(frame uint16, _ moment) []byte { return fives(3, 0, byte(frame>>8), byte(frame)) }

func (box) outcome(r result, value byte, _ moment) []byte {
	switch r {
	case resultValue:
		return fives(2, 0, 0, value)
	case resultGarbled:
		return fives(7, 0, 0, 3)
	case resultConflict:
		return fives(7, 0, 0, 5)
	}
	return nil
}

func (box) gap(o order) (low, high time.Duration) { return gapByPriority(o) }

var models = map[string]gatewayModel{"atx": hat{}, "luba": lunatone{}, "sci": box{}}
