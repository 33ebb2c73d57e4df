package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// together plans one frame for all, which nobody acknowledges by itself, and reads each back.
func (r *rig) together(fails func() error, acked bool) func([]appliance.Want) []appliance.Chain {
	return func(wants []appliance.Want) []appliance.Chain {
		one := appliance.Exchange{Airtime: r.airtime, Worst: r.airtime + r.timeout, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			r.frames = append(r.frames, sentFrame{at: r.now, write: true, want: wants[0]})
			res := appliance.Result{Sent: r.now.Add(r.airtime / 2)}
			r.now = r.now.Add(r.airtime)
			if err := fails(); err != nil {
				return res, err
			}
			for _, w := range wants {
				th := r.of(w.Ref)
				if obeyed, _, _ := th.hears(); obeyed {
					th.obey(w)
				}
			}
			return res, nil
		}}
		c := appliance.Chain{Wants: wants, Group: !acked, Steps: []appliance.Exchange{one}}
		for _, w := range wants {
			c.Verify = append(c.Verify, r.exchange(r.of(w.Ref), nil))
		}
		return []appliance.Chain{c}
	}
}

func (r *rig) of(ref appliance.Ref) *thing {
	return r.things[slices.IndexFunc(r.things, func(th *thing) bool { return th.ref() == ref })]
}

// hears asks a thing what it makes of a write.
func (th *thing) hears() (obeyed bool, after time.Duration, err error) {
	if th.answers == nil {
		return true, 0, nil
	}
	return th.answers(true)
}

func well() error { return nil }

// What confirms a command is what its chain says can: a read, an acknowledgement where nothing can be read, or nothing; and
// readers are told what is known by that, and no more.
func TestWhatConfirmsACommand(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(*appliance.Chain)
		as     Outcome
		source appliance.Source // of what is told before it is read
		expect bool
	}{
		{"reading", func(*appliance.Chain) {}, Confirmed, 0, true},
		{"its acknowledgement", func(c *appliance.Chain) { c.Verify = nil }, Accepted, appliance.Acknowledged, false},
		{"nothing, of what cannot tell", func(c *appliance.Chain) { c.Verify, c.Unverifiable = nil, true }, Unverifiable, appliance.Sent, false},
		{"nothing, of a group", func(c *appliance.Chain) { c.Verify, c.Group = nil, true }, Failed, 0, true},
	} {
		r := newRig(t, 1, 0).begin()
		r.plan = func(wants []appliance.Want) []appliance.Chain {
			chains := r.Repair(wants)
			row.change(&chains[0])
			return chains
		}
		var told []Learned
		var expected []Expect
		r.carry = func(a Action) {
			switch a := a.(type) {
			case Learned:
				if a.Source != appliance.Measured {
					told = append(told, a)
				}
			case Expect:
				expected = append(expected, a)
			}
		}
		id := r.command(dim(40), r.things[0])
		r.run(30 * time.Millisecond)
		if row.source != 0 && (len(told) != 1 || told[0].Source != row.source || told[0].Readings[0].Level != 40 || told[0].Readings[0].At.IsZero()) || row.source == 0 && len(told) > 0 {
			t.Errorf("%s: told %+v", row.what, told)
		}
		if row.expect != (len(expected) == 1 && expected[0].Level == 40) {
			t.Errorf("%s: expected %+v", row.what, expected)
		}
		r.run(time.Second)
		if as, why := r.outcome(id); as != row.as || as == Failed && !errors.Is(why, appliance.ErrSilent) {
			t.Errorf("%s: %v, %v; want %v", row.what, as, why, row.as)
		}
		if len(r.s.pieces) > 0 {
			t.Errorf("%s: something of it is left", row.what)
		}
	}
}

