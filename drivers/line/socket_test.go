package line

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/freeport"
)

// gateway is a server on loopback that a line connects to.
type gateway struct {
	t     testing.TB
	l     net.Listener
	conns chan *net.TCPConn
}

func newGateway(t testing.TB, addr string) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, l: l, conns: make(chan *net.TCPConn, 100)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.conns <- c.(*net.TCPConn)
		}
	}()
	return g
}

// accept returns the next connection.
func (g *gateway) accept() *net.TCPConn {
	g.t.Helper()
	select {
	case c := <-g.conns:
		g.t.Cleanup(func() { c.Close() })
		return c
	case <-time.After(patience):
		g.t.Fatal("nobody connected")
		return nil
	}
}

func (g *gateway) line(change func(*Config)) *Line {
	g.t.Helper()
	cfg := Config{Name: "test", Port: "tcp://" + g.l.Addr().String()}
	if change != nil {
		change(&cfg)
	}
	return run(g.t, cfg)
}

// answers plays a gateway that returns every line it gets.
func answers(c net.Conn) {
	go io.Copy(c, c)
}

func TestSocketExchange(t *testing.T) {
	noLeaks(t)
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	answers(g.accept())
	for range 10 {
		reply, err := l.Exchange(within(t, patience), ask("one"))
		wantAnswer(t, reply, err, "one")
	}
	g.l.Close() // so that its goroutine is not taken for a leak
}

func TestFirstCommandAfterAnIdleCloseIsNotLost(t *testing.T) {
	t.Parallel()
	for _, reset := range []bool{false, true} {
		g := newGateway(t, "127.0.0.1:0")
		l := g.line(nil)
		for range 5 {
			c := g.accept()
			answers(c)
			reply, err := l.Exchange(within(t, patience), ask("one"))
			wantAnswer(t, reply, err, "one")
			if reset {
				c.SetLinger(0)
			}
			c.Close()
			waitFor(t, "the end has arrived", func() bool { return hungUp(l) })
			done := make(chan struct{})
			go func() {
				defer close(done)
				reply, err := l.Exchange(within(t, patience), ask("two"))
				if err != nil || string(reply.Frame) != "two\n" {
					t.Errorf("reset %v: got %q, %v; want an answer over a new connection", reset, reply.Frame, err)
				}
			}()
			c = g.accept()
			answers(c)
			<-done
			c.Close() // for the next round, which begins with a new connection
		}
	}
}

// hungUp tells whether the kernel knows that the peer closed, or the line does.
func hungUp(l *Line) bool {
	s, ok := l.current().(*socket)
	if !ok {
		return true
	}
	up := false
	s.conn.(*tcpConn).raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, _ := unix.Poll(poll, 0)
		up = n > 0
	})
	return up
}

func TestIdleCloseIsNoticed(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	g.accept().Close()
	g.l.Close()
	waitFor(t, "the loss is noticed without an exchange", func() bool { return l.Link() != nil })
	waitFor(t, "the new attempt failed", func() bool { _, _, failed := l.state(); return failed })
	begun := time.Now()
	_, err := l.Exchange(within(t, patience), ask("one"))
	wantErr(t, err, appliance.ErrBusDown)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v, want at once", took)
	}
}

func TestGatewayIsBackAfterAWhile(t *testing.T) {
	t.Parallel()
	port, err := freeport.Find() // nobody else gets it meanwhile
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + port
	g := newGateway(t, addr)
	l := g.line(nil)
	c := g.accept()
	g.l.Close()
	c.Close()
	waitFor(t, "it is gone", func() bool {
		gone := l.Link() // it may be there a moment later: the connection before was taken anew
		return gone != nil && strings.Contains(gone.Error(), "refused")
	})
	g = newGateway(t, addr)
	answers(g.accept())
	waitFor(t, "it is back", func() bool { return l.Link() == nil })
	reply, err := l.Exchange(within(t, patience), ask("one"))
	wantAnswer(t, reply, err, "one")
}

