package dmx

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/sim/dmxsim"
)

// startOpen puts an Open DMX line behind a building.
func startOpen(t *testing.T, options map[string]string, nodes []appliance.Node) (*building, *plug) {
	t.Helper()
	return startOpenOn(t, newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)})), options, nodes)
}

func startOpenOn(t *testing.T, p *plug, options map[string]string, nodes []appliance.Node) (*building, *plug) {
	t.Helper()
	p.open = true
	p.put()
	all := map[string]string{"interface": "open-dmx"}
	for k, v := range options {
		all[k] = v
	}
	b := startBuilding(t, p.path, all, nodes, nil)
	b.up()
	return b, p
}

func TestOpenDMXRepeatsTheUniverse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := mixedNodes()
		b, p := startOpen(t, map[string]string{"slots": "512"}, nodes)
		if n := len(outputs(p.widget)); n != 0 {
			t.Fatalf("%d packets before anything is known", n)
		}
		if out := b.do(level(one(1), 40)); !out.OK() || out.Members[0].Stage != appliance.StageUnverifiable {
			t.Fatalf("%+v", out)
		}
		eventually(t, "the lamp is at 40 %", func() bool { return showing1(p.widget, 0).Level == 40 })
		eventually(t, "60 packets", func() bool { return len(outputs(p.widget)) >= 60 })
		list := outputs(p.widget)
		for i, e := range list {
			if len(e.Data) != 513 || e.Data[0] != 0 || i > 0 && !bytes.Equal(e.Data, list[i-1].Data) {
				t.Fatalf("packet %d: %d bytes, %x…", i, len(e.Data), e.Data[:8])
			}
			if i >= 10 {
				if ten := e.At.Sub(list[i-10].At); ten < 220*time.Millisecond || ten > 3*time.Second {
					t.Errorf("ten packets in %v", ten)
				}
			}
		}
		rate := float64(len(list)-1) / list[len(list)-1].At.Sub(list[0].At).Seconds()
		if rate < 25 || rate > 31 {
			t.Errorf("%.1f packets a second, want about 30", rate)
		}
		begun := time.Now()
		if out := b.do(appliance.Command{Kind: appliance.LightOff, Target: everything}); !out.OK() {
			t.Fatal(out.Err)
		}
		took := time.Since(begun)
		eventually(t, "all dark", func() bool { return p.widget.Universe()[0] == 0 })
		t.Logf("%.1f packets a second; all-off on the wire after %v", rate, took.Round(time.Millisecond))

		frames := b.recent()
		if len(frames) == 0 {
			t.Fatal("nothing was recorded")
		}
		for _, f := range frames {
			if f.Note != "" {
				continue
			}
			if _, err := Decode(f.Bytes); err != nil {
				t.Errorf("recorded %x: %v", f.Bytes[:8], err)
			}
		}
	})
}

func TestOpenDMXPulledAndPutBack(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	nodes := mixedNodes()
	b, p := startOpenOn(t, ptyPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)})), nil, nodes)
	for round := range 4 {
		keep := appliance.Level(10 + round)
		if out := b.do(level(one(1), keep)); !out.OK() {
			t.Fatalf("round %d: %s", round, out.Err)
		}
		p.pull()
		eventually(t, "the bus is down", func() bool { return !b.core.Snapshot().Buses[0].Up })
		cmd := level(one(1), 100)
		cmd.Expiry = time.Now().Add(100 * time.Millisecond)
		if out := b.do(cmd); out.OK() {
			t.Fatal("acknowledged without a port")
		}
		before := len(outputs(p.widget))
		p.put()
		eventually(t, "packets again", func() bool { return len(outputs(p.widget)) >= before+3 })
	}
	never(t, p.widget, 1, 255)
}

func TestOpenDMXHasNoRDM(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlug(t, mustWidget(t, dmxsim.Config{}))
		p.open = true
		p.put()
		d := openDriver(t, p, map[string]string{"interface": "open-dmx"})
		_, err := d.Discover(t.Context())
		words(t, err, "Open DMX interface cannot listen")
		if !errors.Is(err, appliance.ErrUnable) {
			t.Error(err)
		}
	})
}

