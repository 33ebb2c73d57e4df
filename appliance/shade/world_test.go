package shade

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// world is a shade on its motor behind a line that errs, and the engine between it and
// the machine, in simulated time.
type world struct {
	rnd    *rand.Rand
	now    time.Time
	events eventQueue
	order  int

	state  State
	engine carrier
	line   conditions
	device actuator
	calm   bool
	oracle oracle
	seq    uint64
	epoch  int // of the settings: what was read before says something else
	log    []string
}

// conditions are what befalls exchanges, in percent, and what the device is like.
type conditions struct {
	requestLost, answerLost, refused, refusedObeyed, ignored, readLost int
	down                                                               bool
	busyUntil                                                          time.Time
	lag                                                                time.Duration // of the register behind the relay
}

// actuator is two relays and a motor, or a motor that measures its position.
type actuator struct {
	up, down     time.Duration // true travel
	dead         time.Duration // from relay to movement
	reverse      time.Duration
	cutsOff      bool // its relay releases some time after the end of the travel
	measures     bool
	place        float64
	at           time.Time // of place
	on           int       // relay
	onAt         time.Time
	ran          int
	ranUntil     time.Time
	pending      int // direction in which it will run after a pause
	pendingID    int
	goal         float64 // of a motor that measures
	sticks       bool
	must         bool // what it does has to be ended by us
	wall         bool // what it does was begun at the wall
	seen         bool // which was read
	history      []relayState
	ordered      [3]time.Time // when a frame last asked for down, stop, up
	unstickAfter int
}

// relayState is what the relay does from a moment on.
type relayState struct {
	at time.Time
	on int
}

