package shade

import "time"

const (
	// usualLag is how long after a frame a reading may tell of before. A guess: relays
	// whose register lags 150 ms were met.
	usualLag = 250 * time.Millisecond
	// beginsWithin is how long after its frame a motor may not have begun to move.
	beginsWithin = time.Second
)

func (s *Settings) lag() time.Duration {
	if s.Lag > 0 {
		return s.Lag
	}
	return usualLag
}

// proves reports whether a reading as wanted was asked for late enough: what the frame
// before wanted has been visible by then, if it was obeyed.
func (m *machine) proves(asked time.Time) bool {
	if asked.Before(m.Order.SentAt) {
		return false
	}
	return m.Last.Changed.IsZero() || !asked.Before(m.Last.Changed.Add(m.Settings.lag()+m.Settings.ReverseDelay))
}

// early reports whether a reading other than wanted says nothing yet.
func (m *machine) early(asked time.Time) bool {
	return asked.Before(m.begins().Add(beginsWithin)) || asked.Before(m.Last.FrameAt.Add(m.Settings.lag()))
}

// begins is when the actuator switches, if it obeys the order that was sent.
func (m *machine) begins() time.Time {
	if m.Pose.Since.After(m.Order.SentAt) {
		return m.Pose.Since // it waits before it turns round
	}
	return m.Order.SentAt
}

// shows reports whether a relay that obeyed its order had to be read so by a question.
func (m *machine) shows(asked time.Time) bool {
	return !asked.Before(m.begins().Add(m.Settings.lag()))
}

// Undecided reports whether a reading that does not confirm the order that is out may be
// followed by one that does, without another frame.
func (s State) Undecided(r Read) bool {
	m := machine{State: s}
	return m.Order.out() && (m.wanted(r) || m.Order.run() && m.early(r.Asked))
}

// ours reports whether a motor that is read running may do so on a frame of ours.
func (m *machine) ours(r Read) bool {
	if r.Motion.dirs()&m.MustStop != 0 {
		return true
	}
	told := m.Last.FrameAt
	if m.Last.Frame == Stop {
		told = m.Last.Changed // the order before: a stop moves nothing
	}
	return m.Order.out() && asked(r, told) < beginsWithin
}

// asked is how long after a moment a reading was asked for; ages if there was none.
func asked(r Read, after time.Time) time.Duration { return r.Asked.Sub(after) }

// wanted reports whether a reading is what the order wants.
func (m *machine) wanted(r Read) bool {
	o := m.Order
	if o.Kind == Stop {
		return r.Motion == Standing
	}
	if r.Motion == Standing && r.Reached && o.Frame.alone() && asked(r, o.SentAt) >= beginsWithin {
		return true
	}
	running := r.Motion.running() && m.began(r)
	place, known := m.place(r)
	switch o.Kind {
	case Open:
		return running && r.Motion.dirs()&Up != 0 || r.Motion == Standing && known && place >= 100
	case Close:
		return running && r.Motion.dirs()&Down != 0 || r.Motion == Standing && known && place <= 0
	}
	if known && place == o.Position {
		return true
	}
	towards := Up
	if known && place > o.Position {
		towards = Down
	}
	return running && (!known || r.Motion.dirs()&towards != 0)
}

// began reports whether a motor that is read running may be taken to do so on its order.
// One that may have been running before goes on as it did if it did not hear a group
// frame; if it was told alone and tells its position, it has to be read running since.
func (m *machine) began(r Read) bool {
	switch m.Order.Frame {
	case GroupUnproven:
		return false
	case UnicastUnproven:
		return !m.Settings.Measures || asked(r, m.Order.SentAt) >= usualLag
	}
	return true
}

// doubt takes note that a motor is read running elsewhere than it was last read to stand:
// it need not have stood when its order came.
func (m *machine) doubt(r Read) {
	if m.Order.Frame == Unicast && r.Motion.running() && r.Place && r.Position != m.Pose.From {
		m.Order.Frame = UnicastUnproven
	}
}

// place is where a motor that measures it was read to be since the last frame of the
// order, with this reading or before.
func (m *machine) place(r Read) (place float64, known bool) {
	if r.Place {
		return r.Position, true
	}
	return m.Pose.From, m.Settings.Measures && m.Pose.known() && !m.Pose.MeasuredAt.Before(m.Order.SentAt)
}
