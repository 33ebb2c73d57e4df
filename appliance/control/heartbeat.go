package control

import (
	"context"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// A bus is stuck when nobody has looked after it for so long, beside the longest
	// exchange that it may have.
	stuckAfter = 20 * time.Second
	// beatsEvery is how often the controller looks for buses that are.
	beatsEvery = 5 * time.Second
)

// heartbeat tells whether a bus makes progress: its leader notes every look, and none as
// long as an answer is awaited. It is read by those who must not wait for the bus.
type heartbeat struct {
	born time.Time

	last  atomic.Int64 // look, in ns since born: setting the clock changes nothing
	bound atomic.Int64 // the longest exchange, in ns
}

func (h *heartbeat) looked(now time.Time) { h.last.Store(int64(now.Sub(h.born))) }

// missing is how long nobody has looked, if that is too long; else 0.
func (h *heartbeat) missing(now time.Time) time.Duration {
	still := now.Sub(h.born) - time.Duration(h.last.Load())
	if still < stuckAfter+time.Duration(h.bound.Load()) {
		return 0
	}
	return still
}

// watchBeats shows which buses are stuck, until ctx ends: they cannot tell it themselves.
// One that goes on shows that itself.
func (c *Controller) watchBeats(ctx context.Context) {
	t := time.NewTicker(beatsEvery)
	defer t.Stop()
	known := map[*bus]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			stuck := map[*bus]bool{}
			for _, b := range *c.buses.Load() {
				if b.beat.missing(now) == 0 {
					continue
				}
				if stuck[b] = true; !known[b] {
					c.opts.Log.Error("bus makes no progress", "bus", b.config().Bus.Name)
				}
				c.state.stuck(b.config().Bus.UUID)
			}
			known = stuck
		}
	}
}

// stuck shows that a bus makes no progress.
func (s *state) stuck(bus appliance.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, old := range s.buses {
		if old.Bus.UUID == bus && old.Up {
			now := *old
			now.Up, now.Fault = false, "it makes no progress; the watchdog of systemd starts the program anew, where there is none do so by hand"
			s.values++
			s.buses[i] = &now
			s.markLocked()
		}
	}
}