// A lamp that fades is confirmed at its end, though that takes longer than a command has by itself, and is not told again on its way.
func TestAFadeIsConfirmedAtItsEnd(t *testing.T) {
	for _, row := range []struct {
		fade, takes time.Duration
		as          Outcome
		writes      int
	}{
		{4 * time.Second, 3900 * time.Millisecond, Confirmed, 1},
		{400 * time.Millisecond, 300 * time.Millisecond, Confirmed, 1},
		{time.Second, time.Hour, Failed, 3},
	} {
		r := newRig(t, 1, 0).begin()
		w := r.wiring()
		w.Opened.Channels[1][0].Fade = row.fade
		r.take(Configure{Wiring: w})
		lamp := r.things[0]
		lamp.answers = func(write bool) (bool, time.Duration, error) {
			if write {
				r.after(row.takes, func() { lamp.level = 40 })
			}
			return false, 0, nil
		}
		began := r.now
		id := r.command(dim(40), lamp)
		for r.now.Sub(began) < 11*time.Second && len(r.ended[id]) == 0 {
			r.run(10 * time.Millisecond)
		}
		as, why := r.outcome(id)
		if as != row.as || r.writes(lamp) != row.writes {
			t.Errorf("fading %v: %v, %v, ordered %d times; want %v", row.fade, as, why, r.writes(lamp), row.as)
		}
		if took := r.now.Sub(began); as == Confirmed && (took < row.takes || took > row.fade+fadeLook+3*r.airtime) {
			t.Errorf("fading %v: confirmed after %v", row.fade, took)
		}
	}
}

// One frame to several: each is read back and repaired by itself, who is offline is not waited for, and if it is refused each is told alone.
func TestOneFrameToSeveral(t *testing.T) {
	for _, row := range []struct {
		what   string
		deaf   int // lamp; 0: none
		gone   int
		acked  bool
		fails  error
		frames int // that write
		as     [3]Outcome
	}{
		{what: "all hear it", frames: 1, as: [3]Outcome{Confirmed, Confirmed, Confirmed}},
		{what: "one is deaf to it", deaf: 2, frames: 2, as: [3]Outcome{Confirmed, Confirmed, Confirmed}},
		{what: "one is offline", gone: 3, frames: 1, as: [3]Outcome{Confirmed, Confirmed, LeftOut}},
		{what: "it is refused", fails: appliance.ErrRefused, acked: true, frames: 4, as: [3]Outcome{Confirmed, Confirmed, Confirmed}},
		{what: "the port does not take it", fails: appliance.ErrUnable, frames: 1, as: [3]Outcome{Failed, Failed, Failed}},
	} {
		r := newRig(t, 3, 0).begin()
		r.plan = r.together(func() error { return row.fails }, row.acked)
		if row.deaf > 0 {
			first := true
			r.things[row.deaf-1].answers = func(write bool) (bool, time.Duration, error) {
				heard := !write || !first
				first = first && !write
				return heard, 0, nil
			}
		}
		if row.gone > 0 {
			r.things[row.gone-1].answers = r.silent
			r.run(20 * time.Second)
		}
		r.frames = nil
		id := r.command(dim(40), r.things...)
		r.run(3 * time.Second)
		n := 0
		for _, f := range r.frames {
			if f.write {
				n++
			}
		}
		if n != row.frames || len(r.ended[id]) != 3 {
			t.Errorf("%s: %d frames, %d outcomes; want %d", row.what, n, len(r.ended[id]), row.frames)
		}
		for _, e := range r.ended[id] {
			if e.Outcome != row.as[e.Place] || e.Outcome == Failed && !errors.Is(e.Why, row.fails) {
				t.Errorf("%s: lamp %d: %v, %v; want %v", row.what, e.Place+1, e.Outcome, e.Why, row.as[e.Place])
			}
		}
	}
}

// A shade that may have been moving, and is ordered to move by a frame that nobody acknowledged, is ordered alone: that it moves
// proves nothing. One that stood, or that is to stop, is read.
func TestThatAShadeMovesProvesNoGroupFrame(t *testing.T) {
	for _, row := range []struct {
		what  string
		moved bool
		order appliance.Motion
		alone bool
	}{{"one that stood", false, appliance.Open, false}, {"one that moved", true, appliance.Open, true}, {"one that is to stop", true, appliance.Stop, false}} {
		r := newRig(t, 0, 2).begin()
		if row.moved {
			for _, sh := range r.things {
				r.command(motion(appliance.Close), sh)
			}
			r.run(2 * time.Second)
		}
		r.plan = r.together(well, false)
		r.frames = nil
		id := r.command(motion(row.order), r.things...)
		r.run(1500 * time.Millisecond)
		if alone := r.writes(r.things[0]) > 0; alone != row.alone {
			t.Errorf("%s: ordered alone %v: %+v", row.what, alone, r.frames)
		}
		for _, e := range r.ended[id] {
			if e.Outcome != Confirmed {
				t.Errorf("%s: %v, %v", row.what, e.Outcome, e.Why)
			}
		}
		if len(r.ended[id]) != 2 {
			t.Errorf("%s: %d outcomes", row.what, len(r.ended[id]))
		}
	}
}

