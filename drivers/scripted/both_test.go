package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/line/pty"
)

// socket is where a serial adapter is plugged in.
type socket struct {
	ports *line.Ports // nil: this machine's
	path  string
	plug  func() (far io.ReadWriteCloser, pull io.Closer, err error)
}

func realSocket(t *testing.T) socket {
	path := filepath.Join(t.TempDir(), "port")
	return socket{path: path, plug: func() (io.ReadWriteCloser, io.Closer, error) {
		p, err := pty.Open()
		if err != nil {
			return nil, nil, err
		}
		return p.Master(), p, p.Link(path)
	}}
}

func memorySocket(*testing.T) socket {
	path := fmt.Sprint("/dev/line", plugged.Add(1))
	return socket{ports: copper.Ports(), path: path, plug: func() (io.ReadWriteCloser, io.Closer, error) {
		line, err := copper.Plug(path)
		return line, line, err
	}}
}

// tape has what passed on a line, as its devices heard and said it.
type tape struct {
	mu     sync.Mutex
	passed []passage
	halves bool // what is said comes in two halves
}

type passage struct {
	said  bool // by the devices
	bytes []byte
}

func (p passage) String() string {
	return fmt.Sprintf("%s % X", map[bool]string{true: "<", false: ">"}[p.said], p.bytes)
}

// note adds bytes; what a terminal hands over in pieces is one.
func (tp *tape) note(said bool, b []byte) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if n := len(tp.passed); n > 0 && tp.passed[n-1].said == said {
		tp.passed[n-1].bytes = append(tp.passed[n-1].bytes, b...)
		return
	}
	tp.passed = append(tp.passed, passage{said, slices.Clone(b)})
}

// recorded is the devices' end of a line, with a tape running.
type recorded struct {
	io.ReadWriter
	*tape
}

func (r recorded) Read(b []byte) (int, error) {
	n, err := r.ReadWriter.Read(b)
	if n > 0 {
		r.note(false, b[:n])
	}
	return n, err
}

func (r recorded) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.note(true, b)
	r.mu.Lock()
	half := 0
	if r.halves {
		half = len(b) / 2
	}
	r.mu.Unlock()
	if half > 0 {
		if _, err := r.ReadWriter.Write(b[:half]); err != nil {
			return 0, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return r.ReadWriter.Write(b[half:])
}

// stage is a driver on a line whose devices follow a script.
type stage struct {
	appliance.Driver
	t       *testing.T
	socket  socket
	serve   func(io.ReadWriter)
	tape    tape
	outcome []string // of each exchange
	pull    func()
}

// put plugs the devices in.
func (s *stage) put() {
	s.t.Helper()
	end, adapter, err := s.socket.plug()
	if err != nil {
		s.t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.serve(recorded{end, &s.tape}) })
	s.pull = func() { adapter.Close(); wg.Wait() }
}

// ask has an exchange carried out, and again where this machine was too late to tell.
func (s *stage) ask(e appliance.Exchange) error {
	s.t.Helper()
	for {
		s.tape.mu.Lock()
		before := len(s.tape.passed)
		s.tape.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		res, err := e.Do(ctx, appliance.Yield{})
		cancel()
		if errors.Is(err, appliance.ErrOverslept) {
			time.Sleep(e.Late)
			s.tape.mu.Lock()
			s.tape.passed = s.tape.passed[:before]
			s.tape.mu.Unlock()
			continue
		}
		became := "done"
		for _, why := range []error{appliance.ErrSilent, appliance.ErrDamaged, appliance.ErrRefused, appliance.ErrBusDown, appliance.ErrExpired} {
			if errors.Is(err, why) {
				became = why.Error()
			}
		}
		if err != nil && became == "done" {
			became = err.Error()
		}
		for _, r := range res.Readings {
			became += fmt.Sprintf(" %v %+v", r.Ref, r.Values)
		}
		s.outcome = append(s.outcome, became)
		return err
	}
}

// polls asks everything once.
func (s *stage) polls() {
	s.t.Helper()
	for _, p := range s.Polls() {
		s.ask(p.Exchange)
	}
}

// do plans a want and carries it out, up to the first exchange that fails.
func (s *stage) do(w appliance.Want) {
	s.t.Helper()
	for _, chain := range s.Plan([]appliance.Want{w}) {
		for _, e := range append(slices.Clone(chain.Steps), chain.Verify...) {
			if s.ask(e) != nil {
				break
			}
		}
	}
}

// up waits until the port is open.
func (s *stage) up() {
	s.t.Helper()
	link := s.Driver.(appliance.Linker).Link
	for began := time.Now(); link() != nil; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.t.Fatal(link())
		}
	}
}

