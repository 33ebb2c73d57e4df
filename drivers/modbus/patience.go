package modbus

import (
	"encoding/binary"
	"time"

	"svc.internal/controller/drivers/line"
)

const (
	// patienceMost bounds how long a gateway may take: a command waits for it.
	patienceMost = 5 * time.Second
	// patienceSpare is added to what it took: a tenth and this.
	patienceSpare = 100 * time.Millisecond
	// patienceFor is how long it is remembered.
	patienceFor = 10 * time.Minute
	// answerLeast is how long the shortest answer is, an exception behind a serial server.
	answerLeast = 5
	// askedMost bounds the questions whose answers may come late.
	askedMost = 64
)

// patience is how long the gateway of a connection takes, learnt from answers that came when
// their time was over: one that waits 2.5 s for a unit that is dead serves nobody else
// meanwhile, and what it was asked for others piles up behind. On Modbus TCP the number of the
// transaction tells to what an answer is, behind a serial server its unit and function.
type patience struct {
	asked  map[uint16]series // by its first two bytes, which its answer has, too
	served time.Time         // when the last answer came: it serves one after the other
	takes  time.Duration
	slow   time.Time // when it last took about as long as a device is waited for, or longer

	// unnumbered: what came much later than a question is no answer to it, but to another master's, or nobody's.
	unnumbered bool

	// owed are the questions that were not answered in time, less what came late. One after the other is answered still, and
	// counts as the answer to a newer one that says the same, so that as many stay behind.
	owed int

	stray int       // what came late so far, see [line.Line.Stray]
	upTo  time.Time // when the last of it that was looked at came
}

// series of the same question, not answered yet: when it was asked first and last.
type series struct{ first, last time.Time }

// sent notes a question.
func (p *patience) sent(what uint16, at time.Time) {
	if p.asked == nil {
		p.asked = make(map[uint16]series)
	}
	q := p.asked[what]
	if at.Sub(q.last) > patienceMost {
		q.first = at
	}
	p.asked[what] = series{q.first, at}
	delete(p.asked, what-askedMost)
}

// answered notes an answer to one of them: in time to the last, late to the first. It counts if it took three quarters of
// the time-out or more.
func (p *patience) answered(what uint16, at time.Time, timeout time.Duration, late bool) {
	q, ok := p.asked[what]
	delete(p.asked, what)
	began := q.last
	if late {
		began = q.first
	}
	if p.served.After(began) {
		began = p.served
	}
	p.served = at
	took := at.Sub(began)
	if !ok || took < timeout*3/4 || p.unnumbered && took > patienceMost {
		return
	}
	if took += took/10 + patienceSpare; took > p.takes || at.Sub(p.slow) > patienceFor {
		p.takes = min(took, patienceMost)
	}
	p.slow = at
}

// timeout is how long an answer is waited for, at least so long.
func (p *patience) timeout(least time.Duration, now time.Time) time.Duration {
	if !p.isSlow(now) {
		return least
	}
	return max(least, p.takes)
}

// unanswered notes a question that nobody answered for as long as it waited, in which nothing else came, if quiet.
func (p *patience) unanswered(waited time.Duration, quiet bool, now time.Time) {
	if p.owed++; quiet && p.isSlow(now) && waited >= p.takes {
		p.owed = 0 // or it would have gone on
	}
}

// drain is for how long nothing may come before a slow serial server is told to write: what it still has would be
// before it, and keep it until nobody waits for it any more. 0: it has nothing.
func (p *patience) drain(now time.Time) time.Duration {
	if p.owed == 0 || !p.unnumbered || !p.isSlow(now) {
		return 0
	}
	return p.takes
}

func (p *patience) isSlow(now time.Time) bool { return now.Sub(p.slow) <= patienceFor }

// late looks at the answers that came when their time was over.
func (p *patience) late(l *line.Line, timeout time.Duration) {
	stray := l.Stray()
	if stray == p.stray {
		return
	}
	p.stray = stray
	for _, f := range l.Recent() {
		if late := f.Note == line.NoteNotForUs || f.Note == line.NoteUnasked; late && f.At.After(p.upTo) && len(f.Bytes) >= answerLeast {
			p.upTo, p.owed = f.At, max(0, p.owed-rtuFrames(f.Bytes))
			p.answered(binary.BigEndian.Uint16(f.Bytes), f.At, timeout, true)
		}
	}
}

// rtuFrames counts those that came at once.
func rtuFrames(b []byte) (n int) {
	for end := answerLeast; end <= len(b); end++ {
		if crcOK(b[:end]) {
			n, b, end = n+1, b[end:], answerLeast-1
		}
	}
	return n
}
