package sdnsim

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/drivers/line/pty"
)

// pipe is one end of a two-way pipe, for tests that need no terminal.
type pipe struct {
	toBus, fromBus chan []byte
	rest           []byte
}

func newPipe() *pipe { return &pipe{toBus: make(chan []byte, 16), fromBus: make(chan []byte, 4096)} }

func (p *pipe) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		p.rest = <-p.toBus
		if p.rest == nil {
			return 0, io.EOF
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.fromBus <- append([]byte(nil), b...)
	return len(b), nil
}

// talk serves a bus on a pipe in a bubble and returns it.
func talk(t *testing.T, cfg Config) (*Bus, *pipe) {
	t.Helper()
	cfg.Virtual = true
	bus, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := newPipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bus.Serve(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		close(p.toBus)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return bus, p
}

// answer collects bytes until a frame is whole or the time is over.
func (p *pipe) answer(limit time.Duration) (m Message, raw []byte, ok bool) {
	deadline := time.After(limit)
	for {
		select {
		case b := <-p.fromBus:
			raw = append(raw, b...)
			if m, _, _, ok = take(raw); ok {
				return m, raw, true
			}
		case <-deadline:
			return m, raw, false
		}
	}
}

const host = 0x7F7F7F

func TestMotorMovesAndTellsWhereItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{
			Motors:    []Motor{{Address: "06.1A.2B", Type: 2, Down: 2 * time.Second, Up: 2 * time.Second, Open: 100}},
			AnswerMin: 5 * time.Millisecond, AnswerMax: 5 * time.Millisecond,
		})
		p.toBus <- Message{ID: 3, Ack: true, To: 2, Src: host, Dst: 0x061A2B, Data: []byte{4, 50, 0, 0}}.Pack()
		if m, raw, ok := p.answer(time.Second); !ok || m.ID != 0x7F || m.Src != 0x061A2B || m.Dst != host {
			t.Fatalf("answer % X, %+v; want an ACK", raw, m)
		}
		for until := time.Now().Add(5 * time.Second); bus.Devices()[0].Moving; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("never stops")
			}
		}
		p.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
		m, raw, ok := p.answer(time.Second)
		if !ok || m.ID != 0x0D || len(m.Data) != 5 || m.Data[2] != 50 || m.From != 2 {
			t.Errorf("answer % X, %+v; want 50 percent", raw, m)
		}
		p.toBus <- Message{ID: 0x0E, Src: host, Dst: 0x061A2B}.Pack()
		if m, raw, ok := p.answer(time.Second); !ok || string(m.Data) != string([]byte{stopped, down, byNetwork, reached}) {
			t.Errorf("status % X, %+v", raw, m)
		}
	})
}

func TestAnswersTakeTheTimeOfTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, p := talk(t, Config{Motors: []Motor{{Address: "06.1A.2B"}}, AnswerMin: 20 * time.Millisecond, AnswerMax: 20 * time.Millisecond})
		char := 11 * time.Second / 4800
		want := time.Duration(11+16)*char + 20*time.Millisecond
		best := time.Hour
		for range 5 {
			begin := time.Now()
			p.toBus <- Message{ID: 0x0C, Src: host, Dst: 0x061A2B}.Pack()
			if _, _, ok := p.answer(time.Second); !ok {
				t.Fatal("no answer")
			}
			took := time.Since(begin)
			if took < want {
				t.Errorf("took %v, less than the line allows: %v", took, want)
			}
			best = min(best, took)
		}
		if best > want+want/20 {
			t.Errorf("took %v at best, want about %v", best, want)
		}
	})
}

func TestTwoAnswersAtOnceAreGarbled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{
			Motors:    []Motor{{Address: "06.1A.2B"}, {Address: "06.1A.2C"}},
			AnswerMin: 20 * time.Millisecond, AnswerMax: 20 * time.Millisecond,
		})
		p.toBus <- Message{ID: 0x40, Src: host, Dst: everybody}.Pack()
		if m, raw, ok := p.answer(300 * time.Millisecond); ok || len(raw) == 0 {
			t.Errorf("heard % X, %+v; want bytes and no frame", raw, m)
		}
		if n := bus.Counts().Collisions; n == 0 {
			t.Error("no collision counted")
		}
	})
}

