package line

import (
	"context"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func TestEcho(t *testing.T) {
	tests := []struct {
		name, echo string
		want       error
	}{
		{"the same", "one\n", nil},
		{"a collision", "oxe\n", appliance.ErrDamaged},
		{"missing", "", appliance.ErrDamaged},
		{"cut short", "on", appliance.ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Echo = true })
			b.device(func() {
				b.read(4)
				b.write(test.echo)
				if test.want == nil {
					b.write("one\n")
				}
			})
			reply, err := b.Exchange(within(t, patience), ask("one"))
			if test.want != nil {
				wantErr(t, err, test.want)
				if reply.Sent.IsZero() {
					t.Error("Sent is zero, though the frame was written")
				}
				return
			}
			wantAnswer(t, reply, err, "one")
		})
	}
}

func TestFrameThatNobodyAnswers(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Echo = true })
	b.device(func() { b.write(string(b.read(4))) })
	begun := time.Now()
	reply, err := b.Exchange(within(t, patience), Request{Frame: []byte("all\n"), Turnaround: 50 * time.Millisecond})
	if err != nil || reply.Frame != nil {
		t.Fatalf("got %q, %v; want nothing, no error", reply.Frame, err)
	}
	if took := time.Since(begun); took < 50*time.Millisecond {
		t.Errorf("returned after %v, want the turnaround of 50ms", took)
	}
}

func TestTurnaroundHoldsThoughTheCallerLeaves(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	reply, err := b.Exchange(ctx, Request{Frame: []byte("all\n"), Turnaround: 100 * time.Millisecond})
	if err != nil {
		t.Fatalf("the frame is out; got error %v", err)
	}
	if early := time.Since(reply.Sent); early > 80*time.Millisecond {
		t.Fatalf("cancelled after 20ms, returned after %v", early)
	}
	b.device(func() {
		b.read(8)
		if gap := time.Since(reply.Sent); gap < 100*time.Millisecond {
			t.Errorf("next frame came %v after the broadcast, want 100ms", gap)
		}
		b.write("one\n")
	})
	answer, err := b.Exchange(within(t, patience), ask("one"))
	wantAnswer(t, answer, err, "one")
}

func TestPreempt(t *testing.T) {
	t.Run("before anything is sent", func(t *testing.T) {
		b := newBench(t, nil)
		r := ask("one")
		now := make(chan struct{})
		close(now)
		r.Yield = appliance.Yield{Begin: now, Answer: now}
		reply, err := b.Exchange(within(t, patience), r)
		wantErr(t, err, appliance.ErrPreempted)
		if !reply.Sent.IsZero() {
			t.Error("Sent is set, though nothing was sent")
		}
	})
	t.Run("before an answer", func(t *testing.T) {
		b := newBench(t, nil)
		r := ask("one")
		r.Timeout = 30 * time.Second
		now := make(chan struct{})
		r.Yield = appliance.Yield{Begin: now, Answer: now}
		time.AfterFunc(30*time.Millisecond, func() { close(now) })
		begun := time.Now()
		reply, err := b.Exchange(within(t, patience), r)
		wantErr(t, err, appliance.ErrPreempted)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("gave up after %v, want 30ms", took)
		}
		if reply.Sent.IsZero() {
			t.Error("Sent is zero, though the frame was written")
		}
	})
	t.Run("not while the request is on the wire", func(t *testing.T) {
		b := newBench(t, func(c *Config) { c.Serial.BaudRate = 1200 })
		r := ask(strings.Repeat("x", 20)) // 21 characters: 192 ms
		now := make(chan struct{})
		r.Yield = appliance.Yield{Begin: now, Answer: now}
		time.AfterFunc(20*time.Millisecond, func() { close(now) })
		begun := time.Now()
		_, err := b.Exchange(within(t, patience), r)
		wantErr(t, err, appliance.ErrPreempted)
		if took := time.Since(begun); took < b.Airtime(21) {
			t.Errorf("gave up after %v, while the request took %v", took, b.Airtime(21))
		}
	})
	t.Run("not once an answer has begun", func(t *testing.T) {
		b := newBench(t, nil)
		r := ask("one")
		now := make(chan struct{})
		r.Yield = appliance.Yield{Begin: now, Answer: now}
		b.device(func() {
			b.read(4)
			b.write("on")
			b.until("it was seen", func() bool { return b.in.waiting() == 2 })
			close(now)
			time.Sleep(20 * time.Millisecond)
			b.write("e\n")
		})
		reply, err := b.Exchange(within(t, patience), r)
		wantAnswer(t, reply, err, "one")
	})
}