func TestGatewayThatHangsUpAtOnceIsNotHammered(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	began := time.Now()
	for count := 0; count < 4; {
		select {
		case c := <-g.conns:
			c.Close()
			count++
		default:
			l.Exchange(within(t, 10*time.Millisecond), ask("one"))
		}
	}
	if took := time.Since(began); took < 1200*time.Millisecond {
		t.Errorf("connected four times in %v, want three in 1.2 s at most", took)
	}
}

func TestSilentGatewayKeepsTheConnection(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	c := g.accept()
	r := ask("one")
	r.Timeout = 30 * time.Millisecond
	_, err := l.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
	io.WriteString(c, "one\n") // late; skipped by its content
	done := make(chan struct{})
	go func() {
		defer close(done)
		readFrom(t, c, 8)
		io.WriteString(c, "two\n")
	}()
	reply, err := l.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
	<-done
}

func TestLateAnswerCutInTwoDoesNotBreakTheStream(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	c := g.accept()
	r := ask("one")
	r.Timeout = 30 * time.Millisecond
	_, err := l.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
	io.WriteString(c, "on") // the first half comes before the next request
	waitFor(t, "it arrived", func() bool { return l.in.waiting() == 2 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		readFrom(t, c, 8)
		io.WriteString(c, "e\ntwo\n")
	}()
	reply, err := l.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
	<-done
}

func TestTransparentGatewayIsFlushedBeforeARequest(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(func(c *Config) { c.Port = "rtu+" + c.Port; c.Silence = 4 * time.Millisecond })
	c := g.accept()
	io.WriteString(c, "one\n") // an answer to nothing
	waitFor(t, "it was seen", func() bool { return !l.in.lastByte().IsZero() })
	r := ask("one")
	r.Timeout = 30 * time.Millisecond
	_, err := l.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
}

func TestConnectionIsDroppedWhenItCannotBeTrusted(t *testing.T) {
	for _, answer := range []string{"on", "broken\n"} {
		g := newGateway(t, "127.0.0.1:0")
		l := g.line(nil)
		c := g.accept()
		io.WriteString(c, answer)
		r := ask("one")
		r.Timeout = 50 * time.Millisecond
		_, err := l.Exchange(within(t, patience), r)
		wantErr(t, err, appliance.ErrDamaged)
		go func() { answers(g.accept()) }()
		reply, err := l.Exchange(within(t, patience), ask("two"))
		wantAnswer(t, reply, err, "two")
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q: old connection: %v, want it closed", answer, err)
		}
	}
}

func TestRejectedAnswerKeepsTheConnection(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	c := g.accept()
	io.WriteString(c, "bad\n")
	_, err := l.Exchange(within(t, patience), ask("one"))
	wantErr(t, err, appliance.ErrDamaged)
	answers(c)
	reply, err := l.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
}

func TestCloseInsteadOfAnAnswer(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	c := g.accept()
	go func() {
		readFrom(t, c, 4)
		c.Close()
	}()
	reply, err := l.Exchange(within(t, patience), ask("one"))
	wantErr(t, err, appliance.ErrSilent)
	if reply.Sent.IsZero() {
		t.Error("Sent is zero, though the frame was written: the caller cannot know that it may have been done")
	}
	waitFor(t, "there is a new connection", func() bool { return l.current() != nil })
	answers(g.accept())
	reply, err = l.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
}

func TestRemainsOfAConnectionDoNotReachTheNext(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	c := g.accept()
	io.WriteString(c, "half of something")
	waitFor(t, "it arrived", func() bool { return l.in.waiting() > 0 })
	c.Close()
	answers(g.accept())
	reply, err := l.Exchange(within(t, patience), ask("one"))
	wantAnswer(t, reply, err, "one")
}

func TestLinkStaysUpWhileAConnectionIsRenewed(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	for range 20 {
		c := g.accept()
		io.WriteString(c, "broken\n")
		_, err := l.Exchange(within(t, patience), ask("one"))
		wantErr(t, err, appliance.ErrDamaged)
		if err := l.Link(); err != nil {
			t.Fatalf("link: %v", err)
		}
	}
}

