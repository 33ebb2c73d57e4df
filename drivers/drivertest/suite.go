// Package drivertest is the suite that every driver on a serial line must pass.
//
// The far end of the line is a pseudo-terminal on which the suite plays a device
// that answers, keeps silent, talks nonsense, is slow, or is unplugged.
package drivertest

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
)

// Suite is a driver under test and the frames of its protocol.
type Suite struct {
	// Open makes the driver on a serial port, with one device configured.
	Open func(t *testing.T, port string) appliance.Driver
	// Read gives an exchange that reads the device.
	Read func(d appliance.Driver) appliance.Exchange
	// Size is the length of the request that b begins, 0 if not known yet.
	Size func(b []byte) int
	// Answer is what the healthy device says, Older what it would have said before its
	// values changed, Foreign what another device might say to the same request, Garbage
	// an answer that is damaged.
	Answer, Older, Foreign, Garbage func(request []byte) []byte
	// Timeout of the device; the suite's waits are derived from it.
	Timeout time.Duration
}

// part is something to write after a pause.
type part struct {
	pause time.Duration
	bytes []byte
	wrote chan struct{} // closed then; may be nil
}

// far is the device's end of the line.
type far struct {
	suite Suite
	pty   *pty.Pty
	act   atomic.Pointer[func(request []byte) []part]
	done  chan struct{}
}

// Run tries everything.
func (s Suite) Run(t *testing.T) {
	healthy := func(q []byte) []part { return []part{{bytes: s.Answer(q)}} }
	for _, tc := range []struct {
		name string
		act  func(q []byte) []part
		want []error // any of these; none: it must succeed
	}{
		{"an answer", healthy, nil},
		{"no answer", func([]byte) []part { return nil }, []error{appliance.ErrSilent}},
		{"garbage", func(q []byte) []part { return []part{{bytes: s.Garbage(q)}} }, []error{appliance.ErrDamaged, appliance.ErrSilent}},
		{"half an answer", func(q []byte) []part { a := s.Answer(q); return []part{{bytes: a[:len(a)/2]}} }, []error{appliance.ErrDamaged, appliance.ErrSilent}},
		{"wrong address", func(q []byte) []part { return []part{{bytes: s.Foreign(q)}} }, []error{appliance.ErrSilent, appliance.ErrDamaged}},
		{"wrong address before the answer", func(q []byte) []part {
			return []part{{bytes: s.Foreign(q)}, {pause: s.Timeout / 10, bytes: s.Answer(q)}}
		}, nil},
		{"a slow answer", func(q []byte) []part {
			a := s.Answer(q)
			return []part{{pause: s.Timeout / 10, bytes: a[:1]}, {pause: s.Timeout / 10, bytes: a[1:]}}
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, end := s.start(t)
			end.play(tc.act)
			res, err := s.do(s.Read(d), 10*s.Timeout)
			judge(t, res, err, tc.want)
			end.play(healthy)
			if _, err := s.do(s.Read(d), 10*s.Timeout); err != nil {
				t.Errorf("the next exchange: %v", err)
			}
		})
	}
	t.Run("an answer to the question before", s.late)
	t.Run("a deadline that has passed", func(t *testing.T) {
		t.Parallel()
		d, end := s.start(t)
		end.play(healthy)
		res, err := s.do(s.Read(d), -time.Second)
		if !errors.Is(err, appliance.ErrExpired) || !res.Sent.IsZero() {
			t.Errorf("got sent %v, %v; want ErrExpired and nothing sent", res.Sent, err)
		}
	})
	t.Run("unplugged", func(t *testing.T) {
		t.Parallel()
		d, end := s.start(t)
		end.play(func([]byte) []part { end.pty.Close(); return nil })
		judge(t, appliance.Result{Sent: time.Now()}, second(s.do(s.Read(d), 10*s.Timeout)), []error{appliance.ErrBusDown})
		begun := time.Now()
		judge(t, appliance.Result{Sent: time.Now()}, second(s.do(s.Read(d), 10*s.Timeout)), []error{appliance.ErrBusDown})
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("a bus that is down was waited for, %v", took)
		}
	})
}

// late puts a question whose answer comes after its time, and another when the driver says
// that none can come any more.
func (s Suite) late(t *testing.T) {
	t.Parallel()
	d, end := s.start(t)
	healthy := func(q []byte) []part { return []part{{bytes: s.Answer(q)}} }
	end.play(healthy)
	want, err := s.do(s.Read(d), 10*s.Timeout)
	judge(t, want, err, nil)
	e := s.Read(d)
	wrote := make(chan struct{})
	end.play(func(q []byte) []part { return []part{{2 * e.Worst, s.Older(q), wrote}} })
	judge(t, appliance.Result{Sent: time.Now()}, second(s.do(e, 10*s.Timeout)), []error{appliance.ErrSilent})
	<-wrote
	<-time.After(e.Late)
	end.play(healthy)
	got, err := s.do(s.Read(d), 10*s.Timeout)
	judge(t, got, err, nil)
	for i, r := range got.Readings {
		if i >= len(want.Readings) || r.Values != want.Readings[i].Values {
			t.Errorf("read %+v, want %+v: the answer to the question before was taken for this one's", r.Values, want.Readings)
		}
	}
}

func second(_ appliance.Result, err error) error { return err }

func judge(t *testing.T, res appliance.Result, err error, want []error) {
	t.Helper()
	if len(want) == 0 {
		if err != nil || len(res.Readings) == 0 {
			t.Errorf("got %d readings, %v", len(res.Readings), err)
		}
		return
	}
	for _, w := range want {
		if errors.Is(err, w) {
			if res.Sent.IsZero() {
				t.Error("the result does not tell that a frame was sent")
			}
			return
		}
	}
	t.Errorf("got %v, want one of %v", err, want)
}

// start opens the driver on a fresh line and runs it.
func (s Suite) start(t *testing.T) (appliance.Driver, *far) {
	t.Helper()
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	end := &far{suite: s, pty: p, done: make(chan struct{})}
	go end.serve()
	d := s.Open(t, p.SlavePath())
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run ended with %v", err)
		}
		p.Close()
		<-end.done
	})
	return d, end
}

func (s Suite) do(e appliance.Exchange, limit time.Duration) (appliance.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return e.Do(ctx, appliance.Yield{})
}

func (f *far) play(act func([]byte) []part) { f.act.Store(&act) }

func (f *far) serve() {
	defer close(f.done)
	var buf []byte
	chunk := make([]byte, 256)
	for {
		n, err := f.pty.Master().Read(chunk)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		buf = append(buf, chunk[:n]...)
		for size := f.suite.Size(buf); size > 0 && size <= len(buf); size = f.suite.Size(buf) {
			request := append([]byte(nil), buf[:size]...)
			buf = buf[size:]
			for _, p := range (*f.act.Load())(request) {
				if p.pause > 0 {
					<-time.After(p.pause)
				}
				if _, err := f.pty.Master().Write(p.bytes); err != nil {
					return
				}
				if p.wrote != nil {
					close(p.wrote)
				}
			}
		}
	}
}
