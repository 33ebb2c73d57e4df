package modbus

import (
	"errors"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// rollCall hears everybody who answers one question until its time-out.
type rollCall struct {
	unit   byte
	sent   []byte // the question
	echoed *bool  // told if the adapter returns the question
	frames int
	size   int    // of a frame of the unit; 0: none came
	junk   []byte // what was no frame of the unit
	rest   []byte // what may become one
	begun  bool   // the echo, if there is one, is over
}

// scan is a [line.Request.Scan] that never accepts. Whole frames of other units are
// told of elsewhere.
func (r *rollCall) scan(b []byte) (int, line.Verdict) {
	if n := echoOf(r.sent, b); n > 0 && !r.begun {
		*r.echoed, r.begun, r.rest = true, true, nil
		return n, line.Skip
	}
	for i := range b {
		n, question := frameLen(b[i:])
		if n == 0 {
			continue
		}
		if b[i] == r.unit && !question {
			r.frames++
			r.size = n
		}
		r.junk = append(r.junk, b[:i]...)
		r.rest, r.begun = nil, true
		return i + n, line.Skip
	}
	r.rest = slices.Clone(b)
	return 0, line.More
}

// end counts what never became a frame.
func (r *rollCall) end() { r.junk = append(r.junk, r.rest...) }

// roll is what came of several roll calls at one address.
type roll struct {
	calls, silent, clean, twice, garbled int
	several                              []int // answers of each question that had more than one
	size                                 int   // of an answer
	lengths                              []int
	sample                               []byte
}

// Roll calls of an address: more if the first answer was damaged already, to tell
// chance from a second device; most while somebody talks, until there was a pause.
const (
	rollCalls     = 3
	suspectsCalls = 6
	noisyCalls    = 12
)

// callRoll asks one unit several times and hears everybody.
func (s *search) callRoll(n byte, suspect bool) roll {
	r := roll{size: 7}
	calls := rollCalls
	if suspect {
		calls = suspectsCalls
	}
	for i := 0; i < calls && !s.over(); i++ {
		call := &rollCall{unit: n}
		_, _, err := s.ask(probe{request: question(n), timeout: s.driver.patience(n, 2*7), listen: call})
		if errors.Is(err, line.ErrBabble) {
			continue
		}
		call.end()
		r.add(call)
		if call.frames != 1 || len(call.junk) > stray {
			calls = max(calls, suspectsCalls)
		}
		if s.heard.noisy() && !r.somebody() && r.silent < surelyNobody {
			calls = noisyCalls
		}
		if r.silent >= surelyNobody && !r.somebody() && s.heard.noisy() {
			break
		}
	}
	return r
}

// stray is how many bytes beside a whole answer are the turning round of a driver,
// and no second device.
const stray = 3

// surelyNobody is how many roll calls without a byte, on a line where somebody talks,
// say that what came at the others was his.
const surelyNobody = 2

func (r *roll) add(c *rollCall) {
	r.calls++
	if c.size > 0 {
		r.size = c.size
	}
	switch {
	case c.frames > 1:
		r.twice++
		r.several = append(r.several, c.frames)
	case c.frames == 1 && len(c.junk) <= stray:
		r.clean++
	case len(c.junk) > 0:
		r.garbled++
		r.lengths = append(r.lengths, len(c.junk)+c.size)
		r.sample = c.junk
	default:
		r.silent++
	}
}

// bad are the calls whose answers were not those of one device.
func (r *roll) bad() int { return r.garbled + r.twice }

// answers is how many the questions had that had several: the middle one's, since a late answer to the question before is one
// too many.
func (r *roll) answers() int { return slices.Sorted(slices.Values(r.several))[(len(r.several)-1)/2] }

// somebody: there was an answer.
func (r *roll) somebody() bool { return r.clean+r.twice > 0 }

// nobody: there was a disturbance, and nobody behind it. While somebody babbles, some
// of what came is his.
func (r *roll) nobody(babble bool) bool {
	if babble {
		return !r.somebody() && r.silent >= surelyNobody
	}
	return !r.somebody() && r.garbled < 2
}

// unsure: somebody's noise, perhaps with an answer below it.
func (r *roll) unsure(noisy bool) bool { return noisy && !r.somebody() && !r.nobody(noisy) }

// longer counts damaged answers that are longer than one device's.
func (r *roll) longer() int {
	n := 0
	for _, length := range r.lengths {
		if length > r.size {
			n++
		}
	}
	return n
}

// trouble tells what is wrong with the answers at an address, if anything is. While
// somebody babbles, it takes more damaged answers to say so; while somebody makes
// noise, whole answers are needed.
func (r *roll) trouble(n byte, babble, noisy bool) (appliance.Found, bool) {
	f := appliance.Found{
		Address: unitKey(n), Finding: appliance.FoundCollision,
		Advice: "disconnect one of the devices with this address, give the other its own, and scan again",
	}
	answered := r.calls - r.silent
	many := 2*r.bad() >= answered
	if babble {
		many = 3*r.bad() >= 2*answered
	}
	switch {
	case r.twice > 0 && 2*r.twice >= answered:
		f.Detail = fmt.Sprintf("%d DEVICES have this address: one question got %d answers, one after the other (%d of %d times)", r.answers(), r.answers(), r.twice, r.calls)
	case noisy || r.bad() < 2 || !many:
		return appliance.Found{}, false
	case r.twice > 0 || 2*r.longer() >= r.garbled:
		f.Detail = fmt.Sprintf("SEVERAL DEVICES answer to this address at once: %d of %d answers cannot be read, such as % X", r.garbled, answered, clipBytes(r.sample))
		if r.twice > 0 {
			f.Detail += fmt.Sprintf("; and there were %d answers to one question", r.answers())
		}
	default:
		f.Finding = appliance.FoundDamaged
		f.Detail = fmt.Sprintf("damaged answers: %d of %d cannot be read, such as % X", r.garbled, answered, clipBytes(r.sample))
		f.Advice = fmt.Sprintf("disconnect this device: if the address still answers, two devices have it; if not, check its connector, the termination, and whether its bit rate and parity are those of the bus (--all-settings --first %d --last %d)", n, n)
	}
	return f, true
}

// quality tells of single damaged answers; empty if there were none.
func (r *roll) quality(noisy bool) string {
	if r.bad() == 0 {
		return ""
	}
	told := fmt.Sprintf("; %d of %d answers were damaged: ", r.bad(), r.calls-r.silent)
	if noisy {
		return told + "somebody talks without being asked, so that it cannot be told whether this device is alone"
	}
	return told + "check its wiring"
}
