package modbus

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"svc.internal/controller/drivers/line"
)

// listener judges the bytes that come back for one request. It remembers what it
// passed over, so that "no answer" and "an answer to another question" can be
// told apart.
type listener struct {
	codec   *codec
	request request
	frame   []byte // as sent
	passed  string // why something was passed over; empty if nothing was
	garbled bool   // what was passed over was no late answer of somebody else
	foreign foreign
	// returned: a read came back as it was sent, which no device answers.
	returned bool
	echoed   *bool // not nil, in a scan: an adapter's echo is put aside, and told here
}

// scan is a [line.Request.Scan].
func (l *listener) scan(b []byte) (int, line.Verdict) {
	if l.codec.tcp {
		return l.scanTCP(b)
	}
	return l.scanRTU(b)
}

// scanRTU finds the end of an answer by its length, never by silence: adapters
// deliver bytes in bursts, and a user-space timer cannot see 1.5 characters.
//
// A frame with a good checksum that does not answer this request (another unit,
// another function, another quantity) is the late answer to an earlier one, and
// passed over. A frame that begins like the answer and has a bad checksum is
// damage.
func (l *listener) scanRTU(b []byte) (int, line.Verdict) {
	r := l.request
	if n := echoOf(l.frame, b); n > 0 && l.echoed != nil {
		*l.echoed = true
		return n, line.Skip
	}
	for i := range b {
		if b[i] != r.unit {
			continue
		}
		n := l.answerAt(b[i:])
		switch {
		case n == 0:
			continue
		case l.foreign.master(b[:i], l.frame):
			l.pass(true, "another master is on the line: this may be the answer to its question")
			return 0, line.Reject
		case i > 0:
			l.pass(false, "% X came before the answer", clipBytes(b[:i]))
			return i, line.Skip
		}
		return n, line.Accept
	}
	if len(b) < 2 || !r.writes() && len(b) < len(l.frame) && bytes.HasPrefix(l.frame, b) {
		return 0, line.More // the second may become an echo
	}
	if echoOf(l.frame, b) > 0 && !r.writes() {
		l.pass(false, "the adapter returns what is sent: set the bus option echo to true")
		l.returned = true
		return len(l.frame), line.Skip // the answer may follow
	}
	if n, question := frameLen(b); question {
		l.foreign.asks = true
		l.pass(true, "another master asked: % X", b[:n])
		return n, line.Skip
	}
	n := rtuAnswerLen(b)
	ours := b[0] == r.unit && (function(b[1]) == r.fn || function(b[1]) == r.fn|exceptionBit)
	switch {
	case n == 0 && rtuUndecided(b), n > len(b):
		return 0, line.More
	case n > 0 && crcOK(b[:n]):
		if b[0] != r.unit {
			l.pass(false, "unit %d answered", b[0])
		} else {
			l.pass(true, "%s", r.mismatch(b[1:n-2]))
		}
		return n, line.Skip
	case ours:
		l.pass(true, "the checksum of % X is wrong", clipBytes(b[:max(n, 2)]))
		return len(b), line.Reject
	}
	l.foreign.junk++
	l.pass(true, "% X is no Modbus frame", clipBytes(b))
	return 1, line.Skip
}

// foreign is what was heard in our exchange that no device says: with it, what looks like
// the answer to our question may be that to another master's.
type foreign struct {
	asks bool // a whole question
	junk int  // bytes that are no frame, and may be the rest of one
}

// glitch is how many bytes a line makes by itself when it turns round.
const glitch = 2

// master reports whether another master was heard, with what came last before an answer.
func (f *foreign) master(before, ours []byte) bool {
	for len(before) > 0 && !f.asks {
		n, question := frameLen(before)
		f.asks = question && !bytes.Equal(before[:n], ours)
		if n == 0 {
			n = 1
			f.junk++
		}
		before = before[n:]
	}
	return f.asks || f.junk > glitch
}

// length is a [line.Request.Length]: that which the answer should have, or says itself that
// it has if that is less.
func (l *listener) length(b []byte) int {
	switch {
	case b[0] != l.request.unit:
		return 0
	case len(b) < 2, len(b) == 2 && function(b[1])&exceptionBit == 0: // they do not tell how much follows
		return l.request.answerLen() + 3
	}
	return min(rtuAnswerLen(b), l.request.answerLen()+3)
}

