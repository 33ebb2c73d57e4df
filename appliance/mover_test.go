package appliance

import (
	"slices"
	"testing"
	"time"
)

// A motor that tells what it does, and not where it is, makes its position no fresher:
// it was shown as read just now while the shade had moved on for seconds.
func TestMotionMakesNoPositionFresher(t *testing.T) {
	read := time.Unix(1000, 0)
	m := newMover(Shade{ID: 1}, Channel{Abilities: CanMove | CanPosition, PositionMeasured: true})
	m.observe(Values{Has: CanPosition, Position: 50}, read)
	m.observe(Values{Has: CanMove, Motion: Opening}, read.Add(3*time.Second))
	var sh ShadeState
	m.show(&sh, read.Add(4*time.Second))
	want := Known[Position]{Value: 50, At: read, Source: Measured}
	if sh.Position != want || sh.Motion != Opening || !sh.LastSeen.Equal(read.Add(3*time.Second)) {
		t.Errorf("shown %+v, want the position as it was read at %v", sh, read)
	}
	// Nor does it make one a measured one that was kept over a restart.
	m = newMover(Shade{ID: 1}, Channel{Abilities: CanMove | CanPosition, PositionMeasured: true})
	m.restore(70, read)
	m.observe(Values{Has: CanMove, Motion: Closing}, read.Add(3*time.Second))
	m.show(&sh, read.Add(4*time.Second))
	if want = (Known[Position]{Value: 70, At: read, Source: Restored}); sh.Position != want {
		t.Errorf("shown %+v, want %+v", sh.Position, want)
	}
}

// A shade that turns round on its way to a position stands for a moment. It was shown as
// stopped then, and a client that waited for its arrival went on too early.
func TestShadeThatPausesOnItsWayIsMoving(t *testing.T) {
	const pause = 500 * time.Millisecond
	now := time.Unix(1000, 0)
	m := newMover(Shade{ID: 1, TravelUp: 10 * time.Second, TravelDown: 10 * time.Second}, Channel{Abilities: CanMove, ReverseDelay: pause})
	shown := func() Motion {
		var sh ShadeState
		m.show(&sh, now)
		return sh.Motion
	}
	m.did(Close, now)
	now = now.Add(time.Second)
	motion, err := m.aim(Values{Has: CanMove, Motion: MoveTo, Position: 60}, now)
	var went []Motion
	for err == nil {
		m.did(motion, now)
		went = append(went, shown())
		next, at, ok := m.due()
		if !ok {
			break
		}
		motion, now = next, at
		m.next()
	}
	if want := []Motion{Moving, Opening, Moving, Closing, Stopped}; err != nil || !slices.Equal(went, want) {
		t.Errorf("shown %v, %v; want %v", went, err, want)
	}
}