// A read that is too large for its device is taken apart, and what it does not answer once it is not asked the rest of.
func TestReadingBackInParts(t *testing.T) {
	for _, row := range []struct {
		what  string
		err   error
		parts bool
		as    Outcome
		asked []string
	}{
		{"it is refused, and can be taken apart", appliance.ErrRefused, true, Confirmed, []string{"whole", "1", "2"}},
		{"it is refused for good", appliance.ErrRefused, false, Failed, []string{"whole", "2"}},
		{"the device is silent", appliance.ErrSilent, false, Failed, []string{"whole", "whole", "whole"}},
	} {
		r := newRig(t, 2, 0)
		r.block = true
		r.begin()
		var asked []string
		read := func(name string, of ...*thing) appliance.Exchange {
			e := r.exchange(r.things[0], nil)
			do := e.Do
			e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				asked = append(asked, name)
				res, _ := do(ctx, y)
				res.Readings = nil
				for _, th := range of {
					res.Readings = append(res.Readings, th.read(r.now))
				}
				if name == "whole" {
					return appliance.Result{Sent: res.Sent}, row.err
				}
				return res, nil
			}
			return e
		}
		r.plan = func(wants []appliance.Want) []appliance.Chain {
			c := r.Repair(wants)
			whole := read("whole", r.things...)
			if row.parts {
				whole.Split = func() []appliance.Exchange {
					return []appliance.Exchange{read("1", r.things[0]), read("2", r.things[1])}
				}
			}
			verify := []appliance.Exchange{whole}
			if !row.parts {
				verify = append(verify, read("2", r.things[1]))
			}
			return []appliance.Chain{{Wants: wants, Steps: []appliance.Exchange{c[0].Steps[0], c[1].Steps[0]}, Verify: verify}}
		}
		id := r.command(dim(40), r.things...)
		r.run(1900 * time.Millisecond)
		if !slices.Equal(asked, row.asked) {
			t.Errorf("%s: asked %v, want %v", row.what, asked, row.asked)
		}
		e := r.ended[id]
		first := slices.IndexFunc(e, func(e Ended) bool { return e.Place == 0 })
		if len(e) != 2 || e[first].Outcome != row.as || row.as == Failed && !errors.Is(e[first].Why, row.err) {
			t.Errorf("%s: %+v", row.what, e)
		}
	}
}

