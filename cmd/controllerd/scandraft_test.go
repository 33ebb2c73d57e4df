package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/site/sitefile"
)

// scanPort scans a port of a simulated building that no site knows, as an installer
// with an empty data directory does, and returns what was said and the draft.
func (h *house) scanPort(bus string, args ...string) (run said, draft string) {
	h.t.Helper()
	i := slices.IndexFunc(h.site.Buses, func(b appliance.Bus) bool { return b.Name == bus })
	draft = filepath.Join(h.t.TempDir(), bus+".yaml")
	return h.fresh().run(append([]string{"bus", "scan", "--port", h.site.Buses[i].Port, "--site", draft}, args...)...), draft
}

// fresh is a controller from its box.
func (h *house) fresh() *desk {
	d := h.desk()
	d.dataDir = filepath.Join(h.t.TempDir(), "fresh")
	return d
}

// imported is the site that a draft becomes in a controller fresh from its box.
func (h *house) imported(draft string) appliance.Site {
	h.t.Helper()
	d := h.fresh()
	d.must("site", "check", draft)
	d.must("site", "import", draft)
	site, err := sitefile.Parse("export", []byte(d.must("site", "export")))
	if err != nil {
		h.t.Fatal(err)
	}
	return site
}

// TestScanFindsGearBehindGateways finds each gear that a gateway knows of, with its
// groups and its state where the gateway tells them, and drafts it as a node.
func TestScanFindsGearBehindGateways(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: net, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 115200, parity: none, stopBits: 1}}
nodes:
  - {name: A, bus: net, address: 1/0, profile: arlight-dali-logic-lite, groups: [3]}
  - {name: B, bus: net, address: 1/63, profile: arlight-dali-logic-lite}
  - {name: C, bus: net, address: 2/1.0, profile: dalion}
  - {name: D, bus: net, address: 3/17, profile: intesis-ibmbsdal}
  - {name: E, bus: line, address: 5/2, profile: ecodim-dali-gw2, groups: [0, 9]}
  - {name: F, bus: line, address: 5/10, profile: ecodim-dali-gw2}
`, func(t *testing.T, h *house) {
		s, draft := h.scanPort("net", "--last", "4")
		if s.code != 0 || !strings.Contains(s.out, "does not say which gear is behind it: enter the gear yourself, such as 2/1.0") {
			t.Errorf("exit code %d\n%s%s", s.code, s.out, s.err)
		}
		for _, f := range h.strangers("net", "--last", "4") {
			if gear := strings.Contains(f.Address, "/"); gear != (f.Lights == 1) {
				t.Errorf("%s at %s has %d lights to show itself by", f.Kind, f.Address, f.Lights)
			}
		}
		site := h.imported(draft)
		want := map[string][]string{"1/0": nil, "1/63": nil, "3/17": nil}
		checkGear(t, site, want)

		s, draft = h.scanPort("line", "--last", "6", "--baud", "115200")
		if s.code != 0 || !strings.Contains(s.out, "in groups 0 9") || !strings.Contains(s.out, "at 0 %") {
			t.Errorf("exit code %d\n%s%s", s.code, s.out, s.err)
		}
		if text := readText(draft); strings.Contains(text, "left out") {
			t.Errorf("the gateway stands in the draft beside its gear:\n%s", text)
		}
		checkGear(t, h.imported(draft), map[string][]string{"5/2": {"0", "9"}, "5/10": nil})
	})
}

func checkGear(t *testing.T, site appliance.Site, want map[string][]string) {
	t.Helper()
	if len(site.Nodes) != len(want) {
		t.Errorf("%d nodes drafted, want %d", len(site.Nodes), len(want))
	}
	for _, n := range site.Nodes {
		if groups, ok := want[n.Address]; !ok || !slices.Equal(groups, n.Groups) {
			t.Errorf("drafted %s in groups %v, want %v", n.Address, n.Groups, groups)
		}
	}
}

// TestScanTellsWhatHangsOffNoRelay drafts relays that may move shades as nothing, but
// for who says what they are, and every other output as a node of its own.
func TestScanTellsWhatHangsOffNoRelay(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 9600, parity: none, stopBits: 2}}
nodes:
  - {name: A, bus: line, address: 1, profile: wirenboard-wb-mr6c}
  - {name: B, bus: line, address: 2, profile: wirenboard-wb-mdm3}
  - {name: C, bus: line, address: 3, profile: eastron-sdm120}
`, func(t *testing.T, h *house) {
		s, draft := h.scanPort("line", "--last", "3")
		if s.code != 0 || !strings.Contains(s.out, "--relays") {
			t.Errorf("exit code %d\n%s%s", s.code, s.out, s.err)
		}
		text := readText(draft)
		for _, variant := range []string{"1 as 6 lights:", "1 as 3 shades:"} {
			if !strings.Contains(text, "## "+variant) {
				t.Errorf("the draft does not say what the relays are %s\n%s", variant, text)
			}
		}
		// Meters of 9600 8N1 and dimmers of 9600 8N2 are on one line: the draft says what it has.
		site := h.imported(draft)
		if len(site.Nodes) != 4 || len(site.Shades) != 0 {
			t.Errorf("%d nodes and %d shades, want three outputs of a dimmer and a meter\n%s", len(site.Nodes), len(site.Shades), text)
		}
		for relays, want := range map[string][2]int{"lights": {10, 0}, "shades": {5, 3}} {
			_, draft = h.scanPort("line", "--last", "3", "--relays", relays)
			site = h.imported(draft)
			if got := [2]int{len(site.Nodes), len(site.Shades)}; got != want {
				t.Errorf("--relays %s: nodes and shades %v, want %v", relays, got, want)
			}
		}
	})
}

// TestScanAtUnknownSettings tells what was asked when nobody answers, and takes the
// settings that all devices have for those of the line.
func TestScanAtUnknownSettings(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {name: A, bus: line, address: 1, profile: wirenboard-wb-mao4}
  - {name: B, bus: line, address: 2, profile: wirenboard-wb-mdm3}
`, func(t *testing.T, h *house) {
		s, _ := h.scanPort("line", "--last", "3")
		if !strings.Contains(s.out, "none of these addresses answered: 1 to 3 of 247 were asked at 9600 8N1") || !strings.Contains(s.out, "--all-settings") {
			t.Errorf("nobody answered: exit code %d\n%s%s", s.code, s.out, s.err)
		}
		s, draft := h.scanPort("line", "--last", "3", "--all-settings")
		if s.code != 0 || !strings.Contains(s.out, "THE LINE HAS 19200 baud, parity even") || strings.Contains(s.out, "maker's tool") {
			t.Errorf("all at other settings: exit code %d\n%s%s", s.code, s.out, s.err)
		}
		site := h.imported(draft)
		if line := site.Buses[0].Line; len(site.Nodes) != 7 || line.BaudRate != 19200 || line.Parity != "even" || line.StopBits != 1 {
			t.Errorf("%d nodes at %+v, drafted as\n%s", len(site.Nodes), line, readText(draft))
		}
	})
}
