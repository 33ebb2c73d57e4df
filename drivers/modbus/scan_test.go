package modbus

import (
	"testing"

	"svc.internal/controller/appliance"
)

// TestScanDoesNotCallTheSilentLate: while somebody else talks, pieces of what he says
// come at the end of the wait for one who is dead. They make him neither late nor two.
func TestScanDoesNotCallTheSilentLate(t *testing.T) {
	t.Parallel()
	babble := rtuFrame(17, []byte{3, 2, 0xB6, 0x2A})
	for _, tc := range []struct {
		name  string
		heard []int // bytes of the babble in place of an answer to each question
	}{
		{"at the last question", []int{0, 0, 4}},
		{"at the second, and once of those that follow", []int{0, 4, 0, 4}},
		{"often, by one who is known", []int{0, 4, 7, 7, 7, 4, 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			end := serialWire(t)
			heard := tc.heard
			end.play(t, false, func([]byte) []piece {
				if len(heard) == 0 {
					return nil
				}
				n := heard[0]
				heard = heard[1:]
				return []piece{{bytes: babble[:n]}}
			})
			cfg := busOf(end, map[string]string{"responseTimeout": "50ms"})
			cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3")}
			d, _ := open(t, cfg)
			found := make(map[appliance.Finding]appliance.Found)
			for step := range d.Scan(appliance.ScanOptions{First: 5, Last: 5}) {
				res, err := do(t, step.Exchange)
				if f, ok := step.Judge(res, err); ok && f.Address == "5" {
					found[f.Finding] = f
				}
			}
			if f := found[appliance.FoundSilent]; len(found) != 1 || f.Advice == "" {
				t.Errorf("found %+v, want 5 silent", found)
			}
		})
	}
}
