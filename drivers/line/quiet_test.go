package line_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/line/cable"
)

const (
	gap      = 10 * time.Millisecond
	patience = 100 * time.Millisecond
)

// virtual is a line in memory on virtual time, and the moments at which frames came out of it.
type virtual struct {
	*line.Line
	end *cable.Serial
	out []time.Time
}

// newVirtual starts a line whose device answers frames with what says gives, as it comes.
func newVirtual(t *testing.T, says func(v *virtual), change func(*line.Config)) *virtual {
	t.Helper()
	var net cable.Net
	end, err := net.Plug("/dev/virtual")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	cfg := line.Config{
		Name: "test", Port: "/dev/virtual", Silence: gap, Ports: net.Ports(),
		Serial: appliance.LineSettings{BaudRate: 115200, Parity: "none", DataBits: 8, StopBits: 1},
	}
	if change != nil {
		change(&cfg)
	}
	l, err := line.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	v := &virtual{Line: l, end: end}
	go l.Run(t.Context())
	go func() {
		for b := make([]byte, 64); ; {
			if _, err := end.Read(b); err != nil {
				return
			}
			v.out = append(v.out, time.Now())
			says(v)
		}
	}()
	time.Sleep(time.Second)
	return v
}

// ask sends a frame and awaits four bytes.
func (v *virtual) ask(t *testing.T) error {
	r := four("?", nil)
	r.Timeout = patience
	_, err := v.Exchange(t.Context(), r)
	return err
}

// discarded tells whether the flight recorder holds these bytes as discarded.
func (v *virtual) discarded(text string) bool {
	return slices.ContainsFunc(v.Recent(), func(f appliance.Frame) bool {
		return f.Direction == appliance.FrameDiscarded && string(f.Bytes) == text
	})
}

// four is a question whose answer has four bytes, and which gives way to what now tells of.
func four(frame string, now <-chan struct{}) line.Request {
	return line.Request{
		Frame: []byte(frame), Timeout: 30 * time.Second, Yield: appliance.Yield{Begin: now, Answer: now},
		Scan: func(b []byte) (int, line.Verdict) {
			if len(b) < 4 {
				return 0, line.More
			}
			return 4, line.Accept
		},
	}
}

// After half an answer the other half may be under way: the next frame goes out when the line
// was at rest from when we gave up, and what comes until then is shown to nobody.
func TestLineComesToRestAfterHalfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var overheard []byte
		var rest time.Time // when it came
		v := newVirtual(t, func(v *virtual) {
			if len(v.out) > 1 {
				v.end.Write([]byte("full"))
				return
			}
			v.end.Write([]byte("ha"))
			time.AfterFunc(patience+gap/2, func() { rest = time.Now(); v.end.Write([]byte("lf")) })
		}, func(c *line.Config) {
			c.Overheard = func(b []byte) int { overheard = append(overheard, b...); return len(b) }
		})
		if err := v.ask(t); !errors.Is(err, appliance.ErrDamaged) {
			t.Fatalf("half an answer: %v, want %v", err, appliance.ErrDamaged)
		}
		if err := v.ask(t); err != nil {
			t.Fatal(err)
		}
		if quiet := v.out[1].Sub(rest); rest.IsZero() || quiet < gap {
			t.Errorf("the next frame came %v after the other half of the answer, want %v of silence", quiet, gap)
		}
		if len(overheard) > 0 {
			t.Errorf("the other half was taken for something that nobody had asked for: %q", overheard)
		}
	})
}

func TestNoFrameFollowsHalfAnAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(v *virtual) { v.end.Write([]byte("ha")) }, nil)
		v.ask(t)
		gaveUp := time.Now()
		v.ask(t)
		if rest := v.out[1].Sub(gaveUp); rest < gap {
			t.Errorf("the next frame came %v after half an answer was given up, want %v", rest, gap)
		}
	})
}

