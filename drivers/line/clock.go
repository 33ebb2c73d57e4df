package line

import (
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Go's timers end in epoll_wait, which counts whole milliseconds; a silence of
// 2 ms would last up to 3.1 ms. The last stretch of a wait therefore ends with an alarm
// of the kernel, to the microsecond. It is waited for like input: whoever sleeps in a
// system call instead keeps a processor of Go's scheduler, which looks after that every
// 20 µs.
const (
	sharpStretch = 3 * time.Millisecond
	sharpSpare   = 1500 * time.Microsecond // what a Go timer may come late by
	timerSlack   = 1000                    // ns
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
// of ctx is noticed, and sharply for the last 3 ms. It returns the error of ctx if
// that has ended.
func SleepUntil(ctx context.Context, t time.Time) error {
	if d := time.Until(t); d > sharpStretch {
		if err := Wait(ctx, d-sharpSpare); err != nil {
			return err
		}
	}
	sharpUntil(t)
	return ctx.Err()
}

// sharpUntil waits for t with an alarm of the kernel.
func sharpUntil(t time.Time) {
	d := time.Until(t)
	if d <= 0 {
		return
	}
	a, _ := alarms.Get().(*alarm)
	if a == nil {
		a = newAlarm()
	}
	if a == nil || !a.ring(d) {
		time.Sleep(d)
		return
	}
	alarms.Put(a)
}

// alarm is a timer of the kernel, which reads as a file.
type alarm struct {
	fd   int
	file *os.File // closed when nobody has it any more
}

// alarms are those that nobody waits for.
var alarms sync.Pool

// newAlarm makes one; nil: the kernel has none to give.
func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timerfd")}
}

// ring returns after d; false: the alarm is of no use.
func (a *alarm) ring(d time.Duration) bool {
	var count [8]byte
	if unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil) != nil {
		return false
	}
	_, err := a.file.Read(count[:])
	return err == nil
}
