package appliance

import (
	"context"
	"math"
	"time"
)

// tune is what a running bus takes over about one shade.
type tune struct {
	shade *Shade   // as the site has it now; nil: as before
	stood *float64 // where somebody saw it stand, in percent; nil: nobody did
	taken chan struct{}
}

// retune hands a bus the travel times of its shades. It goes on undisturbed.
func (b *bus) retune(shades []Shade) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range shades {
		b.noteTune(s.ID, func(t *tune) { t.shade = &s })
	}
	b.poke()
}

// reference tells a bus where somebody saw a shade stand: at one of its ends. The
// channel is closed when that is known.
func (b *bus) reference(shade ID, at Position) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	place, taken := float64(at), make(chan struct{})
	b.noteTune(shade, func(t *tune) { t.stood, t.taken = &place, taken })
	b.poke()
	return taken
}

// noteTune keeps one tune a shade, so that they cannot pile up; b.mu is held.
func (b *bus) noteTune(id ID, change func(*tune)) {
	if b.tunes == nil {
		b.tunes = make(map[ID]tune)
	}
	t := b.tunes[id]
	change(&t)
	b.tunes[id] = t
}

// tune takes over what was handed in.
func (b *bus) tune(tunes map[ID]tune, now time.Time) {
	for id, t := range tunes {
		if m := b.movers[id]; m != nil {
			if t.stood != nil {
				m.reference(*t.stood, now)
			}
			if t.shade != nil {
				m.retune(*t.shade, now)
			}
			b.showShade(id, m)
		}
		if t.taken != nil {
			close(t.taken)
		}
	}
}

// retune takes over new travel times. Where the shade is by now was computed with
// the old ones.
func (m *mover) retune(s Shade, now time.Time) {
	if s.TravelUp != m.shade.TravelUp || s.TravelDown != m.shade.TravelDown {
		m.settle(now)
		m.from = m.position(now)
		m.since = later(m.since, now) // a motor that is about to begin still is
	}
	m.shade = s
}

// reference makes the position certain: somebody saw the shade stand there.
func (m *mover) reference(at float64, now time.Time) {
	if m.channel.PositionMeasured {
		return // it knows better itself
	}
	m.from, m.known, m.restored, m.at = math.Max(0, math.Min(100, at)), true, false, now
	m.since, m.uncertainty = now, 0
}

// stood notes where somebody saw a shade of the site stand, and returns when readers
// see it so; its bus takes it after the frame in flight.
func (c *Controller) stood(ctx context.Context, shade ID, at Position) {
	b := (*c.buses.Load())[c.Snapshot().busOf(Ref{Shade: shade})]
	if b == nil {
		return
	}
	select {
	case <-b.reference(shade, at):
		c.state.publish()
	case <-b.closed:
	case <-ctx.Done():
	}
}
