package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/sim"
	"svc.internal/controller/sitefile"
)

// bare plays the buses of a site without a daemon on them.
func bare(t *testing.T, site string) *house {
	t.Helper()
	h := &house{t: t, dataDir: t.TempDir()}
	var err error
	if h.site, err = sitefile.Parse("test site", []byte(strings.ReplaceAll(site, "@DIR@", t.TempDir()))); err != nil {
		t.Fatal(err)
	}
	h.play()
	return h
}

// strangers scans a bus as one that no site has, and returns what was found.
func (h *house) strangers(bus string, opts appliance.ScanOptions) *scanView {
	h.t.Helper()
	for _, b := range h.site.Buses {
		if b.Name != bus {
			continue
		}
		view := &scanView{bus: b}
		if err := (&app{dataDir: h.dataDir}).scanAlone(h.t.Context(), b, appliance.Site{}, opts, view.event); err != nil {
			h.t.Fatalf("scan %s: %v", bus, err)
		}
		return view
	}
	h.t.Fatalf("no bus %s", bus)
	return nil
}

// TestScanRecognisesEveryModbusProfile scans one device of each profile that nobody
// told the scan about. Where reading cannot tell profiles apart, all are named.
func TestScanRecognisesEveryModbusProfile(t *testing.T) {
	t.Parallel()
	on := map[string][]string{"line": nil, "net": {"arlight-dali-logic-lite", "dalion", "intesis-ibmbsdal"}}
	for _, p := range sim.Profiles() {
		if !slices.Contains(on["net"], p) {
			on["line"] = append(on["line"], p)
		}
	}
	together := map[string][]string{ // cannot be told apart without a nameplate
		"eastron-sdm220": {"eastron-sdm120", "eastron-sdm220", "eastron-sdm230"},
	}
	site := `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 115200, parity: even, stopBits: 1}}
  - {name: net, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
`
	want := map[string][]string{}
	for bus, profiles := range on {
		for i, p := range profiles {
			address := fmt.Sprint(i + 1)
			want[bus+" "+address] = []string{p}
			if others := together[p]; others != nil {
				want[bus+" "+address] = others
			}
			switch p {
			case "dalion":
				address += "/1.0"
			case "ecodim-dali-gw2", "arlight-dali-logic-lite", "intesis-ibmbsdal":
				address += "/0"
			}
			site += fmt.Sprintf("  - {name: %s %d, bus: %s, address: %q, profile: %s}\n", p, i, bus, address, p)
		}
	}
	h := bare(t, site)
	for bus, profiles := range on {
		view := h.strangers(bus, appliance.ScanOptions{Last: len(profiles) + 1})
		if len(view.found) != len(profiles) {
			t.Errorf("bus %s: %d found, want %d", bus, len(view.found), len(profiles))
		}
		for _, f := range view.found {
			got := slices.Sorted(slices.Values(append([]string{f.Kind}, f.Others...)))
			if w := want[bus+" "+f.Address]; !slices.Equal(got, w) {
				t.Errorf("bus %s, address %s: looks like %v, want %v (%s)", bus, f.Address, got, w, f.Detail)
			}
			if f.Finding != "device" || f.Trouble {
				t.Errorf("bus %s, address %s: %s", bus, f.Address, f.Finding)
			}
			if f.Kind == "wirenboard-wb-mao4" && (f.Serial == "" || f.Version == "" || !strings.Contains(f.Detail, "WBMAO4")) {
				t.Errorf("nameplate of the WB-MAO4: %+v", f)
			}
		}
	}
}
