package line

import (
	"context"
	"os"
	"testing"
	"time"
)

// dribble answers every request of 8 bytes with the bytes given, each when it would come
// at the line's speed.
func (b *bench) dribble(f *os.File, char time.Duration, answer string) {
	b.device(func() {
		buf := make([]byte, 8)
		for have := 0; ; {
			n, err := f.Read(buf[have:])
			if err != nil {
				return
			}
			if have = (have + n) % 8; have > 0 {
				continue
			}
			begun := time.Now()
			for i := range answer {
				_ = SleepUntil(context.Background(), begun.Add(time.Duration(i+1)*char))
				if _, err := f.WriteString(answer[i : i+1]); err != nil {
					return
				}
			}
		}
	})
}

// Where it is known how long an answer is, nobody is woken for each of its bytes; where it
// turns out to be shorter, it is taken as it is.
func TestTheRestOfAnAnswerIsWaitedForAtOnce(t *testing.T) {
	const answer = "an answer of 25 bytes...\n"
	slow := newBench(t, func(c *Config) { c.Serial.BaudRate = 9600 })
	slow.dribble(slow.wire.Master(), slow.Airtime(1), answer)
	looks := func(length func([]byte) int) (n int) {
		for range 20 {
			_, err := slow.Exchange(context.Background(), Request{
				Frame: []byte("request\n"), Timeout: 5 * time.Second, Length: length,
				Scan: func(b []byte) (int, Verdict) {
					n++
					if b[len(b)-1] != '\n' {
						return 0, More
					}
					return len(b), Accept
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	known, unknown := looks(func([]byte) int { return len(answer) }), looks(nil)
	t.Logf("looked at %d times, %d where nobody knows its length", known, unknown)
	if 3*known > unknown {
		t.Errorf("20 answers were looked at %d times, and %d times where nobody knows how long they are", known, unknown)
	}
	begun := time.Now()
	if looks(func([]byte) int { return 200 }); time.Since(begun) > 60*time.Second {
		t.Errorf("20 answers that are shorter than they should be took %v", time.Since(begun))
	}
	slow.wire.Close()
}

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
