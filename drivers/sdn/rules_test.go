package sdn

import (
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/line/cable"
)

// alone is a motor on a bus of its own that talks to nobody.
func alone() *motor {
	m := &motor{shade: 5001, address: Address{0x06, 0x1A, 0x2B}, course: course{goal: -1}}
	m.driver = &Driver{
		site: site{motors: map[Address]*motor{m.address: m}, all: []*motor{m}}, log: slog.New(slog.DiscardHandler),
		strangers: strangers{found: map[Address]*sighting{}}, report: func([]appliance.Reading) {},
		line: new(line.Line), // which is asked how long frames are on it
	}
	return m
}

// A shade that is wired the other way: its motor goes down to open it, and its percent are
// those of the shade.
func TestInvertedMotorGoesAndStandsTheOtherWay(t *testing.T) {
	for _, tc := range []struct {
		inverted    bool
		open, close moveTo
		shown       appliance.Position // where the motor says 30
	}{{false, toUpLimit, toDownLimit, 70}, {true, toDownLimit, toUpLimit, 30}} {
		m := alone()
		m.inverted = tc.inverted
		for motion, fn := range map[appliance.Motion]moveTo{appliance.Open: tc.open, appliance.Close: tc.close} {
			if o, ok := m.orderFor(want(motion, 0, 0)[0]); !ok || o.fn != fn {
				t.Errorf("inverted %v: %v is %+v, want %v", tc.inverted, motion, o, fn)
			}
		}
		if got := m.positionOf(30); got != tc.shown || m.percentOf(got) != 30 {
			t.Errorf("inverted %v: 30 of the motor is %v, and back %v; want %v", tc.inverted, got, m.percentOf(got), tc.shown)
		}
	}
}

// The sensor of a motor that stands may tell a pulse or two more or less.
func TestAPulseOrTwoIsNoMovement(t *testing.T) {
	for by, moved := range map[int]bool{0: false, 1: false, 2: false, -2: false, 3: true, -3: true} {
		if got := apart(position{Pulses: uint16(1000 + by)}, position{Pulses: 1000}); got != moved {
			t.Errorf("%d pulses: moved is %v, want %v", by, got, moved)
		}
	}
}

// A motor that may be moving stands when its position was the same half a second later.
func TestOneReadingIsNoStanding(t *testing.T) {
	for later, still := range map[time.Duration]bool{0: false, 400 * time.Millisecond: false, 500 * time.Millisecond: true} {
		m, begun := alone(), time.Now()
		m.sent(aim{goal: 100}, begun)
		for _, at := range []time.Duration{50 * time.Millisecond, 50*time.Millisecond + later} {
			m.takePosition(position{Percent: 40, Pulses: 400}, begun.Add(at))
		}
		told := m.takeStatus(status{}, begun.Add(time.Second))
		if (len(told) == 1 && told[0].Motion == appliance.Stopped) != still {
			t.Errorf("read again %v later: told %+v, want that it stands: %v", later, told, still)
		}
	}
}

