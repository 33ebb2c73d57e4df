package shade

import "time"

// Step takes what happened at a moment.
func Step(s State, at time.Time, e Event) (State, []Action) {
	m := &machine{State: s, now: at}
	moved := m.Pose.moving()
	m.Pose.advance(&m.Settings, at)
	e.step(m)
	if moved && m.Pose.Motion == Standing && m.Phase != OnRoute {
		m.do(ReadNow{})
	}
	return m.State, m.actions
}

// machine is one step under way.
type machine struct {
	State
	now     time.Time
	actions []Action
}

func (m *machine) do(a Action) { m.actions = append(m.actions, a) }

// send hands an order to the engine.
func (m *machine) send(o Order) {
	m.Last.Order++
	o.ID, o.Stage = m.Last.Order, StageWaiting
	m.Order = o
	m.do(Send{Order: o})
}

// stopFor is how long a stop that is our own is worth sending.
const stopFor = time.Minute

// sendStop stops what nobody else would.
func (m *machine) sendStop() {
	m.Due = time.Time{}
	m.send(Order{Kind: Stop, Expires: m.Stopping.Add(stopFor)})
}

// wrong gives up what is under way: what only we would stop is stopped now.
func (m *machine) wrong() {
	m.rest(ErrWrong)
	if m.MustStop == 0 {
		return
	}
	m.Phase, m.Stopping = Stopping, m.now
	m.sendStop()
}

// rest gives up what is under way and leaves the shade as it is.
func (m *machine) rest(why error) {
	if m.Order.out() {
		m.do(Cancel{m.Order.ID, why})
		m.Order.Stage = StageEnded
	}
	if m.Route.Confirms != 0 {
		m.do(Cancel{m.Route.Confirms, why})
	}
	m.Phase, m.Route, m.Due, m.Holder = Idle, Route{}, time.Time{}, 0
}

// free leaves a shade alone that does nothing which we would have to end.
func (m *machine) free(why error) {
	m.MustStop = 0
	m.rest(why)
}

// confirm tells that the order was obeyed, unless it has ended.
func (m *machine) confirm() {
	if m.Order.out() {
		m.do(Confirm{m.Order.ID, m.Order.Confirms})
	}
	m.Order.Stage = StageRead
}

// held reports whether a run is under way that only a calibration would end.
func (m *machine) held() bool {
	return m.Order.Ends == ByHolder && (m.Phase == Asked || m.Phase == OnRoute)
}
