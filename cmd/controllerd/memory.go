package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A board has 512 MB and the heap a few: at rest memory is dearer than the little
// time that collecting it early takes. While commands come in it is the other way
// round, since each collection slows down those beside it.
const (
	gcPercentAtRest = 40
	gcPercentBusy   = 400
	// busyBurst of allocation in a second is that of a hundred commands or reads. Polling
	// alone makes less, but for that of very large buildings, see tempo.
	busyBurst = 2 << 20
	startTime = 5 * time.Second
	// restRate is what a second may make on average over quietSeconds for it to be rest.
	restRate     = 512 << 10
	quietSeconds = 6
	// calmMost bounds what is taken for polling alone.
	calmMost = 8 << 20
	// memoryMost is what the runtime may grow to before it collects harder, however much
	// there is: with what it does not count, such as SQLite's, some 90 MB of process.
	memoryMost = 64 << 20
)

// keepMemory suits the garbage collector to what is going on until ctx ends, and
// gives back to the system what a busy time has left behind. GOGC in the
// environment overrules it.
func keepMemory(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercentAtRest)
	select {
	case <-ctx.Done():
		return
	case <-time.After(startTime):
	}
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	made := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	last := made()
	var pace tempo
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			all := made()
			changed := pace.second(all - last)
			last = all
			switch {
			case changed && pace.busy:
				debug.SetGCPercent(gcPercentBusy)
			case changed:
				debug.SetGCPercent(gcPercentAtRest)
				debug.FreeOSMemory()
			}
		}
	}
}

// tempo tells busy times from rest by what is allocated each second.
type tempo struct {
	busy bool

	seconds int                  // since the start
	calm    uint64               // what a second makes that only polls
	lately  [quietSeconds]uint64 // the last of them
}

// second takes what was allocated in one; changed: a busy time began or ended with it.
func (t *tempo) second(made uint64) (changed bool) {
	t.lately[t.seconds%quietSeconds] = made
	if t.seconds++; t.seconds == 1 {
		t.calm = min(made, calmMost)
		return false
	}
	if !t.busy {
		if t.busy = made >= busyBurst+2*t.calm; !t.busy {
			t.calm = (7*t.calm + min(made, calmMost)) / 8
		}
		return t.busy
	}
	var all uint64
	for _, m := range t.lately {
		all += m
	}
	t.busy = all >= quietSeconds*(restRate+t.calm+t.calm/2)
	return !t.busy
}
