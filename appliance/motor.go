package appliance

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.internal/controller/appliance/shade"
)

// motor is one shade as its bus drives it. What is known of it, and what has to be done,
// is its state machine's; the bus hands in what happens and carries out what that wants.
type motor struct {
	shade   Shade
	channel Channel
	state   shade.State
	begun   *member         // confirmed by an order that took its place; nil: none
	waiting []chan struct{} // closed when nothing is under way
}

// handed is an event for a shade's machine from outside its bus.
type handed struct {
	shade ID
	event func(m *motor) shade.Event
	done  chan struct{} // closed when it is taken, and nothing is under way any more
}

func newMotor(s Shade, c Channel, fresh Freshness, now time.Time) *motor {
	m := &motor{shade: s, channel: c}
	m.state = shade.New(m.settings(s, fresh), now)
	return m
}

func (m *motor) settings(s Shade, fresh Freshness) shade.Settings {
	return shade.Settings{
		Measures: m.channel.PositionMeasured, Unreadable: m.channel.Unverifiable, Inverted: s.Inverted,
		TravelUp: s.TravelUp, TravelDown: s.TravelDown, ReverseDelay: m.channel.ReverseDelay, Lag: m.channel.Lag,
		Release:  m.channel.Release,
		Patience: max(10*time.Second, 3*fresh.MovingShade),
	}
}

// restore takes the position known before a restart.
func (m *motor) restore(p Position, uncertainty int, at time.Time) {
	m.state, _ = shade.Step(m.state, at, shade.Restored{Position: float64(p), Uncertainty: float64(uncertainty), At: at})
}

// timed reports whether a motion is one of a shade whose way is timed.
func (m *motor) timed(motion Motion) bool {
	return m != nil && motion != Stop && !m.channel.PositionMeasured
}

// hand gives a shade's machine an event, and returns when to go on: as soon as it is taken
// and nothing is under way.
func (b *bus) hand(id ID, event func(*motor) shade.Event) <-chan struct{} {
	h := handed{id, event, make(chan struct{})}
	b.mu.Lock()
	b.handed = append(b.handed, h)
	b.mu.Unlock()
	b.poke()
	return h.done
}

// await waits until shades stand, as long as that may take at most.
func (b *bus) await(rest []<-chan struct{}, most time.Duration) (all bool) {
	late := time.NewTimer(most)
	defer late.Stop()
	for _, done := range rest {
		select {
		case <-done:
		case <-late.C:
			return false
		case <-b.closed:
			return false
		}
	}
	return true
}

// take gives the machines what was handed in.
func (b *bus) take(all []handed, now time.Time) {
	for _, h := range all {
		m := b.motors[h.shade]
		if m == nil {
			close(h.done)
			continue
		}
		m.waiting = append(m.waiting, h.done)
		b.tell(m, now, h.event(m))
	}
}

// retune hands a bus the travel times of its shades. It goes on undisturbed.
func (b *bus) retune(shades []Shade) {
	for _, s := range shades {
		b.hand(s.ID, func(m *motor) shade.Event {
			m.shade = s
			return shade.Configure{Settings: m.settings(s, b.config().Freshness)}
		})
	}
}

// tell hands a machine an event and carries out what it wants.
func (b *bus) tell(m *motor, now time.Time, e shade.Event) {
	var actions []shade.Action
	m.state, actions = shade.Step(m.state, now, e)
	for _, a := range actions {
		b.act(m, now, a)
	}
	b.unconfirmed(m, errUnconfirmed)
	b.show(m)
	if m.state.Phase == shade.Idle {
		for _, done := range m.waiting {
			close(done)
		}
		m.waiting = nil
	}
}

func (b *bus) act(m *motor, now time.Time, a shade.Action) {
	switch a := a.(type) {
	case shade.Send:
		b.send(m, a.Order, now)
	case shade.Cancel:
		if p, of := b.carries(m, a.Order); of != nil {
			of.fail(ErrSuperseded)
			b.drop(p, of)
		} else if m.begun != nil && m.begun.order.ID == a.Order {
			m.begun.fail(a.Why)
			m.begun = nil
		}
	case shade.Keep:
		b.keep(m, a.Order)
	case shade.Confirm:
		if p, of := b.carries(m, a.Order); of != nil {
			of.read(now)
			b.drop(p, of)
		}
		if m.begun != nil && m.begun.order.ID == a.Also {
			m.begun.read(now)
			m.begun = nil
		}
	case shade.ReadNow:
		b.schedule.readNow(m.shade.ID)
	case shade.GiveUp:
		b.log.Error("shade may still move: it was not heard to stop for a minute", "shade", m.shade.ID)
	case shade.Log:
		b.log.Warn("shade "+a.Text, "shade", m.shade.ID)
	}
}

