package line

import (
	"context"
	"strconv"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// TestFollowerIsToldHowManyFramesItLost: what a slow reader gets has to say where
// frames are missing, and how many, so that numbers and gaps make the whole.
func TestFollowerIsToldHowManyFramesItLost(t *testing.T) {
	noLeaks(t)
	l := newIdle(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	slow := l.Follow(ctx)
	sent := 0
	add := func(n int) {
		for range n {
			l.rec.Add(time.Now(), appliance.FrameSent, []byte(strconv.Itoa(sent)), "")
			sent++
		}
	}
	read := func(n, first, lost int) {
		t.Helper()
		for i := range n {
			f := <-slow
			want := 0
			if i == 0 {
				want = lost
			}
			if got := string(f.Bytes); got != strconv.Itoa(first+i) || f.Lost != want {
				t.Fatalf("got frame %s after %d lost, want %d after %d", got, f.Lost, first+i, want)
			}
		}
	}
	add(followBuffer + 7) // 7 find no room
	read(10, 0, 0)
	add(3)
	read(followBuffer-10, 10, 0)
	read(3, followBuffer+7, 7)
	add(followBuffer + 2)
	read(followBuffer, followBuffer+10, 0)
	add(1)
	read(1, 2*followBuffer+12, 2)
	for _, f := range l.Recent() {
		if f.Lost != 0 {
			t.Errorf("the flight recorder itself has a gap: %+v", f)
		}
	}
}
