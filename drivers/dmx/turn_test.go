package dmx

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/sim/dmxsim"
)

// While somebody has the turn, nobody sends anything else; whoever gives up takes it from nobody.
func TestWhoGivesUpTakesNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 1)}, nil)
		if err := d.dim(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := d.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := func() (n int) {
			for _, f := range d.Recent() {
				if f.Direction == appliance.FrameSent {
					n++
				}
			}
			return n
		}
		before, shown := sent(), p.widget.Universe()
		for name, do := range map[string]func(context.Context) error{
			"take":    d.take,
			"flash":   func(ctx context.Context) error { return d.flash(ctx, d.order, true) },
			"dim":     func(ctx context.Context) error { return d.dim(ctx, 100) },
			"RDM":     func(ctx context.Context) error { _, err := d.transact(ctx, labelSendRDM, rdmPacket{}); return err },
			"findOut": func(ctx context.Context) error { return found(ctx, d) },
		} {
			for _, tooLate := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				want := context.Canceled
				if tooLate {
					cancel()
					ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
					want = context.DeadlineExceeded
				} else {
					time.AfterFunc(time.Millisecond, cancel)
				}
				begun := time.Now()
				if err := do(ctx); !errors.Is(err, want) || !errors.Is(err, appliance.ErrExpired) || time.Since(begun) != time.Millisecond {
					t.Errorf("%s, too late %v: %v after %v", name, tooLate, err, time.Since(begun))
				}
				cancel()
				if len(d.turn) != 1 {
					t.Fatalf("%s: the turn was given away", name)
				}
			}
		}
		if n := sent() - before; n > 0 || p.widget.Universe() != shown {
			t.Errorf("%d frames were sent", n)
		}
		d.give()
	})
}

// found has a scan find out whether a widget is there.
func found(ctx context.Context, d *Driver) (err error) {
	for step := range d.Scan(appliance.ScanOptions{FindOut: []appliance.LineSettings{}}) {
		var res appliance.Result
		res, err = step.Exchange.Do(ctx, appliance.Yield{})
		if f, told := step.Judge(res, err); told && err != nil {
			return errors.New("told of " + f.Detail)
		}
	}
	return err
}

// Without a widget no question of a search is answered, and nobody is taken to be silent or to collide.
func TestASearchWithoutAWidgetFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 1)}, nil)
		if _, err := d.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.pull()
		eventually(t, "the widget is gone", func() bool { return d.Link() != nil })
		for _, kind := range []searchKind{searchMute, searchUnmute, searchBranch} {
			if h, err := d.perform(t.Context(), searchStep{kind: kind}); !errors.Is(err, appliance.ErrBusDown) || h != (heard{}) {
				t.Errorf("step %v: %+v, %v", kind, h, err)
			}
		}
		p.put()
		eventually(t, "the widget is back", func() bool { return d.Link() == nil })
		d.out.(*pro).lateRDM = time.Now().Add(time.Hour) // an answer may be under way
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := d.transact(ctx, labelSendRDM, rdmPacket{}); !errors.Is(err, appliance.ErrExpired) || time.Since(begun) > 0 {
			t.Errorf("while an answer may be under way: %v after %v", err, time.Since(begun))
		}
		if len(d.turn) > 0 {
			t.Error("the turn is taken")
		}
	})
	synctest.Test(t, func(t *testing.T) { // that was never asked who it is
		d, p := stage(t, dmxsim.Config{}, nil)
		p.pull()
		eventually(t, "the widget is gone", func() bool { return d.Link() != nil })
		d.out.(*pro).widget = nil
		if _, err := d.transact(t.Context(), labelSendRDM, rdmPacket{}); !errors.Is(err, appliance.ErrBusDown) {
			t.Errorf("got %v", err)
		}
	})
}

// Who waits for the pace of the universe, or for an answer that may come late, and gives up, has sent nothing.
func TestWhoGivesUpBeforeItsFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, late := range map[string]time.Duration{"the pace": 0, "a late answer": time.Hour} {
			now := time.Now()
			p := &pro{driver: &Driver{name: "stage"}, gap: time.Minute, begun: now, ports: new(line.Ports), late: now.Add(late)}
			for what, do := range map[string]func(context.Context) error{
				"show":     func(ctx context.Context) error { _, err := p.show(ctx, appliance.Yield{}, nil); return err },
				"question": func(ctx context.Context) error { _, err := p.question(ctx, appliance.Yield{}, nil); return err },
			} {
				if late == 0 && what == "question" {
					continue // has no pace
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, cancel)
				if err := do(ctx); !errors.Is(err, appliance.ErrExpired) || !errors.Is(err, context.Canceled) || !p.begun.Equal(now) {
					t.Errorf("%s behind %s: %v", what, name, err)
				}
			}
		}
	})
}

// brokenPort is an adapter that takes no bytes.
type brokenPort struct{ fullPort }

var errFull = errors.New("full")

