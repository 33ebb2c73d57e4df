package dalisim

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// clock is the time on the line, which may run faster than the world's.
type clock struct {
	start   time.Time
	speed   float64
	virtual bool // see Config.Virtual
}

// moment is time on the line since it was made.
type moment = time.Duration

func newClock(speed float64, virtual bool) clock { return clock{time.Now(), speed, virtual} }

func (c clock) now() moment { return moment(float64(time.Since(c.start)) * c.speed) }

// world is when a moment is in the world.
func (c clock) world(m moment) time.Time {
	return c.start.Add(time.Duration(float64(m) / c.speed))
}

// sleep waits for a moment, coarsely while it is far and in the kernel for the
// last stretch, since Go's timers count milliseconds.
func (c clock) sleep(ctx context.Context, m moment) {
	t := c.world(m)
	spare := 1500 * time.Microsecond
	if c.virtual {
		spare = 0 // a timer comes when it is due
	}
	if d := time.Until(t); d > 2*spare {
		timer := time.NewTimer(d - spare)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
	for {
		d := time.Until(t)
		if d <= 0 {
			return
		}
		ts := unix.NsecToTimespec(int64(d))
		if err := unix.Nanosleep(&ts, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}