// Who is known not to answer is not waited for; alone, it is tried once, if what that costs is left; a stop always.
func TestWhoIsOfflineIsTriedOnce(t *testing.T) {
	level := appliance.Want{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: dim(40)}
	stop := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: motion(appliance.Stop)}
	for _, row := range []struct {
		what    string
		want    appliance.Want
		change  func(*State, *piece)
		set     bool // of several
		aside   bool
		offline bool // it is tried once
		as      Outcome
	}{
		{what: "alone", want: level, offline: true},
		{what: "one of several", want: level, set: true, aside: true, as: LeftOut},
		{what: "alone, and enough was spent", want: level, change: func(s *State, _ *piece) { s.accounts.attempts.spend(s.now, time.Second) }, aside: true, as: Failed},
		{what: "a group", want: level, set: true, change: func(_ *State, p *piece) { p.chain.Group = true }},
		{what: "nothing to send", want: level, set: true, change: func(_ *State, p *piece) { p.chain.Steps = nil }},
		{what: "it answered last", want: level, set: true, change: func(s *State, _ *piece) { s.devices["1"].fails = 0 }},
		{what: "it is online", want: level, set: true, change: func(s *State, _ *piece) { s.devices["1"].online = true }},
		{what: "a device that nobody knows", want: level, set: true, change: func(_ *State, p *piece) { p.chain.Steps[0].Device = "9" }},
		{what: "a stop of what may move", want: stop, set: true, change: func(s *State, _ *piece) { s.motors[5001].state.Pose.Dir = 1 }, offline: true},
		{what: "a stop of what rests", want: stop, set: true, aside: true, as: LeftOut},
		{what: "a level, whatever moves", want: level, set: true, change: func(s *State, _ *piece) { s.motors[5001].state.Pose.Dir = 1 }, aside: true, as: LeftOut},
		{what: "a stop that must be", want: stop, set: true, change: func(_ *State, p *piece) { p.duty = mustStop }},
	} {
		r := newRig(t, 1, 1).begin()
		r.run(30 * time.Second)
		s := r.s
		s.now = r.now
		device := "1"
		if row.want.Shade != 0 {
			device = "101"
		}
		for _, d := range s.devices {
			d.online, d.fails = false, 3
		}
		m := &member{command: &Command{ID: 5, Single: !row.set}, target: row.want}
		p := &piece{chain: appliance.Chain{Wants: []appliance.Want{row.want}, Steps: []appliance.Exchange{{Device: device}}}, members: []*member{m}}
		if row.change != nil {
			row.change(s, p)
		}
		if aside := s.setAsideOffline(p); aside != row.aside || p.offline != row.offline || m.outcome != row.as {
			t.Errorf("%s: set aside %v, tried once %v, %v; want %v, %v, %v", row.what, aside, p.offline, m.outcome, row.aside, row.offline, row.as)
		}
		if m.outcome == Failed && !errors.Is(m.because, appliance.ErrUnreachable) {
			t.Errorf("%s: %v", row.what, m.because)
		}
	}
}

// Whoever does not answer behind a gateway that does is not waited for, unless it is meant alone.
func TestWhoIsAbsentBehindItsGateway(t *testing.T) {
	r := newRig(t, 2, 0)
	r.block = true
	r.begin()
	r.take(Reported{[]appliance.Reading{{Ref: r.things[1].ref(), Absent: true, At: r.now}, {Ref: appliance.Ref{Node: 77, Channel: 1}, Absent: true}}})
	if r.online[2] || r.s.absent[77] || !r.s.absent[2] {
		t.Errorf("online %v, absent %v", r.online, r.s.absent)
	}
	r.plan = r.together(well, false)
	id := r.command(dim(40), r.things...)
	r.run(time.Second)
	for _, e := range r.ended[id] {
		if want := []Outcome{Confirmed, LeftOut}[e.Place]; e.Outcome != want {
			t.Errorf("lamp %d: %v, %v", e.Place+1, e.Outcome, e.Why)
		}
	}
	// What it is reported to have shows that it is back; what says nothing of it does not.
	r.take(Reported{[]appliance.Reading{{Ref: r.things[1].ref(), Absent: true, At: r.now}}})
	r.take(Reported{[]appliance.Reading{{Ref: r.things[1].ref(), Values: appliance.Values{Has: appliance.CanMeasure}, At: r.now}}})
	if r.online[2] {
		t.Error("it is back by what tells nothing of its lamp")
	}
	r.take(Reported{[]appliance.Reading{r.things[1].read(r.now)}})
	if !r.online[2] || r.s.absent[2] {
		t.Errorf("it is back, and online %v", r.online[2])
	}
	alone := r.command(dim(50), r.things[1])
	r.run(time.Second)
	if as, why := r.outcome(alone); as != Confirmed {
		t.Errorf("alone: %v, %v", as, why)
	}
}

