package line

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// sleeper is a port whose waits end late, and on which nobody says anything.
type sleeper struct {
	line  *Line
	late  time.Duration
	heard string // before time is up
}

func (s *sleeper) start()       {}
func (s *sleeper) fresh() error { return nil }
func (s *sleeper) write(frame []byte, _ time.Time) (int, error) {
	return len(frame), nil
}

func (s *sleeper) await(_ context.Context, until time.Time, _ <-chan struct{}) error {
	if s.heard != "" {
		s.line.received([]byte(s.heard), time.Now())
		s.heard = ""
		return nil
	}
	time.Sleep(time.Until(until) + s.late)
	return errTimeUp
}

func (s *sleeper) unsent() int           { return 0 }
func (s *sleeper) abort()                {}
func (s *sleeper) close()                {}
func (s *sleeper) gone() <-chan struct{} { return nil }

// A line that woke too late accuses nobody, thrice in a row at most.
func TestWhoOversleepsAccusesNobody(t *testing.T) {
	for name, tc := range map[string]struct {
		inFlight int
		heard    string // half an answer
		want     error
	}{
		"silence":               {1, "", appliance.ErrSilent},
		"half an answer":        {1, "hel", appliance.ErrDamaged},
		"with several at once":  {2, "", appliance.ErrSilent},
		"half, several at once": {2, "hel", appliance.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := New(Config{Name: "test", Port: "tcp://127.0.0.1:1", InFlight: tc.inFlight})
				if err != nil {
					t.Fatal(err)
				}
				p := &sleeper{line: l}
				close(l.tried)
				exchange := func(late time.Duration) error {
					p.late, p.heard = late, tc.heard
					l.link = link{port: p, opened: time.Now()}
					r := ask("hello")
					r.Timeout, r.Own = time.Second, func([]byte) bool { return true }
					reply, err := l.Exchange(context.Background(), r)
					if reply.Sent.IsZero() {
						t.Error("nothing was sent")
					}
					time.Sleep(time.Second)
					l.in.mu.Lock()
					l.discard("")
					l.in.mu.Unlock()
					return err
				}
				for i, step := range []struct {
					late time.Duration
					want error
				}{
					{0, tc.want}, {tooLate - 1, tc.want},
					{tooLate, appliance.ErrOverslept}, {time.Second, appliance.ErrOverslept}, {tooLate, appliance.ErrOverslept},
					{tooLate, tc.want}, // a machine that is always late finds out who is gone all the same
					{0, tc.want}, {tooLate, appliance.ErrOverslept},
				} {
					overslept := step.want == appliance.ErrOverslept
					if err := exchange(step.late); !errors.Is(err, tc.want) || errors.Is(err, appliance.ErrOverslept) != overslept {
						t.Errorf("%d, late by %v: %v, want %v", i, step.late, err, step.want)
					}
				}
			})
		})
	}
}

// A frame of which only a part went out is not sent again on a new connection: the device
// may have understood it, and whoever asked is not told what became of it.
func TestAPartOfAFrameIsNotSentAgain(t *testing.T) {
	l, listener := lineTo(t)
	p := &cut{sleeper{line: l}}
	l.link = link{port: p, opened: time.Now()}
	r := ask("hello")
	r.Actuates = true
	if reply, err := l.Exchange(context.Background(), r); !errors.Is(err, appliance.ErrBusDown) || reply.Sent.IsZero() {
		t.Errorf("sent %v, %v; want that something was sent, and %v", reply.Sent, err, appliance.ErrBusDown)
	}
	listener.SetDeadline(time.Now().Add(10 * time.Millisecond)) // a connection would have been made by now
	if c, err := listener.Accept(); err == nil {
		c.Close()
		t.Error("it was sent again on a new connection")
	}
}

// cut is a port that takes the first two bytes of a frame, and breaks.
type cut struct{ sleeper }

func (c *cut) write([]byte, time.Time) (int, error) { return 2, errors.New("broken pipe") }

// lineTo is a line to somebody who listens.
func lineTo(t *testing.T) (*Line, *net.TCPListener) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	l, err := New(Config{Name: "test", Port: "tcp://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	close(l.tried)
	return l, listener.(*net.TCPListener)
}
