package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Calibration is a run that measures how long a shade travels each way.
type Calibration struct {
	Shade appliance.ID
	// Runs both ways; 0: once for a shade that tells its position, else twice. If the
	// runs disagree, up to two more are made.
	Runs int
	By   appliance.Origin
}

// Watcher is whoever stands before the shade during a calibration. What waits for
// them ends with its context.
type Watcher interface {
	// Begin waits until the next leg may begin.
	Begin(ctx context.Context, leg appliance.Leg) error
	// Stands waits until the person sees the shade stand at its end. Asked only about
	// shades that do not tell their position; again says why an answer was not taken.
	Stands(ctx context.Context, leg appliance.Leg, again appliance.Again) error
	// Sure asks whether the shade really stands, since it took so much longer or shorter than the other way.
	Sure(ctx context.Context, leg appliance.Leg, took, other time.Duration) (bool, error)
	// Progress tells that the shade moves, some times a second.
	Progress(p appliance.Progress)
	// Measured tells the outcome of a timed leg.
	Measured(leg appliance.Leg, took, uncertainty time.Duration)
}

// Calibrated is the outcome of a calibration.
type Calibrated struct {
	Up, Down appliance.Travel
	Measured bool // by the shade's own position, not by a person
}

const (
	// legMost is how long one leg may last.
	legMost = 5 * time.Minute
	// progressEvery is how often progress is shown.
	progressEvery = 250 * time.Millisecond
	// glance is how far off a person is who says when a shade stands. An estimate: a
	// quarter of a second to react, and some more to be sure that it stands.
	glance = 500 * time.Millisecond
	// startsWithin is how long after its order a shade may not have begun to move.
	startsWithin = time.Second
	// leastTravel is less than any shade needs from end to end.
	leastTravel = 2 * time.Second
	// endWithin is how far from 0 or 100 a motor may stand, in percent points, whose
	// end limits are closer together than its percent.
	endWithin = 3
	// runsMost may be asked for; runsMore are made if they disagree.
	runsMost, runsMore = 10, 2
)

// errUnread: a leg proves nothing about the shade, such as one on which this machine woke too late to read.
var errUnread = errors.New("it was read too rarely on its way to tell how long that took")

// Calibrate measures a shade's travel times. The shade goes up to its end, and then
// the whole way down and up, as often as wanted. Nothing is saved. It ends with
// ErrInterrupted when somebody else commands the shade, which then does what they
// want; whenever else it ends early, the shade is stopped.
func (c *Controller) Calibrate(ctx context.Context, plan Calibration, w Watcher) (res Calibrated, err error) {
	if plan.Runs < 0 || plan.Runs > runsMost {
		return res, fmt.Errorf("%d runs: %w: 1 to %d, 0 for the usual number", plan.Runs, appliance.ErrOutOfRange, runsMost)
	}
	t, err := c.Try(plan.Shade, plan.By)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, t.End()) }()
	res.Measured = c.Snapshot().Shade(plan.Shade).Channel.PositionMeasured
	runs := plan.Runs
	if runs == 0 && res.Measured {
		runs = 1
	} else if runs == 0 {
		runs = 2
	}
	k := &calibrating{Trial: t, watcher: w, measured: res.Measured}
	if _, err := k.leg(ctx, appliance.Leg{Number: 1, Up: true}); err != nil {
		return res, err
	}
	var down, up []timing
	var missed error // why a leg could not be timed
	for run := 1; ; run++ {
		for _, leg := range []appliance.Leg{{Number: 2 * run, Run: run}, {Number: 2*run + 1, Run: run, Up: true}} {
			took, err := k.leg(ctx, leg)
			switch {
			case errors.Is(err, errUnread):
				missed = err
			case err != nil:
				return res, err
			case leg.Up:
				up = append(up, took)
			default:
				down = append(down, took)
			}
		}
		if len(down) < runs || len(up) < runs {
			if run >= runs+runsMore {
				return res, missed
			}
			continue
		}
		var agreed, agreedUp bool
		res.Down, agreed = travelOf(down)
		res.Up, agreedUp = travelOf(up)
		switch {
		case agreed && agreedUp && (run > runs || !unlike(res.Up.Mean, res.Down.Mean)): // what is unlike is measured once more
			return res, nil
		case run >= runs+runsMore:
			return res, fmt.Errorf("shade %d: %d runs disagree (down %v, up %v): look for what holds it up, and say that it stands as soon as it does", plan.Shade, run, res.Down.Runs, res.Up.Runs)
		}
	}
}

