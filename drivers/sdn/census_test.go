package sdn

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// call lets motors answer once, each at a moment of its own; frames that overlap make
// noise.
func call(rng *rand.Rand, motors int) (heard []Address, noise bool) {
	const frame, earliest, latest = 25 * time.Millisecond, 5 * time.Millisecond, 255 * time.Millisecond
	begins := make([]time.Duration, motors)
	for i := range begins {
		begins[i] = earliest + time.Duration(rng.Int64N(int64(latest-earliest)))
	}
	for i, t := range begins {
		alone := !slices.ContainsFunc(begins, func(u time.Duration) bool { return u != t && (u-t).Abs() < frame })
		if alone {
			heard = append(heard, Address{6, 0, byte(i)})
		}
		noise = noise || !alone
	}
	return heard, noise
}

// TestCensusMissesNobody counts lines of every size many times over. It may end
// early once in ten thousand lines, and it knows when it was given up.
func TestCensusMissesNobody(t *testing.T) {
	t.Parallel()
	const lines = 500
	rng := rand.New(rand.NewPCG(1, 2))
	for motors := range 19 {
		missed, given, calls := 0, 0, 0
		for range lines {
			var c census
			for !c.complete(false) && !c.exhausted() {
				c.take(call(rng, motors))
			}
			calls += c.calls
			switch {
			case !c.complete(false):
				given++
			case len(c.first) < motors:
				missed++
			}
		}
		t.Logf("%2d motors: %5.1f calls, missed somebody in %d lines of %d, given up in %d", motors, float64(calls)/lines, missed, lines, given)
		if missed > 2 {
			t.Errorf("%d motors: somebody was missed in %d lines of %d", motors, missed, lines)
		}
		if motors <= 12 && given > 0 {
			t.Errorf("%d motors: given up in %d lines of %d", motors, given, lines)
		}
	}
}

// TestCensusOfNoiseIsNoCensus gives up where nothing but noise comes, and does not
// wait for motors where others make the noise.
func TestCensusOfNoiseIsNoCensus(t *testing.T) {
	t.Parallel()
	var c census
	for range nobodyCalls {
		c.take(nil, true)
	}
	if c.complete(false) || !c.exhausted() || !c.complete(true) {
		t.Errorf("complete %v, exhausted %v, with others on the line complete %v", c.complete(false), c.exhausted(), c.complete(true))
	}
}

// Twins whose answers collided late say nothing of somebody who talks unasked; noise that
// comes again and again does.
func TestOneLateCollisionIsNoBabble(t *testing.T) {
	for _, c := range []struct {
		bytes, bursts int
		babble        bool
	}{{0, 0, false}, {3, 3, false}, {20, 1, false}, {40, 2, false}, {12, 3, true}, {400, 16, true}} {
		e := newEavesdropper(Nobody)
		e.alone, e.bursts = c.bytes, c.bursts
		s := &search{heard: e}
		if told := len(s.noise(false)) > 0; told != c.babble || e.noisy() != c.babble {
			t.Errorf("%d bytes in %d slices: told %v, noisy %v, want %v", c.bytes, c.bursts, told, e.noisy(), c.babble)
		}
	}
}
