package shade

import (
	"cmp"
	"time"
)

func (e Sent) step(m *machine) {
	o := e.Order
	if m.Order.out() && m.Order.ID == o.ID {
		m.Order.Stage, m.Order.SentAt, m.Order.Denied = max(m.Order.Stage, StageSent), m.now, false
		switch {
		case e.Group && m.Pose.Proven:
			m.Order.Frame = GroupFromRest
		case e.Group:
			m.Order.Frame = GroupUnproven
		case m.Pose.Proven:
			m.Order.Frame = Unicast
		default:
			m.Order.Frame = UnicastUnproven
		}
	}
	if m.Last.Frame != 0 && (m.Last.Frame != o.Kind || m.Last.Position != o.Position) {
		m.Last.Changed = m.Last.FrameAt
	}
	m.Last.Frame, m.Last.Position, m.Last.FrameAt = o.Kind, o.Position, m.now
	m.Pose.frame(o.Kind, m.now)
	if !o.run() || o.Ends == ByItself && m.MustStop == 0 {
		return
	}
	m.MustStop |= o.dirs()
	if m.Phase == Idle {
		m.wrong() // it was cancelled while its frame was under way
	}
}

func (e Ack) step(m *machine) {
	o := &m.Order
	if o.ID != e.Order || o.Stage < StageSent || o.Stage == StageEnded {
		return
	}
	o.Stage, o.AckAt = max(o.Stage, StageAcknowledged), m.now
	m.Pose.acknowledged(&m.Settings, o.Kind, o.SentAt, m.Last.Changed)
	if o.run() {
		m.Holds = o.dirs()
	}
	switch {
	case o.Kind == Stop:
		m.Due = m.now.Add(m.Settings.ReverseDelay)
	case o.Ends == ByRoute:
		m.Phase, m.Due = OnRoute, m.Pose.Since.Add(o.Lasts)
	}
	if m.Settings.Unreadable && o.out() {
		m.Pose.Seen, m.Pose.SeenAt = true, m.now
		m.obeyed()
	}
}

// obeyed goes on after an order that was proven to be carried out.
func (m *machine) obeyed() {
	o := m.Order
	switch {
	case o.Kind != Stop || m.Phase != Asked || m.there():
	case m.Route.Ahead:
		m.makeRoom()
		return
	case m.Route.Ended && o.Command != 0:
		m.free(ErrExpired) // it stands, which is not what was wanted
		return
	}
	m.confirm()
	switch {
	case o.Ends == ByItself: // every stop, too
		m.MustStop, m.Phase, m.Route, m.Due = 0, Idle, Route{}, time.Time{}
	case o.Ends == ByHolder:
		m.MustStop, m.Phase = o.dirs(), OnRoute
	default:
		m.MustStop = o.dirs()
	}
}

// makeRoom pauses after a stop that the next run waits for. The first of a way is that of a
// command, which only the run confirms; those at an end are our own.
func (m *machine) makeRoom() {
	if m.Order.out() && m.Order.Command != 0 {
		m.Route.Confirms = m.Order.ID
		m.do(Keep{m.Order.ID})
		m.Order.Stage = StageRead
	} else {
		m.confirm()
	}
	m.MustStop, m.Phase = 0, OnRoute
}

// endRoute lets a way end with its next stop.
func (m *machine) endRoute() { m.Route = Route{Goal: m.Route.Goal, Ended: m.Route.Ahead} }

// stopAgain is between two tries to stop a shade that nobody else would stop.
const stopAgain = 500 * time.Millisecond

func (e Failed) step(m *machine) {
	if !m.Order.out() || m.Order.ID != e.Order {
		return
	}
	m.Order.Stage = StageEnded
	if m.Order.Releases {
		m.Unreleased = m.now
	}
	switch {
	case m.Phase == Stopping:
		m.Due = m.now.Add(stopAgain)
	case m.Phase == OnRoute && e.Unread: // it is stopped at its goal
	default:
		m.wrong()
	}
}

func (Tick) step(m *machine) {
	if m.Pose.due(&m.Settings, m.now) {
		m.Pose.LookedAt = m.now
		m.do(ReadNow{})
	}
	over := !m.Due.IsZero() && !m.now.Before(m.Due)
	late := m.now.Sub(m.Due)
	switch m.Phase {
	case Idle:
		if at := m.release(); !at.IsZero() && !m.now.Before(at) {
			m.sendRelease()
		}
	case Asked:
		if m.Route.Ahead && m.Order.Kind == Stop && over && late >= lateMost {
			m.endRoute()
		}
	case OnRoute:
		switch {
		case !over:
		case m.Order.run():
			m.endRun()
		case late > lateMost:
			m.do(Log{"left where it is: the bus could not send it on in time"})
			m.free(ErrExpired)
		default:
			m.goOn()
		}
	case Stopping:
		switch {
		case m.now.Sub(m.Stopping) >= stopFor:
			m.do(GiveUp{})
			m.free(ErrExpired)
		case over && !m.Order.out():
			m.sendStop()
		}
	}
}

// endRun stops a run that is due. Of one that was never read, the command goes over to
// its stop: it was shorter than its reading.
func (m *machine) endRun() {
	stop := Order{Kind: Stop, Expires: m.now.Add(stopFor)}
	switch o := m.Order; {
	case o.out() && o.Denied:
		m.do(Cancel{cmp.Or(o.Confirms, o.ID), ErrStill})
	case o.out():
		stop.Confirms = cmp.Or(o.Confirms, o.ID)
	}
	m.Phase = Asked // a route that is stopped late does not go on
	m.send(stop)
}

// goOn begins the next run after a pause.
func (m *machine) goOn() {
	due := m.Due
	run, ok := m.nextRun()
	if !ok {
		m.free(ErrWrong)
		return
	}
	run.Confirms = m.Route.Confirms
	run.Expires = due.Add(lateMost)
	if late := m.Order.Expires; run.Confirms != 0 && !late.IsZero() && late.Before(run.Expires) {
		run.Expires = late // it begins what somebody wanted by then
	}
	m.Route.Confirms = 0
	m.Phase, m.Due = Asked, time.Time{}
	m.send(run)
}

func (Lost) step(m *machine) { m.Down = true }

func (Back) step(m *machine) {
	m.Down = false
	if m.Phase == Stopping && !m.Order.out() {
		m.sendStop()
	}
}
