package engine

import (
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// A device is offline after this many failed exchanges in a row …
	offlineAfter = 3
	// … that span at least this long.
	offlineSpan = 5 * time.Second

	// Until it is known whether a device is gone, it is asked this often: thrice in all.
	findingPause = 2500 * time.Millisecond

	// Probes of a device that is offline start at this distance and double.
	probeFirst = 1 * time.Second
	probeMost  = 12 * time.Second

	// A probe waits so long for an answer at most, whatever the device's time-out: else one
	// that may take a second could be asked twice a minute only. Of one that is not known
	// to be quick every probeWhole-th waits to the end.
	probeWait  = 400 * time.Millisecond
	probeWhole = 4

	// What all devices that are offline may cost together: probes, and the one try of
	// commands to them. budgetBurst may be spent at once before it has to be waited for.
	probeShare   = 0.035
	attemptShare = 0.01
	budgetBurst  = 300 * time.Millisecond
)

// device is one addressed device of a bus: whether it answers, and when to ask
// again if it does not.
type device struct {
	name  string
	nodes []appliance.ID

	online    bool
	polled    bool          // it can be read
	slowest   time.Duration // exchange that it answered
	asked     bool          // it has a question, while others use the bus
	late      time.Duration // the longest that an answer to a read of it may be late
	lastSeen  time.Time
	fails     int
	why       error // the last of them
	firstFail time.Time
	backoff   time.Duration
	probeAt   time.Time // while fails > 0: not asked before
	// A late answer could still come until then, and be mistaken for that of another
	// read, or of another write.
	restReads, restWrites time.Time
	stats                 appliance.BusStats
}

// success returns true when the device has just come online.
func (d *device) success(at time.Time) bool {
	came := !d.online
	d.online, d.lastSeen = true, at
	d.fails, d.backoff = 0, 0
	return came
}

// failure returns true when the device has just gone offline. One that is offline is
// asked more rarely when a probe was in vain; commands that were change nothing.
func (d *device) failure(probe bool, at time.Time) bool {
	if d.fails == 0 {
		d.firstFail = at
	}
	d.fails++
	switch {
	case d.online && d.fails >= offlineAfter && at.Sub(d.firstFail) >= offlineSpan:
		d.online, d.backoff, d.probeAt = false, probeFirst, at.Add(probeFirst)
		return true
	case d.online:
		d.probeAt = at.Add(findingPause)
	case probe:
		d.backoff = min(max(2*d.backoff, probeFirst), probeMost)
		d.probeAt = at.Add(d.backoff)
	}
	return false
}

// quick reports whether the device has always answered long before a probe is given up.
func (d *device) quick() bool { return d.slowest > 0 && 2*d.slowest < probeWait }

// suspect reports whether the device did not answer when it was last asked, or is
// not known to exist.
func (d *device) suspect() bool { return d.fails > 0 }

// silent reports whether the device was last asked in vain, and nothing was heard: a damaged answer is one, which
// another's late one on the same wires may have run into.
func (d *device) silent() bool { return d.suspect() && !errors.Is(d.why, appliance.ErrDamaged) }

// budget is bus time that devices which do not answer may still cost.
type budget struct {
	share float64
	left  time.Duration
	at    time.Time
}

func (b *budget) refill(now time.Time) {
	if !b.at.IsZero() {
		b.left += time.Duration(b.share * float64(now.Sub(b.at)))
	} else {
		b.left = budgetBurst
	}
	b.left = min(b.left, budgetBurst)
	b.at = now
}

func (b *budget) spend(now time.Time, d time.Duration) {
	b.refill(now)
	b.left -= d
}

// owe is spend for what does not wait until it is allowed: nobody else waits for long because of it.
func (b *budget) owe(now time.Time, d time.Duration) {
	b.refill(now)
	b.left = min(b.left, max(b.left-d, -budgetBurst))
}

// allowed returns zero when some may be spent now, else when.
func (b *budget) allowed(now time.Time) time.Time {
	b.refill(now)
	if b.left > 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(-b.left)/b.share) + time.Millisecond)
}

// useSeconds is the window over which bus use is reported.
const useSeconds = 60

// use measures how much of its time a bus is busy.
type use struct {
	start time.Time
	slots [useSeconds]struct {
		second     int64
		busy, dead time.Duration
	}
}

// add accounts a busy stretch that ended at end.
func (u *use) add(end time.Time, busy time.Duration, dead bool) {
	if u.start.IsZero() {
		u.start = end.Add(-busy)
	}
	second := u.second(end)
	slot := &u.slots[second%useSeconds]
	if slot.second != second {
		slot.second, slot.busy, slot.dead = second, 0, 0
	}
	slot.busy += busy
	if dead {
		slot.dead += busy
	}
}

// second counts from 1; setting the clock changes nothing.
func (u *use) second(at time.Time) int64 { return 1 + int64(max(0, at.Sub(u.start))/time.Second) }

// shares returns busy and dead time as parts of the last minute, or of the time
// since the first exchange if that is shorter.
func (u *use) shares(now time.Time) (busy, dead float64) {
	if u.start.IsZero() {
		return 0, 0
	}
	var b, d time.Duration
	for i := range u.slots {
		if u.second(now)-u.slots[i].second < useSeconds {
			b += u.slots[i].busy
			d += u.slots[i].dead
		}
	}
	window := min(now.Sub(u.start), useSeconds*time.Second)
	if window <= 0 {
		return 0, 0
	}
	return min(1, float64(b)/float64(window)), min(1, float64(d)/float64(window))
}

// BriefMost is how many characters are kept of what a device says is wrong.
const BriefMost = 120

// deviceStates lists the devices of a bus by name.
func (s *State) deviceStates() []appliance.DeviceState {
	out := make([]appliance.DeviceState, 0, len(s.devices))
	for _, d := range s.inTurn() {
		st := appliance.DeviceState{Device: d.name, Online: d.online, LastSeen: d.lastSeen, Nodes: d.nodes, Stats: d.stats}
		if n := s.schedule.refused(d.name); n > 0 && d.online {
			st.Trouble = fmt.Sprintf("refuses %d of the questions that its profile asks: wrong profile?", n)
		}
		if !d.online && d.why != nil {
			st.Why = Brief(d.why.Error())
		}
		out = append(out, st)
	}
	return out
}

// Brief cuts what a device says down to what is kept of it.
func Brief(text string) string {
	if r := []rune(text); len(r) > BriefMost {
		return string(r[:BriefMost-1]) + "…"
	}
	return text
}
