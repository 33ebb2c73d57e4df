package shade

import (
	"math"
)

func (e Configure) step(m *machine) {
	was, is := m.Settings, e.Settings
	if was.TravelUp != is.TravelUp || was.TravelDown != is.TravelDown {
		m.rebase()
	}
	m.Settings = is
	if was.Inverted == is.Inverted {
		return
	}
	p := &m.Pose
	m.rebase()
	p.From, p.Dir, p.Ran = 100-p.From, -p.Dir, -p.Ran
	switch p.Motion {
	case Opening:
		p.Motion = Closing
	case Closing:
		p.Motion = Opening
	}
	m.MustStop, m.Holds = m.MustStop.mirrored(), m.Holds.mirrored()
	if m.Phase == Asked || m.Phase == OnRoute {
		m.wrong() // what is left of it means something else now
	}
}

// rebase makes the estimate start anew from where the shade is taken to be.
func (m *machine) rebase() {
	p := &m.Pose
	p.From = p.position(&m.Settings, m.now)
	if m.now.After(p.Since) { // a motor that is about to begin still is
		p.Since = m.now
	}
}

func (Halt) step(m *machine) {
	if m.Pose.moving() || m.MustStop != 0 || m.Order.out() && m.Order.Stage >= StageSent {
		m.MustStop = Up | Down
	}
	m.wrong()
}

func (Quit) step(m *machine) {
	if m.MustStop != 0 && m.Phase != Stopping {
		m.wrong()
	}
}

func (e Release) step(m *machine) {
	if m.Holder != e.Holder {
		return
	}
	if m.held() {
		m.wrong()
	}
	m.Holder = 0
}

func (e Stood) step(m *machine) {
	if m.Settings.Measures {
		return // it knows better itself
	}
	p := &m.Pose
	p.From, p.Since, p.Uncertainty, p.Restored = math.Max(0, math.Min(100, e.Position)), m.now, 0, false
	p.HeardAt = m.now
}

func (e Restored) step(m *machine) {
	p := &m.Pose
	p.From, p.Uncertainty, p.Restored = e.Position, e.Uncertainty, true
	p.HeardAt, p.MeasuredAt, p.MovedAt = e.At, e.At, e.At
	p.costs(perSurprise) // nobody watched since
}
