package modbus

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// The tests of this file are named after the defects that were measured in
// goburrow/modbus 0.1.0 and goburrow/serial 0.1.0, and show that this driver,
// which uses the first's packagers, has none of them.

// askFor reads registers of unit 5 with a time-out.
func askFor(t testing.TB, d *Driver, addr, n uint16, timeout time.Duration) ([]uint16, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	a, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 5, fn: readHolding, addr: addr, qty: n}, timing{timeout: timeout})
	return a.words, err
}

// echoAddress answers a read of one register with the register's address.
func echoAddress(q []byte) []byte { return rtuFrame(q[0], []byte{3, 2, q[2], q[3]}) }

func TestDefect01NoLocking(t *testing.T) {
	t.Parallel()
	end := ptyWire(t)
	end.play(t, false, func(q []byte) []piece { return []piece{{bytes: echoAddress(q)}} })
	d, _ := open(t, busOf(end, nil))
	var wg sync.WaitGroup
	var codecLock sync.Mutex // the codec belongs to the bus's goroutine; the line is what is tried here
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 10 {
				addr := uint16(100*g + i)
				r := request{unit: 5, fn: readHolding, addr: addr, qty: 1}
				codecLock.Lock()
				frame, err := d.codec.encode(r)
				codecLock.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				l := listener{codec: d.codec, request: r, frame: frame}
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				reply, err := d.line.Exchange(ctx, lineRequest(frame, l.scan))
				cancel()
				if err != nil {
					t.Errorf("register %d: %v", addr, err)
					return
				}
				if got := words(reply.Frame[3:5])[0]; got != addr {
					t.Errorf("register %d: got the value of %d", addr, got)
				}
			}
		}()
	}
	wg.Wait()
}

func TestDefect02LateAnswerTakenForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			if q[3] == 10 {
				return []piece{{after: 120 * time.Millisecond, bytes: echoAddress(q)}}
			}
			return []piece{{bytes: echoAddress(q)}}
		})
		d, _ := open(t, busOf(end, nil))
		if got, err := askFor(t, d, 10, 1, 60*time.Millisecond); !errors.Is(err, appliance.ErrSilent) {
			t.Fatalf("got %v, %v; want a time-out", got, err)
		}
		// The core leaves the device alone until a late answer must have come.
		until(t, "the late answer is discarded", func() bool {
			frames := d.Recent()
			return frames[len(frames)-1].Direction == appliance.FrameDiscarded
		})
		for addr := uint16(20); addr < 25; addr++ {
			got, err := askFor(t, d, addr, 1, time.Second)
			if err != nil || got[0] != addr {
				t.Errorf("register %d: got %v, %v", addr, got, err)
			}
		}
		u := d.newUnit(5, &Profile{}, 1)
		if d.late(u) < time.Second {
			t.Errorf("the device is left alone for %v only", d.late(u))
		}
	})
}

func TestDefect03SlowExceptionMisread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			if q[3] == 1 {
				f := rtuFrame(q[0], []byte{0x83, 2})
				return []piece{{bytes: f[:4]}, {after: 30 * time.Millisecond, bytes: f[4:]}}
			}
			return []piece{{bytes: echoAddress(q)}}
		})
		d, _ := open(t, busOf(end, nil))
		_, err := askFor(t, d, 1, 1, 20*time.Second)
		var e *Exception
		if !errors.As(err, &e) || e.Code != 2 || !errors.Is(err, appliance.ErrRefused) {
			t.Fatalf("got %v, want exception 02", err)
		}
		if got, err := askFor(t, d, 7, 1, time.Second); err != nil || got[0] != 7 {
			t.Errorf("the next: got %v, %v", got, err)
		}
	})
}

func TestDefect04TCPTimeoutPoisonsTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "tcp")
		end.play(t, true, func(q []byte) []piece {
			pause := time.Duration(0)
			if q[9] == 10 {
				pause = 120 * time.Millisecond
			}
			return []piece{{after: pause, bytes: append(append(append([]byte{}, q[:4]...), 0, 5, q[6], 3, 2), q[8], q[9])}}
		})
		d, _ := open(t, busOf(end, nil))
		if got, err := askFor(t, d, 10, 1, 60*time.Millisecond); !errors.Is(err, appliance.ErrSilent) {
			t.Fatalf("got %v, %v; want a time-out", got, err)
		}
		for addr := uint16(20); addr < 30; addr++ {
			if got, err := askFor(t, d, addr, 1, time.Second); err != nil || got[0] != addr {
				t.Errorf("register %d: got %v, %v", addr, got, err)
			}
		}
	})
}

