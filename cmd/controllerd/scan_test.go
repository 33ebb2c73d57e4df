package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
)

// bare plays the buses of a site without a daemon on them.
func bare(t *testing.T, site string) *house {
	t.Helper()
	return (&house{t: t}).bare(site)
}

// bareInBubble does so in memory, on virtual time.
func bareInBubble(t *testing.T, site string, do func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		do(t, (&house{t: t, net: &cable.Net{}}).bare(site))
	})
}

func (h *house) bare(site string) *house {
	h.t.Helper()
	h.dataDir = h.t.TempDir()
	h.readSite(site)
	h.play()
	return h
}

// strangers scans a bus as one that no site has, and returns what was found.
func (h *house) strangers(bus string, args ...string) []api.Found {
	h.t.Helper()
	for _, b := range h.site.Buses {
		if b.Name != bus {
			continue
		}
		args = append(args, "--driver", b.Driver, "--port", b.Port)
		if line := b.Line; line != (appliance.LineSettings{}) {
			args = append(args, "--baud", fmt.Sprint(line.BaudRate), "--parity", line.Parity, "--stop-bits", fmt.Sprint(line.StopBits))
		}
		for key, value := range b.Options {
			args = append(args, "--option", key+"="+value)
		}
		return h.scan(args...)
	}
	h.t.Fatalf("no bus %s", bus)
	return nil
}