// act opens a driver on a socket, lets a script run, and gives what passed and what became of it.
func act(t *testing.T, at socket, site appliance.Site, serve func(io.ReadWriter), script func(*stage)) (passed []passage, outcome []string) {
	t.Helper()
	site.Buses[0].Port = at.path
	s := &stage{t: t, socket: at, serve: serve}
	s.put()
	defer func() { s.pull() }()
	cfg := appliance.BusConfig{Bus: site.Buses[0], Nodes: site.Nodes, Shades: site.Shades, DataDir: profilesIn(t), Last: func(appliance.Ref) (appliance.Values, bool) { return appliance.Values{}, false }}
	opened, err := drivers.On(at.ports)[cfg.Bus.Driver](cfg)
	if err != nil || len(opened.BrokenNodes)+len(opened.BrokenShades) > 0 {
		t.Fatal(err, opened.BrokenNodes, opened.BrokenShades)
	}
	s.Driver = opened.Driver
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}()
	s.up()
	script(s)
	s.tape.mu.Lock()
	defer s.tape.mu.Unlock()
	return s.tape.passed, s.outcome
}

// rtuScript has a lamp well, refusing, silent, disturbed, slow, and pulled.
func rtuScript() (site appliance.Site, serve func(io.ReadWriter), script func(*stage)) {
	u := newUnits(1)
	u.of[1].registers[3] = 20
	site = oneBus(appliance.Bus{Driver: "modbus", Options: map[string]string{"responseTimeout": "1s"}}, 1, "lamp")
	dim := func(l appliance.Level) appliance.Want {
		return appliance.Want{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l}}
	}
	lamp := func(change func(*unit)) { u.set(func(of map[byte]*unit) { change(of[1]) }) }
	says := func(b []byte) {
		u.set(func(map[byte]*unit) { u.raw = func(byte, []byte) []byte { return b } })
	}
	return site, func(port io.ReadWriter) { u.serveRTU(port, false) }, func(s *stage) {
		s.polls()
		s.do(dim(40))
		lamp(func(x *unit) { x.refuses = true })
		s.do(dim(50))
		lamp(func(x *unit) { x.refuses, x.deaf = false, true })
		s.do(dim(60))
		lamp(func(x *unit) { x.deaf, x.silent = false, true })
		s.do(dim(70))
		lamp(func(x *unit) { x.silent = false })
		damaged := rtu(1, []byte{3, 2, 0, 99})
		damaged[4] ^= 1
		says(damaged)
		s.polls()
		says(rtu(9, []byte{3, 2, 0, 99}))
		s.polls()
		u.set(func(map[byte]*unit) { u.raw = nil })
		s.tape.halves = true
		s.polls()
		s.pull()
		s.do(dim(80))
		s.put()
		s.up()
		s.do(dim(90))
	}
}

// sdnScript has a motor that acknowledges, one that is mute, and the adapter pulled. The motors stand, so that what
// they tell does not depend on when they are asked.
func sdnScript() (site appliance.Site, serve func(io.ReadWriter), script func(*stage)) {
	ms := &motors{}
	site = oneBus(appliance.Bus{Driver: "sdn", Options: map[string]string{"responseTimeout": "1s"}}, 2, "somfy-sdn-30dc")
	for i := range 2 {
		ms.all = append(ms.all, &motor{address: [3]byte{6, 0x1A, byte(i)}, stuck: true})
		site.Nodes[i].Address = fmt.Sprintf("06.1A.%02X", i)
		site.Shades = append(site.Shades, appliance.Shade{ID: appliance.ID(5001 + i), Node: appliance.ID(i + 1), Output: 1})
	}
	move := func(shade appliance.ID, v appliance.Values) appliance.Want {
		return appliance.Want{Ref: appliance.Ref{Shade: shade}, Values: v}
	}
	open := appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}
	mute := func(is bool) {
		ms.mu.Lock()
		defer ms.mu.Unlock()
		ms.all[1].mute = is
	}
	return site, ms.serve, func(s *stage) {
		s.polls()
		s.do(move(5001, open))
		s.do(move(5002, appliance.Values{Has: appliance.CanMove, Motion: appliance.Stop}))
		mute(true)
		s.do(move(5002, open))
		mute(false)
		s.tape.halves = true
		s.do(move(5002, appliance.Values{Has: appliance.CanMove, Motion: appliance.Close}))
		s.pull()
		s.do(move(5001, open))
		s.put()
		s.up()
		s.polls()
	}
}

// A pseudo-terminal in real time and a cable in memory on virtual time carry the same bytes in the same order, and what
// drivers make of them is the same: what is shown on cables is shown for ports. Times are not compared.
func TestACableIsWhatATerminalIs(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func() (appliance.Site, func(io.ReadWriter), func(*stage)){"modbus rtu": rtuScript, "sdn": sdnScript} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, serve, script := play()
			real, became := act(t, realSocket(t), site, serve, script)
			synctest.Test(t, func(t *testing.T) {
				site, serve, script := play()
				virtual, too := act(t, memorySocket(t), site, serve, script)
				if a, b := fmt.Sprint(real), fmt.Sprint(virtual); a != b {
					t.Errorf("a terminal carried\n%s\na cable\n%s", a, b)
				}
				if !slices.Equal(became, too) {
					t.Errorf("on a terminal\n%q\non a cable\n%q", became, too)
				}
			})
			for _, p := range real {
				t.Log(p)
			}
			t.Logf("%q", became)
			if len(real) < 12 || len(became) < 10 {
				t.Error("this test shows nothing")
			}
		})
	}
}
