package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// rig is a bus of lamps and of shades behind relays, on a clock of its own: it hands the
// engine what happens and carries out what that wants, without a goroutine.
type rig struct {
	t       *testing.T
	s       *State
	now     time.Time
	airtime time.Duration
	timeout time.Duration
	late    time.Duration
	port    string
	down    error
	polls   []appliance.Poll
	block   bool // all lamps hang off one device, which tells of all at once when it is polled

	things []*thing
	plans  []happening // to come, in order
	frames []sentFrame
	last   uint64 // command
	begun  map[uint64]time.Time
	ended  map[uint64][]Ended
	jobs   map[uint64]Answered
	said   []Log
	online map[appliance.ID]bool
	carry  func(Action)                             // what else is wanted; nil: nothing is
	plan   func([]appliance.Want) []appliance.Chain // nil: each by itself
}

// thing is a lamp, or a shade behind its relays.
type thing struct {
	node   appliance.ID
	shade  appliance.ID // 0: a lamp
	level  appliance.Level
	motion appliance.Motion // of the relays
	steps  int              // frames that it takes to tell it something; 0: one
	// answers says what becomes of a frame: whether it is obeyed, and what is answered,
	// after which time beyond the airtime. nil: all is well.
	answers func(write bool) (obeyed bool, after time.Duration, err error)
	tells   *appliance.Reading // what it is read to have, whatever it was ordered; nil: the truth
}

type happening struct {
	at time.Time
	do func()
}

type sentFrame struct {
	at    time.Time
	node  appliance.ID
	write bool
	want  appliance.Want
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newRig makes a bus of lamps, nodes from 1, and of shades 5001 and up on nodes from 101.
func newRig(t *testing.T, lamps, shades int) *rig {
	r := &rig{
		t: t, s: New(), now: noon, airtime: 20 * time.Millisecond, timeout: 200 * time.Millisecond, port: "/dev/ttyS0",
		begun: map[uint64]time.Time{}, ended: map[uint64][]Ended{}, jobs: map[uint64]Answered{}, online: map[appliance.ID]bool{},
	}
	for i := range lamps {
		r.things = append(r.things, &thing{node: appliance.ID(i + 1)})
	}
	for i := range shades {
		r.things = append(r.things, &thing{node: appliance.ID(101 + i), shade: appliance.ID(5001 + i), motion: appliance.Stopped})
	}
	return r
}

// begin configures the bus and lets it come to rest.
func (r *rig) begin() *rig {
	r.take(Configure{Wiring: r.wiring(), Afresh: true})
	r.run(20 * time.Second)
	r.frames = nil
	return r
}

// wiring is what is made of the things.
func (r *rig) wiring() *Wiring {
	w := &Wiring{Config: appliance.BusConfig{Bus: appliance.Bus{Name: "rig", Port: r.port}}, Opened: appliance.Opened{
		Driver: r, Device: map[appliance.ID]string{}, Channels: map[appliance.ID][]appliance.Channel{}, Shades: map[appliance.ID]appliance.Channel{},
	}}
	for _, th := range r.things {
		w.Config.Nodes = append(w.Config.Nodes, appliance.Node{ID: th.node, Address: fmt.Sprint(th.node)})
		w.Opened.Device[th.node] = r.device(th)
		w.Opened.Channels[th.node] = nil
		if th.shade != 0 {
			w.Config.Shades = append(w.Config.Shades, appliance.Shade{ID: th.shade, Node: th.node, Output: 1, TravelUp: 20 * time.Second, TravelDown: 20 * time.Second})
			w.Opened.Shades[th.shade] = appliance.Channel{Abilities: appliance.CanMove}
			continue
		}
		w.Opened.Channels[th.node] = []appliance.Channel{{Abilities: appliance.CanDim | appliance.CanSwitch}}
	}
	return w
}

func (r *rig) take(e Event) (task *Perform, wake time.Time) {
	ended := false
	for _, a := range r.s.Step(r.now, e) {
		_, outcome := a.(Ended)
		if ended = ended || outcome; ended != outcome {
			r.t.Errorf("%T comes behind an outcome: who is told of that does not see it yet", a)
		}
		switch a := a.(type) {
		case Perform:
			task = &a
		case Wake:
			wake = a.At
		case Begin:
			r.begun[a.ID] = r.now
		case Ended:
			r.ended[a.Command] = append(r.ended[a.Command], a)
		case Answered:
			r.jobs[a.Job] = a
		case Log:
			r.said = append(r.said, a)
		case Standing:
			for _, id := range a.Nodes {
				r.online[id] = a.Online
			}
		default:
			if r.carry != nil {
				r.carry(a)
			}
		}
	}
	return task, wake
}

// run lets time go by.
func (r *rig) run(d time.Duration) {
	for until := r.now.Add(d); r.now.Before(until); {
		for len(r.plans) > 0 && !r.plans[0].at.After(r.now) {
			do := r.plans[0].do
			r.plans = r.plans[1:]
			do()
		}
		task, wake := r.take(Look{Down: r.down})
		if task != nil {
			began := r.now
			res, err := task.Exchange.Do(r.t.Context(), appliance.Yield{})
			if cut := r.givesWay(task, began); errors.Is(err, appliance.ErrSilent) && cut.Before(r.now) {
				r.now, err = later(cut, res.Sent), appliance.ErrPreempted
			}
			r.take(Over{Task: task.Task, Result: res, Err: err, Began: began})
			continue
		}
		next := earlier(until, wake)
		if len(r.plans) > 0 {
			next = earlier(next, r.plans[0].at)
		}
		r.now = later(next, r.now.Add(time.Millisecond))
	}
}

// givesWay is when an exchange that waits for an answer ends for something more urgent.
func (r *rig) givesWay(task *Perform, began time.Time) time.Time {
	cut := r.now
	if task.Patience > 0 {
		cut = earlier(cut, began.Add(task.Patience))
	}
	if task.Answer && len(r.plans) > 0 {
		cut = earlier(cut, later(began, r.plans[0].at))
	}
	return cut
}

// after plans something.
func (r *rig) after(d time.Duration, do func()) {
	r.plans = append(r.plans, happening{r.now.Add(d), do})
	slices.SortStableFunc(r.plans, func(a, b happening) int { return a.at.Compare(b.at) })
}

// command gives a command for some things, and returns its number.
func (r *rig) command(v appliance.Values, things ...*thing) uint64 {
	r.last++
	c := Command{ID: r.last, Accepted: r.now, Ceiling: r.now.Add(CommandMost), Single: len(things) == 1}
	for i, th := range things {
		c.Wants, c.Places = append(c.Wants, appliance.Want{Ref: th.ref(), Values: v}), append(c.Places, i)
	}
	r.begun[c.ID] = r.now
	r.take(c)
	return c.ID
}

// outcome of a command for one thing; an error for whoever cannot be told.
func (r *rig) outcome(command uint64) (Outcome, error) {
	if all := r.ended[command]; len(all) == 1 {
		return all[0].Outcome, all[0].Why
	}
	return Open, fmt.Errorf("%d outcomes", len(r.ended[command]))
}

func dim(l appliance.Level) appliance.Values {
	return appliance.Values{Has: appliance.CanDim | appliance.CanSwitch, Level: l}
}

func motion(m appliance.Motion) appliance.Values {
	return appliance.Values{Has: appliance.CanMove, Motion: m}
}

func (th *thing) ref() appliance.Ref {
	if th.shade != 0 {
		return appliance.Ref{Shade: th.shade}
	}
	return appliance.Ref{Node: th.node, Channel: 1}
}

func (r *rig) device(th *thing) string {
	if r.block {
		return "block"
	}
	return fmt.Sprint(th.node)
}

func (r *rig) exchange(th *thing, want *appliance.Want) appliance.Exchange {
	return appliance.Exchange{
		Device: r.device(th), Airtime: r.airtime, Worst: r.airtime + r.timeout, Late: r.late, Refs: []appliance.Ref{th.ref()},
		Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			obeyed, after, err := true, time.Duration(0), error(nil)
			if th.answers != nil {
				obeyed, after, err = th.answers(want != nil)
			}
			f := sentFrame{at: r.now, node: th.node, write: want != nil}
			if want != nil {
				f.want = *want
			}
			r.frames = append(r.frames, f)
			r.now = r.now.Add(r.airtime / 2)
			res := appliance.Result{Sent: r.now}
			if want != nil && obeyed {
				th.obey(*want)
			}
			r.now = r.now.Add(r.airtime/2 + after)
			if err == nil && want == nil {
				res.Readings = []appliance.Reading{th.read(r.now)}
			}
			return res, err
		},
	}
}

