package control_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A command that came in the silence before a poll once waited for the whole poll:
// the choice had been made before the silence.
func TestPollThatHasNotBegunGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.silence = 10 * time.Millisecond
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 300)...), nil)
		defer stop()
		time.Sleep(20 * time.Second) // more than the bus can poll: it is never idle
		var worst time.Duration
		_, mark := c.frames(0)
		for i := range 200 {
			time.Sleep(200*time.Millisecond + time.Duration(i)*1300*time.Microsecond)
			asked := time.Now()
			e := do(t, ctl, level(one(appliance.ID(1+i)), 40))
			if !e.OK() {
				t.Fatal(e.Err)
			}
			worst = max(worst, e.Members[0].SentAt.Sub(asked))
		}
		// The rest of the frame in flight, the silence, and half its own airtime,
		// when this copper calls it sent.
		if want := c.airtime + c.silence + c.airtime/2 + time.Millisecond; worst > want {
			t.Errorf("worst wait %v, want %v: a frame that had not begun did not give way", worst, want)
		}
		time.Sleep(20 * time.Second)
		reads := map[appliance.ID]int{}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if !f.write {
				reads[f.node]++
			}
		}
		if len(reads) != 300 {
			t.Errorf("%d of 300 devices were polled meanwhile: who gives way must not be forgotten", len(reads))
		}
	})
}

func TestStopGoesBeforeACommandThatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.silence = 50 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer", "shade"), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		_, mark := c.frames(0)
		done := make(chan appliance.Entry)
		go func() { done <- do(t, ctl, level(one(1), 40)) }()
		synctest.Wait() // it is in the silence before its frame
		if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5002)}); !e.OK() {
			t.Errorf("STOP failed: %s", e.Err)
		}
		if e := <-done; !e.OK() {
			t.Errorf("the command that gave way failed: %s", e.Err)
		}
		frames, _ := c.frames(mark)
		var order []string
		for _, f := range frames {
			if f.write {
				order = append(order, f.what)
			}
		}
		if want := []string{"stop", "level 40"}; !slices.Equal(order, want) {
			t.Errorf("on the wire: %q, want %q", order, want)
		}
	})
}

// A command may have to wait for one that writes more than any read asks for.
func TestBoundCountsLongWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.long = 15 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		do(t, ctl, level(one(1), 40))
		time.Sleep(2 * time.Second)
		want := c.airtime + c.long
		if b := ctl.Snapshot().Buses[0]; b.Typical < want || b.Bound < want+c.timeout {
			t.Errorf("published %v and %v, a write takes %v and %v", b.Typical, b.Bound, want, want+c.timeout)
		}
	})
}
