package sdn_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/drivers/sdn"
	"svc.internal/controller/sim/sdnsim"
)

// bench is a driver on a simulated bus, without a core.
type bench struct {
	*sdn.Driver
	sim  *sdnsim.Bus
	port *pty.Pty // nil: a line in memory
	path string
	log  *journal
}

// journal keeps what the driver logs.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) has(words string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.text.String(), words)
}

// newBench runs a driver. What left behind sent before it came is on the bus at the start.
func newBench(t *testing.T, sim sdnsim.Config, configured int, left ...sdn.Frame) *bench {
	t.Helper()
	b := &bench{path: filepath.Join(t.TempDir(), "port"), log: &journal{}}
	var err error
	if b.port, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.port.Close() })
	if err := b.port.Link(b.path); err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		frame, err := f.Bytes()
		if err == nil {
			err = os.WriteFile(b.path, frame, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.run(t, sim, configured, b.port.Master(), nil)
	return b
}

// virtualBench runs a driver on a line in memory, in a bubble.
func virtualBench(t *testing.T, sim sdnsim.Config, configured int) *bench {
	t.Helper()
	b := &bench{path: "/port", log: &journal{}}
	var ground cable.Net
	port, err := ground.Plug(b.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	sim.Virtual = true
	b.run(t, sim, configured, port, ground.Ports())
	return b
}

// run plays the motors at one end of the line, and the driver at the other, until the test ends.
func (b *bench) run(t *testing.T, sim sdnsim.Config, configured int, end io.ReadWriter, ports *line.Ports) {
	t.Helper()
	var err error
	if b.sim, err = sdnsim.New(sim); err != nil {
		t.Fatal(err)
	}
	cfg := appliance.BusConfig{
		Bus: appliance.Bus{Name: "shades", Port: b.path, Line: appliance.LineSettings{BaudRate: sim.BaudRate}}, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	for i := range configured {
		id := appliance.ID(i + 1)
		cfg.Nodes = append(cfg.Nodes, appliance.Node{ID: id, Address: address(i), Profile: "somfy-sdn"})
		cfg.Shades = append(cfg.Shades, appliance.Shade{ID: 5000 + id, Node: id, Output: 1})
	}
	if ports == nil { // the motors run on a machine that may be busy
		cfg.Bus.Options = map[string]string{"responseTimeout": "2s"}
	}
	o, err := sdn.OpenOn(cfg, ports)
	if err != nil {
		t.Fatal(err)
	}
	b.Driver = o.Driver.(*sdn.Driver)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- b.sim.Serve(ctx, end) }()
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func (b *bench) do(t *testing.T, e appliance.Exchange) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := e.Do(ctx, appliance.Yield{})
	return err
}

func TestCommissioningTools(t *testing.T) {
	t.Parallel()
	list := fast(motors(2))
	list[1].Label, list[1].Groups, list[1].Open = "North", []string{"01.01.07"}, 50
	b := newBench(t, quick(list), 1) // the second is a stranger
	known, stranger := sdn.Address{0x06, 0x1A, 0x00}, sdn.Address{0x06, 0x1A, 0x01}
	must := func(e appliance.Exchange, err error) {
		t.Helper()
		if err == nil {
			err = b.do(t, e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []sdn.Address{known, stranger} {
		must(b.Identify(a.String()))
	}
	if d := b.sim.Devices(); d[0].Winks != 1 || d[1].Winks != 1 {
		t.Errorf("winked %d and %d times", d[0].Winks, d[1].Winks)
	}
	var label, version string
	var limits sdn.Limits
	var group sdn.Address
	must(b.ReadLabel(stranger, &label), nil)
	must(b.ReadVersion(stranger, &version), nil)
	must(b.ReadLimits(stranger, &limits), nil)
	must(b.ReadGroup(stranger, 0, &group), nil)
	if label != "North" || version != "506304410102" || limits != (sdn.Limits{Down: 10000, Set: true}) || group.String() != "01.01.07" {
		t.Errorf("read %q, %q, %+v, %v", label, version, limits, group)
	}
	must(b.SetLabel(stranger, "North-east wing."))
	must(b.SetGroup(stranger, 3, sdn.Address{1, 1, 9}))
	must(b.SetGroup(stranger, 0, sdn.Nobody))
	must(b.ReadGroup(stranger, 0, &group), nil)
	if d := b.sim.Devices()[1]; d.Label != "North-east wing." || len(d.Groups) != 1 || d.Groups[0] != "01.01.09" || group != sdn.Nobody {
		t.Errorf("written: %+v; entry 0 reads %v", d, group)
	}
	must(b.SetLock(stranger, sdn.LockHere, 0, 10), nil)
	if !b.sim.Devices()[1].Locked {
		t.Error("not locked")
	}
	if err := b.do(t, b.Jog(stranger, sdn.JogDownPulses, 100)); !errors.Is(err, appliance.ErrRefused) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("a locked motor jogs: %v", err)
	}
	must(b.SetLock(stranger, sdn.Unlock, 0, 10), nil)
	must(b.Jog(stranger, sdn.JogDownPulses, 100), nil)
	e, err := b.GoToIntermediate(stranger, 4)
	if err == nil {
		err = b.do(t, e)
	}
	if !errors.Is(err, appliance.ErrRefused) || !strings.Contains(err.Error(), "intermediate position is not set") {
		t.Errorf("an intermediate position that is not set: %v", err)
	}
	for what, err := range map[string]error{
		"no address":               second(b.Identify("5")),
		"everybody":                second(b.Identify("FF.FF.FF")),
		"position 17":              second(b.GoToIntermediate(known, 17)),
		"17 characters":            second(b.SetLabel(known, "12345678901234567")),
		"no ASCII":                 second(b.SetLabel(known, "Süd")),
		"a line's end":             second(b.SetLabel(known, "South\n")),
		"a deletion":               second(b.SetLabel(known, "South\x7f")),
		"entry 16":                 second(b.SetGroup(known, 16, sdn.Address{1, 1, 9})),
		"a group that is no group": second(b.SetGroup(known, 1, sdn.Address{6, 1, 9})),
	} {
		if err == nil {
			t.Errorf("%s accepted", what)
		}
	}
}

func second(_ appliance.Exchange, err error) error { return err }

func TestPollingUsesWhatTheLineAllows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const motorsThere, rounds = 4, 6
		const answers = 5 * time.Millisecond
		b := virtualBench(t, sdnsim.Config{Motors: motors(motorsThere), AnswerMin: answers, AnswerMax: answers, Quiet: 25 * time.Millisecond}, motorsThere)
		polls := b.Polls()
		run := func() {
			for _, p := range polls {
				if err := b.do(t, p.Exchange); err != nil {
					t.Fatal(err)
				}
			}
		}
		run() // opens the port
		before := b.sim.Counts()
		began := time.Now()
		for range rounds {
			run()
		}
		took := time.Since(began)
		after := b.sim.Counts()
		frames := time.Duration(after.FramesIn - before.FramesIn)
		least := after.Busy - before.Busy + frames*(25*time.Millisecond+answers)
		share := float64(least) / float64(took)
		t.Logf("4800 8O1, 25 ms quiet: %d exchanges in %v, the timing rules allow %v: %.1f %%", frames, took.Round(time.Millisecond), least.Round(time.Millisecond), 100*share)
		if share > 1.001 {
			t.Errorf("%.1f %% of what the line allows: this test measures nothing", 100*share)
		}
		if share < 0.90 {
			t.Errorf("polling reaches %.1f %% of what the line allows, want at least 90 %%", 100*share)
		}
		if after.ShortQuiet != 0 || after.Collisions != 0 || after.Garbled != 0 {
			t.Errorf("on the wire: %+v", after)
		}
	})
}

func TestPulledAdapterIsFoundAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, quick(motors(1)), 1)
	poll := b.Polls()[1].Exchange
	if err := b.do(t, poll); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		fresh, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		sim, err := sdnsim.New(quick(motors(1)))
		if err != nil {
			t.Fatal(err)
		}
		b.port.Close()
		if err := b.do(t, poll); !errors.Is(err, appliance.ErrBusDown) && !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("pulled: %v", err)
		}
		if err := fresh.Link(b.path); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- sim.Serve(ctx, fresh.Master()) }()
		began := time.Now()
		for b.do(t, poll) != nil {
			if time.Since(began) > time.Minute {
				t.Fatal("not found again within a minute")
			}
			<-time.After(20 * time.Millisecond)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		b.port = fresh
	}
}