// tellAll hands all machines an event.
func (b *bus) tellAll(now time.Time, e shade.Event) {
	for _, m := range b.motors {
		b.tell(m, now, e)
	}
}

// command gives a machine a command, and reports whether it is to be sent.
func (b *bus) command(m *motor, of *member, expires, now time.Time) bool {
	r := of.record
	c := shade.Command{Seq: r.seq, Kind: kindOf(of.target.Motion), Position: float64(of.target.Position), Accepted: r.entry.AcceptedAt, Expires: expires}
	if t := r.entry.Command.trial; t != nil {
		c.Holder = t.number
	}
	var actions []shade.Action
	m.state, actions = shade.Step(m.state, now, c)
	sent := false
	for _, a := range actions {
		switch a := a.(type) {
		case shade.Refuse:
			of.fail(b.refusal(a.Why, of.target))
		case shade.Send:
			if a.Order.Command != c.Seq {
				b.act(m, now, a)
				continue
			}
			of.order, of.target.Values, sent = a.Order, valuesOf(a.Order), true
		default:
			b.act(m, now, a)
		}
	}
	b.unconfirmed(m, ErrSuperseded)
	b.show(m)
	return sent
}

// refusal tells people why a command is not carried out.
func (b *bus) refusal(why error, target Want) error {
	switch {
	case errors.Is(why, shade.ErrDown):
		return b.why
	case errors.Is(why, shade.ErrExpired):
		return errTooLate
	case errors.Is(why, shade.ErrNoTravel):
		return fmt.Errorf("%w: go to %d %% without travel times; set them, until then only 0 and 100 can be reached", ErrUnable, target.Position)
	}
	return ErrSuperseded
}

// send carries out an order that the machine gives by itself.
func (b *bus) send(m *motor, o shade.Order, now time.Time) {
	if b.over { // for the bus that takes its place
		b.tell(m, now, shade.Failed{Order: o.ID})
		return
	}
	why := "way to a position"
	if o.Releases {
		why = "relay released at the end of the travel"
	}
	target := Want{Ref{Shade: m.shade.ID}, valuesOf(o)}
	kind := map[shade.Kind]Kind{shade.Open: ShadeOpen, shade.Close: ShadeClose, shade.Stop: ShadeStop}[o.Kind]
	b.keep(m, o.Confirms)
	r := b.begin(Command{Kind: kind, Target: Target{One, m.shade.ID}, Origin: Origin{Via: "shade engine", Why: why}}, target)
	r.members[0].order = o
	j := job{members: r.members, expiry: o.Expires}
	if o.Kind == shade.Stop && !o.Releases {
		j.duty = mustStop
	}
	b.enqueue(j, now)
}

// carries finds the member, and its piece, that carries an order of a shade.
func (b *bus) carries(m *motor, order uint64) (*piece, *member) {
	if order == 0 {
		return nil, nil
	}
	for _, p := range b.pieces {
		if of := p.of(Ref{Shade: m.shade.ID}); of != nil && of.order.ID == order {
			return p, of
		}
	}
	return nil, nil
}

// keep takes the member of an order out of its piece and leaves it open: a later order
// confirms it, too.
func (b *bus) keep(m *motor, order uint64) {
	if p, of := b.carries(m, order); of != nil {
		m.begun = of
		b.lift(p, of)
	}
}

// lift takes a member out of its piece that is open still.
func (b *bus) lift(p *piece, of *member) {
	p.members[slices.Index(p.members, of)] = &member{record: of.record, place: of.place, outcome: leftOut, target: of.target}
	if len(p.open()) == 0 {
		b.replace(p, nil)
	}
}

// unconfirmed ends a member whose order was replaced by one that was to confirm it, and will not.
func (b *bus) unconfirmed(m *motor, why error) {
	if m.begun != nil && !m.state.Confirming(m.begun.order.ID) {
		m.begun.fail(why)
		m.begun = nil
	}
}

