package web

import (
	"crypto/tls"
	"errors"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Handshakes cost more than anything else that a stranger can ask for: some
// milliseconds of a small board's processor each. So many a second are done at once,
// after so many in a row; the others wait for their turn, and go when it would come too
// late. What one network has too much of takes nothing from the others.
const (
	handshakesPerNetwork    = 20
	handshakesInARow        = 100
	handshakesLoopback      = 50 // a tunnel brings everybody from there
	handshakesLoopbackInRow = 500
	handshakesAll           = 100
	handshakesAllInARow     = 600
	handshakeWait           = 5 * time.Second
	// paceBuckets bound what is remembered of networks; some share one.
	paceBuckets = 256
)

var errTooManyHandshakes = errors.New("too many connections at once; try again in a few seconds")

// pace lets things happen so often and no more.
type pace struct {
	every time.Duration // on average
	row   int           // so many may come at once
	next  time.Time     // when the next one's turn is, if it were never idle
}

// turn takes the next turn, and returns how long it is until then; ok is false if that
// is longer than most, and then none is taken.
func (p *pace) turn(now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	earliest := now.Add(-time.Duration(p.row) * p.every)
	next := p.next
	if next.Before(earliest) {
		next = earliest
	}
	next = next.Add(p.every)
	if wait = max(0, next.Sub(now)); wait > most {
		return 0, false
	}
	p.next = next
	return wait, true
}

// handshakes paces those of a crowd.
type handshakes struct {
	seed maphash.Seed

	mu       sync.Mutex
	all      pace
	loopback pace
	networks [paceBuckets]pace
}

func newHandshakes() *handshakes {
	h := &handshakes{
		seed:     maphash.MakeSeed(),
		all:      pace{every: time.Second / handshakesAll, row: handshakesAllInARow},
		loopback: pace{every: time.Second / handshakesLoopback, row: handshakesLoopbackInRow},
	}
	for i := range h.networks {
		h.networks[i] = pace{every: time.Second / handshakesPerNetwork, row: handshakesInARow}
	}
	return h
}

// turn takes the next turn of a network; one that is not alone brings everybody.
func (h *handshakes) turn(from netip.Prefix, alone bool, now time.Time) (wait time.Duration, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := &h.networks[h.hash(from)]
	if !alone {
		own = &h.loopback
	}
	if wait, ok = own.turn(now, handshakeWait); !ok {
		return 0, false
	}
	all, ok := h.all.turn(now, handshakeWait)
	return max(wait, all), ok
}

// hash is the bucket of a network.
func (h *handshakes) hash(from netip.Prefix) uint64 {
	return maphash.Comparable(h.seed, from) % paceBuckets
}

// paced is conf with handshakes in turn.
func (c *Crowd) paced(conf *tls.Config) *tls.Config {
	conf = conf.Clone()
	before := conf.GetConfigForClient
	conf.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		from := networkOf(hostOf(hello.Conn))
		wait, ok := c.shakes.turn(from, c.alone(from), time.Now())
		if !ok {
			c.refusedHandshakes.Add(1)
			return nil, errTooManyHandshakes
		}
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-hello.Context().Done():
				return nil, hello.Context().Err()
			}
		}
		if before != nil {
			return before(hello)
		}
		return nil, nil
	}
	return conf
}
