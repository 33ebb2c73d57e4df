package modbus

import (
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// rollCall hears everybody who answers one question until its time-out.
type rollCall struct {
	unit   byte
	frames int
	junk   []byte // what was no frame of the unit
	rest   []byte // what may become one
}

// scan is a [line.Request.Scan] that never accepts. Whole frames of other units are
// told of elsewhere.
func (r *rollCall) scan(b []byte) (int, line.Verdict) {
	for i := range b {
		n, _ := frameLen(b[i:])
		if n == 0 {
			continue
		}
		if b[i] == r.unit {
			r.frames++
		}
		r.junk = append(r.junk, b[:i]...)
		r.rest = nil
		return i + n, line.Skip
	}
	r.rest = slices.Clone(b)
	return 0, line.More
}

// end counts what never became a frame.
func (r *rollCall) end() {
	r.junk = append(r.junk, r.rest...)
	r.rest = nil
}

// roll is what came of several roll calls at one address.
type roll struct {
	calls, clean, twice, garbled int
	most                         int // answers to one question
	sample                       []byte
}

// Roll calls of an address: more if the first answer was damaged already, to tell
// chance from a second device.
const (
	rollCalls     = 3
	suspectsCalls = 6
)

// callRoll asks one unit several times and hears everybody.
func (s *search) callRoll(n byte, suspect bool) roll {
	var r roll
	calls := rollCalls
	if suspect {
		calls = suspectsCalls
	}
	for i := 0; i < calls && !s.over(); i++ {
		call := &rollCall{unit: n}
		s.ask(probe{request: question(n), timeout: s.driver.patience(n, 2*7), listen: call})
		call.end()
		r.add(call)
		if call.frames != 1 || len(call.junk) > 0 {
			calls = suspectsCalls
		}
	}
	return r
}

func (r *roll) add(c *rollCall) {
	r.calls++
	r.most = max(r.most, c.frames)
	switch {
	case c.frames > 1:
		r.twice++
	case len(c.junk) > 0:
		r.garbled++
		r.sample = c.junk
	case c.frames == 1:
		r.clean++
	}
}

// nobody: there was a disturbance, and nobody behind it.
func (r *roll) nobody() bool { return r.clean == 0 && r.twice == 0 && 2*r.garbled < r.calls }

// shared reports whether several devices have the address. While somebody babbles,
// it takes more damaged answers to say so.
func (r *roll) shared(n byte, babble bool) (appliance.Found, bool) {
	f := appliance.Found{
		Address: unitKey(n), Finding: appliance.FoundCollision,
		Advice: "disconnect one of the devices with this address, give the other its own, and scan again",
	}
	switch {
	case 2*r.twice >= r.calls:
		f.Detail = fmt.Sprintf("%d DEVICES have this address: one question got %d answers, one after the other (%d of %d times)", r.most, r.most, r.twice, r.calls)
	case 3*(r.garbled+r.twice) >= 2*r.calls, !babble && 2*(r.garbled+r.twice) >= r.calls:
		f.Detail = fmt.Sprintf("SEVERAL DEVICES answer to this address at once: %d of %d answers cannot be read, such as % X", r.garbled, r.calls, clipBytes(r.sample))
		if r.twice > 0 {
			f.Detail += fmt.Sprintf("; and there were %d answers to one question", r.most)
		}
	default:
		return appliance.Found{}, false
	}
	return f, true
}

// quality tells of single damaged answers; empty if there were none.
func (r *roll) quality() string {
	if r.garbled+r.twice == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d answers were damaged: check its wiring", r.garbled+r.twice, r.calls)
}
