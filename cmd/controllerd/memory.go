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
	gcPercentAtRest = 50
	gcPercentBusy   = 200
	// busyRate of allocation, bytes a second, is that of some twenty commands or
	// reads; polling alone makes less.
	busyRate = 512 << 10
	// quietTime without it is rest.
	quietTime = 30 * time.Second
)

// keepMemory suits the garbage collector to what is going on until ctx ends, and
// gives back to the system what a busy time has left behind. GOGC in the
// environment overrules it.
func keepMemory(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercentBusy) // starting up is busy
	busy, since := true, time.Now()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	last := sample[0].Value.Uint64()
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			metrics.Read(sample)
			made := sample[0].Value.Uint64() - last
			last += made
			switch {
			case made >= busyRate:
				since = now
				if !busy {
					busy = true
					debug.SetGCPercent(gcPercentBusy)
				}
			case busy && now.Sub(since) >= quietTime:
				busy = false
				debug.SetGCPercent(gcPercentAtRest)
				debug.FreeOSMemory()
			}
		}
	}
}
