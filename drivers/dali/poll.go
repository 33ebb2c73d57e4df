package dali

import (
	"context"
	"time"

	"svc.internal/controller/appliance"
)

// Polls lists the reads: the level of each gear as often as light asks for, its
// colour and one slow question as often as power does, which is the slowest class.
func (d *Driver) Polls() []appliance.Poll {
	var list []appliance.Poll
	add := func(class appliance.Class, g *gear, e appliance.Exchange) {
		e.Refs = []appliance.Ref{g.ref}
		list = append(list, appliance.Poll{Exchange: e, Class: class})
	}
	for _, g := range d.gears {
		add(appliance.ClassLight, g, d.levelPoll(g))
	}
	for _, g := range d.gears {
		add(appliance.ClassPower, g, d.slowPoll(g))
		switch {
		case g.profile.abilities.Has(appliance.CanTune):
			add(appliance.ClassPower, g, d.tunePoll(g))
		case g.profile.abilities.Has(appliance.CanColour):
			for i := range g.colour {
				add(appliance.ClassPower, g, d.colourPoll(g, i))
			}
		}
	}
	return list
}

func (d *Driver) levelPoll(g *gear) appliance.Exchange {
	ask, how := Command(Short(g.short), OpQueryActualLevel), Command(Short(g.short), OpQueryStatus)
	more := []Send{how, ask} // after a fade
	if d.wire.gw.traits().has(unchecked) {
		more = append(more, ask)
	}
	return d.reading(g, []Send{ask}, more, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
		raw, at, err := d.askLevel(ctx, y, g)
		r.At = at
		if err != nil {
			return err
		}
		l, ok, err := d.polledLevel(ctx, g, raw, at)
		if ok {
			r.Has, r.Level = g.light(), l
		}
		return err
	})
}

func (d *Driver) tunePoll(g *gear) appliance.Exchange {
	return d.reading(g, readColour16(g.short, selectTc), nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
		answers, at, err := d.ask(ctx, y, g, readColour16(g.short, selectTc)...)
		r.At = at
		if err != nil {
			return err
		}
		v, ok := value16(answers)
		if !ok {
			return d.noColour(g)
		}
		if g.moving() && v != mirek(g.asked.values.Kelvin) {
			return nil // may be on its way
		}
		k := kelvin(v)
		if a := g.asked.values.Kelvin; a != 0 && mirek(a) == v {
			k = a
		}
		if k != 0 {
			r.Has, r.Kelvin = appliance.CanTune, k
		}
		return nil
	})
}

// colourFresh is how old the other components may be for one to complete a colour.
const colourFresh = 2 * time.Minute

func (d *Driver) colourPoll(g *gear, i int) appliance.Exchange {
	return d.reading(g, readComponent(g.short, selectRed+byte(i)), nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
		if _, err := d.askComponent(ctx, y, g, i, r); err != nil {
			return err
		}
		for _, c := range g.colour {
			if r.At.Sub(c.at) > colourFresh || c.value == Mask || g.moving() {
				return nil
			}
		}
		r.Has, r.RGBW = appliance.CanColour, g.rgbw()
		return nil
	})
}

// slowQuestions are asked in turn, one at a time: failures every other time, what
// hardly ever changes in between.
var slowQuestions = []byte{
	OpQueryStatus, OpQueryMin, OpQueryStatus, OpQueryMax,
}

func (d *Driver) slowPoll(g *gear) appliance.Exchange {
	return d.reading(g, []Send{Command(Short(g.short), OpQueryStatus)}, nil, func(ctx context.Context, y appliance.Yield, r *appliance.Reading) error {
		op := slowQuestions[g.turn%len(slowQuestions)]
		v, at, err := d.askByte(ctx, y, g, op)
		r.At = at
		if err != nil {
			return err
		}
		g.turn++
		d.learn(g, op, v)
		return nil
	})
}

// learn keeps what a gear told about itself.
func (d *Driver) learn(g *gear, op, v byte) {
	f := &g.found
	switch op {
	case OpQueryStatus:
		d.noteStatus(g, v)
	case OpQueryMin:
		f.min = v
	case OpQueryMax:
		f.max = v
	}
}
