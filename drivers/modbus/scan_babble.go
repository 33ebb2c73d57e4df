package modbus

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Slices of listening: what is heard before the scan is listened to for longer, to know
// who it is; after it, answers may still be under way.
const (
	listenSlices   = 12
	suspectsSlices = 36
	lastSlices     = 30
)

// listen leaves the line alone, to hear who talks without being asked, and who answers
// too late.
func (s *search) listen(slices int) {
	if !s.driver.codec.tcp && !s.over() { // a gateway that talks unasked does not
		s.Listen(slices)
	}
}

// eavesdropper sorts what came unasked.
type eavesdropper struct {
	gap     time.Duration // silence after which a burst is over
	asked   []appliance.Frame
	askedAt map[byte]time.Time // when each unit was asked last, by whomever of ours
	late    map[byte]bool      // units whose answers came when their time was over
	units   map[byte]*talker
	junk    talker // nobody can be named
	named   bool   // that somebody makes noise was told
	strict  bool   // whoever has answered is not late

	piece []byte // what came unasked, while more of it may follow
	at    time.Time
	rest  bool      // it came on the heels of an answer, and may be the rest of it
	spoke time.Time // when an answer came last

	answers map[byte][]byte // the last that each unit gave
}

// talker is who talks without being asked.
type talker struct {
	times    int
	requests int // of them questions, as a master asks them
	sample   []byte
	at       time.Time // the last time
	told     bool      // in the log

	// Since answers were last counted, as long as others may follow one: answers, the last of
	// them, and what came unasked that has their form and says something else. doubled is how
	// often in a row one followed each answer.
	answers, followed int
	answered          time.Time
	doubled           int
}

// Adapters hand over what they receive in pieces: what follows within a USB latency or
// so many characters belongs together.
const (
	leastGap      = 20 * time.Millisecond
	gapCharacters = 20
)

func newEavesdropper(d *Driver) *eavesdropper {
	return &eavesdropper{
		gap:     max(leastGap, d.characters(gapCharacters)),
		askedAt: make(map[byte]time.Time), late: make(map[byte]bool), units: make(map[byte]*talker), answers: make(map[byte][]byte),
	}
}

// keptQuestions is how many of our own questions are remembered, to know a late
// answer when it comes; mostPiece how long a burst may be.
const (
	keptQuestions = 128
	mostPiece     = 256
)

// take sorts what passed on the line.
func (e *eavesdropper) take(frames []appliance.Frame) {
	for _, f := range frames {
		if f.Note == line.NoteUnasked {
			e.collect(f)
			continue
		}
		e.flush()
		switch {
		case f.Direction == appliance.FrameSent && len(f.Bytes) > 0:
			e.asked = append(e.asked[max(0, len(e.asked)-keptQuestions+1):], f)
			e.askedAt[f.Bytes[0]] = f.At
		case f.Note == line.NoteNotForUs:
			e.sort(f.Bytes, f.At)
			e.spoke = f.At
		case len(f.Bytes) > 0:
			e.spoke = f.At
			e.answered(f.Bytes, f.At)
			if last := len(e.asked) - 1; e.strict && last >= 0 && f.Bytes[0] == e.asked[last].Bytes[0] {
				e.asked = e.asked[:last]
			}
		}
	}
	if time.Since(e.at) > e.gap {
		e.flush()
	}
}

// collect puts the pieces of a burst together.
func (e *eavesdropper) collect(f appliance.Frame) {
	if f.At.Sub(e.at) > e.gap || len(e.piece)+len(f.Bytes) > mostPiece {
		e.flush()
	}
	if len(e.piece) == 0 {
		e.rest = f.At.Sub(e.spoke) < e.gap
	}
	e.piece, e.at = append(e.piece, f.Bytes...), f.At
}

// flush sorts a burst that is over.
func (e *eavesdropper) flush() {
	if len(e.piece) > 0 && !e.sort(e.piece, e.at) && !e.rest {
		e.junk.add(e.piece, false)
	}
	e.piece = e.piece[:0]
}

// sort finds out who said what came unasked; false: it is no frame.
func (e *eavesdropper) sort(b []byte, at time.Time) (known bool) {
	for len(b) > 0 {
		n, question := frameLen(b)
		if n == 0 {
			b = b[1:]
			continue
		}
		e.frame(b[:n], question, at)
		known, b = true, b[n:]
	}
	return known
}