func TestOpenDMXPortIsNotShared(t *testing.T) {
	t.Parallel()
	p := ptyPlug(t, mustWidget(t, dmxsim.Config{}))
	p.open = true
	p.put()
	openDriver(t, p, map[string]string{"interface": "open-dmx"})
	_, err := new(line.Opener).Open(p.path, dmxLine)
	words(t, err, "in use by another bus of this program")
}

// recent are the frames of the bus's recorder.
func (b *building) recent() []appliance.Frame {
	b.t.Helper()
	r, err := b.core.Recorder("stage")
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Recent()
}

// due is a context as the core makes it for a command: its deadline is when the
// frame has to be out, and ends nothing by itself.
type due struct {
	context.Context
	at time.Time
}

func (d due) Deadline() (time.Time, bool) { return d.at, true }

// idlePort is an Open DMX port that is open and sends nothing by itself; it shows
// one slot at 7 already.
func idlePort() *openPort {
	return &openPort{
		where: "test", wake: make(chan struct{}, 1), shown: []byte{7},
		options: busOptions{rate: 30, breakTime: 200 * time.Microsecond, markTime: 100 * time.Microsecond},
	}
}

// A frame has to be out by the expiry of its command, although the context that
// tells it never ends.
func TestOpenDMXCommandIsNotSentAfterItsExpiry(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		expiry time.Duration // from when the command comes
		next   time.Duration // until the next packet begins; less than 0: never
		sent   bool
		answer time.Duration // when show has to return
	}{
		{name: "had expired before", expiry: -time.Second, next: 50 * time.Millisecond},
		{name: "could not be out in time", expiry: 2 * time.Millisecond, next: -1},
		{name: "expires before the next packet", expiry: 52 * time.Millisecond, next: 300 * time.Millisecond, answer: 52 * time.Millisecond},
		{name: "expires while the next packet would be sent", expiry: 52 * time.Millisecond, next: 51 * time.Millisecond, answer: 51 * time.Millisecond},
		{name: "expires and no packet follows", expiry: 50 * time.Millisecond, next: -1, answer: 50 * time.Millisecond},
		{name: "in time", expiry: 50 * time.Millisecond, next: 40 * time.Millisecond, sent: true, answer: 40 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := idlePort()
				begun := time.Now()
				answered := make(chan error, 1)
				go func() {
					_, err := p.show(due{t.Context(), begun.Add(tc.expiry)}, appliance.Yield{}, []byte{255})
					if took := time.Since(begun); took > tc.answer {
						t.Errorf("answered after %v, want %v", took, tc.answer)
					}
					answered <- err
				}()
				if tc.next >= 0 {
					time.Sleep(tc.next)
					synctest.Wait()
					slots, change := p.next()
					if got := slots[0] == 255; got != tc.sent {
						t.Errorf("the packet carries %v", slots)
					}
					if change != nil {
						p.over(slots, change, time.Now(), nil)
					}
				}
				err := <-answered
				if tc.sent != (err == nil) || err != nil && !errors.Is(err, appliance.ErrExpired) {
					t.Errorf("the command ended with %v", err)
				}
				if p.want != nil {
					t.Error("the command still waits for a packet")
				}
			})
		})
	}
}

// slowBreak is a port whose first break lasts until it is told to end.
type slowBreak struct {
	wire       *os.File
	begun, end chan struct{}
}

func (s slowBreak) Write(b []byte, _ time.Time) (int, error) { return s.wire.Write(b) }
func (s slowBreak) Unsent() int                              { return 0 }
func (s slowBreak) Abort()                                   {}

func (s slowBreak) Break(time.Duration) error {
	select {
	case s.begun <- struct{}{}:
		<-s.end
	case <-s.end:
	}
	return nil
}