func TestPartialAnswerThenResynchronised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const over = patience + 5*gap // when the last of the answer has come
		v := newVirtual(t, func(v *virtual) {
			if len(v.out) > 1 {
				v.end.Write([]byte("full"))
				return
			}
			v.end.Write([]byte("on"))
			for i := range time.Duration(10) { // the rest dribbles in
				time.AfterFunc(over-i*gap/2, func() { v.end.Write([]byte("e")) })
			}
		}, nil)
		if err := v.ask(t); !errors.Is(err, appliance.ErrDamaged) || !strings.Contains(err.Error(), "6F 6E") {
			t.Fatalf("half an answer: %v, want %v and the bytes that came", err, appliance.ErrDamaged)
		}
		time.Sleep(gap)
		if !v.discarded("e") {
			t.Fatal("the rest has not begun; this test shows nothing")
		}
		reply, err := v.Exchange(t.Context(), four("?", nil))
		if err != nil || string(reply.Frame) != "full" {
			t.Errorf("the next is answered %q, %v", reply.Frame, err)
		}
		if rest := v.out[1].Sub(v.out[0]) - over; rest < gap {
			t.Errorf("next request came %v after the remains of the answer, want %v or more", rest, gap)
		}
	})
}

func TestTimeoutIsOfTheWholeAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(v *virtual) {
			for i := range time.Duration(20) { // a byte at a time, for twice as long as it may take
				time.AfterFunc(i*patience/10, func() { v.end.Write([]byte("x")) })
			}
		}, nil)
		begun := time.Now()
		_, err := v.Exchange(t.Context(), line.Request{Frame: []byte("?"), Timeout: patience, Scan: func([]byte) (int, line.Verdict) { return 0, line.More }})
		if took := time.Since(begun); !errors.Is(err, appliance.ErrDamaged) || took > patience+gap {
			t.Errorf("%v after %v, want %v after %v", err, took, appliance.ErrDamaged, patience)
		}
	})
}

// A program that is started anew must not take the answer to its predecessor's question for that to its own first one.
func TestAnswerToWhoHadThePortBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calm = 2 * time.Second // of which newVirtual leaves one
		v := newVirtual(t, func(v *virtual) {
			time.AfterFunc(calm/2, func() { v.end.Write([]byte("new!")) })
		}, func(c *line.Config) { c.OpenSilence = calm })
		time.AfterFunc(calm/4, func() { v.end.Write([]byte("old!")) })
		reply, err := v.Exchange(t.Context(), four("?", nil))
		if err != nil || string(reply.Frame) != "new!" || !v.discarded("old!") {
			t.Errorf("got %q, %v; want the new answer, and the old one discarded", reply.Frame, err)
		}
		if after := reply.Sent.Sub(v.Opened()); after < calm {
			t.Errorf("asked %v after the port was opened, want %v or more", after, calm)
		}
	})
}

func TestOverheardFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		var answer string
		v := newVirtual(t, func(v *virtual) { v.end.Write([]byte(answer)) }, func(c *line.Config) {
			c.Overheard = func(b []byte) int {
				n := bytes.IndexByte(b, '\n') + 1
				if n > 0 {
					heard = append(heard, string(b[:n]))
				}
				return n
			}
		})
		say := func(s string, want ...string) {
			t.Helper()
			v.end.Write([]byte(s))
			synctest.Wait()
			if !slices.Equal(heard, want) {
				t.Fatalf("overheard %q, want %q", heard, want)
			}
			heard = nil
		}
		ask := func(says string) {
			t.Helper()
			answer = says
			if reply, err := v.Exchange(t.Context(), four("?", nil)); err != nil || string(reply.Frame) != "full" {
				t.Fatalf("got %q, %v; want the answer", reply.Frame, err)
			}
		}
		say("button ")
		time.Sleep(line.PartialGap)
		say("pressed\nand rel", "button pressed\n")
		say("eased\n", "and released\n")
		ask("fullbehind the answer\n")
		say("half a fra", "behind the answer\n")
		ask("full")
		if !v.discarded("half a fra") {
			t.Error("the half frame before the request was not discarded")
		}
		say("never finis")
		time.Sleep(line.PartialGap + 1)
		say("whole\n", "whole\n")
		if !v.discarded("never finis") {
			t.Error("the unfinished frame was not discarded")
		}
	})
}

