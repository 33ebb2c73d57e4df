package modbus

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Behind a serial server of known speed, time-outs and the pause after a broadcast count from the end of the
// question, as docs/modbus.md says and as Worst assumes.
func TestServerSpeedCountsForPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		var nodes []appliance.Node
		var want []appliance.Want
		for u := 1; u <= 2; u++ {
			nodes = append(nodes, node(appliance.ID(u), fmt.Sprint(u), "waveshare-relay-8ch"))
			for c := 1; c <= 8; c++ {
				want = append(want, level(channel(appliance.ID(u), c), 0))
			}
		}
		d, _ := bench(t, end, nodes, nil, map[string]string{"serverBaudRate": "1200", "turnaround": "100ms"})
		pollAll(t, d)
		chains := d.Plan(want)
		if len(chains) != 1 || !chains[0].Group {
			t.Fatalf("got %+v", chains)
		}
		if _, err := do(t, chains[0].Steps[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, chains[0].Verify[0]); err != nil {
			t.Fatal(err)
		}
		var sent time.Time
		var onWire time.Duration
		for _, f := range d.Recent() {
			if f.Direction != appliance.FrameSent {
				continue
			}
			if f.Bytes[0] == 0 {
				sent, onWire = f.At, d.characters(len(f.Bytes))
			} else if !sent.IsZero() {
				if pause := f.At.Sub(sent) - onWire; pause < 100*time.Millisecond {
					t.Errorf("the next question came %v after the end of the broadcast, want 100ms", pause)
				}
				break
			}
		}
	})
}

func TestServerSpeedCountsForTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		cfg := busOf(end, map[string]string{"serverBaudRate": "1200", "responseTimeout": "200ms"})
		cfg.Nodes = []appliance.Node{node(1, "5", "waveshare-relay-8ch")}
		d, _ := open(t, cfg)
		end.play(t, false, func(q []byte) []piece {
			a := rtuFrame(q[0], []byte{1, 1, 0})
			// Question and answer at 1200 baud, and a device that takes 80 ms: within 200 ms from the end of the question.
			return []piece{{after: d.characters(len(q)+len(a)) + 80*time.Millisecond, bytes: a}}
		})
		if _, err := do(t, d.Polls()[0].Exchange); err != nil {
			t.Errorf("a device that answers within its time-out counts as silent: %v (worst %v)", err, d.Polls()[0].Exchange.Worst)
		}
	})
}
