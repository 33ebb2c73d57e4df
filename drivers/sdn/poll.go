package sdn

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Polls asks every motor for its position, often while it moves, and rarely for
// its status. A motor that moves is asked for its status only when it seems to
// have arrived: on a bus of a few frames a second every frame has to tell
// something.
func (d *Driver) Polls() []appliance.Poll {
	var polls []appliance.Poll
	for _, m := range d.site.all {
		// The status first: a position tells where a motor stands only if it is known
		// to stand.
		polls = append(polls,
			appliance.Poll{Class: appliance.ClassPower, Exchange: d.exchange(d.statusOf(m))},
			appliance.Poll{Class: appliance.ClassShade, Exchange: d.watch(m)})
	}
	return polls
}

// watch follows where a motor is.
func (d *Driver) watch(m *motor) appliance.Exchange {
	e := d.exchange(d.positionOf(m))
	if m.shade != 0 {
		e.Refs = []appliance.Ref{m.ref()}
	}
	e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		if m.asksStatus() {
			return d.ask(ctx, y, d.statusOf(m))
		}
		return d.ask(ctx, y, d.positionOf(m))
	}
	return e
}

// positionOf asks a motor where it is.
func (d *Driver) positionOf(m *motor) question {
	return question{
		motor: m, id: getMotorPosition, want: postMotorPosition, most: minFrame + 5, what: "asking for its position",
		then: func(f Frame, at time.Time) ([]appliance.Reading, error) {
			p, ok := readPosition(f.Data)
			if !ok {
				return nil, tooShort(f)
			}
			return m.takePosition(p, at), nil
		},
	}
}

// statusOf asks a motor what it does.
func (d *Driver) statusOf(m *motor) question {
	return question{
		motor: m, id: getMotorStatus, want: postMotorStatus, most: minFrame + 4, what: "asking for its status",
		then: func(f Frame, at time.Time) ([]appliance.Reading, error) {
			s, ok := readStatus(f.Data)
			if !ok {
				return nil, tooShort(f)
			}
			return m.takeStatus(s, at), nil
		},
	}
}

func tooShort(f Frame) error {
	return fmt.Errorf("%w: %v with only %d bytes of data", appliance.ErrDamaged, f.ID, len(f.Data))
}