// A newer command takes what an older one waits with, whatever that has come to; it is the frame that is out that is judged by what is left.
func TestWhatANewerCommandTakes(t *testing.T) {
	for _, row := range []struct {
		what    string
		verify  bool // the older is read back
		tried   int
		both    bool // it wants two lamps
		rests   bool // an answer may still come
		writes1 int
	}{
		{what: "what waits"},
		{what: "what is read back", verify: true},
		{what: "what was asked in vain", verify: true, tried: 1, rests: true},
		{what: "a part of what waits", both: true},
		{what: "a part of what is read back", verify: true, both: true},
	} {
		r := newRig(t, 2, 0)
		r.late = 300 * time.Millisecond
		r.begin()
		r.plan = func(wants []appliance.Want) []appliance.Chain { return r.together(well, true)(wants) }
		s := r.s
		s.now = r.now
		things := r.things[:1]
		if row.both {
			things = r.things
		}
		older := r.command(dim(40), things...)
		p := s.pieces[0]
		if row.verify {
			p.pos = 1
		}
		p.tries = row.tried
		s.devices["1"].restReads = time.Time{}
		newer := r.command(dim(60), r.things[0])
		if e := r.ended[older]; len(e) != 1 || e[0].Why != appliance.ErrSuperseded || e[0].Place != 0 {
			t.Errorf("%s: %+v", row.what, e)
		}
		if rests := s.devices["1"].restReads.Equal(r.now.Add(r.late)); rests != row.rests {
			t.Errorf("%s: reads rest until %v, want so %v", row.what, s.devices["1"].restReads, row.rests)
		}
		n := 1
		if row.both {
			n = 2
		}
		if len(s.pieces) != n {
			t.Errorf("%s: %d pieces wait, want %d", row.what, len(s.pieces), n)
		}
		r.run(2 * time.Second)
		if as, why := r.outcome(newer); as != Confirmed || r.things[0].level != 60 {
			t.Errorf("%s: the newer is %v, %v", row.what, as, why)
		}
		if e := r.ended[older]; row.both && (len(e) != 2 || !row.verify && e[1].Outcome != Confirmed) {
			t.Errorf("%s: the rest is %+v", row.what, e)
		}
	}
}

// Settings of a shade that its machine gets, and orders that it gives, as what drivers and people know.
func TestShadesAreToldToTheirMachines(t *testing.T) {
	sh := appliance.Shade{ID: 7, TravelUp: 20 * time.Second, TravelDown: 18 * time.Second, Inverted: true}
	m := &motor{channel: appliance.Channel{PositionMeasured: true, Unverifiable: true, ReverseDelay: 2 * time.Second, Lag: 3 * time.Second, Release: time.Minute}}
	want := shade.Settings{Measures: true, Unreadable: true, Inverted: true, TravelUp: 20 * time.Second, TravelDown: 18 * time.Second, ReverseDelay: 2 * time.Second, Lag: 3 * time.Second, Release: time.Minute, Patience: 10 * time.Second}
	if got := m.settings(sh, appliance.Freshness{MovingShade: time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.Patience = 30 * time.Second
	if got := m.settings(sh, appliance.Freshness{MovingShade: 10 * time.Second}); got != want {
		t.Errorf("where it is read rarely: %+v", got)
	}
	for _, row := range []struct {
		motion appliance.Motion
		kind   shade.Kind
		values appliance.Values
	}{
		{appliance.Open, shade.Open, motion(appliance.Open)}, {appliance.Close, shade.Close, motion(appliance.Close)}, {appliance.Stop, shade.Stop, motion(appliance.Stop)},
		{appliance.MoveTo, shade.MoveTo, appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 30}},
	} {
		if got := kindOf(row.motion); got != row.kind {
			t.Errorf("%v: %v", row.motion, got)
		}
		if got := valuesOf(shade.Order{Kind: row.kind, Position: 30}); got != row.values {
			t.Errorf("%v: %+v, want %+v", row.kind, got, row.values)
		}
	}
	for _, row := range []struct {
		motion appliance.Motion
		is     shade.Motion
	}{{appliance.Stopped, shade.Standing}, {appliance.Opening, shade.Opening}, {appliance.Closing, shade.Closing}, {appliance.Moving, shade.Moving}} {
		got := readOf(appliance.Reading{Values: appliance.Values{Has: appliance.CanPosition, Motion: row.motion, Position: 40}, Reached: true}, noon)
		if got != (shade.Read{Asked: noon, Motion: row.is, Position: 40, Place: true, Reached: true}) {
			t.Errorf("%v: %+v", row.motion, got)
		}
	}
	if readOf(appliance.Reading{Values: motion(appliance.Stopped)}, noon).Place {
		t.Error("a place that was not read")
	}
	measured, timed := m, &motor{}
	if measured.timed(appliance.Open) || !timed.timed(appliance.Open) || timed.timed(appliance.Stop) || (*motor)(nil).timed(appliance.Open) {
		t.Error("whose way is timed")
	}
}

// When machines go on, and by when the bus is kept free for a stop: the first of all shades.
func TestTheFirstMachineIsWaitedFor(t *testing.T) {
	r := newRig(t, 0, 3).begin()
	r.run(30 * time.Second)
	for i, th := range r.things {
		r.command(motion(appliance.Open), th)
		if i == 2 {
			r.run(30 * time.Second)
		}
	}
	if _, stop := r.s.nextTick(); !stop.IsZero() {
		t.Errorf("nothing is on its way, and the bus is kept free for %v", stop)
	}
	r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, r.things[0])
	r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 90}, r.things[1])
	r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 30}, r.things[2])
	r.run(500 * time.Millisecond)
	var dues, wakes []time.Time
	for _, m := range r.s.order {
		dues, wakes = append(dues, m.state.Due), append(wakes, m.state.Wake())
	}
	tick, stop := r.s.nextTick()
	if first := slices.MinFunc(dues, time.Time.Compare); !stop.Equal(first) || !first.Equal(dues[1]) || first.IsZero() {
		t.Errorf("kept free for %v of %v", stop, dues)
	}
	if first := slices.MinFunc(wakes, time.Time.Compare); !tick.Equal(first) || first.IsZero() {
		t.Errorf("woken at %v of %v", tick, wakes)
	}
	// Each stop comes when it is due.
	r.frames = nil
	r.run(20 * time.Second)
	for i, th := range r.things {
		j := slices.IndexFunc(r.frames, func(f sentFrame) bool { return f.node == th.node && f.want.Motion == appliance.Stop })
		if j < 0 || r.frames[j].at.Sub(dues[i]).Abs() > 2*r.airtime {
			t.Errorf("shade %d: due %v, stopped by %+v", i, dues[i], r.frames[max(j, 0)])
		}
	}
}