func TestDefect05SleepsBeforeReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			return []piece{{bytes: rtuFrame(q[0], append([]byte{3, 250}, make([]byte, 250)...))}}
		})
		cfg := busOf(end, nil)
		cfg.Bus.Line = appliance.LineSettings{BaudRate: 9600}
		d, _ := open(t, cfg)
		if _, err := askFor(t, d, 0, 125, time.Second); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := askFor(t, d, 0, 125, time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 200*time.Millisecond {
			t.Errorf("an answer that was there at once took %v", took)
		}
	})
}

func TestDefect06TimeoutPerReadInsteadOfPerAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			var drip []piece
			for _, b := range rtuFrame(q[0], append([]byte{3, 20}, make([]byte, 20)...)) {
				drip = append(drip, piece{after: 30 * time.Millisecond, bytes: []byte{b}})
			}
			return drip
		})
		d, _ := open(t, busOf(end, nil))
		start := time.Now()
		_, err := askFor(t, d, 0, 10, 100*time.Millisecond)
		if err == nil {
			t.Fatal("an answer that dripped in was accepted")
		}
		if took := time.Since(start); took > 400*time.Millisecond {
			t.Errorf("a time-out of 100 ms took %v", took)
		}
	})
}

func TestDefect07UnpluggedAdapterSpins(t *testing.T) {
	// Not beside others: it looks at the time that the whole process takes.
	end := ptyWire(t)
	end.play(t, false, func(q []byte) []piece {
		if q[3] == 10 {
			end.end.Close()
			return nil
		}
		return []piece{{bytes: echoAddress(q)}}
	})
	d, _ := open(t, busOf(end, nil))
	if _, err := askFor(t, d, 1, 1, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := askFor(t, d, 10, 1, 30*time.Second); !errors.Is(err, appliance.ErrBusDown) {
		t.Errorf("unplugged during a read: got %v, want ErrBusDown", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("noticed after %v", took)
	}
	before := processorTime(t)
	if _, err := askFor(t, d, 10, 1, 3*time.Second); !errors.Is(err, appliance.ErrBusDown) {
		t.Errorf("afterwards: got %v, want ErrBusDown", err)
	}
	<-time.After(300 * time.Millisecond)
	if used := processorTime(t) - before; used > 150*time.Millisecond {
		t.Errorf("an absent adapter used %v of processor time in 300 ms", used)
	}
	if d.Link() == nil {
		t.Error("the link is told to be up")
	}
}

func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestDefect08BroadcastWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	end := ptyWire(t)
	end.play(t, false, func([]byte) []piece { return nil })
	d, _ := open(t, busOf(end, nil))
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	start := time.Now()
	_, reply, err := d.ask(ctx, appliance.Yield{}, request{unit: 0, fn: writeCoil, bits: []bool{true}}, timing{timeout: 30 * time.Second})
	if err != nil || reply.Sent.IsZero() {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestDefect09WrongFunctionTakenForAnException(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		end.play(t, false, func(q []byte) []piece {
			if q[3] == 10 {
				return []piece{{bytes: rtuFrame(q[0], []byte{4, 2, 0, 9})}}
			}
			return []piece{{bytes: echoAddress(q)}}
		})
		d, _ := open(t, busOf(end, nil))
		_, err := askFor(t, d, 10, 1, 100*time.Millisecond)
		var e *Exception
		if !errors.Is(err, appliance.ErrDamaged) || errors.As(err, &e) {
			t.Fatalf("got %v, want ErrDamaged and no exception", err)
		}
		if !strings.Contains(err.Error(), "function 04 instead of 03") {
			t.Errorf("the error does not say what came: %v", err)
		}
		if got, err := askFor(t, d, 7, 1, time.Second); err != nil || got[0] != 7 {
			t.Errorf("the next: got %v, %v", got, err)
		}
	})
}

func TestDefect10QuantityNotComparedWithValues(t *testing.T) {
	t.Parallel()
	c := newCodec(false, false)
	for _, r := range []request{
		{unit: 1, fn: writeRegisters},
		{unit: 1, fn: writeRegisters, values: make([]uint16, 124)},
		{unit: 1, fn: writeCoils, bits: make([]bool, 1969)},
		{unit: 1, fn: writeCoil, bits: make([]bool, 2)},
		{unit: 1, fn: writeRegister, values: make([]uint16, 2)},
		{unit: 1, fn: writeRegisters, addr: 65535, values: make([]uint16, 2)},
		{unit: 1, fn: readHolding, qty: 126},
		{unit: 1, fn: readHolding},
		{unit: 1, fn: readWrite, qty: 1, values: make([]uint16, 122)},
		{unit: 0, fn: readHolding, qty: 1},
	} {
		if frame, err := c.encode(r); err == nil {
			t.Errorf("%v was sent as % X", r, frame)
		}
	}
	frame, err := c.encode(request{unit: 1, fn: writeRegisters, addr: 1, values: []uint16{10, 258}})
	if err != nil || frame[5] != 2 || frame[6] != 4 {
		t.Errorf("got % X, %v", frame, err)
	}
}

func TestDefect11FIFORejectsValidAnswers(t *testing.T) {
	t.Parallel()
	// The same off-by-one cannot happen where lengths come from one place: all
	// answers of every length a read can have are accepted.
	c := newCodec(false, false)
	for n := 1; n <= maxReadRegisters; n++ {
		r := request{unit: 5, fn: readHolding, qty: uint16(n)}
		f := rtuFrame(5, append([]byte{3, byte(2 * n)}, make([]byte, 2*n)...))
		a, err := c.decode(r, f)
		if err != nil || len(a.words) != n {
			t.Fatalf("%d registers: got %d, %v", n, len(a.words), err)
		}
	}
	if _, err := c.encode(request{unit: 5, fn: 0x18}); err == nil {
		t.Error("read FIFO queue, which no profile needs, is not refused")
	}
}

func TestDefect12UnitIsAFieldOfTheHandler(t *testing.T) {
	t.Parallel()
	end, b := ptyWire(t), newBank()
	for u := byte(1); u <= 20; u++ {
		b.set(u, point{holdings, 0}, uint16(u))
	}
	b.serve(t, end)
	d, _ := open(t, busOf(end, nil))
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for round := range 3 {
		for u := byte(1); u <= 20; u++ {
			a, _, err := d.ask(ctx, appliance.Yield{}, request{unit: u, fn: readHolding, qty: 1}, timing{timeout: 20 * time.Second})
			if err != nil || a.words[0] != uint16(u) {
				t.Fatalf("round %d unit %d: got %v, %v", round, u, a.words, err)
			}
		}
	}
}

func TestDefect13NoContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		asked := make(chan struct{}, 4)
		end.play(t, false, func(q []byte) []piece {
			if q[3] == 10 {
				asked <- struct{}{}
				return nil
			}
			return []piece{{bytes: echoAddress(q)}}
		})
		d, _ := open(t, busOf(end, nil))
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-asked; cancel() }()
		start := time.Now()
		_, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 5, fn: readHolding, addr: 10, qty: 1}, timing{timeout: 4 * time.Second})
		if !errors.Is(err, context.Canceled) || time.Since(start) > 2*time.Second {
			t.Errorf("cancelled: got %v after %v", err, time.Since(start))
		}
		urgent := make(chan struct{})
		go func() { <-asked; close(urgent) }()
		bounded, stop := context.WithTimeout(context.Background(), deadline)
		defer stop()
		start = time.Now()
		_, _, err = d.ask(bounded, appliance.Yield{Begin: urgent, Answer: urgent}, request{unit: 5, fn: readHolding, addr: 10, qty: 1}, timing{timeout: 4 * time.Second})
		if !errors.Is(err, appliance.ErrPreempted) || time.Since(start) > 2*time.Second {
			t.Errorf("preempted: got %v after %v", err, time.Since(start))
		}
		if got, err := askFor(t, d, 3, 1, time.Second); err != nil || got[0] != 3 {
			t.Errorf("the next: got %v, %v", got, err)
		}
	})
}

