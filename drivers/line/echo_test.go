package line_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
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
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, func(v *virtual) {
					v.end.Write([]byte(test.echo))
					if test.want == nil {
						v.end.Write([]byte("full"))
					}
				}, func(c *line.Config) { c.Echo = true })
				begun := time.Now()
				reply, err := v.Exchange(t.Context(), four("one\n", nil))
				if took := time.Since(begun); !errors.Is(err, test.want) || took > 110*time.Millisecond {
					t.Errorf("%v after %v, want %v after 100ms at most", err, took, test.want)
				}
				if reply.Sent.IsZero() {
					t.Error("Sent is zero, though the frame was written")
				}
				if test.want == nil && string(reply.Frame) != "full" {
					t.Errorf("got answer %q", reply.Frame)
				}
			})
		})
	}
}

func TestFrameThatNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, func(v *virtual) { v.end.Write([]byte("all\n")) }, func(c *line.Config) { c.Echo = true })
		begun := time.Now()
		reply, err := v.Exchange(t.Context(), line.Request{Frame: []byte("all\n"), Turnaround: 50 * time.Millisecond})
		if err != nil || reply.Frame != nil {
			t.Fatalf("got %q, %v; want nothing, no error", reply.Frame, err)
		}
		if took := time.Since(begun); took < 50*time.Millisecond {
			t.Errorf("returned after %v, want the turnaround of 50ms", took)
		}
	})
}