// What a shade's machine wants is carried out, with an entry in the ledger for what it orders itself.
func TestWhatMachinesOrderIsInTheLedger(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	sh := r.things[0]
	r.run(30 * time.Second)
	r.command(motion(appliance.Open), sh)
	r.run(30 * time.Second)
	var begun []Begin
	r.carry = nil
	take := r.s
	r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, sh)
	for range 1200 {
		for _, a := range take.Step(r.now, Look{}) {
			switch a := a.(type) {
			case Begin:
				begun = append(begun, a)
			case Perform:
				began := r.now
				res, err := a.Exchange.Do(t.Context(), appliance.Yield{})
				for _, more := range take.Step(r.now, Over{Task: a.Task, Result: res, Err: err, Began: began}) {
					if b, ok := more.(Begin); ok {
						begun = append(begun, b)
					}
				}
			}
		}
		r.now = r.now.Add(10 * time.Millisecond)
	}
	if len(begun) != 1 || begun[0].ID <= Own || begun[0].Kind != appliance.ShadeStop || begun[0].Target.Motion != appliance.Stop || begun[0].Target.Shade != 5001 || begun[0].Why != "way to a position" {
		t.Errorf("%+v", begun)
	}
	r.s.do(nil)
	r.s.actions = nil
	r.s.act(r.s.motors[5001], r.now, shade.GiveUp{})
	r.s.act(r.s.motors[5001], r.now, shade.Log{Text: "was moved"})
	if got := fmt.Sprint(r.s.actions); got != "[{ERROR shade may still move: it was not heard to stop for a minute [shade 5001]} {WARN shade was moved [shade 5001]}]" {
		t.Error(got)
	}
	last := r.s.schedule.polls[0]
	last.last = r.now
	if r.s.act(r.s.motors[5001], r.now, shade.ReadNow{}); !last.last.IsZero() {
		t.Error("a shade that came to rest is not read at once")
	}
}

