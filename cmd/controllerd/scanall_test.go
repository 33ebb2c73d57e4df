package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
)

// motorsSite has shade motors of two types on a line of their own, like the demo
// building's tower, each in one group of six.
func motorsSite(n int) string {
	var nodes, shades strings.Builder
	for i := range n {
		kind := []string{"50ac", "30dc"}[i%2]
		fmt.Fprintf(&nodes, "  - {name: Motor %d, bus: tower, address: 06.1%d.0%d, profile: somfy-sdn-%s, groups: [01.01.0%d]}\n",
			i+1, i/6, i%6+1, kind, i/6+1)
		fmt.Fprintf(&shades, "  - {name: Shade %d, node: Motor %d, output: 1, travelUp: 24s, travelDown: 22s}\n", i+1, i+1)
	}
	return "buses:\n  - {name: tower, driver: sdn, port: \"@DIR@/tower\"}\nnodes:\n" + nodes.String() + "shades:\n" + shades.String()
}

// Where two dozen motors answer at once, it is found out what they are: nearly all of their answers collide.
func TestACrowdOfMotorsIsFoundOut(t *testing.T) {
	t.Parallel()
	bareInBubble(t, motorsSite(24), func(t *testing.T, h *house) {
		port := h.port("tower")
		h.tokens = map[string]string{}
		h.site = appliance.Site{Name: "Box"}
		h.fillStore()
		h.serve()
		for range 10 {
			began := time.Now()
			if s := h.typed("bus", "find-out", port); s.code != 0 || !strings.Contains(s.out, "--driver sdn") {
				t.Fatalf("exit code %d\n%s%s", s.code, s.out, s.err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		}
	})
}

// TestScanMissesNoMotor finds all motors of a line that no site knows, though their
// answers collide, and accuses none. What a motor that damages its answers said is not
// drafted.
func TestScanMissesNoMotor(t *testing.T) {
	t.Parallel()
	bareInBubble(t, motorsSite(8), func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "tower", Kind: sim.FaultCorrupt, Address: "06.10.03", Rate: 0.7})
		h.scanFindsAllMotors("06.10.03")
	})
}

// scanFindsAllMotors scans the tower, and tells whom the scan missed or accused, but
// for one motor that may be.
func (h *house) scanFindsAllMotors(sick string) {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "found.yaml")
	found := h.strangers("tower", "--site", file)
	text, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	drafted, err := sitefile.Parse(file, text)
	if err != nil {
		h.t.Fatal(err)
	}
	heard := make(map[string]bool)
	for _, f := range found {
		heard[f.Address] = true
		taken := slices.ContainsFunc(drafted.Nodes, func(n appliance.Node) bool { return n.Address == f.Address })
		switch {
		case taken && len(f.Groups) != 1:
			h.t.Errorf("motor %s is drafted with groups %v, and has one: %s", f.Address, f.Groups, f.Detail)
		case !taken && f.Address != sick:
			h.t.Errorf("%s is accused: %s: %s", f.Address, f.Finding, f.Detail)
		}
	}
	for _, n := range h.site.Nodes {
		if !heard[n.Address] {
			h.t.Errorf("motor %s was not found", n.Address)
		}
	}
}
