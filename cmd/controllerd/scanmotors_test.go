package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/sim"
)

// TestScanTellsFaultsOfMotorsApart lays faults upon each other on lines of shade motors
// that no site knows, and expects each to be told, and nobody else to be accused.
func TestScanTellsFaultsOfMotorsApart(t *testing.T) {
	t.Parallel()
	const motors = 3
	babble := sim.Fault{Kind: sim.FaultBabble, Address: motorAddress(0), Rate: 0.1}
	for _, tc := range []struct {
		name   string
		faults []sim.Fault
		want   map[string]string // by address and finding, what the detail says
		sound  []int             // motors of which nothing bad may be said
	}{
		{"a babbler, and twins elsewhere", []sim.Fault{babble, {Kind: sim.FaultDuplicate, Address: motorAddress(1)}}, map[string]string{
			motorAddress(0) + " babble": "TALKS WITHOUT BEING ASKED", motorAddress(1) + " collision": "TWO MOTORS",
		}, []int{0, 2}},
		{"a babbler with a twin", []sim.Fault{babble, {Kind: sim.FaultDuplicate, Address: motorAddress(0)}}, map[string]string{
			motorAddress(0) + " babble": "TALKS WITHOUT BEING ASKED", motorAddress(0) + " collision": "TWO MOTORS",
		}, []int{1, 2}},
		{"another master", []sim.Fault{{Kind: sim.FaultForeign}}, map[string]string{
			"7F.7F.7F note": "another master",
		}, []int{0, 1, 2}},
		{"a motor that is slow", []sim.Fault{{Kind: sim.FaultDelay, Address: motorAddress(1), DelayMs: 500}}, map[string]string{
			motorAddress(1) + " late": "answers after",
		}, []int{0, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var nodes, shades strings.Builder
			for i := range motors {
				fmt.Fprintf(&nodes, "  - {name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc}\n", i+1, motorAddress(i))
				fmt.Fprintf(&shades, "  - {name: Shade %d, node: Motor %d, output: 1, travelUp: 12s, travelDown: 12s}\n", i+1, i+1)
			}
			bareInBubble(t, "buses:\n  - {name: shades, driver: sdn, port: \"@DIR@/shades\"}\nnodes:\n"+nodes.String()+"shades:\n"+shades.String(), func(t *testing.T, h *house) {
				for _, f := range tc.faults {
					f.Bus = "shades"
					h.fault(f)
				}
				found := rows(h.strangers("shades"))
				defer func() {
					if t.Failed() {
						t.Logf("found %+v", found)
					}
				}()
				for key, want := range tc.want {
					if f, ok := found[key]; !ok || !strings.Contains(f.Detail, want) || f.Trouble && f.Advice == "" {
						t.Errorf("%s: %+v, want %q in its detail", key, f, want)
					}
				}
				if f, ok := found[motorAddress(1)+" late"]; ok { // 500 ms, and up to 255 ms of the motor's own
					said, err := time.ParseDuration(regexp.MustCompile(`answers after (\S+),`).FindStringSubmatch(f.Detail)[1])
					if err != nil || said < 500*time.Millisecond || said > 850*time.Millisecond {
						t.Errorf("%q", f.Detail)
					}
				}
				for _, i := range tc.sound {
					if f, ok := found[motorAddress(i)+" device"]; !ok || !strings.Contains(f.Detail, "Sonesse 30 DC") {
						t.Errorf("motor %s is sound: %v", motorAddress(i), about(found, motorAddress(i)))
					}
				}
			})
		})
	}
}

// about is what was found of an address.
func about(found map[string]api.Found, address string) (list []string) {
	for _, f := range found {
		if f.Address == address {
			list = append(list, f.Finding+": "+f.Detail)
		}
	}
	return list
}