// A motor that runs has not been asked where, and one that stands is: what it proves is
// told by the place.
func TestWhoRunsIsNotAskedWhereAndWhoStandsIs(t *testing.T) {
	for state, asks := range map[byte]bool{stateRunning: false, stateStopped: true, stateBlocked: true} {
		m := alone()
		p := &proof{driver: m.driver, wish: wish{motor: m, order: order{id: ctrlMoveTo, fn: toDownLimit}}}
		if _, err := p.askStatus().then(Frame{Data: []byte{state, directionDown, 0, 0}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if (p.next != nil) != asks {
			t.Errorf("state %d: goes on asking is %v, want %v", state, p.next != nil, asks)
		}
	}
}

// A stop has no goal: where the motor was stopped is all that its place tells.
func TestWhereAStoppedMotorStandsContradictsNothing(t *testing.T) {
	m := alone()
	p := &proof{driver: m.driver, wish: wish{motor: m, order: order{id: ctrlStop}}}
	p.Ref = m.ref()
	where := appliance.Values{Has: appliance.CanPosition, Position: 60}
	got := p.judge(position{Percent: 40, Pulses: 400}, p.reading(where, time.Now()))
	if len(got) != 1 || got[0].Values != where || got[0].Reached || got[0].Why != "" {
		t.Errorf("told %+v, want where it stands and nothing else", got)
	}
}

// An answer that nobody awaits is that of a second motor with the address, unless one was
// missed just before.
func TestWhoAnswersTwiceIsTwo(t *testing.T) {
	now := time.Now()
	for since, twin := range map[time.Duration]bool{time.Hour: true, answerMemory / 2: false} {
		m := alone()
		m.missed = now.Add(-since)
		m.driver.noteTwin(m, now)
		if m.twin != twin {
			t.Errorf("%v after one was missed: two motors is %v, want %v", since, m.twin, twin)
		}
	}
}

// A bus that makes addresses up does not fill the memory.
func TestNodesThatTellTheirAddressAreRememberedUpToABound(t *testing.T) {
	d := alone().driver
	for i := range 2 * maxFound {
		d.sight(Frame{Source: Address{9, byte(i >> 8), byte(i)}})
	}
	if n := len(d.strangers.found); n != maxFound {
		t.Errorf("%d nodes are remembered, want %d", n, maxFound)
	}
}

// Bytes that make no frame are not the silence of a motor that is gone: somebody talks, and
// the wires are to be looked at, also where somebody else's frame comes behind them.
func TestBytesThatMakeNoFrameAreDamage(t *testing.T) {
	others, err := Frame{ID: ctrlStop, Source: Address{1, 2, 3}, Destination: Address{4, 5, 6}, Data: []byte{0}}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]error{
		"": appliance.ErrSilent, "\x7f\x7f\x7f": appliance.ErrDamaged, "\x7f\x7f\x7f" + string(others): appliance.ErrDamaged, string(others): appliance.ErrSilent,
	} {
		synctest.Test(t, func(t *testing.T) {
			var net cable.Net
			end, err := net.Plug("/dev/virtual")
			if err != nil {
				t.Fatal(err)
			}
			defer end.Close()
			cfg := busConfig(nil, []appliance.Node{{ID: 1, Address: "06.1A.2B", Profile: "somfy-sdn"}}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}})
			cfg.Bus.Port = "/dev/virtual"
			o, err := OpenOn(cfg, net.Ports())
			if err != nil {
				t.Fatal(err)
			}
			d := o.Driver.(*Driver)
			go d.Run(t.Context())
			go func() {
				b := make([]byte, 64)
				for {
					if _, err := end.Read(b); err != nil {
						return
					}
					end.Write([]byte(said))
				}
			}()
			time.Sleep(time.Minute)
			_, err = d.exchange(d.statusOf(d.site.all[0])).Do(t.Context(), appliance.Yield{})
			if !errors.Is(err, want) {
				t.Errorf("after %q: %v, want %v", said, err, want)
			}
		})
	}
}

// What a frame to several sends on its way does not stand any more, though none of them has said so.
func TestMotorsOfAGroupFrameDoNotStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net cable.Net
		end, err := net.Plug("/dev/virtual")
		if err != nil {
			t.Fatal(err)
		}
		defer end.Close()
		cfg := busConfig(nil, []appliance.Node{{ID: 1, Address: "06.1A.2B", Profile: "somfy-sdn"}, {ID: 2, Address: "06.1A.2C", Profile: "somfy-sdn"}},
			[]appliance.Shade{{ID: 5001, Node: 1, Output: 1}, {ID: 5002, Node: 2, Output: 1}})
		cfg.Bus.Port = "/dev/virtual"
		o, err := OpenOn(cfg, net.Ports())
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		go d.Run(t.Context())
		time.Sleep(time.Minute)
		to := order{id: ctrlMoveTo, fn: toUpLimit}
		var wishes []wish
		for _, m := range d.site.all {
			m.rest()
			wishes = append(wishes, wish{motor: m, order: to})
		}
		chain := d.together(to, wishes, Frame{ID: to.id, Source: d.options.host, Destination: Everybody, Data: to.data()})
		if _, err := chain.Steps[0].Do(t.Context(), appliance.Yield{}); err != nil {
			t.Fatal(err)
		}
		for _, m := range d.site.all {
			if told := m.takeStatus(status{State: stateStopped}, time.Now()); len(told) > 0 || m.course.goal != 0 {
				t.Errorf("motor %v was just sent up, to %d, and is told as %+v", m.address, m.course.goal, told)
			}
		}
	})
}

