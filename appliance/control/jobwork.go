package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Jobs are the long works of this controller.
func (c *Controller) Jobs() *Jobs { return c.jobs }

// StartScan searches a bus for devices, as [Controller.Scan] does.
func (c *Controller) StartScan(bus string, opts appliance.ScanOptions, by appliance.Origin) (appliance.Job, error) {
	if _, err := c.bus(bus); err != nil {
		return appliance.Job{}, err
	}
	about := appliance.Job{Kind: appliance.JobScan, Subject: "bus " + bus, Bus: bus, By: by}
	return c.jobs.Start(about, func(ctx context.Context, on *JobHand) (any, error) {
		var looked int
		var last string
		var all appliance.Findings
		return nil, c.Scan(ctx, bus, opts, func(address string) {
			if address != last {
				looked, last = looked+1, address
			}
			on.Progress(appliance.JobProgress{Text: address, Done: looked})
		}, func(f appliance.Found) {
			var i int
			all, i = all.With(f)
			on.Item(all[i], func(old any) bool { return old.(appliance.Found).Same(f) })
		})
	})
}

// identifyTime is what a device gets to show itself.
const identifyTime = 30 * time.Second

// StartIdentify makes a device show itself: in its own way or, where its driver knows
// none, by blinking the lights that it is, or an output of it where the site has none.
func (c *Controller) StartIdentify(what Showing, by appliance.Origin) (appliance.Job, error) {
	b, err := c.bus(what.Bus)
	if err != nil {
		return appliance.Job{}, err
	}
	_, itself := b.driver().(appliance.Identifier)
	about := appliance.Job{Kind: appliance.JobIdentify, Subject: fmt.Sprintf("device %s of bus %s", what.Address, what.Bus), Bus: what.Bus, Address: what.Address, By: by}
	return c.jobs.Start(about, func(ctx context.Context, _ *JobHand) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, identifyTime)
		defer cancel()
		if !itself {
			return nil, c.blink(ctx, what, by)
		}
		return nil, c.Identify(ctx, what.Bus, what.Address)
	})
}

// StartService does one of the services of the driver of a bus.
func (c *Controller) StartService(bus, name string, inputs map[string]string, by appliance.Origin) (appliance.Job, error) {
	list, err := c.Services(bus)
	if err != nil {
		return appliance.Job{}, err
	}
	if _, err := findService(bus, list, name, inputs); err != nil {
		return appliance.Job{}, err
	}
	about := appliance.Job{Kind: appliance.JobService, Subject: "bus " + bus, Bus: bus, By: by}
	about.By.Why = name
	return c.jobs.Start(about, func(ctx context.Context, on *JobHand) (any, error) {
		done := 0
		return nil, c.Serve(ctx, bus, name, inputs, func(t appliance.ServiceStep) {
			if t.Step != "" {
				done++
				on.Progress(appliance.JobProgress{Text: t.Step, Share: t.Share, Done: done})
				return
			}
			on.Item(t, nil)
		})
	})
}

// StartGroups brings the groups of a bus in step.
func (c *Controller) StartGroups(bus string, by appliance.Origin) (appliance.Job, error) {
	if _, err := c.grouperBus(bus); err != nil {
		return appliance.Job{}, err
	}
	about := appliance.Job{Kind: appliance.JobGroups, Subject: "bus " + bus, Bus: bus, By: by}
	return c.jobs.Start(about, func(ctx context.Context, on *JobHand) (any, error) {
		done := 0
		return nil, c.WriteGroups(ctx, bus, func(p appliance.GroupProgress) {
			done++
			on.Progress(appliance.JobProgress{Text: p.What, Done: done})
			on.Item(p, func(old any) bool { return old.(appliance.GroupProgress).Device == p.Device })
		})
	})
}

// ShadeRun is a calibration or a look at the direction, as a person wants it.
type ShadeRun struct {
	Shade appliance.ID
	Runs  int  // calibration: see [Calibration]
	Ask   bool // calibration: before every leg
	Dry   bool // save nothing
	// Replace: calibration: old times are replaced without asking.
	Replace bool
}

// saveWait is how long a person may think about whether old times are to be replaced.
const saveWait = 30 * time.Minute

// StartCalibration measures the travel times of a shade and saves them.
func (c *Controller) StartCalibration(run ShadeRun, by appliance.Origin) (appliance.Job, error) {
	return c.startShade(appliance.JobCalibrate, run, by, func(ctx context.Context, on *JobHand, sh *appliance.Shade) (appliance.ShadeOutcome, error) {
		by.Why = "calibration"
		res, err := c.Calibrate(ctx, Calibration{Shade: sh.ID, Runs: run.Runs, By: by}, &jobWatcher{on, run.Ask})
		to := sh.Settings()
		to.TravelUp, to.TravelDown = res.Up.Mean.Round(10*time.Millisecond), res.Down.Mean.Round(10*time.Millisecond)
		return appliance.ShadeOutcome{New: to, Up: res.Up, Down: res.Down, Watched: !res.Measured}, err
	})
}

