package web

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

// line has somebody of a network wait in turns without a goroutine.
func line(t *Turns, network string, known bool) *turn {
	return t.join(netip.MustParsePrefix(network), known)
}

func called(w *turn) string {
	select {
	case mine := <-w.called:
		return fmt.Sprint(mine)
	default:
		return "waits"
	}
}

func TestTurnsGoRound(t *testing.T) {
	turns := NewTurns(1, 8)
	line(turns, "10.0.0.9/32", false) // at work
	var often [4]*turn
	for i := range often {
		often[i] = line(turns, "10.0.0.1/32", false)
	}
	once, known := line(turns, "10.0.0.2/32", false), line(turns, "10.0.0.3/32", true)
	for i, want := range []*turn{known, often[0], once, often[1], often[2], often[3]} {
		turns.leave()
		if got := called(want); got != "true" {
			t.Errorf("turn %d: whoever it should be is told %s", i, got)
		}
	}
}

func TestWhoeverHasMostPlacesGivesOneUp(t *testing.T) {
	turns := NewTurns(1, 3)
	line(turns, "10.0.0.9/32", false)
	line(turns, "10.0.0.1/32", false)
	line(turns, "10.0.0.1/32", false)
	last := line(turns, "10.0.0.1/32", false)
	once := line(turns, "10.0.0.2/32", false)
	if called(last) != "false" || called(once) != "waits" {
		t.Error("a network with one place had to go for one with three")
	}
}

func TestALeftQueueKeepsNoPlace(t *testing.T) {
	turns := NewTurns(1, 3)
	line(turns, "10.0.0.9/32", false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.enter(ctx, netip.MustParsePrefix("10.0.0.1/32"), false); err == nil || errors.Is(err, ErrTurnedAway) {
		t.Errorf("got %v", err)
	}
	if turns.Waiting() != 0 {
		t.Error("somebody who left is still waited for")
	}
	turns.leave()
	if got := called(line(turns, "10.0.0.1/32", false)); got != "true" {
		t.Errorf("nobody works, and the next one is told %s", got)
	}
}
