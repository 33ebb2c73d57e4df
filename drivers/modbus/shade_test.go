package modbus

import (
	"testing"

	"svc.internal/controller/appliance"
)

// Whoever waits for the frame in flight waits for one frame, also when the device
// has to be set up for its shade first; and once it is, nothing is written again.
func TestSettingUpAShadeTakesOneFrameAnExchange(t *testing.T) {
	t.Parallel()
	nodes := []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}
	d, _ := bench(t, serialWire(t), nodes, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}, nil)
	requests := func() (n int) {
		for _, f := range d.Recent() {
			if f.Direction == appliance.FrameSent {
				n++
			}
		}
		return n
	}
	want := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}}
	for round, frames := range []int{4, 3} { // look, set up, other direction off, this one on
		first := requests()
		for i, step := range d.Plan([]appliance.Want{want})[0].Steps {
			before := requests()
			res, err := do(t, step)
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			sent := requests() - before
			if sent > 1 || (sent == 1) == res.Sent.IsZero() {
				t.Errorf("round %d: step %d sent %d frames and tells %v, want one at most", round, i, sent, res.Sent)
			}
			if step.Worst < step.Airtime || step.Airtime <= 0 {
				t.Errorf("step %d: worst %v, airtime %v", i, step.Worst, step.Airtime)
			}
		}
		if got := requests() - first; got != frames {
			t.Errorf("round %d took %d frames, want %d", round, got, frames)
		}
	}
}