// A slow adapter can use up the time that was left when the packet began.
func TestOpenDMXCommandThatExpiresDuringTheBreakIsNotSent(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	slow := slowBreak{wire: w, begun: make(chan struct{}), end: make(chan struct{})}
	p := idlePort()
	p.shown = nil
	p.present = func() ([]byte, bool) { return nil, false }
	ctx, cancel := context.WithCancel(t.Context())
	fed := make(chan error, 1)
	go func() { fed <- p.feed(ctx, slow) }()

	expiry := time.Now().Add(2 * time.Second)
	answered := make(chan error, 1)
	go func() {
		_, err := p.show(due{t.Context(), expiry}, appliance.Yield{}, []byte{255})
		answered <- err
	}()
	select {
	case <-slow.begun:
	case err := <-answered:
		t.Fatalf("no packet began: %v", err)
	}
	eventually(t, "the command has expired", func() bool { return time.Now().After(expiry) })
	close(slow.end)
	if err := <-answered; !errors.Is(err, appliance.ErrExpired) {
		t.Errorf("the command ended with %v", err)
	}
	cancel()
	if err := <-fed; err != nil {
		t.Errorf("the port was given up: %v", err)
	}
	w.Close()
	if sent, err := r.Read(make([]byte, 8)); sent > 0 {
		t.Errorf("%d bytes were sent, %v", sent, err)
	}
}

// stuckPort never ends a break until it is told to.
type stuckPort struct{ end chan struct{} }

func (s stuckPort) Break(time.Duration) error                { <-s.end; return nil }
func (s stuckPort) Write(b []byte, _ time.Time) (int, error) { return len(b), nil }
func (s stuckPort) Unsent() int                              { return 0 }
func (s stuckPort) Abort()                                   {}

// No packet goes out for two seconds. If the port has taken all that it was given, nobody but
// this machine is late, and nothing is proven; a port that holds a packet is silent.
func TestOpenDMXOfAMachineThatIsLateAccusesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := idlePort()
		p.sentAt = time.Now()
		time.Sleep(2 * time.Second)
		if _, err := p.check(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrOverslept) || !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("nobody has given the port anything: %v", err)
		}
		port := stuckPort{make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		fed := make(chan error, 1)
		go func() { fed <- p.feed(ctx, port) }()
		time.Sleep(2 * time.Second)
		if _, err := p.check(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrSilent) || errors.Is(err, appliance.ErrOverslept) {
			t.Errorf("the port holds a packet: %v", err)
		}
		close(port.end)
		time.Sleep(time.Second)
		if _, err := p.check(t.Context(), appliance.Yield{}); err != nil {
			t.Errorf("well again: %v", err)
		}
		cancel()
		<-fed
	})
}

// A command that comes while the port is away fails at once, and does not come out when the port is back, though that would still be
// in time.
func TestOpenDMXCommandWithoutAPortIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := idlePort()
		p.log, p.present = slog.New(slog.DiscardHandler), func() ([]byte, bool) { return nil, false }
		p.opened(errors.New("unplugged"))
		if _, err := p.show(due{t.Context(), time.Now().Add(time.Minute)}, appliance.Yield{}, []byte{9}); !errors.Is(err, appliance.ErrBusDown) {
			t.Errorf("without a port: %v", err)
		}
		p.opened(nil)
		if slots, change := p.next(); change != nil || len(slots) > 0 {
			t.Errorf("%v comes out when the port is back", slots)
		}
	})
}

// What waits when the port is lost is over: it does not come out when the port is back.
func TestOpenDMXWhatWaitsEndsWithThePort(t *testing.T) {
	t.Parallel()
	p := idlePort()
	p.log, p.present = slog.New(slog.DiscardHandler), func() ([]byte, bool) { return nil, false }
	waits := &showing{slots: []byte{9}, done: make(chan struct{})}
	p.want = waits
	p.opened(errors.New("unplugged"))
	select {
	case <-waits.done:
	default:
		t.Fatal("what waited is not over")
	}
	p.opened(nil)
	if slots, change := p.next(); change != nil || len(slots) > 0 && slots[0] == 9 {
		t.Errorf("%v comes out when the port is back", slots)
	}
}