// calibrating is a calibration under way.
type calibrating struct {
	*Trial
	watcher  Watcher
	measured bool
	at       appliance.Position // where it stands, if it tells
	last     time.Duration      // what the leg before took; 0: it was not timed
}

// leg sends the shade to one end and times it.
func (k *calibrating) leg(ctx context.Context, leg appliance.Leg) (timing, error) {
	if err := k.idle(ctx, leg); err != nil {
		return timing{}, err
	}
	kind := appliance.ShadeClose
	if leg.Up {
		kind = appliance.ShadeOpen
	}
	from := k.at
	sent, err := k.command(ctx, kind, 0)
	if err != nil {
		return timing{}, err
	}
	var took timing
	if k.measured {
		took, err = k.arrive(ctx, leg, sent, from)
	} else {
		took, err = k.watchTo(ctx, leg, sent)
	}
	if err == nil && leg.Run > 0 {
		k.watcher.Measured(leg, took.took, took.off)
		k.last = took.took
	}
	return took, err
}

// arrive follows a shade that tells its position to its end.
func (k *calibrating) arrive(ctx context.Context, leg appliance.Leg, sent time.Time, from appliance.Position) (took timing, err error) {
	goal := appliance.Position(0)
	if leg.Up {
		goal = 100
	}
	where, known := appliance.Position(0), false
	err = k.follow(ctx, leg, sent, nil, func(s sample) (bool, error) {
		if s.Has.Has(appliance.CanPosition) {
			where, known = s.Position, true
		}
		if s.Motion != appliance.Stopped || !known {
			return false, nil
		}
		if away(where, goal) <= endWithin {
			return true, nil
		}
		if s.asked.Sub(sent) < 2*startsWithin {
			return false, nil // it may be about to start
		}
		return false, fmt.Errorf("shade %d stopped at %d %% on its way to %d: something blocks it, or its end limits are set elsewhere", k.shade, where, goal)
	})
	if err != nil {
		return timing{}, err
	}
	k.at = where
	if leg.Run == 0 {
		return timing{}, nil
	}
	took, ok := watched(k.seen(), sent, from, where)
	if ok && took.took < leastTravel {
		return timing{}, fmt.Errorf("shade %d: %w: it told that it had gone from one end to the other within %v", k.shade, errUnread, took.took.Round(10*time.Millisecond))
	}
	if !ok || took.off > took.took/4 {
		return timing{}, fmt.Errorf("shade %d: %w (%v, give or take %v): try again while its bus is quiet",
			k.shade, errUnread, took.took.Round(100*time.Millisecond), took.off.Round(100*time.Millisecond))
	}
	return took, nil
}

// watchTo moves a shade that tells nothing until the person says that it stands.
func (k *calibrating) watchTo(ctx context.Context, leg appliance.Leg, sent time.Time) (timing, error) {
	// The legs go up and down in turn, so that it starts later.
	begins := later(sent, k.stopped.Add(k.c.Snapshot().Shade(k.shade).Channel.ReverseDelay))
	guard := func(s sample) (bool, error) {
		if leg.Run > 0 && s.Motion == appliance.Stopped && s.asked.Sub(begins) > startsWithin {
			return false, fmt.Errorf("the actuator of shade %d switched off by itself, about %v after it was ordered to move, before anybody said that the shade stands: set its own run time longer than the travel",
				k.shade, s.read.Sub(begins).Round(100*time.Millisecond))
		}
		return false, nil
	}
	stood, err := k.standing(ctx, leg, begins, guard)
	if err != nil {
		return timing{}, err
	}
	if k.stopped, err = k.command(ctx, appliance.ShadeStop, 0); err != nil {
		return timing{}, err
	}
	end := appliance.Position(0)
	if leg.Up {
		end = 100
	}
	k.stood(end)
	return timing{stood.Sub(begins), glance}, nil
}

