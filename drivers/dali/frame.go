package dali

import "fmt"

// Frame is a 16-bit forward frame: address byte, then data byte
// (IEC 62386-102, clause 7.2).
type Frame uint16

// NewFrame joins the two bytes of a frame.
func NewFrame(address, data byte) Frame { return Frame(address)<<8 | Frame(data) }

// AddressByte is the first byte on the line.
func (f Frame) AddressByte() byte { return byte(f >> 8) }

// Data is the second byte on the line.
func (f Frame) Data() byte { return byte(f) }

// String gives the four hexadecimal digits that manuals print.
func (f Frame) String() string { return fmt.Sprintf("%04X", uint16(f)) }

// searches reports whether f sets a part of the search address.
func (f Frame) searches() bool {
	b := f.AddressByte()
	return b == OpSearchHigh || b == OpSearchMid || b == OpSearchLow
}

// Counts of a DALI line.
const (
	Shorts = 64 // short addresses, 0 to 63
	Groups = 16 // groups, 0 to 15
	Scenes = 16 // scenes, 0 to 15
)

// Mask stands for "no value": an arc power level that changes nothing, a level
// that is not known, a short address that is not set.
const Mask = 0xFF

// MaxArc is the highest arc power level.
const MaxArc = 254

// Address says whom a forward frame is for. Make one with [Short], [Group],
// [Broadcast] or [Unaddressed]; the zero value is short address 0.
type Address struct {
	kind addressKind
	n    byte
}

type addressKind byte

const (
	kindShort addressKind = iota
	kindGroup
	kindBroadcast
	kindUnaddressed
)

// Short is one gear, 0 to 63. Bits above are dropped.
func Short(n int) Address { return Address{kindShort, byte(n) & 0x3F} }

// Group is all gear in a group, 0 to 15. Bits above are dropped.
func Group(n int) Address { return Address{kindGroup, byte(n) & 0x0F} }

// Broadcast is all gear on the line, Unaddressed all that has no short address.
var (
	Broadcast   = Address{kind: kindBroadcast}
	Unaddressed = Address{kind: kindUnaddressed}
)

// String names an address for people.
func (a Address) String() string {
	switch a.kind {
	case kindShort:
		return fmt.Sprintf("short %d", a.n)
	case kindGroup:
		return fmt.Sprintf("group %d", a.n)
	case kindUnaddressed:
		return "broadcast unaddressed"
	}
	return "broadcast"
}

// toByte gives the address byte; the lowest bit tells a command from a level.
func (a Address) toByte(command bool) byte {
	var b byte
	switch a.kind {
	case kindShort:
		b = a.n << 1
	case kindGroup:
		b = 0x80 | a.n<<1
	case kindBroadcast:
		b = 0xFE
	case kindUnaddressed:
		b = 0xFC
	}
	if command {
		b |= 1
	}
	return b
}

// addressOf reads an address byte; ok is false for that of a special command and
// for the ranges that the standard reserves.
func addressOf(b byte) (a Address, command, ok bool) {
	command = b&1 != 0
	switch {
	case b&0x80 == 0:
		return Address{kindShort, b >> 1}, command, true
	case b&0xE0 == 0x80:
		return Address{kindGroup, b >> 1 & 0x0F}, command, true
	case b&0xFE == 0xFE:
		return Broadcast, command, true
	case b&0xFE == 0xFC:
		return Unaddressed, command, true
	}
	return Address{}, false, false
}

// Send is one forward frame and how it goes out.
type Send struct {
	Frame Frame
	// Twice: the frame is sent twice within 100 ms with nothing in between, as
	// commands that change stored values demand.
	Twice bool
	// Asks: a backward frame may follow. Silence is an answer too: "no".
	Asks bool
	// Level: the frame changes light output now and goes before others where the
	// gateway knows priorities.
	Level bool
}

// Arc sets an arc power level (DAPC): 0 is off, 1 to 254 a level, [Mask] stops a
// fade. Gear takes its fade time for it and holds it to its own limits.
func Arc(a Address, level byte) Send {
	return Send{Frame: NewFrame(a.toByte(false), level), Level: true}
}

// Command is a command or query to addressed gear, with the repetition and the
// answer that the standard gives it.
func Command(a Address, op byte) Send {
	c := commands[op]
	return Send{Frame: NewFrame(a.toByte(true), op), Twice: c.twice, Asks: c.asks, Level: !c.twice && !c.asks}
}

// Special is a command to all gear, by its address byte, such as [OpDTR0].
func Special(op, data byte) Send {
	c := specials[op]
	return Send{Frame: NewFrame(op, data), Twice: c.twice, Asks: c.asks}
}

// Answer is what came back for one frame.
type Answer struct {
	Kind  AnswerKind
	Value byte // with AnswerValue
}

// AnswerKind tells what a backward frame showed.
type AnswerKind byte

// The kinds of answer. AnswerGarbled: several gears answered at once; for a yes/no
// query that is a yes.
const (
	AnswerNone AnswerKind = iota
	AnswerValue
	AnswerGarbled
)

// Yes reports whether somebody answered at all.
func (a Answer) Yes() bool { return a.Kind != AnswerNone }

// String tells an answer to people.
func (a Answer) String() string {
	switch a.Kind {
	case AnswerValue:
		return fmt.Sprintf("answer %02X", a.Value)
	case AnswerGarbled:
		return "garbled answer"
	}
	return "no answer"
}