// frame notes a whole frame that was no answer to the question before it.
func (e *eavesdropper) frame(b []byte, question bool, at time.Time) {
	switch {
	case question && len(e.asked) > 0 && bytes.Equal(e.asked[len(e.asked)-1].Bytes, b):
		return // the adapter's echo
	case !question && e.answersUs(b, at):
		e.late[b[0]] = true
		return
	}
	t := e.units[b[0]]
	if t == nil {
		t = &talker{}
		e.units[b[0]] = t
	}
	t.add(b, question)
	t.at = at
	if a := e.answers[b[0]]; len(a) == len(b) && a[1] == b[1] && !bytes.Equal(a, b) {
		t.followed++
	}
}

// answered notes an answer. What a write is answered with says nothing of whoever else has
// the address: all of them say the same.
func (e *eavesdropper) answered(b []byte, at time.Time) {
	if len(b) < 2 || (request{fn: function(b[1])}).writes() {
		return
	}
	e.answers[b[0]] = b
	t := e.units[b[0]]
	if t == nil {
		return
	}
	missing := t.answers - t.followed
	fits := missing >= 0 && missing <= t.answers/countedMost
	if over := at.Sub(t.answered) > lateLeast; over || fits && t.answers >= countedMost { // over: nothing more follows
		switch {
		case fits:
			t.doubled++
		case missing < 0 || t.followed == 0:
			t.doubled = 0
		}
		t.answers, t.followed = 0, 0
	}
	t.answers++
	t.answered = at
}

// countedMost answers are enough to count, however fast they come after each other; of so many
// one may be followed by nothing that could be read.
const countedMost = 4

// twins reports whether two devices have an address: its last answers were followed each by
// one that says something else. Somebody who talks by chance would have done so once or twice.
func (e *eavesdropper) twins(unit byte) bool {
	t := e.units[unit]
	return t != nil && t.doubled > chance
}

func (t *talker) add(b []byte, question bool) {
	t.times++
	if question {
		t.requests++
	}
	t.sample = bytes.Clone(clipBytes(b))
}

// master reports whether another master asks the unit, rather than it talks itself.
func (t *talker) master() bool { return 2*t.requests >= t.times }

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

// answersUs reports whether a frame fits a question of ours that was asked lately.
func (e *eavesdropper) answersUs(b []byte, at time.Time) bool {
	return slices.ContainsFunc(e.asked, func(q appliance.Frame) bool {
		return len(q.Bytes) > 1 && q.Bytes[0] == b[0] && q.Bytes[1] == b[1]&^byte(exceptionBit) && at.Sub(q.At) < lateLongest
	})
}

// chance is how many unasked bursts may be chance: an adapter plugged in, a lift.
const chance = 2

// noisy reports whether somebody makes noise that cannot be told from damaged answers.
func (e *eavesdropper) noisy() bool { return e.junk.times >= chance }

// babbles reports whether anything came unasked that may be more than chance.
func (e *eavesdropper) babbles() bool {
	for _, t := range e.units {
		if t.times > chance {
			return true
		}
	}
	return e.noisy()
}

// anything reports whether anything at all came unasked.
func (e *eavesdropper) anything() bool { return len(e.units) > 0 || e.junk.times > 0 }

// found tells who talks without being asked. Sure: noise was in the way, so that it is
// told even if it may have been chance.
func (e *eavesdropper) found(sure bool) []appliance.Found {
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
		if t.master() {
			f.Detail = fmt.Sprintf("ANOTHER MASTER asks unit %d: %d questions while the scan ran, such as % X", n, t.times, t.sample)
			f.Advice = "find the other controller, panel or gateway on this line and take it off: a Modbus line has one master"
		}
		list = append(list, f)
	}
	if e.junk.times > 0 && (sure || e.junk.times > chance) && (named == 0 || e.named) {
		e.named = true
		list = append(list, appliance.Found{
			Finding: appliance.FoundBabble,
			Detail:  fmt.Sprintf("SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: %d times while nobody was asked, such as % X", e.junk.times, e.junk.sample),
			Advice:  "a device at another bit rate, another protocol on the line, or noise: disconnect devices one by one until 'bus monitor' is quiet; check bias and termination",
		})
	}
	return list
}