// Where it is known how long an answer is, nobody is woken for each of its bytes; where it
// turns out to be shorter, it is taken as it is.
func TestTheRestOfAnAnswerIsWaitedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answer = "an answer of 25 bytes...\n"
		v := newVirtual(t, func(v *virtual) {
			for i := range answer { // each byte when it would come at the line's speed
				time.Sleep(v.Airtime(1))
				v.end.Write([]byte(answer[i : i+1]))
			}
		}, func(c *line.Config) { c.Serial.BaudRate = 9600 })
		looks := func(length func([]byte) int) (n int) {
			for range 20 {
				_, err := v.Exchange(t.Context(), line.Request{
					Frame: []byte("request\n"), Timeout: 5 * time.Second, Length: length,
					Scan: func(b []byte) (int, line.Verdict) {
						n++
						if b[len(b)-1] != '\n' {
							return 0, line.More
						}
						return len(b), line.Accept
					},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			return n
		}
		known, unknown := looks(func([]byte) int { return len(answer) }), looks(nil)
		t.Logf("looked at %d times, %d where nobody knows its length", known, unknown)
		if 3*known > unknown {
			t.Errorf("20 answers were looked at %d times, and %d times where nobody knows how long they are", known, unknown)
		}
		begun := time.Now()
		if looks(func([]byte) int { return 200 }); time.Since(begun) > 2*time.Second {
			t.Errorf("20 answers that are shorter than they should be took %v", time.Since(begun))
		}
	})
}

// A question is given up once it is out. The next frame keeps the silence as if the adapter had sent 3 ms late.
func TestLeavesAnAdapterTimeAfterAFrameThatNobodyAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		urgent := make(chan struct{})
		v := newVirtual(t, func(v *virtual) {
			if len(v.out) == 1 {
				close(urgent)
			}
		}, nil)
		r := line.Request{Frame: []byte("?"), Timeout: patience, Scan: func([]byte) (int, line.Verdict) { return 0, line.More }}
		r.Yield.Answer = urgent
		given, err := v.Exchange(t.Context(), r)
		if !errors.Is(err, appliance.ErrPreempted) || given.Sent.IsZero() {
			t.Fatalf("got sent %v, error %v; want it sent and ErrPreempted", given.Sent, err)
		}
		next, err := v.Exchange(t.Context(), line.Request{Frame: []byte("!")}) // to everybody: no answer tells that it was over sooner
		if err != nil {
			t.Fatal(err)
		}
		if rest := next.Sent.Add(-v.Airtime(1)).Sub(given.Sent); rest < gap+3*time.Millisecond {
			t.Errorf("the next frame began %v after the one that was given up, want at least %v", rest, gap+3*time.Millisecond)
		}
	})
}

func TestBabblingLineIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(*virtual) {}, func(c *line.Config) { c.Silence = 200 * time.Millisecond })
		babble := time.NewTicker(500 * time.Microsecond)
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case <-over:
					return
				case <-babble.C:
					v.end.Write([]byte("x"))
				}
			}
		}()
		time.Sleep(gap)
		begun := time.Now()
		err := v.ask(t)
		if !errors.Is(err, appliance.ErrDamaged) || !errors.Is(err, line.ErrBabble) || !strings.Contains(err.Error(), "bus test") {
			t.Errorf("got %v, want the bus named that babbles", err)
		}
		if took := time.Since(begun); took < line.BabbleLimit || took > line.BabbleLimit+200*time.Millisecond {
			t.Errorf("gave up after %v, want %v and a silence at most", took, line.BabbleLimit)
		}
		if len(v.out) > 0 {
			t.Error("a frame went out between others")
		}
	})
}

// TestOneLateAnswerIsNoBabble: a line that was heard once while a long silence was waited for is not babbling.
func TestOneLateAnswerIsNoBabble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(v *virtual) { v.end.Write([]byte("full")) }, func(c *line.Config) { c.Silence = line.BabbleLimit + 200*time.Millisecond })
		v.end.Write([]byte("y")) // begins the silence
		time.AfterFunc(line.BabbleLimit/2, func() { v.end.Write([]byte("x")) })
		if err := v.ask(t); err != nil {
			t.Error(err)
		}
	})
}