// One question proves a motor that stood at its goal before, or may have arrived by now: only
// one that is somewhere else is asked what it does.
func TestOneQuestionProvesWhoIsThere(t *testing.T) {
	for percent, there := range map[byte]bool{30: true, 29: false, 0xFF: false} {
		for _, before := range []bool{true, false} {
			m := alone()
			o := order{id: ctrlMoveTo, fn: toPercent, percent: 30}
			p := &proof{driver: m.driver, wish: wish{motor: m, order: o}, wasThere: before, company: &company{arrived: true}}
			p.begin()
			q := p.next()
			readings, err := q.then(Frame{Data: []byte{0, 1, percent, 0, 0}}, time.Now())
			if q.id != getMotorPosition || err != nil || (p.next == nil) != there || len(readings) != 1 {
				t.Errorf("at %d %%, there before %v: asked for %v, told %+v, goes on asking %v; %v", percent, before, q.id, readings, p.next != nil, err)
			}
			if p.next != nil && p.next().id != getMotorStatus {
				t.Errorf("at %d %%: asked for %v next, want what it does", percent, p.next().id)
			}
			if stands := readings[0].Motion == appliance.Stopped; stands != (there && before) {
				t.Errorf("at %d %%, there before %v: told %+v", percent, before, readings[0])
			}
			if p.wasThere {
				t.Error("asked twice whether it is still there")
			}
		}
	}
}

// A group that another master moves is his. A STOP to one does not say so, and who holds it here runs.
func TestGroupsThatOtherMastersMoveAreTheirs(t *testing.T) {
	m := alone()
	m.groups = []Address{{1, 1, 7}}
	m.driver.strangers.groups = map[Address]strangeGroup{}
	told := 0
	m.driver.report = func([]appliance.Reading) { told++ }
	keypad := Address{1, 2, 3}
	for _, f := range []Frame{
		{ID: ctrlMoveTo, Source: keypad, Destination: m.address, Data: moveToData(toUpLimit, unused)}, {ID: getMotorPosition, Source: Address{1, 1, 5}, Destination: Nobody},
		{ID: ctrlStop, Source: Address{1, 1, 6}, Destination: Nobody, Data: []byte{0}}, {ID: ctrlMoveTo, Source: Address{1, 1, 7}, Destination: Nobody, Data: moveToData(toUpLimit, unused)},
		{ID: ctrlMoveTo, Source: Address{1, 1, 8}, Destination: Nobody, Data: moveToData(toUpLimit, unused)}, {ID: ctrlMoveTo, Source: keypad, Destination: Nobody, Data: moveToData(toUpLimit, unused)},
	} {
		m.driver.hear(f)
	}
	held, used := m.driver.StrangeGroups()
	slices.Sort(used)
	if len(held) > 0 || !slices.Equal(used, []string{"01.01.07", "01.01.08"}) || told != 2 {
		t.Errorf("held %q, used %q, told %d times that it moves; want the two that were moved, and twice", held, used, told)
	}
	m.driver.noteGroup(Address{1, 1, 8}, true, false)
	if held, used := m.driver.StrangeGroups(); !slices.Equal(held, []string{"01.01.08"}) || len(used) != 2 {
		t.Errorf("after one was read: held %q, used %q", held, used)
	}
}

