package line

import (
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// tooLate is how much later than it asked for this machine may wake and still be
	// believed about who was silent. A guess: half of what most devices get to answer, and
	// far above what timers of an idle machine take.
	tooLate = 100 * time.Millisecond
	// nodsMost is how often in a row that excuses a silence: a machine that is always late
	// would never find out who is gone.
	nodsMost = 3
)

// Overslept is for whoever times an exchange besides the line: it takes the outcome of a wait that ended without an answer, and was to end at a
// moment. If this machine woke too late, [appliance.ErrOverslept] is beside it: whoever answers is as
// likely to have been held up as we were, and answers after that.
func (l *Line) Overslept(until time.Time, outcome error) error {
	late := time.Since(until)
	if late < tooLate {
		l.nods.Store(0)
		return outcome
	}
	if l.nods.Add(1) > nodsMost {
		return outcome
	}
	err := fmt.Errorf("%w on %s: by %v; %w", appliance.ErrOverslept, l.where, late.Round(time.Millisecond), outcome)
	if f := (failure{}); errors.As(outcome, &f) {
		f.error = err
		return f
	}
	return err
}