func (th *thing) obey(w appliance.Want) {
	th.level = w.Level
	if th.shade != 0 {
		th.motion = map[appliance.Motion]appliance.Motion{appliance.Open: appliance.Opening, appliance.Close: appliance.Closing, appliance.Stop: appliance.Stopped}[w.Motion]
	}
}

func (th *thing) read(at time.Time) appliance.Reading {
	if th.tells != nil {
		r := *th.tells
		r.Ref, r.At = th.ref(), at
		return r
	}
	if th.shade != 0 {
		return appliance.Reading{Ref: th.ref(), Values: motion(th.motion), At: at}
	}
	return appliance.Reading{Ref: th.ref(), Values: dim(th.level), At: at}
}

// What a driver has to do.

func (r *rig) Run(context.Context) error { return nil }
func (r *rig) Plan(wants []appliance.Want) []appliance.Chain {
	if r.plan != nil {
		return r.plan(wants)
	}
	return r.Repair(wants)
}
func (r *rig) Repair(wants []appliance.Want) (out []appliance.Chain) {
	for _, w := range wants {
		th := r.things[slices.IndexFunc(r.things, func(th *thing) bool { return th.ref() == w.Ref })]
		steps := slices.Repeat([]appliance.Exchange{r.exchange(th, &w)}, max(1, th.steps))
		out = append(out, appliance.Chain{Wants: []appliance.Want{w}, Steps: steps, Verify: []appliance.Exchange{r.exchange(th, nil)}})
	}
	return out
}

func (r *rig) Polls() (out []appliance.Poll) {
	if r.block {
		return r.polls
	}
	for _, th := range r.things {
		class := appliance.ClassLight
		if th.shade != 0 {
			class = appliance.ClassShade
		}
		out = append(out, appliance.Poll{Exchange: r.exchange(th, nil), Class: class})
	}
	return out
}

// silent is a thing that hears nothing, and is waited for as long as the time-out.
func (r *rig) silent(bool) (bool, time.Duration, error) { return false, r.timeout, appliance.ErrSilent }

// The same events bring the same actions.
func TestTheEngineIsDeterministic(t *testing.T) {
	tell := func() string {
		r := newRig(t, 8, 4).begin()
		r.things[2].answers = r.silent
		for i, th := range r.things {
			v := dim(appliance.Level(10 + i))
			if th.shade != 0 {
				v = motion(appliance.Open)
			}
			r.after(time.Duration(i)*30*time.Millisecond, func() { r.command(v, th) })
		}
		r.run(40 * time.Second)
		return fmt.Sprint(r.frames, r.ended, r.said)
	}
	first := tell()
	for range 5 {
		if again := tell(); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}