// StartDirection finds out which way a shade runs and saves it.
func (c *Controller) StartDirection(run ShadeRun, by appliance.Origin) (appliance.Job, error) {
	return c.startShade(appliance.JobDirection, run, by, func(ctx context.Context, on *JobHand, sh *appliance.Shade) (appliance.ShadeOutcome, error) {
		by.Why = "direction"
		inverted, err := c.FindDirection(ctx, Nudge{Shade: sh.ID, By: by}, (&jobWatcher{on: on}).went)
		to := sh.Settings()
		if to.Inverted = inverted; inverted != sh.Inverted && c.Snapshot().Shade(sh.ID).Channel.PositionMeasured {
			// They were measured by the motor's own sense, which is turned round now.
			to.TravelUp, to.TravelDown = to.TravelDown, to.TravelUp
		}
		return appliance.ShadeOutcome{New: to, Watched: true}, err
	})
}

func (c *Controller) startShade(kind appliance.JobKind, run ShadeRun, by appliance.Origin, do func(context.Context, *JobHand, *appliance.Shade) (appliance.ShadeOutcome, error)) (appliance.Job, error) {
	sh := c.Snapshot().Shade(run.Shade)
	if sh == nil {
		return appliance.Job{}, fmt.Errorf("shade %d: %w", run.Shade, appliance.ErrNotFound)
	}
	about := appliance.Job{Kind: kind, Subject: fmt.Sprintf("shade %d", run.Shade), Shade: run.Shade, By: by}
	return c.jobs.Start(about, func(ctx context.Context, on *JobHand) (any, error) {
		out, err := do(ctx, on, sh.Shade)
		if err != nil {
			return nil, err
		}
		out.Shade, out.Name, out.Old = run.Shade, sh.Shade.Name, sh.Shade.Settings()
		save := !run.Dry
		if save && kind == appliance.JobCalibrate && !run.Replace && (out.Old.TravelUp != 0 || out.Old.TravelDown != 0) {
			if save, err = on.asksSave(ctx, out); err != nil {
				return nil, err
			}
		}
		if save {
			if err := c.saveShade(ctx, run.Shade, out.New); err != nil {
				return nil, err
			}
			out.Saved = true
		}
		return out, nil
	})
}

// asksSave shows what was measured beside what there was, and asks whether it is to be kept.
func (h *JobHand) asksSave(ctx context.Context, out appliance.ShadeOutcome) (bool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, saveWait, fmt.Errorf("shade %d: nobody said for %v whether the new times are to be kept; the old ones stay", out.Shade, saveWait))
	defer cancel()
	h.change(func(j *jobRecord) {
		j.Result, j.Progress = out, appliance.JobProgress{Done: j.Progress.Done}
	})
	said, err := h.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskSave, Choices: []string{"yes", "no"}})
	if err != nil {
		return false, context.Cause(ctx)
	}
	return said == "yes", nil
}

// inForce is how soon what was saved has to be in force.
const inForce = 5 * time.Second

// saveShade saves the settings of a shade, and returns when they are in force.
func (c *Controller) saveShade(ctx context.Context, id appliance.ID, to appliance.ShadeSettings) error {
	if c.opts.SaveShade == nil {
		return errors.New("there is nowhere to save the settings of shades")
	}
	if err := c.opts.SaveShade(ctx, id, to); err != nil {
		return err
	}
	late := time.NewTimer(inForce)
	defer late.Stop()
	for {
		s := c.Snapshot()
		if sh := s.Shade(id); sh == nil || sh.Shade.Settings() == to {
			return nil
		}
		select {
		case <-s.Superseded():
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("shade %d: its settings are saved, but not in force after %v; look at the daemon's log", id, inForce)
		}
	}
}

// jobWatcher is whoever stands before the shade, by way of a job.
type jobWatcher struct {
	on  *JobHand
	ask bool // before every leg
}

// Begin asks whether a leg may begin.
func (w *jobWatcher) Begin(ctx context.Context, leg appliance.Leg) error {
	if !w.ask || leg.Number == 1 { // the first follows the start of the run
		return nil
	}
	_, err := w.on.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskBegin, Leg: leg, Choices: []string{"yes"}})
	return err
}

// Stands asks whether the shade stands.
func (w *jobWatcher) Stands(ctx context.Context, leg appliance.Leg, again appliance.Again) error {
	_, err := w.on.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskStands, Leg: leg, Choices: []string{"yes"}, Again: again})
	return err
}

// Sure asks whether it does stand.
func (w *jobWatcher) Sure(ctx context.Context, leg appliance.Leg, took, other time.Duration) (bool, error) {
	said, err := w.on.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskSure, Leg: leg, Choices: []string{"yes", "no"}, Took: took, Other: other})
	return said == "yes", err
}

// Progress tells that the shade moves.
func (w *jobWatcher) Progress(p appliance.Progress) {
	way := "down"
	if p.Up {
		way = "up"
	}
	w.on.Progress(appliance.JobProgress{Text: "moving " + way, Done: p.Number, Moving: &p})
}

// Measured tells the outcome of a leg.
func (w *jobWatcher) Measured(leg appliance.Leg, took, uncertainty time.Duration) {
	w.on.Item(appliance.MeasuredLeg{Leg: leg, Took: took, Uncertainty: uncertainty}, nil)
}

// went asks which way the shade went.
func (w *jobWatcher) went(ctx context.Context, toldUp bool) (Went, error) {
	said, err := w.on.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskWent, Leg: appliance.Leg{Up: toldUp}, Choices: []string{"up", "down", "none"}})
	switch {
	case err != nil:
		return WentNowhere, err
	case said == "up":
		return WentUp, nil
	case said == "down":
		return WentDown, nil
	}
	return WentNowhere, nil
}