// echoOf is how many bytes of b are what was sent, returned by the adapter; 0 if they
// are not, or not all there yet.
func echoOf(sent, b []byte) int {
	if len(sent) == 0 || !bytes.HasPrefix(b, sent) {
		return 0
	}
	return len(sent)
}

// answerAt returns the length of a complete, valid answer at the start of b, or
// 0.
func (l *listener) answerAt(b []byte) int {
	if len(b) < 5 {
		return 0
	}
	r := l.request
	switch function(b[1]) {
	case r.fn | exceptionBit:
		if crcOK(b[:5]) {
			return 5
		}
	case r.fn:
		n := r.answerLen() + 3
		if r.fn == readDeviceID {
			size, ok := identificationLen(b[1:])
			if !ok {
				return 0
			}
			n = size + 3
		}
		if len(b) >= n && crcOK(b[:n]) && r.mismatch(b[1:n-2]) == "" {
			return n
		}
	}
	return 0
}

// pass notes why something was passed over. Garbled says that the device or the
// wires are at fault, not merely the timing.
func (l *listener) pass(garbled bool, format string, args ...any) {
	l.passed = fmt.Sprintf(format, args...)
	l.garbled = l.garbled || garbled
}

// rtuAnswerLen is the length of the RTU answer that b begins, as far as b tells;
// 0 if it does not or not yet.
func rtuAnswerLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	fn := function(b[1])
	if fn&exceptionBit != 0 {
		if _, known := functionNames[fn&^exceptionBit]; known {
			return 5
		}
		return 0
	}
	switch fn {
	case readCoils, readDiscretes, readHolding, readInput, readWrite:
		if len(b) < 3 {
			return 0
		}
		return 5 + int(b[2])
	case writeCoil, writeRegister, writeCoils, writeRegisters:
		return 8
	case maskWrite:
		return 10
	case readDeviceID:
		if n, ok := identificationLen(b[1:]); ok {
			return n + 3
		}
	}
	return 0
}

// rtuUndecided reports whether more bytes may make a frame of b that cannot be
// measured yet.
func rtuUndecided(b []byte) bool {
	switch function(b[1]) {
	case readCoils, readDiscretes, readHolding, readInput, readWrite:
		return len(b) < 3
	case readDeviceID:
		return len(b) < 256
	}
	return false
}

// own reports whether bytes begin the answer to this request, by its transaction number.
func (l *listener) own(b []byte) bool { return len(b) >= 2 && bytes.Equal(b[:2], l.frame[:2]) }

// scanTCP follows the header of Modbus TCP. An answer with another transaction
// number is late and passed over; a header that makes no sense breaks the
// stream.
func (l *listener) scanTCP(b []byte) (int, line.Verdict) {
	be := binary.BigEndian
	if len(b) >= 4 && be.Uint16(b[2:]) != 0 {
		l.pass(true, "protocol %04X instead of 0000: this is not Modbus TCP", be.Uint16(b[2:]))
		return 0, line.Broken
	}
	if len(b) < 6 {
		return 0, line.More
	}
	length := int(be.Uint16(b[4:]))
	if length < 2 || length > 254 {
		l.pass(true, "length %d is not between 2 and 254", length)
		return 0, line.Broken
	}
	n := 6 + length
	if len(b) < n {
		return 0, line.More
	}
	if be.Uint16(b) != be.Uint16(l.frame) {
		l.pass(false, "an answer to transaction %d came late", be.Uint16(b))
		return n, line.Skip
	}
	if unit := b[6]; unit != l.request.unit && (!l.codec.tolerant || unit != 0 && unit != 255) {
		l.pass(true, "unit %d answered (if it is the gateway itself, set the bus option tolerateUnitZero)", unit)
		return n, line.Reject
	}
	pdu := b[7:n]
	if function(pdu[0]) == l.request.fn|exceptionBit && len(pdu) == 2 {
		return n, line.Accept
	}
	if why := l.request.mismatch(pdu); why != "" {
		l.pass(true, "%s", why)
		return n, line.Reject
	}
	return n, line.Accept
}

// clipBytes keeps error texts short.
func clipBytes(b []byte) []byte {
	return b[:min(len(b), 16)]
}
