package web

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Turns lets a few work at a time and has others wait, so that nobody's turn is far off
// because somebody else asks often: networks (an address, of IPv6 a /64) take turns.
// Who is known goes before who is not. Where too many wait, whoever has most of the
// places gives one up.
type Turns struct {
	most int // that wait

	mu      sync.Mutex
	free    int
	round   uint64 // of whoever had the last turn
	waiting []*turn
}

type turn struct {
	network netip.Prefix
	known   bool
	round   uint64
	called  chan bool // true: it is your turn; false: you have to go
}

// ErrTurnedAway is for whoever waited too long, or found no place to wait.
var ErrTurnedAway = errors.New("too many are waiting; try again")

// turnWait bounds the time that somebody waits.
const turnWait = 15 * time.Second

// NewTurns has so many at work, and so many waiting, at a time.
func NewTurns(working, waiting int) *Turns { return &Turns{most: waiting, free: working} }

// enter waits for a turn; leave ends it. It returns [ErrTurnedAway] or the error of ctx.
func (t *Turns) enter(ctx context.Context, network netip.Prefix, known bool) (leave func(), err error) {
	me := t.join(network, known)
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	err = ErrTurnedAway
	select {
	case mine := <-me.called:
		if mine {
			return t.leave, nil
		}
		return nil, err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	if !t.gaveUp(me) && <-me.called { // called in the very moment
		t.leave()
	}
	return nil, err
}

// Waiting is how many wait.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// join puts somebody into the queue, or has them begin where nobody waits.
func (t *Turns) join(network netip.Prefix, known bool) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	me := &turn{network: network, known: known, round: t.round, called: make(chan bool, 1)}
	if t.free > 0 {
		t.free--
		me.called <- true
		return me
	}
	for _, other := range t.waiting {
		if other.network == network {
			me.round = max(me.round, other.round+1)
		}
	}
	t.waiting = append(t.waiting, me)
	if len(t.waiting) > t.most {
		last := t.last()
		last.called <- false
		t.remove(last)
	}
	return me
}

// last is who has to go: somebody unknown, of the latest round, who came last.
func (t *Turns) last() *turn {
	last := t.waiting[0]
	for _, w := range t.waiting {
		if before(last, w) || !before(w, last) {
			last = w
		}
	}
	return last
}

// before reports whether a's turn is before b's, where they do not stand alike.
func before(a, b *turn) bool {
	if a.known != b.known {
		return a.known
	}
	return a.round < b.round
}

// leave ends a turn and calls the next.
func (t *Turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	next := t.waiting[0]
	for _, w := range t.waiting {
		if before(w, next) {
			next = w
		}
	}
	t.round = max(t.round, next.round)
	next.called <- true
	t.remove(next)
}

// gaveUp takes somebody out of the queue, and reports whether they were in it.
func (t *Turns) gaveUp(me *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.remove(me)
}

func (t *Turns) remove(w *turn) bool {
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}