func TestGatewayThatDoesNotEvenRefuse(t *testing.T) {
	t.Parallel()
	// A listener whose queue is full: the kernel leaves attempts to connect
	// unanswered, as a gateway without power would.
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*unix.SockaddrInet4).Port))
	for range 10 {
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			break
		}
		defer c.Close()
	}
	l := run(t, Config{Name: "test", Port: "tcp://" + addr})
	const exchanges = 40
	begun := time.Now()
	for range exchanges {
		_, err := l.Exchange(within(t, patience), ask("one"))
		wantErr(t, err, appliance.ErrBusDown)
	}
	if took := time.Since(begun); took > exchanges*dialLimit/2 {
		t.Errorf("%d exchanges failed after %v, want one attempt to connect to be waited for, not %[1]d", exchanges, took)
	}
	if l.Link() == nil {
		t.Error("the link is said to be up")
	}
}

func TestSocketPreemptAndCancel(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	g.accept()
	r := ask("one")
	r.Timeout = patience
	for range 20 {
		now := make(chan struct{})
		r.Yield = appliance.Yield{Begin: now, Answer: now}
		time.AfterFunc(5*time.Millisecond, func() { close(now) })
		_, err := l.Exchange(within(t, patience), r)
		wantErr(t, err, appliance.ErrPreempted)
		r.Yield = appliance.Yield{}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(5*time.Millisecond, cancel)
		_, err = l.Exchange(ctx, r)
		wantErr(t, err, context.Canceled)
	}
	_, err := l.Exchange(within(t, time.Second), r)
	wantErr(t, err, context.DeadlineExceeded)
}

func TestOverheardOnASocket(t *testing.T) {
	heard := make(chan string, 1)
	g := newGateway(t, "127.0.0.1:0")
	g.line(func(c *Config) {
		c.Overheard = func(b []byte) int { heard <- string(b); return len(b) }
	})
	io.WriteString(g.accept(), "button")
	select {
	case got := <-heard:
		if got != "button" {
			t.Errorf("overheard %q", got)
		}
	case <-time.After(patience):
		t.Error("nothing overheard")
	}
}

// clogged returns a line whose connection takes no more bytes: the peer's window
// is closed. It returns how many bytes the peer's kernel has taken.
func clogged(t *testing.T) (*Line, *net.TCPConn, *socket) {
	t.Helper()
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	peer := g.accept()
	return l, peer, clog(t, l)
}

func clog(t *testing.T, l *Line) *socket {
	t.Helper()
	waitFor(t, "the connection is open", func() bool { return l.Link() == nil })
	s := l.current().(*socket)
	junk := make([]byte, 64<<10)
	// The kernel moves bytes on to the other side in the background, and a busy machine may come to a write when its time is over.
	for refused := 0; refused < 5; {
		s.conn.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		before := s.unsent()
		n, err := s.conn.Write(junk)
		if refused++; n > 0 || err == nil || before == 0 || s.unsent() != before {
			refused = 0
		}
	}
	s.conn.SetWriteDeadline(time.Time{})
	// Make room for a command in our own send buffer, none at the peer's.
	s.conn.(*tcpConn).raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<20) })
	return s
}

