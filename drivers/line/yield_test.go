package line

import (
	"errors"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func TestGivesWayInTheSilenceAndNotLater(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Silence = 50 * time.Millisecond })
	urgent := make(chan struct{})
	ctx := within(t, patience)
	r := ask("hello")
	r.Yield.Begin = urgent
	b.device(func() {
		b.read(6)
		close(urgent) // too late: the frame is out
		b.write("hello\n")
	})
	reply, err := b.Exchange(ctx, r)
	wantAnswer(t, reply, err, "hello")

	// Now it is there before the silence after that answer is over.
	reply, err = b.Exchange(ctx, r)
	if !errors.Is(err, appliance.ErrPreempted) || !reply.Sent.IsZero() {
		t.Errorf("got sent %v, error %v; want nothing sent and ErrPreempted", reply.Sent, err)
	}
}

// TestLeavesAnAdapterTimeAfterAFrameThatNobodyAnswered gives up a question once it is
// out. The next frame keeps the silence as if the adapter had sent late.
func TestLeavesAnAdapterTimeAfterAFrameThatNobodyAnswered(t *testing.T) {
	const silence = 5 * time.Millisecond
	b := newBench(t, func(c *Config) { c.Silence = silence })
	ctx := within(t, patience)
	urgent := make(chan struct{})
	r := ask("hello")
	r.Yield.Answer = urgent
	b.device(func() {
		b.read(6)
		close(urgent)
		b.read(6)
	})
	given, err := b.Exchange(ctx, r)
	if !errors.Is(err, appliance.ErrPreempted) || given.Sent.IsZero() {
		t.Fatalf("got sent %v, error %v; want it sent and ErrPreempted", given.Sent, err)
	}
	next, err := b.Exchange(ctx, Request{Frame: []byte("hello\n")}) // to everybody: no answer tells that it was over sooner
	if err != nil {
		t.Fatal(err)
	}
	if begun := next.Sent.Add(-b.airtimeAt(nil, 6)); begun.Sub(given.Sent) < silence+adapterLag {
		t.Errorf("the next frame began %v after the one that was given up, want at least %v", begun.Sub(given.Sent), silence+adapterLag)
	}
}