// scan runs 'bus scan' for as long as it takes.
func (h *house) scan(args ...string) (found []api.Found) {
	h.t.Helper()
	s := h.typed(append([]string{"bus", "scan", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(s.out), &found); err != nil || s.code != 0 && s.code != 3 {
		h.t.Fatalf("bus scan %v: exit code %d, %v\n%s%s", args, s.code, err, s.out, s.err)
	}
	return found
}

// TestScanRecognisesEveryModbusProfile scans one device of each profile that nobody
// told the scan about. Where reading cannot tell profiles apart, all are named.
func TestScanRecognisesEveryModbusProfile(t *testing.T) {
	drivertest.Long(t)
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
	bareInBubble(t, site, func(t *testing.T, h *house) {
		for bus, profiles := range on {
			found := slices.DeleteFunc(h.strangers(bus, "--last", fmt.Sprint(len(profiles)+1)), func(f api.Found) bool { // the gear behind gateways is looked for elsewhere
				return strings.Contains(f.Address, "/") || f.Finding == string(appliance.FoundNote)
			})
			if len(found) != len(profiles) {
				t.Errorf("bus %s: %d found, want %d", bus, len(found), len(profiles))
			}
			for _, f := range found {
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
	})
}

// scanResult runs a scan by hand and returns what it says as JSON.
func (d *desk) scanResult(wantCode int, args ...string) map[string]api.Found {
	d.t.Helper()
	s := d.run(append([]string{"bus", "scan", "--json"}, args...)...)
	var list []api.Found
	if err := json.Unmarshal([]byte(s.out), &list); err != nil || s.code != wantCode {
		d.t.Fatalf("bus scan %v: exit code %d, want %d; %v\n%s%s", args, s.code, wantCode, err, s.out, s.err)
	}
	found := map[string]api.Found{}
	for _, f := range list {
		found[f.Address+" "+f.Finding] = f
	}
	return found
}

const troubledSite = `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {name: Lobby, bus: line, address: 1, profile: wirenboard-wb-mao4}
  - {name: Hall, bus: line, address: 2, profile: wirenboard-wb-mdm3}
  - {name: Office, bus: line, address: 3, profile: wirenboard-wb-mdm3}
  - {name: Store, bus: line, address: 4, profile: waveshare-relay-8ch}
  - {name: Stairs, bus: line, address: 5, profile: wirenboard-wb-led-rgbw}
  - {name: Cellar, bus: line, address: 6, profile: wirenboard-wb-led-white}
`

// TestScanNamesTheCulprit gives a Modbus line every fault at once, while a daemon
// works on it, and expects each to be told apart and named.
func TestScanNamesTheCulprit(t *testing.T) {
	t.Parallel()
	bareInBubble(t, troubledSite, func(t *testing.T, h *house) {
		// The installer took one device for another, and forgot one.
		h.site.Nodes[3].Profile = "wirenboard-wb-mr6c"
		h.site.Nodes = h.site.Nodes[:5]
		h.fillStore()
		h.serve()
		d := h.desk()
		h.fault(sim.Fault{Bus: "line", Kind: sim.FaultDuplicate, Address: "2"})
		if found := d.scanResult(3, "line", "--first", "2", "--last", "2"); !strings.Contains(found["2 collision"].Detail, "DEVICES") {
			t.Errorf("two at one address: %+v", found)
		}
		for _, f := range []sim.Fault{
			{Kind: sim.FaultSilent, Address: "3"},
			{Kind: sim.FaultSettings, Address: "5", BaudRate: 9600, Parity: "none"},
			{Kind: sim.FaultBabble, Address: "17"},
		} {
			f.Bus = "line"
			h.fault(f)
		}
		found := d.scanResult(3, "line", "--last", "8") // whether the two at 2 are heard colliding is chance now, since 17 talks into it
		for key, want := range map[string]struct{ kind, detail string }{
			"1 device":  {"wirenboard-wb-mao4", "that the site says"},
			"3 silent":  {"", "does not answer"},
			"4 profile": {"waveshare-relay-8ch", "is not the wirenboard-wb-mr6c that the site says"},
			"5 silent":  {"", "does not answer"},
			"6 device":  {"wirenboard-wb-led-white", "looks like"},
			"17 babble": {"", "UNIT 17 TALKS WITHOUT BEING ASKED"},
		} {
			f, ok := found[key]
			if !ok || f.Kind != want.kind || !strings.Contains(f.Detail, want.detail) {
				t.Errorf("%s: %+v, want kind %q and a detail with %q; found were %q", key, f, want.kind, want.detail, slices.Sorted(maps.Keys(found)))
			}
			if f.Trouble && f.Advice == "" {
				t.Errorf("%s: nothing is said of what to do", key)
			}
		}
		if len(found) != 7 {
			t.Errorf("%d rows, want 7: %+v", len(found), found)
		}
		if len(found["6 device"].Nodes) != 0 || !slices.Equal(found["1 device"].Nodes, []appliance.ID{h.site.Nodes[0].ID}) {
			t.Errorf("nodes at 6 and 1: %v, %v", found["6 device"].Nodes, found["1 device"].Nodes)
		}

		found = d.scanResult(3, "line", "--first", "5", "--last", "5", "--all-settings")
		f := found["5 settings"]
		if f.Line == nil || f.Line.BaudRate != 9600 || f.Line.Parity != "none" || f.Kind != "wirenboard-wb-led-rgbw" || !strings.Contains(f.Advice, "19200 8E") {
			t.Errorf("at other settings: %+v in %+v", f, found)
		}
		if f, accused := found["5 silent"]; accused {
			t.Errorf("who answers at other settings is silent besides: %+v", f)
		}
		if s := d.run("bus", "scan", "line", "--first", "3", "--last", "3", "--all-settings"); s.code != 3 || !strings.Contains(s.out, "3 (3 Office): does not answer") || strings.Contains(s.out, "--all-settings") {
			t.Errorf("silent at all settings: %d\n%s%s", s.code, s.out, s.err)
		}
		// Without the two of one address, which were found above: whether they are heard colliding again is chance, since 17 talks into it.
		if s := d.run("bus", "scan", "line", "--first", "3", "--last", "6"); s.code != 3 || !strings.Contains(s.out, "2 of the site silent, 1 not in the site") ||
			!strings.Contains(s.err, "3 silent, 4 profile, 5 silent") || !strings.Contains(s.out, "→ disconnect") {
			t.Errorf("for people: %d\n%s%s", s.code, s.out, s.err)
		}
		d.importDraft("line", []string{"--first", "6", "--last", "6"}, map[string]string{"6": "wirenboard-wb-led-white"})
	})
}

// TestScanNamesTheCulpritAmongMotors does the same with shade motors.
func TestScanNamesTheCulpritAmongMotors(t *testing.T) {
	t.Parallel()
	var nodes, shades strings.Builder
	for i := range 6 {
		fmt.Fprintf(&nodes, "  - {name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc}\n", i+1, motorAddress(i))
		fmt.Fprintf(&shades, "  - {name: Shade %d, node: Motor %d, output: 1, travelUp: 12s, travelDown: 12s}\n", i+1, i+1)
	}
	bareInBubble(t, "buses:\n  - {name: shades, driver: sdn, port: \"@DIR@/shades\"}\nnodes:\n"+nodes.String()+"shades:\n"+shades.String(), func(t *testing.T, h *house) {
		h.site.Nodes[3].Profile = "somfy-sdn-40ac"
		h.site.Nodes, h.site.Shades = h.site.Nodes[:5], h.site.Shades[:5]
		h.fillStore()
		h.serve()
		for _, f := range []sim.Fault{
			{Kind: sim.FaultDuplicate, Address: motorAddress(1)},
			{Kind: sim.FaultSilent, Address: motorAddress(2)},
		} {
			f.Bus = "shades"
			h.fault(f)
		}
		d := h.desk()
		found := d.scanResult(3, "shades")
		for key, want := range map[string]string{
			motorAddress(0) + " device":    "Sonesse 30 DC",
			motorAddress(1) + " collision": "TWO MOTORS",
			motorAddress(2) + " silent":    "does not answer",
			motorAddress(3) + " profile":   "not the somfy-sdn-40ac that the site says",
			motorAddress(4) + " device":    "Sonesse 30 DC",
			motorAddress(5) + " device":    "Sonesse 30 DC",
		} {
			if f, ok := found[key]; !ok || !strings.Contains(f.Detail, want) {
				t.Errorf("%s: %+v, want %q; found were %q", key, f, want, slices.Sorted(maps.Keys(found)))
			}
		}
		for _, f := range h.building.Faults() {
			h.building.RemoveFault(f.ID)
		}
		h.fault(sim.Fault{Bus: "shades", Kind: sim.FaultBabble, Address: motorAddress(0), Rate: 0.05})
		found = d.scanResult(3, "shades")
		if f, ok := found[motorAddress(0)+" babble"]; !ok || !strings.Contains(f.Detail, "TALKS WITHOUT BEING ASKED") {
			t.Errorf("a babbling motor: %+v", found)
		}
	})
}

// TestScanNamesTheCulpritAmongGear does the same on a DALI line.
func TestScanNamesTheCulpritAmongGear(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: attic, driver: dali, port: "@DIR@/attic", options: {gateway: luba}}
nodes:
  - {name: Desk, bus: attic, address: 0, profile: dali-dt6, groups: [3, 12], options: {fade: 700ms}}
  - {name: Door, bus: attic, address: 1, profile: dali-dt6}
  - {name: Wall, bus: attic, address: 2, profile: dali-dt6}
  - {name: Niche, bus: attic, address: 3, profile: dali-dt6}
  - {name: Sofa, bus: attic, address: 4, profile: dali-dt8-tc, groups: [3], options: {fade: 700ms}}
`, func(t *testing.T, h *house) {
		h.site.Nodes[3].Profile = "dali-dt8-rgbw"
		h.site.Nodes = h.site.Nodes[:4]
		h.fillStore()
		h.serve()
		for _, f := range []sim.Fault{{Kind: sim.FaultDuplicate, Address: "1"}, {Kind: sim.FaultSilent, Address: "2"}} {
			f.Bus = "attic"
			h.fault(f)
		}
		d := h.desk()
		found := d.scanResult(3, "attic", "--last", "7")
		for key, want := range map[string]string{
			"0 device": "device type 6", "1 collision": "SEVERAL GEARS", "2 silent": "does not answer",
			"3 profile": "is not the dali-dt8-rgbw that the site says", "4 device": "colour temperature",
		} {
			if f, ok := found[key]; !ok || !strings.Contains(f.Detail, want) {
				t.Errorf("%s: %+v, want %q; found were %q", key, f, want, slices.Sorted(maps.Keys(found)))
			}
		}
		if f := found["0 device"]; !slices.Equal(f.Groups, []string{"3", "12"}) || f.Options["fade"] != "700ms" {
			t.Errorf("groups and options of gear 0: %+v", f)
		}
		if len(found) != 5 {
			t.Errorf("found %+v", found)
		}
		d.importDraft("attic", []string{"--last", "7"}, map[string]string{"4": "dali-dt8-tc"})
	})
}

// importDraft writes what a scan found to a file, imports that, and expects nodes with
// these profiles to have come into the site by it.
func (d *desk) importDraft(bus string, args []string, want map[string]string) {
	d.t.Helper()
	draft := filepath.Join(d.t.TempDir(), "found.yaml")
	s := d.run(append([]string{"bus", "scan", bus, "--site", draft}, args...)...)
	if !strings.Contains(s.out, "written to "+draft) {
		d.t.Fatalf("bus scan --site: %d\n%s%s", s.code, s.out, s.err)
	}
	if again := d.run(append([]string{"bus", "scan", bus, "--site", draft}, args...)...); again.code != 1 || !strings.Contains(again.err, "exists; choose another name or remove it") || again.out != "" {
		d.t.Errorf("a second --site wrote over a file, or scanned for nothing: %d %s%s", again.code, again.out, again.err)
	}
	if strings.Contains(s.out, "--site FILE") {
		d.t.Errorf("told of --site, which was given:\n%s", s.out)
	}
	text, err := os.ReadFile(draft)
	if err != nil {
		d.t.Fatal(err)
	}
	d.must("site", "check", draft)
	if out := d.must("site", "import", draft); strings.Contains(out, " 0 created") || strings.Contains(out, "changed  ") {
		d.t.Errorf("import of\n%s\nsaid\n%s", text, out)
	}
	site, err := sitefile.Parse("export", []byte(d.must("site", "export")))
	if err != nil {
		d.t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range site.Nodes {
		if want[n.Address] != "" {
			got[n.Address] = n.Profile
		}
	}
	if !maps.Equal(got, want) {
		d.t.Errorf("imported %v, want %v, from\n%s", got, want, text)
	}
}

// TestScanComparesFixturesWithTheSite scans fixtures that have RDM, one of which is
// not what the site says, and one not in the site.
func TestScanComparesFixturesWithTheSite(t *testing.T) {
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: stage, driver: dmx, port: "@DIR@/stage"}
nodes:
  - {id: 21, name: Spot, bus: stage, address: 1, profile: dmx-dimmer}
  - {id: 22, name: Wash, bus: stage, address: 11, profile: dmx-rgbw}
  - {id: 23, name: Strip, bus: stage, address: 21, profile: dmx-rgb}
`, func(t *testing.T, h *house) {
		h.site.Nodes[1].Profile = "dmx-rgb"
		h.site.Nodes = slices.Delete(h.site.Nodes, 2, 3)
		h.fillStore()
		h.serve()
		d := h.desk()
		found := d.scanResult(3, "stage")
		for key, kind := range map[string]string{"1 device": "dmx-dimmer", "11 profile": "dmx-rgbw", "21 device": "dmx-rgb"} {
			if f, ok := found[key]; !ok || f.Kind != kind || f.Serial == "" {
				t.Errorf("%s: %+v, want %s", key, f, kind)
			}
		}
		d.importDraft("stage", nil, map[string]string{"21": "dmx-rgb"})
	})
}

// TestDraftOfMotorsMakesASite scans a bus of which no site knows, imports what the scan
// wrote into a controller fresh from its box, and expects the motors online and their
// shades to tell where they stand.
func TestDraftOfMotorsMakesASite(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	bareInBubble(t, `buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
nodes:
  - {name: East, bus: shades, address: 06.00.01, profile: somfy-sdn-30dc}
  - {name: West, bus: shades, address: 06.00.02, profile: somfy-sdn-30dc}
shades:
  - {name: East shade, node: East, output: 1}
  - {name: West shade, node: West, output: 1}
`, func(t *testing.T, h *house) {
		d := h.fresh()
		draft := filepath.Join(t.TempDir(), "found.yaml")
		s := d.run("bus", "scan", "--port", h.site.Buses[0].Port, "--driver", "sdn", "--site", draft)
		if s.code != 0 || !strings.Contains(s.out, "2 nodes written to "+draft) {
			t.Fatalf("scan: exit code %d\n%s%s", s.code, s.out, s.err)
		}
		d.must("site", "check", draft)
		d.must("site", "import", draft)
		h.dataDir = d.dataDir
		h.serve()
		h.await(60*time.Second, "the motors online", func() bool {
			buses := d.buses()
			return len(buses) == 1 && buses[0].Nodes == 2 && buses[0].Online == 2
		})
		var shades []api.Shade
		if err := json.Unmarshal([]byte(d.must("shade", "list", "--json")), &shades); err != nil {
			t.Fatal(err)
		}
		if len(shades) != 2 || !shades[0].Online || !shades[0].Measured {
			t.Errorf("shades %+v, made of\n%s", shades, readText(draft))
		}
	})
}
