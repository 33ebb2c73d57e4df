package line

import (
	"testing"
	"time"
)

// Bytes that are fewer than they should be are looked at when no more come, however little is missing.
func TestAShorterAnswerIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, baud := range []int{9600, 19200, 115200} {
		for _, missing := range []int{1, 2, 3, 13} {
			b := newBench(t, func(c *Config) { c.Serial.BaudRate = baud })
			b.device(func() { b.read(8); b.write("0123456\n") })
			r := ask("0123456")
			r.Timeout, r.Length = time.Minute, func([]byte) int { return 8 + missing }
			reply, err := b.Exchange(within(t, patience), r)
			wantAnswer(t, reply, err, "0123456")
		}
	}
}