// stuckPort takes a part of a frame, and no more.
type stuckPort struct {
	line.SerialPort
	takes int
	ends  *[]string
}

func (p stuckPort) Write(b []byte, _ time.Time) (int, error) {
	return p.takes, errors.New("it takes no more")
}

func (p stuckPort) Abort() { *p.ends = append(*p.ends, "aborted"); p.SerialPort.Abort() }
func (p stuckPort) Close() { *p.ends = append(*p.ends, "closed"); p.SerialPort.Close() }

// A port that took a part of a frame is not closed as one that has done its work, which would
// have it send the part.
func TestPartOfAFrameIsThrownAway(t *testing.T) {
	for _, takes := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			var ends []string
			v := newVirtual(t, func(*virtual) {}, func(c *line.Config) {
				real := *c.Ports
				c.Ports = &line.Ports{Dial: real.Dial, Serial: func(path string, to appliance.LineSettings) (line.SerialPort, error) {
					p, err := real.Serial(path, to)
					return stuckPort{SerialPort: p, takes: takes, ends: &ends}, err
				}}
			})
			_, err := v.Exchange(context.Background(), line.Request{Frame: []byte("go"), Actuates: true})
			if !errors.Is(err, appliance.ErrBusDown) {
				t.Errorf("a frame of which %d bytes went out: %v, want %v", takes, err, appliance.ErrBusDown)
			}
			if !slices.Equal(ends, []string{"aborted"}) {
				t.Errorf("after %d bytes the port was %v, want aborted", takes, ends)
			}
		})
	}
}

// deadConn takes nothing, though nobody has told so.
type deadConn struct{ line.Connection }

func (deadConn) Write([]byte) (int, error) { return 0, errors.New("it is dead") }

// A connection that turns out dead before it took a byte is made again, once, and the frame is
// out.
func TestDeadConnectionIsMadeAgain(t *testing.T) {
	for dead, fails := range map[int]bool{1: false, 9: true} {
		synctest.Test(t, func(t *testing.T) {
			var net cable.Net
			ln, err := net.Listen("127.0.0.1:502")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			go func() {
				for {
					if _, err := ln.Accept(); err != nil {
						return
					}
				}
			}()
			real, dialled := net.Ports(), 0
			l, err := line.New(line.Config{Name: "test", Port: "tcp://127.0.0.1:502", Ports: &line.Ports{
				Serial: real.Serial,
				Dial: func(ctx context.Context, address string) (line.Connection, error) {
					c, err := real.Dial(ctx, address)
					if dialled++; err == nil && dialled <= dead {
						c = deadConn{c}
					}
					return c, err
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			go l.Run(t.Context())
			time.Sleep(time.Minute)
			reply, err := l.Exchange(t.Context(), line.Request{Frame: []byte("go")})
			if (err != nil) != fails || reply.Sent.IsZero() != fails || dialled > 2 {
				t.Errorf("%d dead connections: sent %v, %v, dialled %d times", dead, reply.Sent, err, dialled)
			}
		})
	}
}

// An adapter that turns out to return what is sent is coped with from then on: the question is
// not taken for the beginning of the answer.
func TestAdapterThatEchoesIsCopedWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(v *virtual) { v.end.Write([]byte("?full")) }, nil)
		got := func() string {
			reply, err := v.Exchange(t.Context(), line.Request{Frame: []byte("?"), Timeout: patience, Scan: func(b []byte) (int, line.Verdict) {
				return min(len(b), 4), line.Accept
			}})
			if err != nil {
				t.Fatal(err)
			}
			return string(reply.Frame)
		}
		if first := got(); first != "?ful" {
			t.Fatalf("the answer is %q; this test shows nothing", first)
		}
		v.Echoes()
		if second := got(); second != "full" {
			t.Errorf("the answer is %q, want it without what was sent", second)
		}
	})
}