// A device that never answered is said to be silent once, one that did to be offline once; and people are told why.
func TestWhoDoesNotAnswerIsToldOnce(t *testing.T) {
	r := newRig(t, 2, 0)
	r.things[0].answers = r.silent
	r.begin()
	r.run(time.Minute)
	r.things[1].answers = r.silent
	r.run(time.Minute)
	said := map[string]int{}
	for _, l := range r.said {
		said[fmt.Sprint(l.Text, l.Args)]++
	}
	for text, n := range said {
		if n != 1 {
			t.Errorf("said %d times: %s", n, text)
		}
	}
	want := []string{"device does not answer[device 1 why " + appliance.ErrSilent.Error() + "]", "device is offline[device 2 why " + appliance.ErrSilent.Error() + "]", "device answers[device 2]"}
	for _, text := range want {
		if said[text] != 1 {
			t.Errorf("not said: %s, but %v", text, said)
		}
	}
	for _, d := range r.s.deviceStates() {
		if d.Online || d.Why != appliance.ErrSilent.Error() || d.LastSeen.IsZero() != (d.Device == "1") || len(d.Nodes) != 1 {
			t.Errorf("%+v", d)
		}
	}
	if text := lastSeen(r.s.devices["1"], r.now); text != ": it never answered; check wiring, address and line settings" {
		t.Error(text)
	}
	// Questions that it refuses are counted as its trouble as long as it is there.
	r.s.schedule.polls[1].refusals = 2
	d := r.s.devices["2"]
	d.online = true
	if got := r.s.deviceStates(); got[0].Trouble != "" || got[1].Trouble == "" || got[1].Why != "" {
		t.Errorf("%+v", got)
	}
	if d.online = false; r.s.deviceStates()[1].Trouble != "" {
		t.Error("one that is offline refuses nothing")
	}
}

// An answer to a question that was asked twice may come twice: after that the device is left alone with more of the kind.
func TestASecondAnswerIsNotTakenForAnothers(t *testing.T) {
	for _, row := range []struct {
		write bool
		tries int
		rests bool
	}{{false, 1, true}, {true, 1, true}, {false, 0, false}, {true, 0, false}} {
		r := newRig(t, 1, 0)
		r.late = 300 * time.Millisecond
		r.begin()
		r.s.now = r.now
		id := r.command(dim(40), r.things[0])
		p := r.s.pieces[0]
		p.chain.Verify = append(p.chain.Verify, p.chain.Verify[0])
		p.chain.Steps = append(p.chain.Steps, p.chain.Steps[0])
		d := r.s.devices["1"]
		d.restReads, d.restWrites = time.Time{}, time.Time{}
		if p.tries = row.tries; !row.write {
			p.pos = 2
		}
		r.s.judge(p, appliance.Result{Sent: r.now, Readings: []appliance.Reading{}}, nil)
		reads, writes := d.restReads.Equal(r.now.Add(r.late)), d.restWrites.Equal(r.now.Add(r.late))
		if reads != (row.rests && !row.write) || writes != (row.rests && row.write) {
			t.Errorf("%+v: reads rest until %v, writes until %v", row, d.restReads, d.restWrites)
		}
		if p.tries != 0 || len(r.ended[id]) > 0 {
			t.Errorf("%+v: %d tries of what comes next, %v", row, p.tries, r.ended[id])
		}
	}
}

// A command has 2 s and the bus time of its frames, those that read included.
func TestTheBusTimeOfACommandIsThatOfAllItsFrames(t *testing.T) {
	p := piece{chain: appliance.Chain{Steps: []appliance.Exchange{{Airtime: 1}, {Airtime: 20}}, Verify: []appliance.Exchange{{Airtime: 300}, {Airtime: 4000}}}}
	if p.airtime() != 4321 || p.lookTime() != 4300 {
		t.Errorf("%d, to read it %d", p.airtime(), p.lookTime())
	}
	p.expires, p.ceiling = noon, noon.Add(time.Second)
	for pos, row := range []struct{ begun, verifying, over bool }{{false, false, false}, {true, false, false}, {true, true, false}, {true, true, false}, {true, true, true}} {
		p.pos = pos
		if p.begun() != row.begun || p.verifying() != row.verifying || p.over() != row.over || p.deadline().Equal(noon) == row.verifying {
			t.Errorf("after %d frames: begun %v, read back %v, over %v, until %v", pos, p.begun(), p.verifying(), p.over(), p.deadline())
		}
		if !row.over {
			want := append(slices.Clone(p.chain.Steps), p.chain.Verify...)[pos].Airtime
			if got := p.exchange().Airtime; got != want {
				t.Errorf("after %d frames: the next takes %d, want %d", pos, got, want)
			}
		}
	}
	for _, p := range []piece{{tries: 1}, {looks: 1}} {
		if !p.begun() {
			t.Errorf("%+v is not begun", p)
		}
	}
	if (&piece{}).stops() || !stops(appliance.Want{Ref: appliance.Ref{Shade: 1}, Values: motion(appliance.Stop)}) || stops(appliance.Want{Ref: appliance.Ref{Shade: 1}, Values: motion(appliance.Open)}) || stops(appliance.Want{Values: motion(appliance.Stop)}) {
		t.Error("what stops a shade")
	}
}

