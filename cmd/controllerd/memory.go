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
	// busyBurst of allocation in a second is that of a hundred commands or reads;
	// polling alone makes less, even of a large building, and so does starting up
	// after its first moments.
	busyBurst = 2 << 20
	startTime = 5 * time.Second
	// restRate is what a second may make on average over quietTime for it to be rest.
	restRate  = 512 << 10
	quietTime = 30 * time.Second
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
	busy, last := false, made()
	since, then := time.Now(), last // what is averaged
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			all := made()
			burst := all - last
			last = all
			switch {
			case !busy && burst >= busyBurst:
				busy, since, then = true, now, all
				debug.SetGCPercent(gcPercentBusy)
			case busy && now.Sub(since) >= quietTime:
				if all-then < restRate*uint64(quietTime/time.Second) {
					busy = false
					debug.SetGCPercent(gcPercentAtRest)
					debug.FreeOSMemory()
				}
				since, then = now, all
			}
		}
	}
}
