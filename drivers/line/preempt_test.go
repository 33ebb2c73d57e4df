package line_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

func TestPreempt(t *testing.T) {
	part := func(name string, test func(t *testing.T, now chan struct{})) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, make(chan struct{})) })
		})
	}
	part("before anything is sent", func(t *testing.T, now chan struct{}) {
		v := newVirtual(t, func(*virtual) {}, nil)
		close(now)
		reply, err := v.Exchange(t.Context(), four("?", now))
		if !errors.Is(err, appliance.ErrPreempted) || !reply.Sent.IsZero() || len(v.out) > 0 {
			t.Errorf("sent %v, %v, %d on the wire; want ErrPreempted and nothing sent", reply.Sent, err, len(v.out))
		}
	})
	part("before an answer", func(t *testing.T, now chan struct{}) {
		v := newVirtual(t, func(*virtual) {}, nil)
		time.AfterFunc(30*time.Millisecond, func() { close(now) })
		begun := time.Now()
		reply, err := v.Exchange(t.Context(), four("?", now))
		if !errors.Is(err, appliance.ErrPreempted) || reply.Sent.IsZero() {
			t.Errorf("sent %v, %v; want it sent, and ErrPreempted", reply.Sent, err)
		}
		if took := time.Since(begun); took > 31*time.Millisecond {
			t.Errorf("gave up after %v, want 30 ms", took)
		}
	})
	part("not while the request is on the wire", func(t *testing.T, now chan struct{}) {
		v := newVirtual(t, func(*virtual) {}, func(c *line.Config) { c.Serial.BaudRate = 1200 })
		time.AfterFunc(20*time.Millisecond, func() { close(now) })
		begun := time.Now()
		_, err := v.Exchange(t.Context(), four(strings.Repeat("x", 21), now)) // 21 characters: 192 ms
		if took := time.Since(begun); !errors.Is(err, appliance.ErrPreempted) || took < v.Airtime(21) {
			t.Errorf("%v after %v, while the request took %v", err, took, v.Airtime(21))
		}
	})
	part("not once an answer has begun", func(t *testing.T, now chan struct{}) {
		v := newVirtual(t, func(v *virtual) {
			v.end.Write([]byte("fu"))
			time.AfterFunc(5*time.Millisecond, func() { close(now) })
			time.AfterFunc(20*time.Millisecond, func() { v.end.Write([]byte("ll")) })
		}, nil)
		if reply, err := v.Exchange(t.Context(), four("?", now)); err != nil || string(reply.Frame) != "full" {
			t.Errorf("got %q, %v; want the answer", reply.Frame, err)
		}
	})
}

func TestDeadlineCutsTheWaitShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(*virtual) {}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, err := v.Exchange(ctx, four("?", nil))
		if !errors.Is(err, appliance.ErrSilent) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 51*time.Millisecond {
			t.Errorf("%v after %v, want ErrSilent for the deadline at 50 ms", err, time.Since(begun))
		}
	})
}

func TestTurnaroundHoldsThoughTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const turnaround = 100 * time.Millisecond
		v := newVirtual(t, func(v *virtual) {
			if len(v.out) > 1 {
				v.end.Write([]byte("full"))
			}
		}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		begun := time.Now()
		reply, err := v.Exchange(ctx, line.Request{Frame: []byte("!"), Turnaround: turnaround})
		if left := time.Since(begun); err != nil || left > 21*time.Millisecond {
			t.Errorf("%v after %v; want the frame out, and its caller to leave after 20 ms", err, left)
		}
		if err := v.ask(t); err != nil {
			t.Fatal(err)
		}
		if gap := v.out[1].Sub(reply.Sent); gap < turnaround {
			t.Errorf("the next frame came %v after the one to everybody, want %v", gap, turnaround)
		}
	})
}
