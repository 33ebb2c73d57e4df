package appliance

import (
	"maps"
	"slices"
	"time"
)

const (
	// A device is offline after this many failed exchanges in a row …
	offlineAfter = 3
	// … that span at least this long.
	offlineSpan = 5 * time.Second

	// Probes of a device that does not answer start at this distance and double. One
	// that never answered is probably not there, and nobody waits to hear that it is
	// gone.
	probeFirst    = 1 * time.Second
	probeStranger = 5 * time.Second
	probeMost     = 60 * time.Second

	// A probe gives way to commands; on a busy line each of them may be cut short so.
	// After as many of a device that still counts as online, one is seen through, like
	// any poll, so that it is known to be gone before long.
	cutMost = 3

	// deadShare is the part of bus time that all devices which do not answer may
	// cost together; deadBurst what they may spend at once before they have to
	// wait for it.
	deadShare = 0.035
	deadBurst = 300 * time.Millisecond
	// deadDebt is the most that is made up for of what commands to such devices cost:
	// nobody else must wait long to be asked for that.
	deadDebt = 300 * time.Millisecond
)

// device is one addressed device of a bus: whether it answers, and when to ask
// again if it does not.
type device struct {
	name  string
	nodes []ID

	online    bool
	answered  bool // ever since the bus was opened
	lastSeen  time.Time
	fails     int
	firstFail time.Time
	backoff   time.Duration
	probeAt   time.Time // while fails > 0: not asked before
	cut       int       // probes that gave way since the last one that was seen through
	// A late answer could still come until then, and be mistaken for that of another
	// read, or of another write.
	restReads, restWrites time.Time
	stats                 BusStats
}

// success returns true when the device has just come online.
func (d *device) success(at time.Time) bool {
	came := !d.online
	d.online, d.answered, d.lastSeen = true, true, at
	d.fails, d.backoff, d.cut = 0, 0, 0
	return came
}

// failure returns true when the device has just gone offline.
func (d *device) failure(at time.Time) bool {
	if d.fails == 0 {
		d.firstFail = at
	}
	d.fails++
	d.cut = 0
	first := probeFirst
	if !d.answered {
		first = probeStranger
	}
	d.backoff = min(max(2*d.backoff, first), probeMost)
	d.probeAt = at.Add(d.backoff)
	if whole := d.firstFail.Add(offlineSpan); d.online && at.Before(whole) && d.probeAt.After(whole) {
		d.probeAt = whole // in time to tell that it is offline
	}
	if !d.online || d.fails < offlineAfter || at.Sub(d.firstFail) < offlineSpan {
		return false
	}
	d.online = false
	return true
}

// suspect reports whether the device did not answer when it was last asked, or is
// not known to exist.
func (d *device) suspect() bool { return d.fails > 0 }

// budget is the bus time that devices which do not answer may still cost.
type budget struct {
	left time.Duration
	at   time.Time
}

func (b *budget) refill(now time.Time) {
	if !b.at.IsZero() {
		b.left += time.Duration(deadShare * float64(now.Sub(b.at)))
	} else {
		b.left = deadBurst
	}
	b.left = min(b.left, deadBurst)
	b.at = now
}

// spend books d: what was allowed before in full.
func (b *budget) spend(d time.Duration, allowed bool) {
	left := b.left - d
	if !allowed {
		left = max(left, min(b.left, -deadDebt))
	}
	b.left = left
}

// allowed returns zero when a probe may be made now, else when.
func (b *budget) allowed(now time.Time) time.Time {
	b.refill(now)
	if b.left > 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(-b.left)/deadShare) + time.Millisecond)
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

// troubleMost is how many characters are kept of what a device says is wrong.
const troubleMost = 120

// deviceStates lists the devices of a bus by name.
func (b *bus) deviceStates() []DeviceState {
	var troubles map[string]string
	if d, ok := b.driver.(Troubled); ok {
		troubles = d.Troubles()
	}
	out := make([]DeviceState, 0, len(b.devices))
	for _, name := range slices.Sorted(maps.Keys(b.devices)) {
		d := b.devices[name]
		trouble := troubles[name]
		if r := []rune(trouble); len(r) > troubleMost {
			trouble = string(r[:troubleMost-1]) + "…"
		}
		out = append(out, DeviceState{Device: name, Online: d.online, LastSeen: d.lastSeen, Nodes: d.nodes, Trouble: trouble, Stats: d.stats})
	}
	return out
}
