package line

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func TestAnswerIsReturned(t *testing.T) {
	noLeaks(t)
	b := newBench(t, nil)
	b.device(func() {
		b.read(6)
		b.write("hello\n")
	})
	reply, err := b.Exchange(within(t, patience), ask("hello"))
	wantAnswer(t, reply, err, "hello")
	frames := b.Recent()
	var got []string
	for _, f := range frames {
		got = append(got, string(f.Bytes)+f.Note)
	}
	if want := "port found|hello\n|hello\n"; strings.Join(got, "|") != want {
		t.Errorf("recorded %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestSilenceIsKept(t *testing.T) {
	const silence = 4 * time.Millisecond
	b := newBench(t, func(c *Config) { c.Silence = silence })
	var ended time.Time
	for i := range 50 {
		r := ask("hello")
		if i%2 == 1 {
			r.Guard = 7 * time.Millisecond
		}
		b.device(func() {
			b.read(6)
			if gap := time.Since(ended); gap < max(silence, r.Guard) {
				t.Errorf("request %d came %v after the answer before, want %v or more", i, gap, max(silence, r.Guard))
			}
			// The answer comes in two pieces, so that its end counts.
			b.write("hel")
			time.Sleep(time.Millisecond)
			ended = time.Now()
			b.write("lo\n")
		})
		reply, err := b.Exchange(within(t, patience), r)
		wantAnswer(t, reply, err, "hello")
	}
}

func TestSilenceAfterForeignTraffic(t *testing.T) {
	const silence = 30 * time.Millisecond
	b := newBench(t, func(c *Config) { c.Silence = silence })
	var spoke time.Time
	for range 5 {
		spoke = time.Now()
		b.write("x")
		b.until("the byte was seen", func() bool { return !b.in.lastByte().Before(spoke) })
		b.device(func() {
			b.read(6)
			if gap := time.Since(spoke); gap < silence {
				t.Errorf("request came %v after another's byte, want %v or more", gap, silence)
			}
			b.write("hello\n")
		})
		reply, err := b.Exchange(within(t, patience), ask("hello"))
		wantAnswer(t, reply, err, "hello")
	}
}

func TestLateAnswerIsNotTakenForTheNext(t *testing.T) {
	b := newBench(t, nil)
	r := ask("one")
	r.Timeout = 30 * time.Millisecond
	_, err := b.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
	b.device(func() {
		b.read(4)
		b.read(4)
		b.write("one\n") // late
		time.Sleep(5 * time.Millisecond)
		b.write("two\n")
	})
	reply, err := b.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
	if !b.discarded("one\n") {
		t.Error("the late answer is not in the recorder")
	}
}

func TestAnswerThatCameBetweenRequestsIsDiscarded(t *testing.T) {
	b := newBench(t, nil)
	b.write("two\n") // the very answer that will be waited for
	b.until("it was discarded", func() bool { return b.discarded("two\n") })
	r := ask("two")
	r.Timeout = 30 * time.Millisecond
	_, err := b.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrSilent)
}

func TestDamagedAnswer(t *testing.T) {
	for _, answer := range []string{"bad answer\n", "broken answer\n"} {
		b := newBench(t, nil)
		b.device(func() {
			b.read(4)
			b.write(answer)
			b.read(4)
			b.write("two\n")
		})
		_, err := b.Exchange(within(t, patience), ask("one"))
		wantErr(t, err, appliance.ErrDamaged)
		reply, err := b.Exchange(within(t, patience), ask("two"))
		wantAnswer(t, reply, err, "two")
	}
}

func TestForeignFramesAreSkipped(t *testing.T) {
	b := newBench(t, nil)
	b.device(func() {
		b.read(4)
		b.write("somebody\nelse\none\n")
	})
	reply, err := b.Exchange(within(t, patience), ask("one"))
	wantAnswer(t, reply, err, "one")
	if !b.discarded("else\n") {
		t.Error("the foreign frame is not in the recorder")
	}
}

func TestExpiredFrameIsNotBegun(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Serial.BaudRate = 1200 })
	// 21 characters last 192 ms.
	reply, err := b.Exchange(within(t, 100*time.Millisecond), ask(strings.Repeat("x", 20)))
	wantErr(t, err, appliance.ErrExpired)
	if !reply.Sent.IsZero() {
		t.Error("Sent is set")
	}
	for _, f := range b.Recent() {
		if f.Direction == appliance.FrameSent {
			t.Errorf("%q was sent", f.Bytes)
		}
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	b.device(func() {
		b.read(4)
		b.write("on")
		b.until("it was seen", func() bool { return b.in.waiting() == 2 })
		cancel()
		b.read(4)
		b.write("two\n")
	})
	reply, err := b.Exchange(ctx, ask("one"))
	wantErr(t, err, context.Canceled)
	if reply.Sent.IsZero() {
		t.Error("Sent is zero, though the frame was written")
	}
	reply, err = b.Exchange(within(t, patience), ask("two"))
	wantAnswer(t, reply, err, "two")
}

func TestTwoCallersTakeTurns(t *testing.T) {
	b := newBench(t, nil)
	const each = 20
	b.device(func() {
		for range 4 * each {
			b.write(string(b.read(4)))
		}
	})
	var wg sync.WaitGroup
	for _, name := range []string{"one", "two", "six", "ten"} {
		wg.Go(func() {
			for range each {
				reply, err := b.Exchange(within(t, patience), ask(name))
				if err != nil || string(reply.Frame) != name+"\n" {
					t.Errorf("got %q, %v; want %q", reply.Frame, err, name)
				}
			}
		})
	}
	wg.Wait()
}

func TestSecondCallerGivesUpWithItsContext(t *testing.T) {
	b := newBench(t, nil)
	sent := make(chan struct{})
	b.device(func() { b.read(4); close(sent) })
	first := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		r := ask("one")
		r.Timeout = patience
		_, err := b.Exchange(ctx, r)
		first <- err
	}()
	<-sent
	_, err := b.Exchange(within(t, 20*time.Millisecond), ask("two"))
	wantErr(t, err, appliance.ErrExpired)
	cancel()
	wantErr(t, <-first, context.Canceled)
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	b := newBench(t, nil)
	if _, err := b.Exchange(context.Background(), Request{}); err == nil {
		t.Error("a request without a frame was taken")
	}
	if _, err := b.Exchange(context.Background(), Request{Frame: []byte("x"), Scan: wantLine("x")}); err == nil {
		t.Error("a request without a time-out was taken")
	}
}

func TestSkipOfNothingEnds(t *testing.T) {
	b := newBench(t, nil)
	b.device(func() {
		b.read(4)
		b.write("xxxx")
	})
	r := ask("one")
	r.Timeout = 100 * time.Millisecond
	r.Scan = func([]byte) (int, Verdict) { return 0, Skip }
	_, err := b.Exchange(within(t, patience), r)
	if !errors.Is(err, appliance.ErrSilent) {
		t.Errorf("got %v, want silence", err)
	}
}
