package dmxsim

import (
	"fmt"
	"slices"
	"time"
)

// Faults of a widget and its line. The zero value is health.
type Faults struct {
	// DeafUntil: until then nothing is heard or answered.
	DeafUntil time.Time
	// NoParameters: label 3 is not answered.
	NoParameters bool
	// Late delays every answer.
	Late time.Duration
	// Damage is the part of answers, 0 to 1, in which one byte is changed.
	Damage float64
	// Noise bytes come before every answer.
	Noise int
	// Fixtures in trouble, by start slot.
	Fixtures map[int]FixtureFault
}

// FixtureFault is what is wrong with one fixture. It does not reach the host, which
// hears nothing of fixtures, except over RDM.
type FixtureFault struct {
	Deaf      bool // it hears neither DMX nor RDM, and goes on as it was
	Stuck     bool // it answers RDM, and goes on as it was
	Broken    bool // its lamps are dark
	ReadOnly  bool // it refuses every RDM SET: write protected
	Duplicate bool // a second one has its start slot
}

func (f Faults) deaf(now time.Time) bool { return now.Before(f.DeafUntil) }

// SetFaults replaces the faults.
func (w *Widget) SetFaults(f Faults) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(time.Now())
	for _, x := range w.fixtures {
		now := f.Fixtures[x.start]
		switch still := now.Deaf || now.Stuck; {
		case still && x.held == nil:
			held := w.universe
			x.held = &held
		case !still:
			x.held = nil
		}
		x.broken = now.Broken
	}
	w.faults = f
	w.responders = slices.DeleteFunc(w.responders, func(r *responder) bool { return r.second && !f.Fixtures[r.place].Duplicate })
	for _, r := range slices.Clone(w.responders) {
		now, before := f.Fixtures[r.place], w.faulty[r.place]
		if now.Deaf != before.Deaf {
			r.Silent = now.Deaf
		}
		if now.ReadOnly != before.ReadOnly {
			r.ReadOnly = now.ReadOnly
		}
		if now.Duplicate && !before.Duplicate && !r.second {
			like := newResponder(r.Responder)
			like.UID, like.second, like.place = r.UID+secondUID, true, r.place
			w.responders = append(w.responders, like)
		}
	}
	w.faulty = f.Fixtures
}

// secondUID is added to the UID of a fixture for the second one at its start slot.
const secondUID = 1 << 24

// Slot returns what is on the wire in a slot, 1 to 512, and since when.
func (w *Widget) Slot(n int) (value byte, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(time.Now())
	return w.universe[n-1], w.changed[n-1]
}

// Universe returns all 512 slots as they are on the wire.
func (w *Widget) Universe() [512]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(time.Now())
	return w.universe
}

// Outputting reports whether packets are on the wire, and since when not.
func (w *Widget) Outputting() (bool, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.everSent && w.stoppedAt.IsZero(), w.stoppedAt
}

// Counters returns the counts of frames.
func (w *Widget) Counters() Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.counters
	c.ByLabel = make(map[int]int)
	for l, n := range w.counters.ByLabel {
		c.ByLabel[l] = n
	}
	return c
}

// Events returns the last frames from the host, oldest first, 4096 at most.
func (w *Widget) Events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

// Light is what a lamp really emits.
type Light struct {
	Level     int     // percent, of the whole lamp
	Kelvin    int     // 0: not a tunable white, or dark
	RGBW      [4]byte // raw share of each colour at full level; zero without colours
	ChangedAt time.Time
}

// Device is one fixture and what its lamps emit.
type Device struct {
	Name, Address, Profile string
	Channels               []Light
}

// Devices returns the true light of every fixture. Without a signal for
// [Config.HoldFor] all are dark.
func (w *Widget) Devices() []Device {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.settle(now)
	universe := w.universe
	if !w.stoppedAt.IsZero() && now.Sub(w.stoppedAt) > w.config.HoldFor || !w.everSent {
		universe = [512]byte{}
	}
	var list []Device
	for _, f := range w.fixtures {
		u := &universe
		if f.held != nil {
			u = f.held
		}
		d := f.emits(u, &w.changed)
		if f.broken {
			clear(d.Channels)
		}
		list = append(list, d)
	}
	return list
}

// Load puts a universe on the wire at once, as if it had been there for a while:
// for looking at the light of fixtures without a host.
func (w *Widget) Load(slots []byte) error {
	if len(slots) > 512 {
		return fmt.Errorf("%d slots, a universe has 512", len(slots))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packets = nil
	w.everSent, w.stoppedAt = true, time.Time{}
	w.used = len(slots)
	copy(w.universe[:], slots)
	copy(w.taken[:], slots)
	return nil
}
