package web

import "time"

// Clock gives both times that tokens and the brake need. Wall time can jump (a
// board without battery boots in 1970 until it has asked a time server), the
// monotonic time cannot, but means nothing to another process.
type Clock struct {
	Wall func() time.Time
	Mono func() time.Duration // since some moment of this process
}

// SystemClock is the machine's clock.
func SystemClock() Clock {
	start := time.Now()
	return Clock{
		Wall: func() time.Time { return time.Now().Round(0) },
		Mono: func() time.Duration { return time.Since(start) },
	}
}