// drop takes a member out of its piece.
func (b *bus) drop(p *piece, of *member) {
	of.order = shade.Order{}
	if len(p.open()) == 0 {
		b.replace(p, nil)
	}
}

// gaveUp tells the machine that an order has failed.
func (b *bus) gaveUp(of *member, unread bool) {
	m := b.motors[of.target.Shade]
	if m == nil || of.order.ID == 0 {
		return
	}
	b.tell(m, time.Now(), shade.Failed{Order: of.order.ID, Unread: unread})
}

// saw tells the machine what was read; asked is when the question was out.
func (b *bus) saw(m *motor, r Reading, asked time.Time) {
	if asked.IsZero() {
		asked = r.At
	}
	b.tell(m, r.At, readOf(r, asked))
}

func readOf(r Reading, asked time.Time) shade.Read {
	motions := map[Motion]shade.Motion{Stopped: shade.Standing, Opening: shade.Opening, Closing: shade.Closing, Moving: shade.Moving}
	return shade.Read{
		Asked: asked, Motion: motions[r.Motion], Position: float64(r.Position), Place: r.Has.Has(CanPosition), Reached: r.Reached,
	}
}

// ticks lets the machines go on for which it is time.
func (b *bus) ticks(now time.Time) {
	for _, m := range b.motors {
		if at := m.state.Wake(); !at.IsZero() && !at.After(now) {
			b.tell(m, now, shade.Tick{})
		}
	}
}

// nextTick is when the first machine wants to go on, and nextStop when the first shade is
// to be stopped or sent on: the bus is kept free for that.
func (b *bus) nextTick() (tick, stop time.Time) {
	for _, m := range b.motors {
		if at := m.state.Wake(); !at.IsZero() && (tick.IsZero() || at.Before(tick)) {
			tick = at
		}
		if at := m.state.Due; m.state.Phase == shade.OnRoute && !at.IsZero() && (stop.IsZero() || at.Before(stop)) {
			stop = at
		}
	}
	return tick, stop
}

// underway reports whether a shade is to be stopped some time.
func (b *bus) underway() bool {
	for _, m := range b.motors {
		if m.state.Phase != shade.Idle {
			return true
		}
	}
	return false
}

// goOn takes over shades from the bus that had them before.
func (b *bus) goOn(before *bus) {
	now := time.Now()
	for id, was := range before.motors {
		m := b.motors[id]
		if m == nil || !sameMotor(&was.shade, &m.shade, before.config().Nodes, b.config().Nodes) {
			continue
		}
		settings := m.state.Settings
		m.state = was.state
		m.state.Down = false
		b.tell(m, now, shade.Configure{Settings: settings})
	}
}

// show tells readers what is known of a shade.
func (b *bus) show(m *motor) {
	now := time.Now()
	v := m.state.View(now)
	b.state.learnShade(m.shade.ID, func(sh *ShadeState) {
		sh.Motion = [...]Motion{MotionUnknown, Stopped, Opening, Closing, Moving}[v.Motion]
		sh.LastSeen = newer(sh.LastSeen, v.HeardAt)
		sh.Position, sh.Uncertainty, sh.unheard = Known[Position]{}, 0, !m.channel.PositionMeasured && !m.state.Pose.Doubt.IsZero()
		if v.Source != 0 {
			source := [...]Source{shade.Measured: Measured, shade.Estimated: Estimated, shade.OfBefore: Restored}[v.Source]
			sh.Position = Known[Position]{Position(math.Round(v.Position)), v.At, source}
			sh.Uncertainty = int(v.Uncertainty)
		}
	})
}

func kindOf(m Motion) shade.Kind {
	return cmp.Or(map[Motion]shade.Kind{Open: shade.Open, Close: shade.Close, Stop: shade.Stop}[m], shade.MoveTo)
}

// valuesOf are what an order wants.
func valuesOf(o shade.Order) Values {
	if o.Kind == shade.MoveTo {
		return Values{Has: CanMove | CanPosition, Motion: MoveTo, Position: Position(o.Position)}
	}
	return Values{Has: CanMove, Motion: map[shade.Kind]Motion{shade.Open: Open, shade.Close: Close, shade.Stop: Stop}[o.Kind]}
}
