package shade

import "time"

// carrier is what an engine does for one shade: it tries, waits for answers, reads back
// after growing pauses and gives up.
type carrier struct {
	order  Order // with it; zero ID: none
	turn   int   // grows with every order, so that what belongs to an older one ends
	tries  int
	writes int
	looks  int
	polls  int
	wake   int
}

var readBackPauses = []time.Duration{0, 50, 100, 200, 400}

const timeout = 150 * time.Millisecond

// step hands the machine an event and carries out what it wants.
func (w *world) step(e Event) { w.stepAt(w.now, e) }

func (w *world) stepAt(at time.Time, e Event) {
	before := w.state
	var actions []Action
	w.state, actions = Step(w.state, at, e)
	v := w.state.View(at)
	w.note("%T%v: %s  (%.0f ± %.0f)", e, brief(e), describe(w.state, actions), v.Position, v.Uncertainty)
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			w.carry(a)
		case Cancel:
			if w.engine.order.ID == a.Order {
				w.engine.order = Order{}
				w.engine.turn++
			}
		case Confirm:
			if w.engine.order.ID == a.Order {
				w.engine.order = Order{}
				w.engine.turn++
			}
		case ReadNow:
			w.after(w.between(1, 40), w.readOnce)
		}
	}
	w.oracle.stepped(before, e, actions)
	w.arm()
}

// brief tells of an event what matters.
func brief(e Event) any {
	switch e := e.(type) {
	case Command:
		return []any{e.Seq, kindNames[e.Kind], int(e.Position), e.Holder}
	case Sent:
		return e.Order.ID
	case Read:
		return []any{e.Asked.Sub(dawn).Seconds(), e.Motion, int(e.Position)}
	}
	return e
}

// arm sets the clock for the machine's next Tick.
func (w *world) arm() {
	w.engine.wake++
	id := w.engine.wake
	if at := w.state.Wake(); !at.IsZero() {
		late := time.Duration(0)
		if w.chance(5) {
			late = w.between(0, 1500) // the bus has other things to do
		}
		w.after(max(0, at.Sub(w.now))+late, func() {
			if w.engine.wake == id {
				w.step(Tick{})
			}
		})
	}
}

// carry takes an order.
func (w *world) carry(s Send) {
	e := &w.engine
	e.order, e.tries, e.writes, e.looks = s.Order, 0, 0, 0
	e.turn++
	delay := w.between(0, 30)
	if w.chance(20) {
		delay = w.between(0, 400)
	}
	w.attempt(delay)
}

// attempt puts a frame on the wire.
func (w *world) attempt(delay time.Duration) {
	turn := w.engine.turn
	w.after(delay, func() {
		e := &w.engine
		switch {
		case e.turn != turn:
		case !e.order.Expires.IsZero() && !w.now.Before(e.order.Expires):
			w.giveUp(false)
		case w.line.down:
			if e.order.Kind != Stop {
				w.giveUp(false)
			} // else it goes when the bus is back
		case w.now.Before(w.line.busyUntil):
			w.attempt(w.line.busyUntil.Sub(w.now))
		default:
			w.frame()
		}
	})
}

func (w *world) giveUp(unread bool) {
	id := w.engine.order.ID
	w.engine.order = Order{}
	w.engine.turn++
	w.step(Failed{Order: id, Unread: unread})
}

// frame is one exchange that writes. What the machine does meanwhile comes to nothing for
// it: it is on the wire.
func (w *world) frame() {
	e := &w.engine
	o, turn := e.order, e.turn
	out := w.between(1, 40)
	w.line.busyUntil = w.now.Add(out + timeout)
	w.after(out, func() {
		if w.line.down {
			return
		}
		obeyed, answer := true, true
		refused := false
		switch {
		case w.chance(w.line.requestLost):
			obeyed, answer = false, false
		case w.chance(w.line.answerLost):
			answer = false
		case w.chance(w.line.refused):
			obeyed, refused = false, true
		case w.chance(w.line.refusedObeyed):
			refused = true
		case w.chance(w.line.ignored):
			obeyed = false
		}
		w.oracle.frame(o)
		if obeyed && !w.carryOut(o) {
			refused = true // it was read on between, though it was switched off
		}
		w.step(Sent{Order: o})
		wait := w.between(1, 30)
		if !answer {
			wait = timeout
		}
		w.line.busyUntil = w.now.Add(wait)
		w.after(wait, func() {
			switch {
			case e.turn != turn:
			case w.line.down:
			case refused:
				w.giveUp(false)
			case !answer:
				if e.tries++; e.tries < 3 {
					w.attempt(0)
				} else {
					w.giveUp(false)
				}
			default:
				e.tries, e.looks = 0, 0
				w.step(Ack{o.ID})
				w.lookBack(turn)
			}
		})
	})
}

