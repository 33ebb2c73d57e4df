package sdn

import (
	"time"

	"svc.internal/controller/appliance"
)

// sighting is a node that told its address.
type sighting struct {
	kind  NodeType
	times int // since the count was last reset
	mixed bool
}

// overhear takes what came while nobody was asked, see [line.Config].
func (d *Driver) overhear(b []byte) int {
	f, n, ok := peel(b)
	switch {
	case ok:
		d.hear(f)
		return n
	case n == 0:
		n = lookAhead(b, d.concernsUs)
	}
	d.mu.Lock()
	d.strangers.noise += n
	d.mu.Unlock()
	return n
}

// concernsUs reports whether a frame comes from or goes to somebody we know.
func (d *Driver) concernsUs(f Frame) bool {
	return d.motor(f.Source) != nil || d.motor(f.Destination) != nil || f.Destination == d.options.host
}

// hear learns from frames that were not asked for: what motors tell other masters,
// and what other masters tell motors. It may be called from any goroutine.
func (d *Driver) hear(f Frame) {
	now := time.Now()
	m := d.motor(f.Source)
	switch {
	case f.ID == postNodeAddress:
		d.sight(f)
	case f.Destination == d.options.host && m != nil:
		d.noteTwin(m, now)
	case f.ID == postMotorPosition && m != nil:
		if p, ok := readPosition(f.Data); ok {
			d.tellCore(m.takePosition(p, now))
		}
	case f.ID == postMotorStatus && m != nil:
		if s, ok := readStatus(f.Data); ok {
			d.tellCore(m.takeStatus(s, now))
		}
	case f.Source == d.options.host:
		d.noteIntruder(f)
		d.follow(f, now)
	case f.ID.moves():
		d.follow(f, now)
	}
}

func (d *Driver) tellCore(r []appliance.Reading) {
	if len(r) > 0 {
		d.report(r)
	}
}

// sight remembers a node that told its address.
func (d *Driver) sight(f Frame) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.strangers.found[f.Source]
	if s == nil {
		if len(d.strangers.found) >= maxFound {
			return
		}
		s = &sighting{kind: f.From}
		d.strangers.found[f.Source] = s
	}
	s.mixed = s.mixed || s.kind != f.From
	s.times++
}

// maxFound bounds what a babbling bus can make us remember; a bus has 255 nodes at
// most.
const maxFound = 1024

// noteIntruder tells once that somebody else uses our address.
func (d *Driver) noteIntruder(f Frame) {
	d.mu.Lock()
	first := !d.strangers.intruder
	d.strangers.intruder = true
	d.mu.Unlock()
	if first {
		d.log.Warn("another master on the bus has the address of this controller, or the adapter echoes: change the bus option hostAddress, or set echo",
			"address", f.Source, "message", f.ID)
	}
}

// noteTwin handles an answer to us that nothing is asked for any more. It is late,
// which only happens after a failure, or comes from a second motor with the same
// address. Neither is news of the motor.
func (d *Driver) noteTwin(m *motor, now time.Time) {
	d.mu.Lock()
	suspect := !m.twin && now.Sub(m.missed) > answerMemory
	m.twin = m.twin || suspect
	d.mu.Unlock()
	if suspect {
		d.log.Warn("a question was answered twice: two motors have this address; scan the bus and take one off", "motor", m.key)
	}
}

// answerMemory is how long after a question without answer a late one is reckoned
// with.
const answerMemory = 2 * time.Second

// follow has the motors watched that somebody else sends on their way. Until they
// are proven still they count as moving.
func (d *Driver) follow(f Frame, now time.Time) {
	if !f.ID.moves() {
		return
	}
	stop := f.ID == ctrlStop
	var readings []appliance.Reading
	d.mu.Lock()
	if f.Destination == Nobody && !stop {
		d.noteGroup(f.Source, false, true)
	}
	for _, m := range d.addressed(f) {
		if stop {
			// Who is not moving does not begin to; who is, is watched already, and says
			// itself when it stands.
			if m.course.phase != resting {
				m.ordered(aim{stop: true, goal: -1}, now)
			}
			continue
		}
		m.ordered(aim{goal: -1}, now)
		readings = append(readings, m.readings(appliance.Values{Has: appliance.CanMove, Motion: appliance.Moving}, now)...)
	}
	d.mu.Unlock()
	d.tellCore(readings)
}

// addressed lists the motors of ours that a frame is for. Called with the driver's
// lock held.
func (d *Driver) addressed(f Frame) []*motor {
	switch {
	case f.Destination == Everybody:
		return d.site.all
	case f.Destination == Nobody && f.Source.IsGroup():
		var members []*motor
		for _, m := range d.site.all {
			if m.holds(f.Source) {
				members = append(members, m)
			}
		}
		return members
	case d.site.motors[f.Destination] != nil:
		return []*motor{d.site.motors[f.Destination]}
	}
	return nil
}
