package line

import (
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
