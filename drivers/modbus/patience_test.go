package modbus

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// The time of a gateway is learnt from what it answers late, one after the other.
func TestPatience(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	now := time.Unix(1000, 0)
	at := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	type answer struct {
		to   uint16
		sent float64
		at   float64 // 0: it never came
	}
	const minutes = 60
	for name, tc := range map[string]struct {
		answers []answer
		at      float64
		want    time.Duration
	}{
		"nothing is known":                          {nil, 0, timeout},
		"one that is quick is not waited for":       {[]answer{{1, 0, 0.7}}, 1, timeout},
		"one answer that is late":                   {[]answer{{1, 0, 2.5}}, 3, 2850 * time.Millisecond},
		"one that nearly was":                       {[]answer{{1, 0, 0.95}}, 3, 1145 * time.Millisecond},
		"what waited for another took as long":      {[]answer{{1, 0, 2.5}, {2, 1, 5}}, 6, 2850 * time.Millisecond},
		"the slowest counts":                        {[]answer{{1, 0, 2.5}, {2, 3, 4.5}}, 6, 2850 * time.Millisecond},
		"it is bounded":                             {[]answer{{1, 0, 30}}, 31, patienceMost},
		"what is not ours says nothing":             {[]answer{{1, 0, 0.1}, {1, 0, 9}}, 10, timeout},
		"what never came neither":                   {[]answer{{1, 0, 0}}, 10, timeout},
		"it is forgotten":                           {[]answer{{1, 0, 2.5}}, 2.5 + 10*minutes + 1, timeout},
		"quick answers do not keep it":              {[]answer{{1, 0, 2.5}, {2, 9 * minutes, 9*minutes + 0.1}}, 11 * minutes, timeout},
		"not while it goes on":                      {[]answer{{1, 0, 2.5}, {2, 9 * minutes, 9*minutes + 2.5}}, 19 * minutes, 2850 * time.Millisecond},
		"one that got quicker is learnt anew later": {[]answer{{1, 0, 2.5}, {2, 11 * minutes, 11*minutes + 1}}, 12 * minutes, 1200 * time.Millisecond},
	} {
		var p patience
		for i, a := range tc.answers {
			if i == 0 || tc.answers[i-1].to != a.to {
				p.sent(a.to, at(a.sent))
			}
			if a.at > 0 {
				p.answered(a.to, at(a.at), timeout, a.at-a.sent > timeout.Seconds())
			}
		}
		if got := p.timeout(timeout, at(tc.at)); got.Round(time.Millisecond) != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	loose := patience{unnumbered: true}
	loose.sent(1, at(0))
	loose.answered(1, at(6), timeout, true)
	if got := loose.timeout(timeout, at(7)); got != timeout {
		t.Errorf("behind a serial server, what comes 6 s later: %v, want %v", got, timeout)
	}
	again := patience{unnumbered: true}
	for _, s := range []float64{0, 0.2, 0.4} { // asked three times, before the first is answered
		again.sent(1, at(s))
	}
	again.answered(1, at(1.5), 200*time.Millisecond, true)
	if got := again.timeout(timeout, at(2)); got != 1750*time.Millisecond {
		t.Errorf("of a series of questions the first is answered first: %v", got)
	}
	var p patience
	for i := range 10_000 {
		p.sent(uint16(i), now)
	}
	if len(p.asked) > askedMost {
		t.Errorf("%d questions are remembered", len(p.asked))
	}
}

// A serial server that takes 0.7 s with everything, where 0.2 s are waited for, is learnt from what it answers late. Until
// then at most one write is in it when its command is over.
func TestASlowSerialServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		nodes := []appliance.Node{node(1, "5", "waveshare-relay-8ch"), node(2, "6", "waveshare-relay-8ch"), node(3, "7", "waveshare-relay-8ch")}
		for unit := range byte(3) {
			for c := range uint16(8) {
				b.set(5+unit, point{coils, c}, 0)
			}
		}
		var slow atomic.Bool
		var ends atomic.Int64 // when the command of the moment was over
		var late atomic.Int32
		end.play(t, false, func(q []byte) []piece {
			if over := ends.Load(); (q[1] == 5 || q[1] == 15) && over != 0 && time.Now().UnixNano() > over {
				late.Add(1)
			}
			after := time.Duration(0)
			if slow.Load() {
				after = 700 * time.Millisecond
			}
			return []piece{{after: after, bytes: rtuFrame(q[0], b.answer(q[0], q[1:len(q)-2]))}}
		})
		ctl := together(t, end, nil, nodes, nil)
		until(t, "all are online", func() bool {
			for id := range appliance.ID(3) {
				if n := ctl.Snapshot().Node(id + 1); n == nil || !n.Online {
					return false
				}
			}
			return true
		})
		slow.Store(true)
		failed := 0
		for i := range 40 {
			ends.Store(0)
			kind := []appliance.Kind{appliance.LightOn, appliance.LightOff}[i%2]
			e, err := ctl.Do(t.Context(), appliance.Command{Kind: kind, Target: appliance.Target{Scope: appliance.One, ID: appliance.ID(1 + i%3)}})
			if err != nil {
				t.Fatal(err)
			}
			if !e.OK() {
				failed++
				ends.Store(time.Now().UnixNano())
			}
			time.Sleep(5 * time.Second)
		}
		if failed > 2 || late.Load() > 1 {
			t.Errorf("%d of 40 commands failed, and %d writes came when theirs were over", failed, late.Load())
		}
	})
}

