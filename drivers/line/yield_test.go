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
