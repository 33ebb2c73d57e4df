package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// moment is a time of CLOCK_MONOTONIC, which all processes of a machine share.
type moment int64

func now() moment {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail for this clock
	return moment(t.Nano())
}

func (m moment) add(d time.Duration) moment { return m + moment(d) }

func (m moment) sub(o moment) time.Duration { return time.Duration(m - o) }

// sleepUntil waits in the kernel, sharply.
func sleepUntil(m moment) {
	until := unix.NsecToTimespec(int64(m))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}