// How many frames one thing gets of a command, and how long its stop waits to be repeated, are promises: docs/performance.md counts on them.
func TestHowOftenAThingIsTold(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	lamp := r.things[0]
	lamp.answers = func(bool) (bool, time.Duration, error) { return false, 0, nil } // it acknowledges, and does nothing
	id := r.command(dim(40), lamp)
	r.run(9 * time.Second)
	if as, why := r.outcome(id); r.writes(lamp) != 3 || as != Failed || !errors.Is(why, appliance.ErrMismatch) {
		t.Errorf("told %d times: %v, %v", r.writes(lamp), as, why)
	}
	var writes []time.Time
	for _, f := range r.frames {
		if f.write {
			writes = append(writes, f.at)
		}
	}
	for i := 1; i < len(writes); i++ {
		if gap := writes[i].Sub(writes[i-1]); gap < lagUsual || gap > 2*lagUsual {
			t.Errorf("told again after %v, want what it may take to show it", gap)
		}
	}
	if stopPause != 500*time.Millisecond || commandTime != 2*time.Second || CommandMost != 10*time.Second {
		t.Error("the times of commands have changed; docs and drivers count on them")
	}
}

// An order that a machine gives in the place of another has that one's outcome, however it comes; and what is over is not told again.
func TestWhatBecomesOfOrdersThatAreReplaced(t *testing.T) {
	for _, row := range []struct {
		what   string
		action shade.Action
		old    Outcome // of the order that was replaced
		new    Outcome
		why    error
		kept   bool // something of the new order is left to be done
	}{
		{"both are confirmed", shade.Confirm{Order: 7, Also: 6}, Confirmed, Confirmed, nil, false},
		{"one is", shade.Confirm{Order: 7}, Open, Confirmed, nil, false},
		{"the newer is taken back", shade.Cancel{Order: 7}, Open, Failed, appliance.ErrSuperseded, false},
		{"for its time is over", shade.Cancel{Order: 7, Why: shade.ErrExpired}, Open, Failed, appliance.ErrExpired, false},
		{"for the wall", shade.Cancel{Order: 7, Why: shade.ErrWall}, Open, Failed, shade.ErrWall, false},
		{"the older is", shade.Cancel{Order: 6}, Failed, Open, appliance.ErrSuperseded, true},
		{"an order that nobody knows", shade.Cancel{Order: 5}, Open, Open, nil, true},
		{"none", shade.Confirm{}, Open, Open, nil, true},
	} {
		r := newRig(t, 0, 1).begin()
		r.run(30 * time.Second)
		s := r.s
		s.now, s.actions = r.now, nil
		m := s.motors[5001]
		ref := appliance.Ref{Shade: 5001}
		want := appliance.Want{Ref: ref, Values: motion(appliance.Open)}
		older, newer := &member{command: &Command{ID: 1}, target: want, order: shade.Order{ID: 6}}, &member{command: &Command{ID: 2}, target: want, order: shade.Order{ID: 7, Confirms: 6}}
		m.begun = older
		s.pieces = s.piecesOf(s.driver().Plan([]appliance.Want{want}), []*member{newer})
		s.act(m, r.now, row.action)
		if older.outcome != row.old || newer.outcome != row.new || (m.begun == nil) == (row.old == Open) || (len(s.pieces) == 1) != row.kept {
			t.Errorf("%s: the older %v, the newer %v, %d pieces, the older known %v", row.what, older.outcome, newer.outcome, len(s.pieces), m.begun != nil)
		}
		for _, of := range []*member{older, newer} {
			if of.outcome == Failed && !errors.Is(of.because, row.why) {
				t.Errorf("%s: %v, want %v", row.what, of.because, row.why)
			}
		}
		if newer.outcome != Open && newer.order.ID != 0 {
			t.Errorf("%s: it may be judged again", row.what)
		}
	}
}
