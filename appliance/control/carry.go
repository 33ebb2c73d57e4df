package control

import (
	"context"
	"errors"
	"math"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

// carryOut does what the engine wants done.
func (b *bus) carryOut(actions []engine.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case engine.Perform:
			b.todo = &a
		case engine.Wake:
			b.wakeAt = a.At
		case engine.Begin:
			why := appliance.Origin{Via: appliance.ViaShadeEngine, Why: a.Why}
			r := b.begin(appliance.Command{Kind: a.Kind, Target: appliance.Target{Scope: appliance.One, ID: a.Target.Shade}, Origin: why}, a.Target)
			b.desk.records[a.ID] = &part{r, 1}
		case engine.Due:
			if told := b.desk.records[a.Command].told; told != nil {
				told(a.At)
			}
		case engine.Staged:
			b.desk.records[a.Command].staged(a)
		case engine.Pending:
			b.desk.records[a.Command].wait(a)
		case engine.Ended:
			b.ended(a)
		case engine.Answered:
			b.answered(a)
		case engine.Log:
			b.log.Log(context.Background(), a.Level, a.Text, a.Args...)
		default:
			if !b.carryOutGroups(a) {
				b.showOf(a)
			}
		}
	}
}

func (b *bus) ended(a engine.Ended) {
	p := b.desk.records[a.Command]
	p.ended(a)
	if p.open--; p.open == 0 {
		delete(b.desk.records, a.Command)
	}
}

func (b *bus) answered(a engine.Answered) {
	if answer := b.desk.asked[a.Job]; answer != nil {
		delete(b.desk.asked, a.Job)
		answer(a.Result, a.Err)
	}
}

// showOf shows readers what the engine has learned.
func (b *bus) showOf(a engine.Action) {
	switch a := a.(type) {
	case engine.Learned:
		b.state.learn(a.Readings, a.Source)
	case engine.Expect:
		b.state.expect(a.Ref, a.Level, a.Fade)
	case engine.AsRead:
		b.state.asRead(a.Ref)
	case engine.Standing:
		b.state.setOnline(a.Nodes, a.Online, a.Seen)
	case engine.Shade:
		b.showShade(a)
	case engine.Health:
		b.showHealth(a.State)
	}
}

// showShade shows what is known of a shade.
func (b *bus) showShade(a engine.Shade) {
	v := a.View
	b.state.learnShade(a.ID, a.Unheard, func(sh *appliance.ShadeState) {
		sh.Motion = [...]appliance.Motion{appliance.MotionUnknown, appliance.Stopped, appliance.Opening, appliance.Closing, appliance.Moving}[v.Motion]
		sh.LastSeen = newer(sh.LastSeen, v.HeardAt)
		sh.Position, sh.Uncertainty = appliance.Known[appliance.Position]{}, 0
		if v.Source != 0 {
			source := [...]appliance.Source{shade.Measured: appliance.Measured, shade.Estimated: appliance.Estimated, shade.OfBefore: appliance.Restored}[v.Source]
			sh.Position = appliance.Known[appliance.Position]{Value: appliance.Position(math.Round(v.Position)), At: v.At, Source: source}
			sh.Uncertainty = int(v.Uncertainty)
		}
	})
}

// showHealth shows how the bus is, but if it waits for an answer for ever: then as whoever
// noticed that has shown it.
func (b *bus) showHealth(st appliance.BusState) {
	b.beat.bound.Store(int64(st.Bound))
	now := time.Now()
	if b.beat.missing(now) > 0 {
		return
	}
	st.LookedAt = now
	addTroubles(b.driver(), &st)
	b.state.setBus(&st)
}

// addTroubles adds what the driver of a bus knows of its devices, and of the bus itself.
func addTroubles(d appliance.Driver, st *appliance.BusState) {
	knows, ok := d.(appliance.Troubled)
	if !ok {
		return
	}
	troubles := knows.Troubles()
	if st.Up {
		st.Fault = engine.Brief(troubles[""])
	}
	for i := range st.Devices {
		if what := troubles[st.Devices[i].Device]; what != "" {
			st.Devices[i].Trouble = engine.Brief(what)
		}
	}
}

// perform does an exchange, and tells the engine how it ended.
func (b *bus) perform(ctx context.Context, p *engine.Perform) {
	start := time.Now()
	var y appliance.Yield
	if p.GivesWay != engine.ToNone {
		var ok bool
		if y.Begin, ok = b.mail.beginExchange(p.GivesWay == engine.ToStop); !ok {
			b.feed(engine.Over{Task: p.Task, Err: appliance.ErrPreempted, Began: start}) // something came in meanwhile: look again
			return
		}
	}
	if p.Apart {
		y.Apart = b.apart(p.Task)
	}
	if p.Answer {
		y.Answer = y.Begin
	}
	if p.Patience > 0 {
		giveUp := func() { b.mail.interrupt(y.Begin) }
		if p.Apart {
			enough := make(chan struct{})
			y.Answer, giveUp = enough, func() { close(enough) }
		}
		defer time.AfterFunc(p.Patience, giveUp).Stop()
	}
	res, err := p.Exchange.Do(&sendBy{ctx, p.Expiry}, y)
	b.mail.endExchange()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = engine.ErrClosed
	}
	b.feed(engine.Over{Task: p.Task, Result: res, Err: err, Began: start})
	if err == nil {
		b.trials.saw(res)
	}
}

// sendBy is the context of an exchange: the bus's own, with the deadline of its
// command. The deadline is for the frame to be out, so it ends nothing by itself:
// the answer to a frame that was out in time is awaited, whatever the hour, since
// only it tells what happened.
type sendBy struct {
	context.Context
	expiry time.Time // zero: none
}

func (c *sendBy) Deadline() (time.Time, bool) {
	if c.expiry.IsZero() {
		return c.Context.Deadline()
	}
	return c.expiry, true
}