// A motor that no shade of the site hangs off is followed, and nothing is told of it.
func TestNothingIsToldOfAMotorWithoutAShade(t *testing.T) {
	for shade, told := range map[appliance.ID]int{0: 0, 1: 1, 5001: 1} {
		m := alone()
		m.shade = shade
		if r := m.takeStatus(status{State: stateRunning}, time.Now()); len(r) != told || m.course.phase != running {
			t.Errorf("shade %d: %+v", shade, r)
		}
	}
}

// Types of nodes are 0 to 15, and each is read as it was written.
func TestEveryTypeFitsAFrame(t *testing.T) {
	for from := range NodeType(17) {
		for to := range NodeType(17) {
			b, err := Frame{ID: ctrlStop, From: from, To: to, Data: []byte{0}}.Bytes()
			if (err == nil) != (from < 16 && to < 16) {
				t.Fatalf("%d to %d: %v", from, to, err)
			} else if err != nil {
				continue
			}
			if f, err := ParseFrame(b); err != nil || f.From != from || f.To != to || len(f.Data) != 1 {
				t.Errorf("%d to %d reads %+v, %v", from, to, f, err)
			}
		}
	}
}

// Behind a serial server a frame has yet to be sent when we are rid of it: an answer is awaited that much longer, and the line left
// alone that much longer after a frame that nobody answers.
func TestASerialServerHasYetToSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net cable.Net
		server, err := net.Listen("127.0.0.1:502")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		cfg := busConfig(nil, []appliance.Node{{ID: 1, Address: "06.1A.2B", Profile: "somfy-sdn"}}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}})
		cfg.Bus.Port = "rtu+tcp://127.0.0.1:502"
		o, err := OpenOn(cfg, net.Ports())
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		go d.Run(t.Context())
		conn, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		m := d.site.all[0]
		answer, err := Frame{ID: postMotorPosition, Source: m.address, Destination: d.options.host, Data: []byte{0, 1, 30, 0xFF, 0xFF}}.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		var late atomic.Int64 // of the motor's answer, in nanoseconds
		came := make(chan time.Time, 64)
		go func() {
			b := make([]byte, 64)
			for {
				n, err := conn.Read(b)
				if err != nil {
					return
				}
				came <- time.Now()
				if f, err := ParseFrame(b[:n]); err == nil && f.ID == getMotorPosition {
					time.Sleep(d.airtime(n) + time.Duration(late.Load()) + d.airtime(len(answer)))
					conn.Write(answer)
				}
			}
		}()
		for _, by := range []time.Duration{d.options.responseTimeout - time.Millisecond, d.options.responseTimeout + time.Millisecond} {
			time.Sleep(time.Minute)
			late.Store(int64(by))
			_, err := d.exchange(d.positionOf(m)).Do(t.Context(), appliance.Yield{})
			if heard := by < d.options.responseTimeout; (err == nil) != heard || !heard && !errors.Is(err, appliance.ErrSilent) {
				t.Errorf("answered after %v: %v", by, err)
			}
			// What it answers too late is no second motor's answer.
			time.Sleep(time.Second)
			d.mu.Lock()
			twin := m.twin
			d.mu.Unlock()
			if twin {
				t.Errorf("answered after %v: two motors have the address", by)
			}
		}
		for len(came) > 0 {
			<-came
		}
		all := Frame{ID: ctrlStop, Source: d.options.host, Destination: Everybody, Data: []byte{0}}
		for range 2 {
			if _, err := d.shout(all, nil, nil).Do(t.Context(), appliance.Yield{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(came) != 2 {
			t.Fatalf("%d frames were sent", len(came))
		}
		if first, second := <-came, <-came; second.Sub(first) < d.airtime(minFrame+1)+d.options.quiet {
			t.Errorf("one frame came %v after the other, and it takes %v with the silence", second.Sub(first), d.airtime(minFrame+1)+d.options.quiet)
		}
	})
}