// Of several questions that are out each gets its own answer, in whatever order they come.
func TestEachTalkGetsItsOwnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net cable.Net
		ln, err := net.Listen("127.0.0.1:502")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			b, n := make([]byte, 2), 0
			for n < 2 {
				m, err := c.Read(b[n:])
				if err != nil {
					return
				}
				n += m
			}
			c.Write([]byte{b[1], '!', b[0], '!'})
			for err == nil {
				if _, err = c.Read(b[:1]); err == nil {
					c.Write([]byte{b[0], '!'})
				}
			}
		}()
		l, err := line.New(line.Config{Name: "test", Port: "tcp://127.0.0.1:502", InFlight: 2, Ports: net.Ports()})
		if err != nil {
			t.Fatal(err)
		}
		go l.Run(t.Context())
		time.Sleep(time.Second)
		ask := func(q string) {
			reply, err := l.Exchange(t.Context(), line.Request{
				Frame: []byte(q), Timeout: patience,
				Own: func(b []byte) bool { return b[0] == q[0] },
				Scan: func(b []byte) (int, line.Verdict) {
					switch {
					case len(b) < 2:
						return 0, line.More
					case b[0] != q[0]:
						return 2, line.Skip
					}
					return 2, line.Accept
				},
			})
			if string(reply.Frame) != q+"!" || err != nil {
				t.Errorf("%s is answered %q, %v", q, reply.Frame, err)
			}
		}
		var both sync.WaitGroup
		for _, q := range []string{"a", "b"} {
			both.Go(func() { ask(q) })
		}
		both.Wait()
		ask("a") // the one who asked so before awaits nothing any more
	})
}

// A question that nobody answers ends as silence, although the first half of another's answer has just come: the connection is left to
// that.
func TestSilenceBesideAnAnswerThatIsComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net cable.Net
		ln, err := net.Listen("127.0.0.1:502")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		const short = 100 * time.Millisecond
		go func() {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if _, err := io.ReadFull(c, make([]byte, 2)); err != nil {
				return
			}
			time.Sleep(short - line.PartialGap/2)
			c.Write([]byte("b"))
			time.Sleep(line.PartialGap)
			c.Write([]byte("!"))
			_, _ = c.Read(make([]byte, 1)) // until the end
		}()
		l, err := line.New(line.Config{Name: "test", Port: "tcp://127.0.0.1:502", InFlight: 2, Ports: net.Ports()})
		if err != nil {
			t.Fatal(err)
		}
		go l.Run(t.Context())
		time.Sleep(time.Second)
		ask := func(q string, timeout time.Duration) error {
			_, err := l.Exchange(t.Context(), line.Request{
				Frame: []byte(q), Timeout: timeout,
				Own: func(b []byte) bool { return b[0] == q[0] },
				Scan: func(b []byte) (int, line.Verdict) {
					if len(b) < 2 {
						return 0, line.More
					}
					return 2, line.Accept
				},
			})
			return err
		}
		var silent, answered error
		var both sync.WaitGroup
		both.Go(func() { silent = ask("a", short) })
		both.Go(func() { answered = ask("b", time.Second) })
		both.Wait()
		if !errors.Is(silent, appliance.ErrSilent) || answered != nil {
			t.Errorf("who is silent: %v; whose answer was coming: %v; want silence and no error", silent, answered)
		}
	})
}

// tunedPort refuses other settings from some time on.
type tunedPort struct {
	line.SerialPort
	left *int // times that it takes some
}

func (p tunedPort) Tune(to appliance.LineSettings) error {
	if *p.left--; *p.left < 0 {
		return errors.New("it takes no such settings")
	}
	return p.SerialPort.Tune(to)
}

