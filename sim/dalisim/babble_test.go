package dalisim

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// talk is a port whose other end the test holds.
type talk struct {
	to   chan []byte
	from chan string
}

func (p *talk) Read(b []byte) (int, error) {
	m, ok := <-p.to
	if !ok {
		return 0, context.Canceled
	}
	return copy(b, m), nil
}

func (p *talk) Write(b []byte) (int, error) {
	p.from <- string(b)
	return len(b), nil
}

// serve plays a line in a bubble.
func serve(t *testing.T, gears ...GearConfig) (*Line, *talk) {
	t.Helper()
	l, err := New(Config{Gateway: "atx", Gears: gears, Seed: 4, Virtual: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &talk{to: make(chan []byte), from: make(chan string, 64)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); l.Serve(ctx, p) }()
	t.Cleanup(func() { cancel(); close(p.to); <-done })
	return l, p
}

func (p *talk) ask(t *testing.T, line string) string {
	t.Helper()
	p.to <- []byte(line + "\n")
	select {
	case answer := <-p.from:
		return strings.TrimSpace(answer)
	case <-time.After(3 * time.Minute):
		t.Fatalf("no word after %s", line)
		return ""
	}
}

func TestTwoGearsOfOneAddressCollide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := serve(t, GearConfig{Short: 3, Level: 100}, GearConfig{Short: 4, Level: 100})
		if err := l.Duplicate(0, true); err != nil {
			t.Fatal(err)
		}
		// Levels that differ never pass for one; equal answers hardly ever do.
		for range 10 {
			if got := p.ask(t, "h07A0"); got != "X" {
				t.Errorf("QUERY ACTUAL LEVEL: %q, want a collision", got)
			}
		}
		p.ask(t, "h0680")
		whole := 0
		for range 20 {
			if got := p.ask(t, "h07A0"); got == "J80" {
				whole++
			}
		}
		if whole > 8 {
			t.Errorf("%d of 20 pairs of equal answers passed for one", whole)
		}
		if got := p.ask(t, "h09A0"); got != "J64" {
			t.Errorf("the gear beside them: %q, want J64", got)
		}
		if err := l.Duplicate(0, false); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(t, "h07A0"); got != "J80" || len(l.Devices()) != 2 {
			t.Errorf("alone again: %q, %d gears", got, len(l.Devices()))
		}
	})
}

func TestBabblingDeviceCollidesAndTakesItsPartOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := serve(t, GearConfig{Short: 3, Level: 100})
		if err := l.Chatter(0.3); err != nil {
			t.Fatal(err)
		}
		said := map[string]int{}
		began := l.clock.now()
		for range 60 {
			said[p.ask(t, "h07A0")]++
		}
		took := l.clock.now() - began
		if said["J64"] < 5 || said["Z"] == 0 || said["X"] == 0 || said["N"] > 0 {
			t.Errorf("%v, want answers, collisions of frames and of answers", said)
		}
		theirs, lost := 0, 0
		for _, f := range l.Frames(0) {
			if f.Foreign {
				theirs++
			}
			if f.Lost {
				lost++
			}
		}
		if part := float64(theirs) * float64(forward) / float64(took); part < 0.15 || part > 0.45 || lost == 0 || lost == theirs {
			t.Errorf("its %d frames, %d of them lost, took %.2f of the time, want 0.3", theirs, lost, part)
		}
	})
}

func TestStuckGearAnswersAndKeepsItsLight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := serve(t, GearConfig{Short: 3, Level: 100})
		if err := l.AddFault(Fault{Kind: FaultStuck, Gear: 0}); err != nil {
			t.Fatal(err)
		}
		p.ask(t, "h06FE")
		if got := p.ask(t, "h07A0"); got != "J64" {
			t.Errorf("%q, want the level as it was", got)
		}
		l.ClearFaults()
		p.ask(t, "h06FE")
		if got := p.ask(t, "h07A0"); got != "JFE" {
			t.Errorf("%q, want the level it was sent to", got)
		}
	})
}
