package line

import (
	"context"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Go's timers end in epoll_wait, which counts whole milliseconds; a silence of
// 2.1 ms would last up to 3.1 ms. A timer therefore waits for whole milliseconds only, and the
// last stretch is slept in clock_nanosleep, to an absolute time. That stretch is short, because the
// scheduler's watchman looks every 70 µs at a thread that sleeps in the kernel.
const (
	sharpStretch = 3 * time.Millisecond   // at most held by a sleep in the kernel that nothing interrupts
	sharpSpare   = 500 * time.Microsecond // what a Go timer of whole milliseconds may come late by
	timerSlack   = 1000                   // ns
	// silenceMargin is added to every silence, so that the rounding of clocks
	// never makes one too short.
	silenceMargin = 10 * time.Microsecond
)

// SharpTimers lets the kernel wake this process's threads within 1 µs of what
// they asked for instead of 50 µs. Call it first thing in main: a thread passes
// the setting on to the threads it creates. Threads that exist already are asked
// too, which the kernel allows to root only; their refusal is of no consequence
// beyond those 50 µs.
//
// It is for programs that play devices. One that serves requests besides is
// better off without: Go's own short sleeps then become so short that its threads
// get in each other's way, and each request takes a tenth longer. [SleepUntil] is
// sharp all the same.
func SharpTimers() {
	sharpenThread()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		_ = os.WriteFile("/proc/"+t.Name()+"/timerslack_ns", []byte(strconv.Itoa(timerSlack)), 0)
	}
}

func sharpenThread() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0)
}

// Wait waits as long as d, coarsely, or returns the error of ctx when that ends before.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SleepUntil waits for t: coarsely first, so that the processor rests and the end
// of ctx is noticed, and sharply for the last 1.5 ms at most. It returns the error of ctx if
// that has ended.
func SleepUntil(ctx context.Context, t time.Time) error {
	if d := coarse(time.Until(t)); d > 0 {
		if err := Wait(ctx, d); err != nil {
			return err
		}
	}
	sharpUntil(t)
	return ctx.Err()
}

// coarse is the part of d that a timer of Go may wait for: whole milliseconds, which it
// ends least late.
func coarse(d time.Duration) time.Duration { return (d - sharpSpare).Truncate(time.Millisecond) }

// sharpUntil sleeps in the kernel until t. It holds a thread: for a few
// milliseconds only.
func sharpUntil(t time.Time) {
	d := time.Until(t)
	if d <= 0 {
		return
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		time.Sleep(d)
		return
	}
	sharpenThread() // whatever thread this is
	until := unix.NsecToTimespec(now.Nano() + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}