// What a serial server owes is told by what was asked and by what came late; one known to be slow that said nothing for as long as
// it takes owes nothing, and whose answers have numbers is never owed for.
func TestWhatASlowServerOwes(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Time { return time.Unix(1e9, 0).Add(time.Duration(s * float64(time.Second))) }
	for _, unnumbered := range []bool{true, false} {
		p := patience{unnumbered: unnumbered}
		want := func(when float64, what string, is bool) {
			t.Helper()
			want := time.Duration(0)
			if is && unnumbered {
				want = p.takes
			}
			if got := p.drain(at(when)); got != want {
				t.Errorf("%s, without numbers %v: waits %v, want %v", what, unnumbered, got, want)
			}
		}
		p.sent(1, at(0))
		p.unanswered(200*time.Millisecond, true, at(0.2))
		want(0.2, "of a server that may be well", false)
		p.answered(1, at(1.2), 200*time.Millisecond, true)
		want(1.2, "known to be slow", true)
		p.unanswered(p.takes, false, at(3))
		want(3, "something came meanwhile", true)
		p.unanswered(p.takes-1, true, at(4))
		want(4, "not waited for as long as it takes", true)
		want(700, "ten minutes later", false)
		p.unanswered(p.takes, true, at(6))
		want(6, "nothing came for so long", false)
	}
}

// A serial server becomes slow and piles up questions that are the same, each of whose answers would do for the next. What is
// read is a little old; what is written waits until the server has no more of them, and is carried out at once.
func TestASlowSerialServerIsDrainedBeforeItIsToldToWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		for unit := range byte(2) {
			for c := range uint16(8) {
				b.set(5+unit, point{coils, c}, 0)
			}
		}
		cfg := busOf(end, map[string]string{"responseTimeout": "200ms"})
		cfg.Nodes = []appliance.Node{node(1, "5", "waveshare-relay-8ch"), node(2, "6", "waveshare-relay-8ch")}
		d, _ := open(t, cfg)
		var written time.Time
		end.play(t, false, func(q []byte) []piece {
			time.Sleep(1200 * time.Millisecond)
			if request := q[1]; request == 5 || request == 15 {
				written = time.Now()
			}
			return []piece{{bytes: rtuFrame(q[0], b.answer(q[0], q[1:len(q)-2]))}}
		})
		for i := range 12 { // its time is learnt from those of the other unit
			_, _ = do(t, d.Polls()[min(i%4, 1)].Exchange)
		}
		if d.peer.owed == 0 {
			t.Fatal("nothing was piled up")
		}
		write := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // as long as a command lives
			defer cancel()
			_, err := d.Plan([]appliance.Want{level(channel(1, 1), 100)})[0].Steps[0].Do(ctx, appliance.Yield{})
			return err
		}
		if err := write(); err == nil || !strings.Contains(err.Error(), "the serial server is slow") || !written.IsZero() {
			t.Errorf("with more behind than 5 s are enough for: %v, done at %v", err, written)
		}
		d.peer.owed++ // one that it lost
		if err := write(); err != nil || written.IsZero() || d.peer.owed != 0 {
			t.Errorf("when the rest is answered: %v, done at %v, %d questions in it still", err, written, d.peer.owed)
		}
	})
}

// Behind a serial server a device becomes slow. When its neighbour is told something, what came late is known already, and
// the question whether the server lives is waited for: the write goes out as soon as that is answered.
func TestANeighbourBehindASlowSerialServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		nodes := []appliance.Node{node(1, "5", "waveshare-relay-8ch"), node(2, "6", "waveshare-relay-8ch")}
		for unit := range byte(2) {
			for c := range uint16(8) {
				b.set(5+unit, point{coils, c}, 0)
			}
		}
		var slow atomic.Bool
		end.play(t, false, func(q []byte) []piece {
			after := time.Duration(0)
			if slow.Load() && q[0] == 6 {
				after = 1450 * time.Millisecond
			}
			return []piece{{after: after, bytes: rtuFrame(q[0], b.answer(q[0], q[1:len(q)-2]))}}
		})
		ctl := together(t, end, nil, nodes, nil)
		until(t, "both are online", func() bool {
			s := ctl.Snapshot()
			return s.Node(1) != nil && s.Node(1).Online && s.Node(2) != nil && s.Node(2).Online
		})
		slow.Store(true)
		on := func(id appliance.ID) appliance.Entry {
			e, err := ctl.Do(t.Context(), appliance.Command{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.One, ID: id}})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		began := time.Now()
		if e := on(2); e.OK() {
			t.Fatal("nothing came of its silence")
		}
		time.Sleep(1950*time.Millisecond - time.Since(began))
		if e := on(1); !e.OK() || time.Since(began) > 3*time.Second { // it is busy for others until 2.9 s
			t.Errorf("the neighbour, after %v: %v", time.Since(began), e.Members[0])
		}
	})
}
