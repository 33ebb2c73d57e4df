package sdn

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// proof reads back whether one motor does what it was told, with as few frames as
// possible: on a slow bus the proofs of a whole floor have to end before the
// command's deadline.
//
//   - A movement is proven by a motor that runs in the direction of its goal, or
//     stands at it.
//   - A stop is proven by a motor that stands. It may take a moment to brake.
//   - A motor that may have been moving already when the frame went out proves
//     nothing by moving on. After a group frame it is told once more by itself, and
//     its ACK counts.
//
// Where the motor acknowledged the frame itself, a reading that proves nothing (it
// has not started yet, or still brakes to turn round) leaves it at that.
type proof struct {
	driver *Driver
	wish
	group     bool
	large     bool // too many members for more than a frame each
	wasMoving bool // when the frame went out
	wasThere  bool // it stood at its goal already

	done   bool
	heard  int    // answers
	asked  int    // statuses
	stands bool   // status said so
	said   status // the last status
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
			if p.heard == 0 && i > 0 {
				return appliance.Result{}, fmt.Errorf("motor %v: %w: it did not answer before", p.motor.address, appliance.ErrExpired)
			}
			q, ok := p.next()
			if !ok {
				return appliance.Result{}, nil
			}
			res, err := p.driver.ask(ctx, y, q)
			if err == nil {
				p.heard++
			}
			return res, err
		}
	}
	return list
}

// begin also begins again, when the first question was not answered.
func (p *proof) begin() { p.done, p.heard, p.asked, p.stands = false, 0, 0, false }

// next is the question that is still open.
func (p *proof) next() (question, bool) {
	stop := p.order.id == ctrlStop
	switch {
	case p.done:
		return question{}, false
	case p.group && p.wasMoving && !stop:
		return p.tellAgain(), true
	case p.stands:
		return p.askPosition(), true
	case p.asked == 0 && p.wasThere && !stop:
		p.wasThere = false // one question, whatever it shows
		return p.askIfThere(), true
	case p.asked == 0 || stop && p.asked == 1:
		return p.askStatus(), true
	}
	return question{}, false
}

// tellAgain gives the order to the motor alone, which acknowledges it.
func (p *proof) tellAgain() question {
	q := p.driver.tell(p.motor, p.order)
	q.then = func(_ Frame, at time.Time) ([]appliance.Reading, error) {
		p.done = true
		return p.reading(appliance.Values{Has: appliance.CanMove, Motion: appliance.Moving}, at), nil
	}
	return q
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
		p.asked++
		p.said, _ = readStatus(f.Data)
		p.stands = p.said.State != stateRunning
		switch {
		case p.stands && p.order.id == ctrlStop && p.large:
			p.done = true
			p.driver.mu.Lock()
			p.motor.restless, p.motor.standing = false, true
			p.driver.mu.Unlock()
			return p.reading(appliance.Values{Has: appliance.CanMove, Motion: appliance.Stopped}, at), nil
		case p.stands, p.order.id == ctrlStop:
			return readings, nil
		case p.proves(p.said) && !p.wasMoving:
			p.done = true
			return readings, nil
		}
		// True, and no verdict on this command.
		p.done = true
		p.driver.report(readings)
		return nil, nil
	}
	return q
}

// proves reports whether a running motor may be taken to carry out the order.
func (p *proof) proves(s status) bool {
	switch p.order.fn {
	case toUpLimit:
		return s.Direction == directionUp
	case toDownLimit:
		return s.Direction == directionDown
	}
	p.driver.mu.Lock()
	defer p.driver.mu.Unlock()
	m := p.motor
	if !m.hasAt || !m.at.known() || m.at.Percent == p.order.percent {
		return true
	}
	return (s.Direction == directionDown) == (m.at.Percent < p.order.percent)
}

// askIfThere asks a motor that stood at its goal before whether it still does.
func (p *proof) askIfThere() question {
	return p.where(func(at position, readings []appliance.Reading) []appliance.Reading {
		p.done = at.known() && int(at.Percent) == p.order.goal()
		return readings
	})
}

// askPosition finds out where a standing motor stands.
func (p *proof) askPosition() question {
	return p.where(func(at position, readings []appliance.Reading) []appliance.Reading {
		p.done = true
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
		v.Has, v.Motion = appliance.CanPosition, appliance.Stopped
		p.driver.mu.Lock()
		p.motor.rest()
		p.driver.mu.Unlock()
		return readings
	case p.group, p.said.State == stateBlocked, p.said.State == stateLocked:
		// It did not hear the frame, or cannot move: one by itself brings that out.
		v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Stopped
		if p.said.State != stateStopped {
			readings[0].Why = p.said.String()
		}
		return readings
	case where.known() && p.said.Cause == causeReached && p.outwaited(readings[0].At):
		// It acknowledged, had the time to start, and says that it has arrived: its limits
		// are closer together than the percent it tells. After a group frame, which it may
		// have missed, the same says nothing.
		v.Has, v.Motion = appliance.CanMove|appliance.CanPosition, appliance.Stopped
		readings[0].Reached = true
		p.driver.mu.Lock()
		p.motor.rest()
		p.driver.mu.Unlock()
		return readings
	}
	p.driver.report(readings)
	return nil
}

// outwaited reports whether a motor that stands at a moment has had the time to
// start since it was told to.
func (p *proof) outwaited(at time.Time) bool {
	p.driver.mu.Lock()
	defer p.driver.mu.Unlock()
	return !p.motor.sentAt.IsZero() && at.Sub(p.motor.sentAt) > startLimit
}

// near allows for the rounding of pulses to percent.
func near(a, b int) bool { return a-b <= 1 && b-a <= 1 }