func TestDefect14ShortWritesAndEAGAIN(t *testing.T) {
	t.Parallel()
	// A full frame of 255 bytes arrives whole although the far end reads slowly.
	end := ptyWire(t)
	sizes := make(chan int, 1)
	end.play(t, false, func(q []byte) []piece {
		sizes <- len(q)
		return []piece{{bytes: rtuFrame(q[0], q[1:6])}}
	})
	d, _ := open(t, busOf(end, nil))
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 5, fn: writeRegisters, values: make([]uint16, 123)}, timing{timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if n := <-sizes; n != 255 {
		t.Errorf("%d bytes arrived, want 255", n)
	}
}

func TestDefect15DescriptorsFrom1024(t *testing.T) {
	t.Parallel()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < 1200 {
		limit.Cur = min(limit.Max, 4096)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 1200 {
			t.Fatalf("1200 open files are needed (ulimit -n): %d, %v", limit.Cur, err)
		}
	}
	var held []int
	defer func() {
		for _, fd := range held {
			unix.Close(fd)
		}
	}()
	for len(held) == 0 || held[len(held)-1] < 1050 {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, fd)
	}
	end := ptyWire(t)
	end.play(t, false, func(q []byte) []piece { return []piece{{bytes: echoAddress(q)}} })
	d, _ := open(t, busOf(end, nil))
	if got, err := askFor(t, d, 9, 1, 20*time.Second); err != nil || got[0] != 9 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDefect16FunctionWithExceptionBit(t *testing.T) {
	t.Parallel()
	c := newCodec(false, false)
	_, err := c.decode(request{unit: 5, fn: writeRegister, addr: 7, values: []uint16{1}}, rtuFrame(5, []byte{0x86, 3}))
	var e *Exception
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an exception", err)
	}
	if text := e.Error(); !strings.Contains(text, "write register 7") || !strings.Contains(text, "illegal data value") || strings.Contains(text, "86") {
		t.Errorf("the error reads %q", text)
	}
}