// TestAnswerToWhoHadThePortBefore: an acknowledgement does not tell of what, and one
// that a program before this had asked for must neither confirm a command of ours nor
// look like that of a second motor.
func TestAnswerToWhoHadThePortBefore(t *testing.T) {
	t.Parallel()
	const answers = 150 * time.Millisecond
	sim := quick(motors(1))
	sim.AnswerMin, sim.AnswerMax = answers, answers
	to := sdn.Address{0x06, 0x1A, 0x00}
	b := newBench(t, sim, 1, sdn.Frame{ID: 0x05, Ack: true, Source: sdn.Address{0xFF, 0xFF, 0x00}, Destination: to})
	e, err := b.GoToIntermediate(to, 4)
	if err == nil {
		err = b.do(t, e)
	}
	if !errors.Is(err, appliance.ErrRefused) {
		t.Errorf("an intermediate position that is not set, after a wink of somebody else: %v", err)
	}
	if err := b.do(t, b.Polls()[1].Exchange); err != nil {
		t.Error(err)
	}
	if d := b.sim.Devices()[0]; d.Winks != 1 {
		t.Errorf("winked %d times: nothing was left behind", d.Winks)
	}
	if b.log.has("two motors") {
		t.Error("the answer to who had the port before was taken for that of a second motor")
	}
}

func TestTwinsAreNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(2)
		list[1].Address, list[1].Open = list[0].Address, 20
		b := virtualBench(t, sdnsim.Config{Motors: list, BaudRate: 19200, AnswerMin: 5 * time.Millisecond, AnswerMax: 100 * time.Millisecond, Seed: 5}, 1)
		poll := b.Polls()[1].Exchange
		for began := time.Now(); !b.log.has("two motors have this address"); {
			if time.Since(began) > time.Minute {
				t.Fatal("two motors answer to one address, and nobody says so")
			}
			b.do(t, poll)                        // fails now and then: they collide
			<-time.After(150 * time.Millisecond) // the second answer comes while nobody asks
		}
	})
}

func TestMastersAddressTakenByAnotherIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := virtualBench(t, quick(motors(1)), 1)
		if err := b.do(t, b.Polls()[0].Exchange); err != nil {
			t.Fatal(err)
		}
		b.sim.Say(sdnsim.Message{ID: 0x0E, Src: 0xFFFF00, Dst: 0x061A05})
		for began := time.Now(); !b.log.has("another master"); <-time.After(5 * time.Millisecond) {
			if time.Since(began) > 2*time.Second {
				t.Fatal("another master with our address, and nobody says so")
			}
		}
	})
}

func TestBusBehindASerialServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(2))
		// A network brings frames closer together than they were sent; the protocol asks for 10 ms.
		sim, err := sdnsim.New(sdnsim.Config{Motors: list, AnswerMin: 5 * time.Millisecond, AnswerMax: 15 * time.Millisecond, Quiet: 10 * time.Millisecond, Virtual: true})
		if err != nil {
			t.Fatal(err)
		}
		var ground cable.Net
		listener, err := ground.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "shades", Port: "rtu+tcp://" + listener.Addr().String()}}
		for i := range list {
			id := appliance.ID(i + 1)
			cfg.Nodes = append(cfg.Nodes, appliance.Node{ID: id, Address: address(i), Profile: "somfy-sdn"})
			cfg.Shades = append(cfg.Shades, appliance.Shade{ID: 5000 + id, Node: id, Output: 1})
		}
		o, err := sdn.OpenOn(cfg, ground.Ports())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 2)
		go func() { done <- o.Driver.Run(ctx) }()
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() { done <- sim.Serve(ctx, conn) }()
		t.Cleanup(func() {
			cancel()
			for range list {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			conn.Close()
		})
		b := &bench{Driver: o.Driver.(*sdn.Driver)}
		for _, p := range o.Driver.Polls() {
			if err := b.do(t, p.Exchange); err != nil {
				t.Fatal(err)
			}
		}
		var want []appliance.Want
		for _, s := range cfg.Shades {
			want = append(want, appliance.Want{Ref: appliance.Ref{Shade: s.ID}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Close}})
		}
		chains := o.Driver.Plan(want)
		if len(chains) != 1 || !chains[0].Group {
			t.Fatalf("%d chains, want one frame to everybody", len(chains))
		}
		for _, e := range append(chains[0].Steps, chains[0].Verify...) {
			if err := b.do(t, e); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range sim.Devices() {
			if !d.Moving || d.Opening {
				t.Errorf("%+v, want it closing", d)
			}
		}
		if c := sim.Counts(); c.ShortQuiet != 0 || c.Collisions != 0 {
			t.Errorf("on the wire: %+v", c)
		}
	})
}
