package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// motor is one shade as its bus drives it. What is known of it, and what has to be done,
// is its state machine's; the bus hands in what happens and carries out what that wants.
type motor struct {
	shade   appliance.Shade
	channel appliance.Channel
	state   shade.State
	begun   *member // confirmed by an order that took its place; nil: none
	often   bool    // it is calibrated, and read as often as can be
}

func newMotor(s appliance.Shade, c appliance.Channel, fresh appliance.Freshness, now time.Time) *motor {
	m := &motor{shade: s, channel: c}
	m.state = shade.New(m.settings(s, fresh), now)
	return m
}

func (m *motor) settings(s appliance.Shade, fresh appliance.Freshness) shade.Settings {
	return shade.Settings{
		Measures: m.channel.PositionMeasured, Unreadable: m.channel.Unverifiable, Inverted: s.Inverted,
		TravelUp: s.TravelUp, TravelDown: s.TravelDown, ReverseDelay: m.channel.ReverseDelay, Lag: m.channel.Lag,
		Release:  m.channel.Release,
		Patience: max(10*time.Second, 3*fresh.MovingShade),
	}
}

// timed reports whether a motion is one of a shade whose way is timed.
func (m *motor) timed(motion appliance.Motion) bool {
	return m != nil && motion != appliance.Stop && !m.channel.PositionMeasured
}

func (e ForShade) step(s *State) {
	if m := s.motors[e.Shade]; m != nil {
		s.hand(m, s.now, e.Event)
	}
}

func (e Retune) step(s *State) {
	if m := s.motors[e.Shade.ID]; m != nil {
		m.shade = e.Shade
		s.hand(m, s.now, shade.Configure{Settings: m.settings(e.Shade, s.wiring.Config.Freshness)})
	}
}

func (e Watch) step(s *State) {
	if m := s.motors[e.Shade]; m != nil {
		m.often = e.Often
	}
}

// TakeOver brings the shades of the bus that had them before.
type TakeOver struct{ Shades map[appliance.ID]shade.State }

func (e TakeOver) step(s *State) {
	for _, m := range s.order {
		was, ok := e.Shades[m.shade.ID]
		if !ok {
			continue
		}
		settings := m.state.Settings
		m.state = was
		m.state.Down = false
		s.hand(m, s.now, shade.Configure{Settings: settings})
	}
}

// Shades is what is known of the shades.
func (s *State) Shades() map[appliance.ID]shade.State {
	out := map[appliance.ID]shade.State{}
	for id, m := range s.motors {
		out[id] = m.state
	}
	return out
}

// Rests reports whether nothing is under way with a shade.
func (s *State) Rests(id appliance.ID) bool {
	m := s.motors[id]
	return m == nil || m.state.Phase == shade.Idle
}

// hand hands a machine an event and carries out what it wants.
func (s *State) hand(m *motor, now time.Time, e shade.Event) {
	var actions []shade.Action
	m.state, actions = shade.Step(m.state, now, e)
	for _, a := range actions {
		s.act(m, now, a)
	}
	s.unconfirmed(m, ErrUnconfirmed)
	s.show(m)
}

// handAll hands all machines an event.
func (s *State) handAll(e shade.Event) {
	for _, m := range s.order {
		s.hand(m, s.now, e)
	}
}

// command gives a machine a command, and reports whether it is to be sent.
func (s *State) command(m *motor, of *member) bool {
	r := of.command
	c := shade.Command{
		Seq: r.ID, Kind: kindOf(of.target.Motion), Position: float64(of.target.Position), Accepted: r.Accepted, Expires: r.Ceiling, Holder: r.Holder,
	}
	var actions []shade.Action
	m.state, actions = shade.Step(m.state, s.now, c)
	sent := false
	for _, a := range actions {
		switch a := a.(type) {
		case shade.Join:
			s.join(m, of, a.Order)
		case shade.Refuse:
			s.fail(of, s.refusal(a.Why, of.target))
		case shade.Send:
			if a.Order.Command != c.Seq {
				s.act(m, s.now, a)
				continue
			}
			of.order, of.target.Values, sent = a.Order, valuesOf(a.Order), true
		default:
			s.act(m, s.now, a)
		}
	}
	s.unconfirmed(m, appliance.ErrSuperseded)
	s.show(m)
	return sent
}

// refusal tells people why a command is not carried out.
func (s *State) refusal(why error, target appliance.Want) error {
	switch {
	case errors.Is(why, shade.ErrDown):
		return s.link.down
	case errors.Is(why, shade.ErrExpired):
		return errTooLate
	case errors.Is(why, shade.ErrNoTravel):
		return fmt.Errorf("%w: go to %d %% without travel times; set them, until then only 0 and 100 can be reached", appliance.ErrUnable, target.Position)
	}
	return appliance.ErrSuperseded
}

// saw tells the machine what was read; asked is when the question was out.
func (s *State) saw(m *motor, r appliance.Reading, asked time.Time) {
	if asked.IsZero() {
		asked = r.At
	}
	s.hand(m, r.At, readOf(r, asked))
}

func readOf(r appliance.Reading, asked time.Time) shade.Read {
	motions := map[appliance.Motion]shade.Motion{appliance.Stopped: shade.Standing, appliance.Opening: shade.Opening, appliance.Closing: shade.Closing, appliance.Moving: shade.Moving}
	return shade.Read{
		Asked: asked, Motion: motions[r.Motion], Position: float64(r.Position), Place: r.Has.Has(appliance.CanPosition), Reached: r.Reached,
	}
}

// ticks lets the machines go on for which it is time.
func (s *State) ticks() {
	for _, m := range s.order {
		if at := m.state.Wake(); !at.IsZero() && !at.After(s.now) {
			s.hand(m, s.now, shade.Tick{})
		}
	}
}

// nextTick is when the first machine wants to go on, and nextStop when the first shade is
// to be stopped or sent on: the bus is kept free for that.
func (s *State) nextTick() (tick, stop time.Time) {
	for _, m := range s.order {
		if at := m.state.Wake(); !at.IsZero() && (tick.IsZero() || at.Before(tick)) {
			tick = at
		}
		if at := m.state.Due; m.state.Phase == shade.OnRoute && !at.IsZero() && (stop.IsZero() || at.Before(stop)) {
			stop = at
		}
	}
	return tick, stop
}

// show tells readers what is known of a shade.
func (s *State) show(m *motor) {
	s.do(Shade{ID: m.shade.ID, View: m.state.View(s.now), Unheard: m.state.Unheard()})
}

func kindOf(m appliance.Motion) shade.Kind {
	return cmp.Or(map[appliance.Motion]shade.Kind{appliance.Open: shade.Open, appliance.Close: shade.Close, appliance.Stop: shade.Stop}[m], shade.MoveTo)
}

// valuesOf are what an order wants.
func valuesOf(o shade.Order) appliance.Values {
	if o.Kind == shade.MoveTo {
		return appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: appliance.Position(o.Position)}
	}
	return appliance.Values{Has: appliance.CanMove, Motion: map[shade.Kind]appliance.Motion{shade.Open: appliance.Open, shade.Close: appliance.Close, shade.Stop: appliance.Stop}[o.Kind]}
}
