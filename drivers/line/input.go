package line

import (
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// inputLimit bounds the bytes that wait to be judged: more than the longest frame
// of any protocol here.
const inputLimit = 4096

// input is what was received and not yet judged. On a serial port a pump fills
// it, on a socket whoever holds the turn.
type input struct {
	more  chan struct{} // holds a token when bytes came during an exchange
	pumps sync.WaitGroup

	mu    sync.Mutex
	buf   []byte
	at    time.Time // when the last byte was seen
	asked bool      // an exchange is under way: bytes wait for its Scan
	deaf  bool      // re-synchronising: bytes are discarded
	// length is that of the answer under way, see [Request.Length]; nil: nobody knows.
	length func(b []byte) int

	talks  []*talk       // whose answers are awaited at once
	reader chan struct{} // held by whoever reads for all of them; nil: one exchange at a time
}

// received takes bytes from a port, and returns until when the rest of the answer that they
// begin is on the line; zero if they need to be looked at now.
func (l *Line) received(b []byte, at time.Time) (rest time.Time) {
	l.heard.Store(true)
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	gap := at.Sub(in.at)
	in.at = at
	switch {
	case in.asked:
		in.buf = append(in.buf, b...)
		if rest = l.restOf(at); rest.IsZero() {
			in.look()
		}
	case in.deaf:
		l.rec.Add(at, appliance.FrameDiscarded, b, noteDamaged)
	case l.cfg.Overheard != nil:
		if gap > PartialGap {
			l.discard(noteIncomplete)
		}
		in.buf = append(in.buf, b...)
		l.overhear(at)
	case l.framed:
		in.buf = append(in.buf, b...)
	default:
		l.rec.Add(at, appliance.FrameDiscarded, b, NoteUnasked)
	}
	if len(in.buf) > inputLimit {
		l.discard(noteOverflow)
	}
	return rest
}

// restOf is when the rest of an answer will have come. Called with in.mu held.
func (l *Line) restOf(at time.Time) time.Time {
	in := &l.in
	if in.length == nil || l.charBits == 0 {
		return time.Time{}
	}
	missing := in.length(in.buf) - len(in.buf)
	if missing <= 0 {
		return time.Time{}
	}
	return at.Add(l.Airtime(missing))
}

// look wakes whoever awaits an answer.
func (in *input) look() {
	select {
	case in.more <- struct{}{}:
	default:
	}
}

// overhear shows unasked bytes to the protocol. Called with in.mu held.
func (l *Line) overhear(at time.Time) {
	in := &l.in
	for len(in.buf) > 0 {
		n := min(l.cfg.Overheard(in.buf), len(in.buf))
		if n <= 0 {
			return
		}
		l.rec.Add(at, appliance.FrameReceived, in.buf[:n], "")
		in.drop(n)
	}
}

// discard empties the input. Called with in.mu held.
func (l *Line) discard(note string) {
	if len(l.in.buf) > 0 {
		l.rec.Add(l.in.at, appliance.FrameDiscarded, l.in.buf, note)
		l.in.buf = l.in.buf[:0]
	}
}

// drop removes the first n bytes.
func (in *input) drop(n int) {
	in.buf = in.buf[:copy(in.buf, in.buf[n:])]
}

// lastByte is when the line was last heard.
func (in *input) lastByte() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.at
}

// begin makes room for the answer to a request that is about to be written.
func (l *Line) begin() {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if !l.framed {
		l.discard(NoteUnasked)
	}
	in.asked = true
	select {
	case <-in.more:
	default:
	}
}

// end returns to listening; what the exchange left over is treated as unasked.
func (l *Line) end() {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	in.asked, in.length = false, nil
	if len(in.buf) == 0 {
		return
	}
	switch {
	case l.cfg.Overheard != nil:
		l.overhear(in.at)
	case !l.framed:
		l.discard(NoteUnasked)
	}
}