func TestStuckCommandIsNeverDelivered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		heard   string // comes from the peer meanwhile
		scan    func([]byte) (int, Verdict)
		timeout time.Duration
		cancel  bool // the caller gives up
		close   bool // the bus is closed
		several int  // answers are awaited at once
	}{
		{name: "time-out", scan: wantLine("x"), timeout: 50 * time.Millisecond},
		{name: "cancelled", scan: wantLine("x"), timeout: 5 * time.Second, cancel: true},
		{name: "nobody answers"},
		{name: "half an answer", scan: wantLine("x"), timeout: 50 * time.Millisecond, heard: "half an ans"},
		{name: "nonsense", timeout: 5 * time.Second, heard: "nonsense", scan: func([]byte) (int, Verdict) { return 0, Broken }},
		{name: "cancelled in an answer", scan: wantLine("x"), timeout: 5 * time.Second, heard: "half an ans", cancel: true},
		{name: "bus closed", scan: wantLine("x"), timeout: 5 * time.Second, close: true},
		{name: "time-out among several", scan: wantLine("x"), timeout: 50 * time.Millisecond, several: 2},
		{name: "cancelled among several", scan: wantLine("x"), timeout: 5 * time.Second, several: 2, cancel: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, "127.0.0.1:0")
			l, end := runUntil(t, Config{Name: "test", Port: "tcp://" + g.l.Addr().String(), InFlight: test.several})
			peer := g.accept()
			clog(t, l)
			r := Request{Frame: []byte("MOVE THE SHADE"), Actuates: true, Turnaround: 20 * time.Millisecond, Scan: test.scan, Timeout: test.timeout}
			r.Own = func([]byte) bool { return true }
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if test.heard != "" {
				time.AfterFunc(20*time.Millisecond, func() { _, _ = io.WriteString(peer, test.heard) })
			}
			if test.cancel {
				go func() { // once it is stuck
					for b := (bench{Line: l}); ctx.Err() == nil && (!b.sent(r.Frame) || l.in.waiting() < len(test.heard)); {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			if test.close {
				time.AfterFunc(50*time.Millisecond, end)
			}
			if _, err := l.Exchange(ctx, r); err == nil {
				t.Fatal("a command that got stuck was reported as done")
			}
			peer.SetReadDeadline(time.Now().Add(patience))
			got, err := io.ReadAll(peer)
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the peer read to %v, want a reset", err)
			}
			if strings.Contains(string(got), "SHADE") {
				t.Error("the command was delivered late")
			}
		})
	}
}

// A connection that is made when the line has ended belongs to nobody: it is closed again.
func TestConnectionThatComesAfterTheEndIsClosed(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l, end := runUntil(t, Config{Name: "test", Port: "tcp://" + g.l.Addr().String()})
	g.accept()
	end()
	<-l.ended
	if p, err := l.open(within(t, patience), time.Second); !errors.Is(err, errNotRun) || p != nil || l.current() != nil {
		t.Errorf("after the end: %v", err)
	}
	peer := g.accept()
	peer.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(peer); err != nil {
		t.Errorf("it stays open: %v", err)
	}
}

func TestStuckReadKeepsTheConnection(t *testing.T) {
	l, _, s := clogged(t)
	r := ask("one")
	r.Timeout = 50 * time.Millisecond
	_, err := l.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
	if l.current() != port(s) {
		t.Error("the connection was dropped for a frame that moves nothing")
	}
}

func TestSocketOptions(t *testing.T) {
	g := newGateway(t, "127.0.0.1:0")
	l := g.line(nil)
	g.accept()
	waitFor(t, "the connection is open", func() bool { return l.Link() == nil })
	l.current().(*socket).conn.(*tcpConn).raw.Control(func(fd uintptr) {
		for _, opt := range []struct {
			name              string
			level, what, want int
		}{
			{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
			{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 5000},
			{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15},
		} {
			if got, err := unix.GetsockoptInt(int(fd), opt.level, opt.what); err != nil || got != opt.want {
				t.Errorf("%s is %d, %v; want %d", opt.name, got, err, opt.want)
			}
		}
	})
}

// core is the context of a command: its deadline is for the frame to be out, and ends
// nothing by itself.
type core struct {
	context.Context
	at time.Time
}

func (c core) Deadline() (time.Time, bool) { return c.at, true }

// A gateway that has lost its power does not refuse a connection, it says nothing.
func TestRedialIsBoundedWhateverTimeIsLeft(t *testing.T) {
	t.Parallel()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*unix.SockaddrInet4).Port))
	l := run(t, Config{Name: "test", Port: "tcp://" + addr})
	peer, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the connection is open", func() bool { return l.Link() == nil })
	opened := time.Now()
	waitFor(t, "it has lived long enough to be made again at once", func() bool { return time.Since(opened) > shortLife })
	for { // nobody accepts, until nobody is let into the queue either
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			break
		}
		defer c.Close()
	}
	unix.Close(peer)
	waitFor(t, "the connection is lost", func() bool { return l.current() == nil })
	begun := time.Now()
	_, err = l.Exchange(core{context.Background(), begun.Add(500 * time.Millisecond)}, ask("one"))
	if err == nil {
		t.Fatal("answered by nobody")
	}
	if took := time.Since(begun); took > dialLimit+20*time.Second {
		t.Errorf("given up after %v, want %v at most: %v", took, dialLimit, err)
	}
}
