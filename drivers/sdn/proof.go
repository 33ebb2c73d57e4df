package sdn

import (
	"context"
	"time"

	"svc.internal/controller/appliance"
)

// proof reads back whether one motor does what it was told, with as few frames as
// possible: on a slow bus the proofs of a whole floor have to end before the command's
// deadline. It tells what the motor does and where; the core judges that.
//
//   - A movement is proven by a motor that runs in the direction of its goal, or
//     stands at it.
//   - A stop is proven by a motor that stands. It may take a moment to brake.
type proof struct {
	driver *Driver
	wish
	company  *company // nil: it was told alone
	wasThere bool     // it stood at its goal already when the frame went out

	next func() question // nil: nothing is open
	said status          // the last status
}

// company is what the proofs of the members of one group frame have in common. Those that
// have the farthest to go are asked first.
type company struct {
	large   bool // too many for more than a frame each
	arrived bool // whoever was asked last stood at its goal: the next may have arrived, too
}

// proofSteps is how many questions one proof may need.
const proofSteps = 3

// exchanges are as many as the proof may need; those that turn out not to be needed
// send nothing.
func (p *proof) exchanges() []appliance.Exchange {
	e := p.driver.exchange(p.askStatus())
	list := make([]appliance.Exchange, proofSteps)
	for i := range list {
		list[i] = e
		list[i].Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			if i == 0 {
				p.begin()
			}
			if p.next == nil {
				return appliance.Result{}, nil
			}
			return p.driver.ask(ctx, y, p.next())
		}
	}
	return list
}

// begin also begins again, when the motor has to be looked at once more.
func (p *proof) begin() {
	p.next = p.askStatus
	switch {
	case p.order.id == ctrlStop:
	case p.wasThere:
		p.next, p.wasThere = p.askIfStillThere, false // one question, whatever it shows
	case p.company != nil && p.company.arrived && p.order.fn == toPercent:
		p.next = p.askIfThere
	}
}

// hasArrived tells the proofs that come after it.
func (p *proof) hasArrived(yes bool) {
	if p.company != nil {
		p.company.arrived = yes
	}
}

func (p *proof) reading(v appliance.Values, at time.Time) []appliance.Reading {
	return []appliance.Reading{{Ref: p.Ref, Values: v, At: at}}
}

func (p *proof) askStatus() question {
	q := p.driver.statusOf(p.motor)
	take := q.then
	q.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		readings, err := take(f, at)
		if err != nil {
			return nil, err
		}
		p.said, _ = readStatus(f.Data)
		switch {
		case p.said.State == stateRunning:
			p.next = nil
			p.hasArrived(false)
		case p.order.id == ctrlStop && p.company != nil && p.company.large:
			p.next = nil
			p.driver.mu.Lock()
			p.motor.course.phase = standing
			p.driver.mu.Unlock()
			return p.reading(appliance.Values{Has: appliance.CanMove, Motion: appliance.Stopped}, at), nil
		default:
			p.next = p.askPosition
		}
		return readings, nil
	}
	return q
}

// askIfStillThere asks a motor that stood at its goal before whether it still does.
func (p *proof) askIfStillThere() question {
	return p.where(func(at position, readings []appliance.Reading) []appliance.Reading {
		if p.next = p.askStatus; p.isThere(at) {
			p.next = nil
			return p.stands(readings)
		}
		return readings
	})
}

// askIfThere asks a motor that may have arrived at a percent whether it has: that proves
// what a status would take a second question for.
func (p *proof) askIfThere() question {
	return p.where(func(at position, readings []appliance.Reading) []appliance.Reading {
		if p.next = p.askStatus; p.isThere(at) {
			p.next = nil
		}
		return readings
	})
}

func (p *proof) isThere(at position) bool {
	return int(at.Percent) == p.order.goal()
}

// askPosition finds out where a standing motor stands.
func (p *proof) askPosition() question {
	return p.where(func(at position, readings []appliance.Reading) []appliance.Reading {
		p.next = nil
		return p.judge(at, readings)
	})
}

func (p *proof) where(then func(position, []appliance.Reading) []appliance.Reading) question {
	q := p.driver.positionOf(p.motor)
	take := q.then
	q.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		readings, err := take(f, at)
		if err != nil {
			return nil, err
		}
		if len(readings) == 0 {
			readings = p.reading(appliance.Values{}, at)
		}
		where, _ := readPosition(f.Data)
		return then(where, readings), nil
	}
	return q
}

// judge decides what the position of a standing motor says about the order.
func (p *proof) judge(where position, readings []appliance.Reading) []appliance.Reading {
	if p.order.id == ctrlStop {
		return readings
	}
	goal := p.order.goal()
	arrived := int(where.Percent) == goal || p.said.Cause == causeReached && near(int(where.Percent), goal)
	v := &readings[0].Values
	switch {
	case where.known() && arrived:
		// It stands where it should, as far as it can tell. The position is shown as it
		// is; that it may be a percent off does not contradict the order.
		p.hasArrived(true)
		return p.stands(readings)
	case where.known() && p.company == nil && p.said.State == stateStopped && p.said.Cause == causeReached && p.outwaited(readings[0].At):
		// It acknowledged, had the time to start, and says that it has arrived: its limits
		// are closer together than the percent it tells. After a group frame, which it may
		// have missed, the same says nothing.
		p.stands(readings)
		v.Has, readings[0].Reached = appliance.CanMove|appliance.CanPosition, true
		return readings
	}
	// It did not hear the frame, has not started yet, or cannot move.
	v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Stopped
	if p.said.State != stateStopped {
		readings[0].Why = p.said.String()
	}
	return readings
}

// stands shows a motor standing where it was read.
func (p *proof) stands(readings []appliance.Reading) []appliance.Reading {
	v := &readings[0].Values
	v.Has, v.Motion = appliance.CanPosition, appliance.Stopped
	p.driver.mu.Lock()
	defer p.driver.mu.Unlock()
	p.motor.rest()
	return readings
}

// outwaited reports whether a motor that stands at a moment has had the time to
// start since it was told to.
func (p *proof) outwaited(at time.Time) bool {
	p.driver.mu.Lock()
	defer p.driver.mu.Unlock()
	sent := p.motor.course.sentAt
	return !sent.IsZero() && at.Sub(sent) > startLimit
}

// near allows for the rounding of pulses to percent.
func near(a, b int) bool { return a-b <= 1 && b-a <= 1 }
