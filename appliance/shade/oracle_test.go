package shade

import (
	"fmt"
	"math"
	"time"
)

// oracle knows what is true, and judges every step.
type oracle struct {
	w         *world
	wrong     string
	excused   bool      // what runs was given up, or began before a crash
	stopped   bool      // a stop, or a change of direction, forbids runs of our own until a command comes
	wallAt    time.Time // when somebody last pressed the switch
	wallSeen  bool      // it was read, beyond doubt, that somebody else moves the shade
	newest    uint64    // command that was carried out, since the program began
	stopAt    time.Time // when the last STOP of a person was carried out
	confirmed map[uint64]bool
	refused   map[uint64]bool
	stoppedBy bool             // a hand at the wall stopped the shade, which nobody has read yet
	runs      map[uint64]began // the run that was to prove what an order wants
	looked    time.Time        // when a run was last asked about, of those that answered
	hidden    bool             // a hand at the wall moved the shade, and no reading fell into that time
}

func (o *oracle) fail(format string, args ...any) {
	if o.wrong == "" {
		o.wrong = fmt.Sprintf(format, args...)
	}
}

// frame judges what is about to be on the wire.
func (o *oracle) frame(f Order) {
	o.hidden, o.stoppedBy = o.hidden || o.stoppedBy, false
	if !f.Expires.IsZero() && o.w.now.After(f.Expires.Add(40*time.Millisecond)) {
		o.fail("order %d is on the wire after its expiry", f.ID)
	}
}

// stepped judges what a step did.
func (o *oracle) stepped(before State, e Event, actions []Action) {
	w, d := o.w, &o.w.device
	if err := w.state.Check(); err != nil {
		o.fail("invariant: %v", err)
	}
	switch e := e.(type) {
	case Sent:
		d.ordered[e.Order.Kind.dir()+1] = w.now
	case Command:
		o.wallSeen = false
		if !refusedIn(actions) {
			o.stopped = e.Kind == Stop
			o.taken(e)
		} else if e.Kind == Stop && w.state.Last.Seq == e.Seq && before.Phase != OnRoute && before.Phase != Asked {
			o.stopped = true
		}
		o.refused[e.Seq] = refusedIn(actions)
	case Configure:
		o.stopped = o.stopped || e.Settings.Inverted != before.Settings.Inverted
		o.wallSeen = false
	case Halt, Quit, Release:
		o.wallSeen = false
	case Read:
		if before.Phase == OnRoute && before.Order.run() {
			o.looked = e.Asked
		}
		o.sawWall(before, e)
		if d.wall && e.Motion == motionOf(d.on) && d.on != 0 {
			o.hidden = o.hidden || !d.seen && before.Pose.Dir == d.on // it is taken to obey a frame
			d.seen = true
		}
		if e.Motion == Standing && e.Asked.After(o.wallAt.Add(o.w.line.lag)) {
			// One that is taken to have arrived, and stands, is no surprise.
			was := before.Pose
			was.advance(&before.Settings, w.now)
			o.hidden = o.hidden || o.stoppedBy && was.Dir == 0
			o.stoppedBy = false
		}
		d.move(w.now)
		if v := w.state.View(w.now); o.hidden && (v.Source == 0 || v.Uncertainty == 0 && math.Abs(v.Position-d.place) <= slack) {
			o.hidden = false
		}
	}
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			if a.Order.run() {
				run := began{a.Order.Kind.dir(), w.now}
				o.runs[a.Order.ID], o.runs[a.Order.Confirms] = run, run
			}
			o.sends(before, a.Order)
		case Confirm:
			o.confirmed[a.Order], o.confirmed[a.Also] = true, true
			o.confirms(before, a, e)
			o.ran(before, a)
		case GiveUp:
			o.excused = true
		}
	}
	if (d.on != 0 || d.pending != 0) && d.must && !d.wall && w.state.Phase == Idle && !o.excused {
		o.fail("the motor runs, and nobody will stop it")
	}
	if d.on == 0 && d.pending == 0 {
		o.excused = false
	}
}

// taken judges a command that is carried out.
func (o *oracle) taken(c Command) {
	switch {
	case c.Seq < o.newest:
		o.fail("command %d is carried out after %d", c.Seq, o.newest)
	case c.Kind != Stop && !o.stopAt.IsZero() && c.Accepted.Sub(o.stopAt) <= 20*time.Millisecond:
		o.fail("command %d is carried out %v after STOP", c.Seq, c.Accepted.Sub(o.stopAt))
	}
	o.newest = c.Seq
	if c.Kind == Stop && c.Holder == 0 {
		o.stopAt = c.Accepted
	}
}

// sends judges an order.
func (o *oracle) sends(before State, f Order) {
	w, d := o.w, &o.w.device
	own := f.Command == 0
	switch {
	case own && f.run() && o.stopped:
		o.fail("run %d begins after a stop or a turn", f.ID)
	case own && f.run() && w.now.Sub(before.Order.AckAt) > before.Settings.ReverseDelay+lateMost+50*time.Millisecond:
		o.fail("run %d begins more than a second late", f.ID)
	case own && f.run() && d.on != 0 && !d.wall:
		o.fail("run %d begins while a relay is on", f.ID)
	case f.Releases && d.on != 0 && !o.hidden && d.place > slack && d.place < 100-slack:
		o.fail("a relay is released, and the shade is at %.1f", d.place)
	case f.Releases:
	case own && f.Kind == Stop && o.wallSeen:
		o.fail("stop %d fights the wall", f.ID)
	}
}