// carryOut is the device that hears an order.
func (w *world) carryOut(o Order) bool {
	d := &w.device
	dir, goal := o.Kind.dir(), -1.0
	switch {
	case o.Kind == MoveTo:
		goal = o.Position
	case d.measures && dir > 0:
		goal = 100
	case d.measures && dir < 0:
		goal = 0
	}
	if d.sticks && d.on != 0 && dir != 0 && d.on != dir {
		w.note("relay sticks, the other stays off")
		return false
	}
	if !d.sticks || d.on == dir {
		w.oracle.hidden = w.oracle.hidden || d.wall && !d.seen && d.on != 0
		d.must, d.wall = o.Ends != ByItself, false
	}
	return w.obey(dir, goal)
}

// lookBack reads back what was written, after growing pauses.
func (w *world) lookBack(turn int) {
	e := &w.engine
	if e.turn != turn {
		return
	}
	pause := 200 * time.Millisecond
	if e.looks < len(readBackPauses) {
		pause = readBackPauses[e.looks] * time.Millisecond
	}
	w.after(pause, func() {
		switch {
		case e.turn != turn:
			return
		case w.now.Before(w.line.busyUntil):
			w.after(w.line.busyUntil.Sub(w.now), func() { w.lookBack(turn) })
			return
		case w.line.down:
			w.giveUp(true)
			return
		}
		r, ok := w.ask()
		epoch := w.epoch
		wait := w.between(1, 30)
		w.line.busyUntil = w.now.Add(wait)
		w.after(wait, func() {
			if e.turn != turn {
				if ok && w.epoch == epoch {
					w.step(r)
				}
				return
			}
			if !ok || w.epoch != epoch {
				if e.tries++; e.tries < 3 {
					w.lookBack(turn)
				} else {
					w.giveUp(true)
				}
				return
			}
			o := e.order
			e.tries = 0
			e.looks++
			w.step(r)
			if e.turn != turn {
				return
			}
			switch {
			case e.looks < len(readBackPauses) || w.state.Undecided(r) && e.looks < 15:
				w.lookBack(turn)
			case e.writes < 2 && (o.Kind == Stop || w.device.measures):
				e.writes++
				w.attempt(0)
			default:
				w.giveUp(false)
			}
		})
	})
}

// ask reads the device; ok is false if that comes to nothing.
func (w *world) ask() (r Read, ok bool) {
	if w.line.down || w.chance(w.line.readLost) {
		return r, false
	}
	return w.reading(), true
}

// readOnce is a poll out of turn.
func (w *world) readOnce() {
	if w.now.Before(w.line.busyUntil) {
		w.after(w.line.busyUntil.Sub(w.now), w.readOnce)
		return
	}
	if r, ok := w.ask(); ok {
		wait := w.between(1, 30)
		w.line.busyUntil = w.now.Add(wait)
		epoch := w.epoch
		w.after(wait, func() {
			if w.epoch == epoch {
				w.step(r)
			}
		})
	}
}

// poll reads the shade for ever, often while it moves.
func (w *world) poll() {
	w.engine.polls++
	id := w.engine.polls
	every := 15 * time.Second
	if w.state.View(w.now).Watch {
		every = time.Second
	}
	w.after(min(every, time.Second), func() { // looks every second whether it moves now
		if w.engine.polls != id {
			return
		}
		if every == time.Second || w.rnd.IntN(15) == 0 || w.state.View(w.now).Watch {
			w.readOnce()
		}
		w.poll()
	})
}
