package modbus

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Listening is cut into slices, since commands wait for the end of one.
const (
	listenSlice  = 50 * time.Millisecond
	listenSlices = 12
)

// listen leaves the line alone for a while, to hear who talks without being asked.
func (s *search) listen() {
	if s.driver.codec.tcp {
		return // a gateway that talks unasked does not
	}
	for i := 0; i < listenSlices && !s.over(); i++ {
		s.ended = !s.yield(appliance.ScanStep{
			Address: "listening",
			Exchange: appliance.Exchange{Airtime: listenSlice, Worst: listenSlice, Do: func(ctx context.Context, _ appliance.Yield) (appliance.Result, error) {
				timer := time.NewTimer(listenSlice)
				defer timer.Stop()
				select {
				case <-timer.C:
					return appliance.Result{}, nil
				case <-ctx.Done():
					return appliance.Result{}, ctx.Err()
				}
			}},
			Judge: func(appliance.Result, error) (appliance.Found, bool) { return appliance.Found{}, false },
		})
		s.heard.take(s.driver.line.Recent())
	}
}

// eavesdropper sorts what came unasked.
type eavesdropper struct {
	upTo  time.Time // taken over so far
	asked []appliance.Frame
	late  map[byte]bool // units whose answers came when their time was over
	units map[byte]*talker
	junk  talker // nobody can be named
}

// talker is who talks without being asked.
type talker struct {
	times    int
	requests int // of them questions, as a master asks them
	sample   []byte
}

func newEavesdropper() *eavesdropper {
	return &eavesdropper{upTo: time.Now(), late: make(map[byte]bool), units: make(map[byte]*talker)}
}

// keptQuestions is how many of our own questions are remembered, to know a late
// answer when it comes.
const keptQuestions = 32

// take sorts the frames of the flight recorder that it has not seen yet.
func (e *eavesdropper) take(frames []appliance.Frame) {
	for _, f := range frames {
		if !f.At.After(e.upTo) {
			continue
		}
		switch {
		case f.Direction == appliance.FrameSent:
			e.asked = append(e.asked[max(0, len(e.asked)-keptQuestions+1):], f)
		case f.Direction == appliance.FrameDiscarded && (f.Note == line.NoteUnasked || f.Note == line.NoteNotForUs):
			e.sort(f)
		}
	}
	if len(frames) > 0 {
		if last := frames[len(frames)-1].At; last.After(e.upTo) {
			e.upTo = last
		}
	}
}

// sort finds out who said what came unasked.
func (e *eavesdropper) sort(f appliance.Frame) {
	b := f.Bytes
	n, question := frameLen(b)
	if n == 0 {
		if f.Note == line.NoteUnasked { // beside an answer it may be the answer's damage
			e.junk.add(b, false)
		}
		return
	}
	if !question && e.answersUs(b[:n], f.At) {
		e.late[b[0]] = true
		return
	}
	t := e.units[b[0]]
	if t == nil {
		t = &talker{}
		e.units[b[0]] = t
	}
	t.add(b, question)
}

func (t *talker) add(b []byte, question bool) {
	t.times++
	if question {
		t.requests++
	}
	t.sample = bytes.Clone(clipBytes(b))
}

// frameLen is the length of the frame that b begins, 0 if it begins none; question
// tells that only a master says this.
func frameLen(b []byte) (n int, question bool) {
	if n := rtuAnswerLen(b); n >= 5 && n <= len(b) && crcOK(b[:n]) {
		return n, false
	}
	if len(b) >= 8 && b[1] >= 1 && b[1] <= 6 && crcOK(b[:8]) {
		return 8, true
	}
	return 0, false
}

// lateLongest is how long after a question its answer is still known as such.
const lateLongest = 3 * time.Second

// answersUs reports whether a frame fits a question of ours that was asked lately.
func (e *eavesdropper) answersUs(b []byte, at time.Time) bool {
	return slices.ContainsFunc(e.asked, func(q appliance.Frame) bool {
		return len(q.Bytes) > 1 && q.Bytes[0] == b[0] && q.Bytes[1] == b[1]&^byte(exceptionBit) && at.Sub(q.At) < lateLongest
	})
}

// chance is how many unasked bursts may be chance: an adapter plugged in, a lift.
const chance = 2

// found tells who talks without being asked.
func (e *eavesdropper) found() []appliance.Found {
	var list []appliance.Found
	named := 0
	for _, n := range slices.Sorted(maps.Keys(e.units)) {
		t := e.units[n]
		if t.times <= chance {
			continue
		}
		named++
		f := appliance.Found{
			Address: unitKey(n), Finding: appliance.FoundBabble,
			Detail: fmt.Sprintf("UNIT %d TALKS WITHOUT BEING ASKED: %d times while the scan ran, such as % X", n, t.times, t.sample),
			Advice: "disconnect it and scan again; if it still talks, another device has its address",
		}
		if 2*t.requests >= t.times {
			f.Detail = fmt.Sprintf("ANOTHER MASTER asks unit %d: %d questions while the scan ran, such as % X", n, t.times, t.sample)
			f.Advice = "find the other controller, panel or gateway on this line and take it off: a Modbus line has one master"
		}
		list = append(list, f)
	}
	if e.junk.times > chance && named == 0 {
		list = append(list, appliance.Found{
			Finding: appliance.FoundBabble,
			Detail:  fmt.Sprintf("SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: %d times, such as % X", e.junk.times, e.junk.sample),
			Advice:  "a device at another bit rate, another protocol on the line, or noise: disconnect devices one by one until 'bus monitor' is quiet; check bias and termination",
		})
	}
	return list
}