// confirms judges a confirmation: what was wanted was so at some moment since the reading
// that proves it could have been true.
func (o *oracle) confirms(before State, c Confirm, e Event) {
	r, ok := e.(Read)
	if !ok {
		o.fail("order %d is confirmed by %T", c.Order, e)
		return
	}
	d := &o.w.device
	want := before.Order.Kind.dir()
	was := func(on int) bool {
		if told := r.Asked.Add(-o.w.line.lag); d.shownAt(told) == on || d.shownAt(told.Add(-1)) == on {
			return true
		}
		for _, h := range d.history {
			if h.on == on && h.at.After(r.Asked.Add(-o.w.line.lag)) {
				return true
			}
		}
		return false
	}
	switch {
	case d.measures && before.Order.Kind != Stop:
		d.must = d.must && before.Order.Ends != ByItself
		goal := map[Kind]float64{Open: 100, Close: 0, MoveTo: before.Order.Position}[before.Order.Kind]
		ran := d.shownAt(r.Asked.Add(-o.w.line.lag)) != 0 && !r.Asked.Add(-o.w.line.lag).Before(before.Order.SentAt)
		// One that somebody moves at the wall looks as if it stood, as long as it is where it stood.
		hidden := r.Position == before.Pose.From && asked(r, o.wallAt) < time.Minute
		if !ran && !hidden && math.Abs(goal-d.place) > 1 && o.wallAt.Before(before.Order.SentAt.Add(-usualLag)) {
			o.fail("order %d is confirmed, and the motor, at %.0f instead of %.0f, was not read running since", c.Order, d.place, goal)
		}
	case !was(want):
		o.fail("order %d is confirmed, and the relay is %+d", c.Order, d.on)
	case want != 0 && before.Order.Ends == ByItself:
		d.must = false // whichever frame it runs on, it is to run to its end
	case want == 0 && d.on != 0 && d.must && !d.wall && !o.w.wallSince(before.Order.SentAt):
		o.fail("stop %d is confirmed, and the motor runs", c.Order)
	}
}

// began is a run that was sent at a moment.
type began struct {
	dir int
	at  time.Time
}

// ran judges that an earlier order is confirmed with this one: the relay of the run that it
// wanted was on, or the run was too short for anybody to tell.
func (o *oracle) ran(before State, c Confirm) {
	d, run := &o.w.device, o.runs[c.Also]
	if c.Also == 0 {
		return
	}
	on := d.shownAt(run.at) == run.dir
	for _, h := range d.history {
		on = on || h.on == run.dir && !h.at.Before(run.at)
	}
	if late := run.at.Add(time.Second + before.Settings.ReverseDelay); !on && (before.Order.run() || o.looked.After(late)) {
		o.fail("order %d is confirmed, and the relay %+d was never on", c.Also, run.dir)
	}
}

func (w *world) wallSince(at time.Time) bool { return !w.oracle.wallAt.Before(at) }

// sawWall notes that a reading can only mean that somebody presses the switch.
func (o *oracle) sawWall(before State, r Read) {
	d := &o.w.device
	if r.Motion == Standing && d.on == 0 && before.Phase == Idle {
		o.wallSeen = false
		return
	}
	if !d.wall || d.on == 0 || r.Motion.dir() != d.on || !r.Asked.After(o.wallAt.Add(o.w.line.lag)) {
		return
	}
	if before.MustStop == Up|Down || d.ordered[d.on+1].After(dawn) || r.Asked.Sub(before.Last.FrameAt) < 1500*time.Millisecond || before.Order.out() {
		return
	}
	o.wallSeen = true
}

func refusedIn(actions []Action) bool {
	for _, a := range actions {
		if _, ok := a.(Refuse); ok {
			return true
		}
	}
	return false
}

// atPeace judges the world after two calm minutes.
func (o *oracle) atPeace() {
	w, d := o.w, &o.w.device
	d.move(w.now)
	v := w.state.View(w.now)
	switch {
	case w.state.Phase != Idle:
		o.fail("not idle after two calm minutes: %s", describe(w.state, nil))
	case d.on != 0 && d.must && !o.excused:
		o.fail("the motor runs after two calm minutes")
	case v.Source != 0 && !o.hidden && math.Abs(v.Position-d.place) > v.Uncertainty+slack:
		o.fail("shown at %.1f, give or take %.0f; it is at %.1f", v.Position, v.Uncertainty, d.place)
	case v.Motion.running() && d.on == 0:
		o.fail("shown %v, and it stands", v.Motion)
	}
}

// slack is how far off the estimate may be by what it does not know of: dead times, and
// frames that take their time, in percent points.
const slack = 4
