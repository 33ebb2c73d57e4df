package sim

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/drivers/line/cable"
)

// client opens a bus's line as a master does, and gives its descriptor.
func client(t *testing.T, bd *Building, bus string) int {
	t.Helper()
	fd, err := unix.Open(bd.Port(bus), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// ask writes a frame and reads n bytes; it returns when the last one was there.
func ask(t *testing.T, fd int, frame []byte, n int) ([]byte, time.Time) {
	t.Helper()
	if _, err := unix.Write(fd, frame); err != nil {
		t.Fatal(err)
	}
	return read(t, fd, n, 5*time.Second)
}

// read reads up to n bytes, fewer if no more come in time.
func read(t *testing.T, fd, n int, limit time.Duration) ([]byte, time.Time) {
	t.Helper()
	var got []byte
	buf := make([]byte, 512)
	for end := time.Now().Add(limit); len(got) < n; {
		left := time.Until(end)
		if left <= 0 {
			return got, time.Now()
		}
		ts := unix.NsecToTimespec(int64(left))
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if k, err := unix.Ppoll(fds, &ts, nil); err == unix.EINTR || k == 0 {
			continue
		}
		k, err := unix.Read(fd, buf)
		if err != nil || k == 0 {
			return got, time.Now()
		}
		got = append(got, buf[:k]...)
	}
	return got, time.Now()
}

// until sleeps sharply.
func until(at time.Time) {
	for d := time.Until(at); d > 0; d = time.Until(at) {
		ts := unix.NsecToTimespec(int64(d))
		unix.Nanosleep(&ts, nil)
	}
}

// tenRegisters reads 10 registers of a WB-LED: 8 characters out, 25 in.
func tenRegisters(unit byte) []byte {
	return rtuFrame(unit, []byte{fnReadHolding, 2007 >> 8, 2007 & 0xFF, 0, 10})
}

func TestPacedLineTakesAsLongAsTheSpeedSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	polls := 100
	if os.Getenv("SOAK") != "" {
		polls = 5000
	}
	for _, c := range []struct {
		name, parity string
		baud         int
	}{{"19200", "even", 19200}, {"9600", "none", 9600}, {"115200", "even", 115200}} {
		s.serial(c.name, c.baud, c.parity)
		for u := range 4 {
			s.node(string(rune('1'+u)), "wirenboard-wb-led-rgbw")
		}
	}
	bd := s.run(Options{})
	for _, b := range bd.buses {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			fd := client(t, bd, b.name)
			theory := b.line.airtime(33) + 2*b.line.silence
			var total, worst time.Duration
			sharpen(t)
			start := time.Now()
			for i := range polls {
				begin := time.Now()
				got, last := ask(t, fd, tenRegisters(byte(1+i%4)), 25)
				if len(got) != 25 {
					t.Fatalf("poll %d: %d bytes", i, len(got))
				}
				took := last.Sub(begin)
				if least := b.line.airtime(33) + b.line.silence; took < least {
					t.Fatalf("poll %d took %v, less than the %v the line needs", i, took, least)
				} else {
					worst = max(worst, took-least)
				}
				until(last.Add(b.line.silence + 5*time.Microsecond))
			}
			total = time.Since(start)
			each := total / time.Duration(polls)
			ratio := float64(theory) / float64(each)
			t.Logf("%d polls: %v each, theory %v: %.2f %% of theory; latest answer %v late", polls, each, theory, 100*ratio, worst)
			if ratio > 1 {
				t.Errorf("faster than the line: %v each, theory %v", each, theory)
			}
			st := b.state(time.Now())
			if st.SilenceViolations != 0 || st.Collisions != 0 || st.Garbled != 0 {
				t.Errorf("a careful client is accused: %+v", st)
			}
		})
	}
}

// sharpen lets this thread's sleeps end when they should.
func sharpen(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// The line is a slow one, where silences are tens of milliseconds, and what a busy
// machine made the client late for is tried again.
func TestLineNoticesAClientThatBreaksTheSilence(t *testing.T) {
	t.Parallel()
	bd := newSite(t).serial("line", 1200, "none").node("1", "wirenboard-wb-led-rgbw").run(Options{})
	fd := client(t, bd, "line")
	quiet := func() { until(time.Now().Add(2 * bd.buses[0].line.silence)) }
	eventually(t, "a request right after an answer is noticed", func() bool {
		quiet()
		ask(t, fd, tenRegisters(1), 25)
		before := bd.Buses()[0].SilenceViolations
		ask(t, fd, tenRegisters(1), 25)
		return bd.Buses()[0].SilenceViolations == before+1
	})
	eventually(t, "two requests in one breath are noticed and garbled", func() bool {
		quiet()
		before := bd.Buses()[0]
		unix.Write(fd, tenRegisters(1))
		until(time.Now().Add(2 * time.Millisecond)) // the first is on the wire for 67 ms
		unix.Write(fd, tenRegisters(1))
		read(t, fd, 25, 500*time.Millisecond)
		after := bd.Buses()[0]
		return after.SilenceViolations == before.SilenceViolations+1 && after.Garbled == before.Garbled+1 && after.Frames == before.Frames
	})
}

func TestLineNoticesARequestWhileAnAnswerIsOnTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bd, ask := newSite(t).serial("line", 1200, "none").node("1", "wirenboard-wb-led-rgbw").inMemory()
		line := bd.buses[0].line
		got := ask(tenRegisters(1), line.airtime(8+2)+line.silence)
		if len(got) != 1 {
			t.Fatalf("%d bytes, want the first of the answer", len(got))
		}
		got = append(got, ask(tenRegisters(1), time.Second)...)
		if _, _, err := parseRTU(got[:min(len(got), 25)]); err == nil {
			t.Error("the answer came through a collision unharmed")
		}
		if st := bd.Buses()[0]; st.Collisions == 0 || st.Garbled != 1 || st.Frames != 1 {
			t.Errorf("%+v, want the collision counted and the request discarded", st)
		}
		if again := ask(tenRegisters(1), time.Second); len(again) != 25 {
			t.Errorf("after the collision: %d bytes", len(again))
		}
	})
}

// inMemory plays the building in a bubble. What it gives writes a frame to the only bus, and reads what came so long after.
func (s *site) inMemory() (bd *Building, ask func(frame []byte, after time.Duration) []byte) {
	s.t.Helper()
	var net cable.Net
	bd = s.run(Options{Cables: &net})
	port, err := net.Ports().Serial(bd.Port(s.Buses[0].Name), s.Buses[0].Line)
	if err != nil {
		s.t.Fatal(err)
	}
	return bd, func(frame []byte, after time.Duration) []byte {
		s.t.Helper()
		if _, err := port.Write(frame, time.Now().Add(time.Second)); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(after)
		buf := make([]byte, 512)
		n, err := port.Take(buf)
		if err != nil {
			s.t.Fatal(err)
		}
		return buf[:n]
	}
}