type event struct {
	at    time.Time
	order int
	do    func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].order < q[j].order
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(e any)   { *q = append(*q, e.(event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.events, event{w.now.Add(d), w.order, do})
}

// runUntil lets time pass.
func (w *world) runUntil(until time.Time) {
	for len(w.events) > 0 && !w.events[0].at.After(until) {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
		if w.oracle.wrong != "" {
			return
		}
	}
	w.now = until
}

func (w *world) chance(percent int) bool { return !w.calm && w.rnd.IntN(100) < percent }

// between gives a time of so many milliseconds.
func (w *world) between(least, most int) time.Duration {
	return time.Duration(least+w.rnd.IntN(most-least+1)) * time.Millisecond
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%9.3f s  ", w.now.Sub(dawn).Seconds())+fmt.Sprintf(format, args...))
}

// newWorld makes a shade at rest, of which nothing is known.
func newWorld(seed uint64) *world {
	w := &world{rnd: rand.New(rand.NewPCG(seed, 18)), now: dawn}
	w.device = actuator{
		up: w.between(8000, 40_000), down: w.between(8000, 40_000), dead: w.between(0, 60),
		reverse: w.between(0, 2) * 300, cutsOff: w.rnd.IntN(2) == 0, measures: w.rnd.IntN(5) == 0,
		place: w.rnd.Float64() * 100, at: dawn, history: []relayState{{dawn.Add(-time.Hour), 0}},
	}
	if w.rnd.IntN(2) == 0 {
		w.line.lag = w.between(0, 200)
	}
	set := Settings{Measures: w.device.measures, TravelUp: w.device.up, TravelDown: w.device.down, ReverseDelay: w.device.reverse}
	if set.Measures && w.line.lag > 0 {
		set.Lag = usualLag
	}
	if !w.device.measures && w.rnd.IntN(12) == 0 {
		set.TravelUp, set.TravelDown = 0, 0
	}
	w.state = New(set, w.now)
	w.oracle.w = w
	w.poll()
	return w
}

// Physics.

// move brings the motor's place up to date.
func (d *actuator) move(now time.Time) {
	from := d.at
	if begins := d.onAt.Add(d.dead); begins.After(from) {
		from = begins
	}
	d.at = now
	if d.on == 0 || !now.After(from) {
		return
	}
	travel := d.down
	if d.on > 0 {
		travel = d.up
	}
	d.place += float64(d.on) * 100 * float64(now.Sub(from)) / float64(travel)
	d.place = math.Max(0, math.Min(100, d.place))
}

// relay switches; 0 is off.
func (w *world) relay(on int) {
	d := &w.device
	d.move(w.now)
	if d.on == on {
		return
	}
	if d.on != 0 {
		d.ran, d.ranUntil = d.on, w.now
		w.oracle.hidden = w.oracle.hidden || d.wall && !d.seen
	}
	d.on, d.onAt = on, w.now
	d.history = append(d.history, relayState{w.now, on})
	w.note("relay %+d at %.1f", on, d.place)
	if on != 0 {
		w.limit()
	} else {
		d.must, d.wall = d.must && d.pending != 0, d.wall && d.pending != 0
	}
}

// limit lets a motor that measures stop where it was sent, and a relay release after the
// end of the travel.
func (w *world) limit() {
	d := &w.device
	at, on := d.onAt, d.on
	switch {
	case d.measures:
		way, travel := math.Abs(d.goal-d.place), d.down
		if on > 0 {
			travel = d.up
		}
		w.after(d.dead+time.Duration(way/100*float64(travel)), func() {
			if d.onAt.Equal(at) && d.on == on {
				w.relay(0)
				d.place = math.Round(d.place)
			}
		})
	case d.cutsOff:
		w.after(max(d.up, d.down)*13/10, func() {
			if d.onAt.Equal(at) && d.on == on {
				w.relay(0)
			}
		})
	}
}

// obey does what a frame, or a switch, asks for.
func (w *world) obey(dir int, goal float64) (done bool) {
	d := &w.device
	d.move(w.now)
	d.pendingID++
	d.pending = 0
	if d.measures && goal >= 0 {
		dir = 0
		if d.goal = goal; math.Abs(goal-d.place) >= 0.5 {
			dir = map[bool]int{true: 1, false: -1}[goal > d.place]
		}
	}
	if d.on != 0 && d.on != dir {
		if d.sticks {
			w.note("relay sticks")
			return dir == 0 // an opposite relay is not switched on against it
		}
		w.relay(0)
	}
	if dir == 0 || d.on == dir {
		if d.on == dir && d.measures && dir != 0 {
			d.onAt = w.now.Add(-d.dead) // the way to the new goal is timed anew
			w.limit()
		}
		return true
	}
	wait := time.Duration(0)
	if d.ran == -dir {
		wait = max(0, d.ranUntil.Add(d.reverse).Sub(w.now))
	}
	if wait == 0 {
		w.relay(dir)
		return true
	}
	d.pending = dir
	id := d.pendingID
	w.after(wait, func() {
		if d.pendingID == id {
			d.pending = 0
			w.relay(dir)
		}
	})
	return true
}

// wall is somebody who presses the switch beside the shade.
func (w *world) wall(dir int) {
	d := &w.device
	if d.sticks {
		return
	}
	w.note("wall %+d", dir)
	goal := -1.0
	if d.measures && dir != 0 {
		goal = map[bool]float64{true: 100, false: 0}[dir > 0]
	}
	if dir == 0 && d.must {
		d.wall, d.seen = true, true
	}
	w.oracle.stoppedBy = w.oracle.stoppedBy || d.on != 0 && d.on != dir
	w.obey(dir, goal)
	d.must, d.wall, d.seen = false, d.on != 0 || d.pending != 0, false
	w.oracle.wallAt = w.now
}

// shownAt is what a register that lags shows.
func (d *actuator) shownAt(at time.Time) int {
	on := 0
	for _, h := range d.history {
		if h.at.After(at) {
			break
		}
		on = h.on
	}
	return on
}

// reading is what the device tells at a moment.
func (w *world) reading() Read {
	d := &w.device
	d.move(w.now)
	on := d.shownAt(w.now.Add(-w.line.lag))
	r := Read{Asked: w.now, Motion: motionOf(on)}
	if d.measures {
		r.Place, r.Position = true, math.Round(d.place)
	}
	return r
}