// On Modbus TCP a late answer comes in two segments, the first while a request waits for
// its guard after an exchange that failed: the stream must not be cut in two.
func TestStreamIsNotCutInTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "tcp")
		n := 0
		var late []byte
		end.play(t, true, func(q []byte) []piece {
			n++
			full := append(append(append([]byte{}, q[:4]...), 0, 5, q[6], 3, 2), q[8], q[9])
			switch n {
			case 1:
				late = full
				return nil // times out
			case 2: // a wrong unit, then the late answer: half now, half later
				bad := append([]byte{}, full...)
				bad[6]++
				return []piece{{bytes: bad}, {after: 30 * time.Millisecond, bytes: late[:7]}, {after: 200 * time.Millisecond, bytes: late[7:]}}
			}
			return []piece{{bytes: full}}
		})
		d, _ := open(t, busOf(end, nil))
		guarded := func(addr uint16, timeout time.Duration) ([]uint16, error) {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			a, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 5, fn: readHolding, addr: addr, qty: 1}, timing{timeout: timeout, guard: 100 * time.Millisecond})
			return a.words, err
		}
		if _, err := guarded(10, 50*time.Millisecond); !errors.Is(err, appliance.ErrSilent) {
			t.Fatal(err)
		}
		if _, err := guarded(11, time.Second); err == nil {
			t.Fatal("the answer of another unit was taken")
		}
		got, err := guarded(12, time.Second)
		if err != nil || got[0] != 12 {
			t.Errorf("register 12: %v, %v", got, err)
		}
	})
}

// An adapter's echo is known as one whatever the question's bytes would mean in an answer, also when
// nobody answers after it.
func TestEchoWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, baud := range []int{9600, 19200, 115200} {
			for _, addr := range []uint16{0, 0x0400, 0x1000} {
				end := serialWire(t)
				end.play(t, false, func(q []byte) []piece { return []piece{{bytes: q}} })
				cfg := busOf(end, nil)
				cfg.Bus.Line.BaudRate = baud
				d, _ := open(t, cfg)
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				_, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 5, fn: readHolding, addr: addr, qty: 10}, timing{timeout: 100 * time.Millisecond})
				cancel()
				if !errors.Is(err, appliance.ErrSilent) || !strings.Contains(err.Error(), "returns what is sent") {
					t.Errorf("%d baud, register %d: %v", baud, addr, err)
				}
			}
		}
	})
}
