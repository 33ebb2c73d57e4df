package shade

func (r Read) step(m *machine) {
	m.doubt(r)
	wanted, early, ran := m.wanted(r), m.early(r.Asked), m.ranItsWay(r)
	if ran {
		m.Pose.arrive(m.Pose.SeenAt)
		m.Pose.costs(runMargin)
	}
	m.look(r)
	if r.Motion == MotionUnknown && !wanted {
		return
	}
	proven := wanted && m.proves(r.Asked)
	switch m.Phase {
	case Asked:
		m.readAsked(r, proven)
	case OnRoute:
		m.readOnRoute(r, wanted || early, proven, ran)
	case Stopping:
		switch {
		case proven && !m.Order.AckAt.IsZero():
			m.obeyed()
			m.rest(nil)
		case r.Motion.running() && !m.ours(r):
			m.free(ErrWall)
		}
	}
}

// ranItsWay reports whether a shade stands that was read to run for as long as it takes from end to end, with nobody telling it
// anything meanwhile but to go on from there: its actuator has a time of its own, and ended the run.
func (m *machine) ranItsWay(r Read) bool {
	p := &m.Pose
	goesOn := m.Phase == OnRoute && m.Route.Ahead && m.Order.run() && m.Order.Stage == StageRead
	return (goesOn || m.Phase == Idle) && r.Motion == Standing && p.Dir != 0 && p.Seen && p.SeenAt.Sub(p.Since) >= m.Settings.takes(100, motionOf(p.Dir).dirs())
}

// readAsked takes a reading while an order is with the engine.
func (m *machine) readAsked(r Read, proven bool) {
	o := m.Order
	switch {
	case proven && o.Stage == StageAcknowledged:
		m.obeyed()
		m.arrived(r)
	case !r.Motion.running() || m.ours(r) || m.unreleased(r):
	case o.Kind == Stop && o.Command == 0:
		m.free(ErrWall)
	case o.Kind == Stop || o.Stage == StageWaiting:
		m.MustStop = 0
	}
}

// arrived: a run of a calibration that was read as wanted, and stands, is over.
func (m *machine) arrived(r Read) {
	if r.Motion == Standing && m.Phase == OnRoute && m.Order.run() && m.settled(r) {
		m.MustStop, m.Phase = 0, Idle // the calibration still has it
	}
}

// readOnRoute takes a reading on the way to a position, or of a run of a calibration.
func (m *machine) readOnRoute(r Read, asItMay, proven, ran bool) {
	switch {
	case ran:
		m.Due = m.now
	case !m.Order.run(): // it pauses
		if r.Motion.running() {
			m.free(ErrWall)
		}
	case proven:
		if m.Order.Stage != StageRead {
			m.obeyed()
		}
		if m.arrived(r); m.Route.Ahead && m.Pose.atEnd() {
			m.Due = m.now // it was on its way there, and need not run on
		}
	case asItMay:
		m.Order.Denied = m.Order.Denied || r.Motion != motionOf(m.Order.Kind.dir()) && m.shows(r.Asked)
	case m.Order.Stage == StageRead:
		m.free(ErrWall) // or it has arrived
	case r.Motion == Standing || m.ours(r):
		m.wrong() // it may only begin later
	default:
		m.free(ErrWall)
	}
}