func (brokenPort) Write([]byte, time.Time) (int, error) { return 0, errFull }

// A packet that is not begun is not sent: its port fails, or the run ends during the mark.
func TestOpenDMXPacketThatIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := idlePort()
		p.ports = new(line.Ports)
		if sent, err := p.packet(t.Context(), brokenPort{}, []byte{1}, nil); !errors.Is(err, errFull) || !sent.IsZero() {
			t.Errorf("sent %v, %v", sent, err)
		}
		p.options.markTime = time.Second
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if sent, err := p.packet(ctx, brokenPort{}, []byte{1}, nil); !errors.Is(err, context.Canceled) || !sent.IsZero() {
			t.Errorf("during the mark: sent %v, %v", sent, err)
		}
	})
}

// A change that gives way before its packet is withdrawn, and says so.
func TestOpenDMXChangeGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, want := range map[string]error{"gives way": appliance.ErrPreempted, "ends": appliance.ErrExpired, "expires": appliance.ErrExpired} {
			p := idlePort()
			p.ports = new(line.Ports)
			ctx, cancel := context.WithCancel(t.Context())
			begin := make(chan struct{})
			switch name {
			case "gives way":
				close(begin)
			case "ends":
				cancel()
			case "expires":
				ctx, cancel = context.WithTimeout(ctx, time.Minute)
			}
			sent, err := p.show(ctx, appliance.Yield{Begin: begin}, []byte{1})
			if !errors.Is(err, want) || !sent.IsZero() || p.want != nil || len(p.wake) != 1 {
				t.Errorf("%s: sent %v, %v; it waits still %v", name, sent, err, p.want != nil)
			}
			cancel()
		}
		p := idlePort()
		p.why = errFull
		if sent, err := p.check(t.Context(), appliance.Yield{}); !errors.Is(err, errFull) || !sent.IsZero() {
			t.Errorf("a port that is not open: %v, %v", sent, err)
		}
		if sent, err := p.show(t.Context(), appliance.Yield{}, []byte{1}); !errors.Is(err, errFull) || !sent.IsZero() || p.want != nil {
			t.Errorf("a change for it: %v, %v", sent, err)
		}
	})
}

// The lowest that shines is written into a slot, or into the finer of two.
func TestTheFaintestThatShines(t *testing.T) {
	for _, row := range []struct {
		at   slotSpec
		want [3]byte
	}{{slotSpec{Slot: 1}, [3]byte{1, 9, 9}}, {slotSpec{Slot: 1, Fine: 2}, [3]byte{0, 1, 9}}, {slotSpec{Slot: 3, Fine: 2}, [3]byte{9, 1, 0}}} {
		u := universe{9, 9, 9}
		if u.faintest(row.at); [3]byte(u[:3]) != row.want || u.dark(row.at) {
			t.Errorf("%+v: % d", row.at, u[:3])
		}
	}
}

// Of so many slots the usual fixture is named first; where none is usual, the first by name.
func TestWhatAFixtureMayBe(t *testing.T) {
	own := func(name string, slots int) *Profile {
		return &Profile{Name: name, Slots: slots}
	}
	d := &Driver{library: known().ReadOwn("", func(error) {})}
	d.library.Own = map[string]*Profile{}
	for _, p := range []*Profile{own("b", 77), own("a", 77), own("c", 78), own("a-dimmer", 1)} {
		d.library.Own[p.Name] = p
	}
	for _, row := range []struct {
		slots  int
		kind   string
		others []string // of ours
	}{{77, "a", []string{"b"}}, {78, "c", nil}, {79, "", nil}, {1, "dmx-dimmer", []string{"a-dimmer"}}} {
		kind, others, lights := d.candidates(row.slots)
		others = slices.DeleteFunc(others, func(name string) bool { return d.library.Own[name] == nil })
		if kind != row.kind || !slices.Equal(others, row.others) || (lights > 0) != (kind == "dmx-dimmer") {
			t.Errorf("%d slots: %q, or %q; %d lights", row.slots, kind, others, lights)
		}
	}
}

// A lamp that joins a site of which nothing was known, and whose last level is, has the universe sent from now on.
func TestWhatIsKnownOfANewLampIsShown(t *testing.T) {
	for _, known := range []bool{false, true} {
		o, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "stage", Driver: "dmx", Port: "/nowhere"}, Last: func(appliance.Ref) (appliance.Values, bool) { return appliance.Values{}, false }})
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		_, ok := d.Configure(appliance.BusConfig{
			Bus: appliance.Bus{Name: "stage", Driver: "dmx", Port: "/nowhere"}, Nodes: []appliance.Node{{ID: 1, Address: "1", Profile: "dmx-dimmer"}},
			Last: func(appliance.Ref) (appliance.Values, bool) {
				return appliance.Values{Has: appliance.CanDim, Level: 40}, known
			},
		})
		if slots, active := d.present(); !ok || active != known || known && slots[0] == 0 {
			t.Errorf("known %v: active %v", known, active)
		}
	}
}
