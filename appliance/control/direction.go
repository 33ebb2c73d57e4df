package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Went is what a person saw a shade do.
type Went uint8

// What may be seen. WentNowhere: it did not move.
const (
	WentNowhere Went = iota
	WentUp
	WentDown
)

// Nudge is a short movement that shows which way a shade runs.
type Nudge struct {
	Shade appliance.ID
	By    appliance.Origin
	// Lasts is how long it moves, 500 ms to 3 s; 0: 1.5 s.
	Lasts time.Duration
}

// nearTop is where a shade is ordered down, since there is not enough way up.
const nearTop appliance.Position = 90

// FindDirection moves a shade a little, asks which way it went, and moves it back.
// saw gets which way it was ordered to go, and returns what it did; when it did
// not move, the other way is tried too. The result is whether the shade has to be
// inverted; nothing is saved. It ends as [Controller.Calibrate] does.
func (c *Controller) FindDirection(ctx context.Context, plan Nudge, saw func(ctx context.Context, toldUp bool) (Went, error)) (inverted bool, err error) {
	lasts := plan.Lasts
	if lasts == 0 {
		lasts = 1500 * time.Millisecond
	}
	if lasts < 500*time.Millisecond || lasts > 3*time.Second {
		return false, fmt.Errorf("a movement of %v: %w: 500ms to 3s", lasts, appliance.ErrOutOfRange)
	}
	t, err := c.Try(plan.Shade, plan.By)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.End()) }()
	sh := c.Snapshot().Shade(plan.Shade)
	up := !sh.Position.OK() || sh.Position.Value < nearTop
	for range 2 {
		if err := t.nudge(ctx, up, lasts); err != nil {
			return false, err
		}
		went, err := t.ask(ctx, up, saw)
		if err != nil {
			return false, err
		}
		if went != WentNowhere {
			inverted = sh.Shade.Inverted != ((went == WentUp) != up)
			return inverted, t.nudge(ctx, !up, lasts)
		}
		up = !up
	}
	return false, fmt.Errorf("shade %d moved neither up nor down: look at its supply and its end limits, and whether the right shade was meant", plan.Shade)
}

// nudge moves the shade for a moment.
func (t *Trial) nudge(ctx context.Context, up bool, lasts time.Duration) error {
	kind := appliance.ShadeClose
	if up {
		kind = appliance.ShadeOpen
	}
	sent, err := t.command(ctx, kind, 0)
	if err != nil {
		return err
	}
	// Having run the other way, it starts later.
	begins := later(sent, t.stopped.Add(t.c.Snapshot().Shade(t.shade).Channel.ReverseDelay))
	end := time.NewTimer(time.Until(begins.Add(lasts)))
	defer end.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.over:
		return t.takenBy()
	case <-end.C:
	}
	t.stopped, err = t.command(ctx, appliance.ShadeStop, 0)
	return err
}

// ask waits for the person's answer while the shade stands.
func (t *Trial) ask(ctx context.Context, up bool, saw func(context.Context, bool) (Went, error)) (Went, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, legMost, fmt.Errorf("shade %d: nobody answered for %v", t.shade, legMost))
	defer cancel()
	type answer struct {
		went Went
		err  error
	}
	said := make(chan answer, 1)
	t.people.Go(func() {
		went, err := saw(ctx, up)
		said <- answer{went, err}
	})
	select {
	case a := <-said:
		return a.went, a.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-t.over:
		return 0, t.takenBy()
	}
}
