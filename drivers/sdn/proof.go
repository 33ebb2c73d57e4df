package sdn

import (
	"context"
	"time"

	"svc.internal/controller/appliance"
)

// proof reads back whether one motor does what it was told. It has as many
// exchanges as it may need; those that turn out not to be needed send nothing.
//
//   - A movement is proven by a motor that runs in the direction of its goal, or
//     stands at it.
//   - A stop is proven by a motor that stands. It may take a moment to brake.
//   - A motor that may have been moving already when a group frame went out proves
//     nothing by moving on: it is told once more by itself, and its ACK counts.
//
// Where the motor acknowledged the frame itself, a reading that proves nothing (it
// has not started yet, or still brakes to turn round) leaves it at that.
type proof struct {
	driver *Driver
	wish
	group     bool
	wasMoving bool // when the frame went out

	stands bool   // status said so
	said   status // the last status
	done   bool
}

func (p *proof) exchanges() []appliance.Exchange {
	list := []appliance.Exchange{p.first()}
	if p.order.id == ctrlStop {
		list = append(list, p.unless(func() bool { return p.stands }, p.askStatus()))
	}
	return append(list, p.unless(func() bool { return p.done || !p.stands }, p.askPosition()))
}

// unless leaves an exchange out when it is not needed any more.
func (p *proof) unless(needless func() bool, q question) appliance.Exchange {
	e := p.driver.exchange(q)
	ask := e.Do
	e.Do = func(ctx context.Context, preempt <-chan struct{}) (appliance.Result, error) {
		if needless() {
			return appliance.Result{}, nil
		}
		return ask(ctx, preempt)
	}
	return e
}

// first asks what the motor does, or tells it once more.
func (p *proof) first() appliance.Exchange {
	e := p.driver.exchange(p.askStatus())
	ask := e.Do
	again := p.driver.tell(p.motor, p.order)
	again.then = func(_ Frame, at time.Time) ([]appliance.Reading, error) {
		p.done = true
		return []appliance.Reading{{Ref: p.Ref, At: at, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Moving}}}, nil
	}
	e.Do = func(ctx context.Context, preempt <-chan struct{}) (appliance.Result, error) {
		p.stands, p.done = false, false
		if p.group && p.wasMoving && p.order.id != ctrlStop {
			return p.driver.ask(ctx, preempt, again)
		}
		return ask(ctx, preempt)
	}
	return e
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
		p.stands = p.said.State != stateRunning
		if p.stands || p.proves(p.said) {
			return readings, nil
		}
		// True, and no verdict on this command.
		p.driver.report(readings)
		return nil, nil
	}
	return q
}

// proves reports whether a running motor may be taken to carry out the order.
func (p *proof) proves(s status) bool {
	switch {
	case p.order.id == ctrlStop:
		return true // that it runs is a verdict, too
	case p.order.fn == toUpLimit:
		return s.Direction == directionUp
	case p.order.fn == toDownLimit:
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

// askPosition finds out where a standing motor stands.
func (p *proof) askPosition() question {
	q := p.driver.positionOf(p.motor)
	take := q.then
	q.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		readings, err := take(f, at)
		if err != nil {
			return nil, err
		}
		where, _ := readPosition(f.Data)
		return p.judge(where, readings, at), nil
	}
	return q
}

// judge decides what the readings of a standing motor say about the order.
func (p *proof) judge(where position, readings []appliance.Reading, at time.Time) []appliance.Reading {
	if p.order.id == ctrlStop {
		return readings
	}
	stands := appliance.Values{Has: appliance.CanMove, Motion: appliance.Stopped}
	if where.known() {
		stands.Has |= appliance.CanPosition
		stands.Position = p.motor.positionOf(where.Percent)
	}
	goal := p.order.goal()
	switch arrived := p.said.Cause == causeReached && near(int(where.Percent), goal); {
	case where.known() && (arrived || int(where.Percent) == goal):
		// It stands where it should, as far as it can tell. The position is shown as it
		// is; that it may be a percent off does not contradict the order.
		stands.Has = appliance.CanPosition
		p.driver.mu.Lock()
		p.motor.rest()
		p.driver.mu.Unlock()
	case p.said.State == stateBlocked, p.said.State == stateLocked:
	case p.group: // it did not hear the frame; one by itself is in order
	default:
		p.driver.report(readings)
		return nil
	}
	return []appliance.Reading{{Ref: p.Ref, Values: stands, At: at}}
}

// near allows for the rounding of pulses to percent.
func near(a, b int) bool { return a-b <= 1 && b-a <= 1 }
