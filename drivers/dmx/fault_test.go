package dmx

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/sim/dmxsim"
)

// never checks that no universe from the host ever carried a value in a slot.
func never(t *testing.T, w *dmxsim.Widget, slot int, value byte) {
	t.Helper()
	for _, e := range outputs(w) {
		if len(e.Data) > slot && e.Data[slot] == value {
			t.Errorf("slot %d became %d at %v", slot, value, e.At)
			return
		}
	}
}

// repeated waits until the host has repeated its universe n times.
func repeated(t *testing.T, w *dmxsim.Widget, n int) {
	t.Helper()
	before := len(outputs(w))
	eventually(t, "the universe is repeated", func() bool { return len(outputs(w)) >= before+n })
}

func TestExpiredCommandIsNeverSentLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		if out := b.do(level(one(1), 20)); !out.OK() {
			t.Fatal(out.Err)
		}
		p.widget.SetFaults(dmxsim.Faults{DeafUntil: time.Now().Add(2 * time.Second)})
		cmd := level(one(1), 100)
		cmd.Expiry = time.Now().Add(700 * time.Millisecond)
		if out := b.do(cmd); out.OK() || out.Members[0].Stage != appliance.StageFailed {
			t.Fatalf("a widget that hears nothing acknowledged: %+v", out)
		}
		repeated(t, p.widget, 3)
		never(t, p.widget, 1, 255)
		eventually(t, "a command works again", func() bool { return b.do(level(one(1), 30)).OK() })
		if v, _ := p.widget.Slot(1); v != 77 {
			eventually(t, "slot 1 is 77", func() bool { v, _ := p.widget.Slot(1); return v == 77 })
		}
	})
}

// The core's context of a command has a deadline that does not end it.
func TestCommandWaitsForItsTurnNoLongerThanItsExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &Driver{name: "stage", turn: make(chan struct{}, 1)}
		d.turn <- struct{}{} // held by somebody
		begun := time.Now()
		const left = 50 * time.Millisecond
		if err := d.take(due{t.Context(), begun.Add(left)}); !errors.Is(err, appliance.ErrExpired) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took != left {
			t.Errorf("waited for %v, want %v", took, left)
		}
	})
}

func TestWidgetThatDoesNotAnswerIsNotBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		if out := b.do(level(one(1), 20)); !out.OK() {
			t.Fatal(out.Err)
		}
		p.widget.SetFaults(dmxsim.Faults{NoParameters: true})
		cmd := level(one(1), 100)
		cmd.Expiry = time.Now().Add(600 * time.Millisecond)
		out := b.do(cmd)
		if out.OK() {
			t.Fatal("acknowledged by a widget that said nothing")
		}
		// It has heard the frame all the same; the universe goes back to what was
		// reported.
		eventually(t, "slot 1 is back at 20 %", func() bool { v, _ := p.widget.Slot(1); return v == 51 })
		if got := b.core.Snapshot().Node(1).Level.Value; got != 20 {
			t.Errorf("the snapshot says %d %%, want 20", got)
		}
		eventually(t, "the nodes are offline", func() bool { return !b.core.Snapshot().Node(1).Online })
		p.widget.SetFaults(dmxsim.Faults{})
		eventually(t, "a command works again", func() bool { return b.do(level(one(1), 60)).OK() })
		b.up()
	})
}

func TestLateAnswerConfirmsNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		p.widget.SetFaults(dmxsim.Faults{Late: 250 * time.Millisecond}) // the time-out is 200 ms
		cmd := level(one(1), 70)
		cmd.Expiry = time.Now().Add(400 * time.Millisecond)
		if out := b.do(cmd); out.OK() {
			t.Fatal("an answer after the time-out was taken for one")
		}
		p.widget.SetFaults(dmxsim.Faults{NoParameters: true})
		cmd.Expiry = time.Now().Add(900 * time.Millisecond)
		if out := b.do(cmd); out.OK() {
			t.Fatal("the late answer to one command confirmed the next")
		}
	})
}

func TestNoiseAndDamageAroundAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{Seed: 3}, mixedNodes())
		p.widget.SetFaults(dmxsim.Faults{Damage: 0.3, Noise: 40, Late: 5 * time.Millisecond})
		good := 0
		for i := range 40 {
			l := appliance.Level(10 + i)
			out := b.do(level(one(1), l))
			if !out.OK() {
				continue
			}
			good++
			if got := b.core.Snapshot().Node(1).Level; got.OK() && got.Value != l {
				t.Errorf("acknowledged %d %%, the snapshot says %d %%", l, got.Value)
			}
		}
		if good < 38 {
			t.Errorf("%d of 40 commands came through", good)
		}
		p.widget.SetFaults(dmxsim.Faults{})
		if out := b.do(level(one(1), 99)); !out.OK() {
			t.Errorf("after the noise: %s", out.Err)
		}
		t.Logf("%d of 40 commands with 30 %% of answers damaged", good)
	})
}

func TestCampaignPulledAndPutBack(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b, p := startOn(t, ptyPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(mixedNodes())})), mixedNodes())
	rounds := 6
	if os.Getenv("SOAK") != "" {
		rounds = 100
	}
	random := rand.New(rand.NewPCG(1, 2))
	last := byte(0)
	var slowest time.Duration
	for i := range rounds {
		keep := appliance.Level(1 + i%50)
		eventually(t, "a command works before", func() bool { return b.do(level(one(1), keep)).OK() })
		last = byte((int(keep)*255 + 50) / 100)
		pulled := time.Now().Add(time.Duration(random.IntN(30)) * time.Millisecond)
		late := make(chan appliance.Entry, 1)
		go func() { // commands go on while it is pulled
			cmd := level(one(2), 90)
			cmd.Expiry = time.Now().Add(300 * time.Millisecond)
			late <- b.do(cmd)
		}()
		time.Sleep(time.Until(pulled)) // a random moment of the exchange, not a wait for it
		p.pull()
		out := <-late
		p.put()
		back := time.Now()
		eventually(t, "the universe is back", func() bool {
			on, _ := p.widget.Outputting()
			v, _ := p.widget.Slot(1)
			return on && v == last && time.Now().After(out.Command.Expiry)
		})
		if took := time.Since(back); took > 50*time.Second {
			t.Errorf("round %d: back after %v", i, took)
		}
		repeated(t, p.widget, 1)
		for _, e := range outputs(p.widget) {
			if !out.OK() && e.At.After(out.Command.Expiry) && e.Data[2] != 0 {
				t.Errorf("round %d: slot 2 became %d, %v after the command had expired", i, e.Data[2], e.At.Sub(out.Command.Expiry))
			}
		}
		eventually(t, "a command works again", func() bool { return b.do(level(one(2), 0)).OK() })
		took := time.Since(back)
		if slowest = max(slowest, took); took > 50*time.Second {
			t.Errorf("round %d: obeyed again after %v", i, took)
		}
	}
	t.Logf("pulled and put back %d times, obeyed again within %v", rounds, slowest.Round(time.Millisecond))
}