func TestGroupFramesMoveMembersOnlyAndAreNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{Motors: []Motor{
			{Address: "06.1A.2B", Groups: []string{"01.01.05"}}, {Address: "06.1A.2C", Groups: []string{"01.01.06"}},
		}})
		p.toBus <- Message{ID: 3, Src: 0x010105, Dst: nobody, Data: []byte{1, 0xFF, 0xFF, 0}}.Pack()
		if _, raw, _ := p.answer(400 * time.Millisecond); len(raw) > 0 {
			t.Errorf("answered % X", raw)
		}
		d := bus.Devices()
		if !d[0].Moving || !d[0].Opening || d[1].Moving {
			t.Errorf("%+v", d)
		}
	})
}

func TestTroubledMotorsRefuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{
			Motors:    []Motor{{Address: "06.1A.2B", Down: time.Second, Open: 100}, {Address: "06.1A.2C", Limit: -1}},
			AnswerMin: 5 * time.Millisecond, AnswerMax: 5 * time.Millisecond,
		})
		tell := func(to uint32, want byte, reason int) {
			t.Helper()
			p.toBus <- Message{ID: 3, Ack: true, Src: host, Dst: to, Data: []byte{0, 0xFF, 0xFF, 0}}.Pack()
			m, _, ok := p.answer(time.Second)
			if !ok || m.ID != want || reason >= 0 && (len(m.Data) != 1 || int(m.Data[0]) != reason) {
				t.Errorf("%06X: %+v, want %02X with reason %02X", to, m, want, reason)
			}
		}
		tell(0x061A2C, 0x6F, limitsMissing)
		for trouble, reason := range map[Trouble]int{{Hot: true}: inSecurity, {Locked: true}: isLocked, {Busy: 1}: 0xFF, {Refuse: 0x21}: 0x21} {
			if err := bus.SetTrouble("06.1A.2B", trouble); err != nil {
				t.Fatal(err)
			}
			tell(0x061A2B, 0x6F, reason)
		}
		if err := bus.SetTrouble("06.1A.2B", Trouble{Obstacle: 30}); err != nil {
			t.Fatal(err)
		}
		tell(0x061A2B, 0x7F, -1)
		for until := time.Now().Add(3 * time.Second); !bus.Devices()[0].Blocked; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%+v: want it blocked by the obstacle", bus.Devices()[0])
			}
		}
		if at := bus.Devices()[0].Position; at < 69 || at > 71 {
			t.Errorf("blocked at %v %% open, want 70", at)
		}
	})
}

func TestSecondMasterIsObeyedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus, p := talk(t, Config{Motors: []Motor{{Address: "06.1A.2B"}}})
		bus.Say(Message{ID: 3, Ack: true, Src: 0x7F7F00, Dst: 0x061A2B, Data: []byte{1, 0, 0, 0}})
		m, _, ok := p.answer(time.Second)
		if !ok || m.ID != 3 {
			t.Fatalf("heard %+v, want the master's frame", m)
		}
		if m, _, ok := p.answer(time.Second); !ok || m.ID != 0x7F || m.Dst != 0x7F7F00 {
			t.Errorf("heard %+v, want the ACK", m)
		}
		if !bus.Devices()[0].Moving {
			t.Error("the motor does not move")
		}
	})
}

func TestServeOnATerminalEndsWithItsContext(t *testing.T) {
	bus, err := New(Config{Motors: []Motor{{Address: "06.1A.2B"}}})
	if err != nil {
		t.Fatal(err)
	}
	port, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bus.Serve(ctx, port.Master()) }()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Minute):
		t.Error("Serve does not end")
	}
}