// A question at other settings goes out at those, and after it, however it ends, the port has its own again and the line comes to
// rest; a port that does not take settings is opened anew, and nothing goes out at wrong ones.
func TestQuestionAtOtherSettings(t *testing.T) {
	other := appliance.LineSettings{BaudRate: 9600, Parity: "even", DataBits: 8, StopBits: 1}
	for _, row := range []struct {
		what     string
		answered bool
		takes    int // how often the port takes other settings
		asked    bool
		err      error
		lost     bool
	}{
		{"answered", true, 9, true, nil, false},
		{"silent", false, 9, true, appliance.ErrSilent, false},
		{"settings are refused", true, 0, false, appliance.ErrBusDown, true},
		{"its own are refused", true, 1, true, nil, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var heard []appliance.LineSettings
			v := newVirtual(t, func(v *virtual) {
				heard = append(heard, *v.end.Settings())
				if row.answered {
					v.end.Write([]byte("full"))
				}
			}, func(c *line.Config) {
				real := *c.Ports
				c.Ports = &line.Ports{Dial: real.Dial, Serial: func(path string, to appliance.LineSettings) (line.SerialPort, error) {
					p, err := real.Serial(path, to)
					return tunedPort{SerialPort: p, left: &row.takes}, err
				}}
			})
			own, opened := *v.end.Settings(), v.Opened()
			if own == other {
				t.Fatal("these are no other settings")
			}
			whole := func(b []byte) (int, line.Verdict) {
				if len(b) < 4 {
					return 0, line.More
				}
				return 4, line.Accept
			}
			_, err := v.Exchange(t.Context(), line.Request{Frame: []byte("?"), Timeout: patience, At: &other, Scan: whole})
			lost := v.Link() != nil
			synctest.Wait()
			if !errors.Is(err, row.err) {
				t.Errorf("%s: %v, want %v", row.what, err, row.err)
			}
			if row.asked != (len(heard) == 1) || row.asked && heard[0] != other {
				t.Errorf("%s: heard at %v", row.what, heard)
			}
			if lost != row.lost {
				t.Errorf("%s: the port was lost: %v, want %v", row.what, lost, row.lost)
			}
			ended := time.Now()
			time.Sleep(gap / 2)
			if row.lost {
				time.Sleep(time.Second)
				if v.Link() != nil || !v.Opened().After(opened) {
					t.Errorf("%s: it is not opened anew", row.what)
				}
			}
			heard, v.out = nil, nil
			if err := v.ask(t); err != nil && row.answered {
				t.Errorf("%s: the next question: %v", row.what, err)
			}
			synctest.Wait()
			if len(heard) != 1 || heard[0] != own {
				t.Errorf("%s: the next is heard at %v, want %v", row.what, heard, own)
			} else if v.out[0].Sub(ended) < gap {
				t.Errorf("%s: the next comes after %v", row.what, v.out[0].Sub(ended))
			}
		})
	}
}

// Whoever gives up while his echo is awaited, or while the line comes to rest, waits no longer; and an adapter that is pulled before
// anything was sent is lost, not silent.
func TestGivenUpBeforeAnAnswerIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(*virtual) {}, func(c *line.Config) { c.Echo, c.Serial.BaudRate = true, 1200 })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel) // the echo may take 100 ms after the frame
		begun := time.Now()
		_, err := v.Exchange(ctx, line.Request{Frame: []byte("?"), Timeout: patience, Scan: func([]byte) (int, line.Verdict) { return 0, line.More }})
		if took := time.Since(begun); !errors.Is(err, context.Canceled) || errors.Is(err, line.ErrEcho) || took != 20*time.Millisecond {
			t.Errorf("while its echo was awaited: %v after %v", err, took)
		}
	})
	for _, pulled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const rest = 200 * time.Millisecond
			v := newVirtual(t, func(*virtual) {}, func(c *line.Config) { c.Silence = rest })
			v.end.Write([]byte("somebody else"))
			time.Sleep(rest / 4)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(rest/4, func() {
				if pulled {
					v.end.Close()
				} else {
					cancel()
				}
			})
			reply, err := v.Exchange(ctx, line.Request{Frame: []byte("?"), Timeout: patience, Scan: func([]byte) (int, line.Verdict) { return 0, line.More }})
			want := map[bool]error{false: context.Canceled, true: appliance.ErrBusDown}[pulled]
			if !errors.Is(err, want) || !reply.Sent.IsZero() || len(v.out) > 0 {
				t.Errorf("pulled %v: %v, sent %v, heard %d times", pulled, err, reply.Sent, len(v.out))
			}
		})
	}
}
