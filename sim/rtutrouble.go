package sim

import (
	"time"
)

// lineSetup is what sender and receiver on a line must have in common. Stop bits are
// none of it: a receiver needs one, and takes more.
type lineSetup struct {
	baud   int
	parity string
}

// setupOf is how a unit is set: as the line, unless a fault says otherwise. Called
// with mu held.
func (b *bus) setupOf(number byte) lineSetup {
	s := b.line.setup
	for _, r := range b.faults {
		if r.Kind == FaultSettings && (r.unit == 0 || r.unit == int(number)) {
			if r.BaudRate > 0 {
				s.baud = r.BaudRate
			}
			if r.Parity != "" {
				s.parity = r.Parity
			}
		}
	}
	return s
}

// understands reports whether what the client sent is a frame to a unit at all. To a
// broadcast, those that are set otherwise are deaf as well; only the whole line is
// looked at then.
func (w *wire) understands(number byte) bool {
	client, known := w.end.setup()
	b := w.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	unit := b.setupOf(number)
	if known {
		return client == unit
	}
	return unit == b.line.setup
}

// Second devices with an address begin to answer so many characters after the first:
// most of them while that one is talking.
var twinLags = []int{1, 1, 2, 2, 3, 5, 0, 100}

// twinAnswer is what two devices with one address say together: where both drive the
// line, neither is understood.
func (b *bus) twinAnswer(frame []byte) []byte {
	lag := min(twinLags[b.rng.IntN(len(twinLags))], len(frame))
	out := make([]byte, lag+len(frame))
	copy(out, frame)
	for i, c := range frame {
		if at := i + lag; at < len(frame) {
			out[at] &= c
			if lag > 0 {
				out[at] ^= byte(b.rng.IntN(256)) // bits of both, not in step
			}
		} else {
			out[at] = c
		}
	}
	return out
}

// Pauses of somebody who talks without being asked.
const (
	babbleLeast  = 120 * time.Millisecond
	babbleSpread = 160 * time.Millisecond
)

// babbler is the fault that has a unit talk now, nil if there is none. Called with mu
// held.
func (b *bus) babbler() *running {
	for _, r := range b.faults {
		if r.Kind == FaultBabble {
			return r
		}
	}
	return nil
}

// plansBabble sets when somebody talks next; zero: nobody does.
func (w *wire) plansBabble(now time.Time) {
	b := w.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r := b.babbler(); {
	case r == nil:
		w.babbleAt = time.Time{}
	case w.babbleAt.IsZero():
		pause := babbleLeast + time.Duration(b.rng.Int64N(int64(babbleSpread)))
		w.babbleAt = now.Add(time.Duration(float64(pause) / r.Rate))
	}
}

// babble has a unit say something that nobody asked for: a value of its own, or
// without a unit what is no frame. It does not listen before.
func (w *wire) babble(now time.Time) {
	b := w.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.babbler()
	w.babbleAt = time.Time{}
	if r == nil || !r.strikes(b.rng, byte(r.unit)) {
		return
	}
	b.faultHits[FaultBabble]++
	if w.current != nil {
		w.collide(now)
		return
	}
	said := rtuFrame(byte(r.unit), []byte{fnReadHolding, 2, byte(b.rng.IntN(256)), byte(b.rng.IntN(256))})
	if r.unit == 0 {
		for i := range said {
			said[i] = byte(b.rng.IntN(256))
		}
	}
	w.queue = append([]sending{{bytes: said, begin: now}}, w.queue...)
}