// standing asks until there is an answer that can be: not sooner than any shade is at its end, and confirmed where it is
// unlike the way back. That the shade was read moving is known before: its order would have failed else.
func (k *calibrating) standing(ctx context.Context, leg appliance.Leg, begins time.Time, guard func(sample) (bool, error)) (stood time.Time, err error) {
	var again appliance.Again
	for {
		var said time.Time // by somebody who may still be asked when something else has ended the leg
		if err := k.follow(ctx, leg, begins, func(ctx context.Context) error {
			err := k.watcher.Stands(ctx, leg, again)
			said = time.Now()
			return err
		}, guard); err != nil {
			return time.Time{}, err
		}
		if stood = said; leg.Run == 0 { // it may have stood at its first end already
			return stood, nil
		}
		took := stood.Sub(begins)
		switch {
		case took < leastTravel:
			again = appliance.AgainSoon
			continue
		case k.last == 0 || !unlike(took, k.last):
			return stood, nil
		}
		var sure bool
		if err := k.follow(ctx, leg, begins, func(ctx context.Context) (err error) {
			sure, err = k.watcher.Sure(ctx, leg, took, k.last)
			return err
		}, guard); err != nil || sure {
			return stood, err
		}
		again = ""
	}
}

// unlike reports whether one way took less than half of the other.
func unlike(a, b time.Duration) bool { return 2*min(a, b) < max(a, b) }

// follow waits until done is true of a sample, or person returns, which may be nil.
// A shade that is seen going the other way was moved by somebody else.
func (k *calibrating) follow(ctx context.Context, leg appliance.Leg, begins time.Time, person func(context.Context) error, done func(sample) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, legMost, fmt.Errorf("shade %d: not at its end after %v; stopped", k.shade, legMost))
	defer cancel()
	said := make(chan error, 1)
	if person != nil {
		k.people.Go(func() { said <- person(ctx) })
	}
	tell := time.NewTicker(progressEvery)
	defer tell.Stop()
	against := appliance.Opening
	if leg.Up {
		against = appliance.Closing
	}
	for looked := 0; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-k.over:
			return k.takenBy()
		case err := <-said:
			return err
		case <-tell.C:
			k.watcher.Progress(appliance.Progress{Leg: leg, Elapsed: max(0, time.Since(begins)), Position: k.c.Snapshot().Shade(k.shade).Position})
			continue
		case <-k.fresh:
		}
		seen := k.seen()
		for _, s := range seen[min(looked, len(seen)):] {
			if s.Motion == against && s.asked.Sub(begins) > startsWithin {
				return k.moved(s.Motion)
			}
			if s.asked.Before(begins) {
				continue
			}
			if over, err := done(s); over || err != nil {
				return err
			}
		}
		looked = len(seen)
	}
}

// idle waits for the person while the shade stands. Once it stands where a leg
// ended, nobody else may move it: the next leg would be timed wrongly.
func (k *calibrating) idle(ctx context.Context, leg appliance.Leg) error {
	ctx, cancel := context.WithTimeoutCause(ctx, legMost, fmt.Errorf("shade %d: nobody went on for %v", k.shade, legMost))
	defer cancel()
	said := make(chan error, 1)
	k.people.Go(func() { said <- k.watcher.Begin(ctx, leg) })
	since := time.Now()
	for {
		select {
		case err := <-said:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-k.over:
			return k.takenBy()
		case <-k.fresh:
		}
		for _, s := range k.seen() {
			if leg.Number > 1 && (s.Motion == appliance.Opening || s.Motion == appliance.Closing) && s.asked.Sub(since) > startsWithin {
				return k.moved(s.Motion)
			}
		}
	}
}
