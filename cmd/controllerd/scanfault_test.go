package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/sim"
)

// pairSite has two devices that a scan recognises.
const pairSite = `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {name: Hall, bus: line, address: 1, profile: wirenboard-wb-mdm3}
  - {name: Store, bus: line, address: 2, profile: waveshare-relay-8ch}
`

// rows are what a scan found, by address and finding.
func rows(list []api.Found) map[string]api.Found {
	m := map[string]api.Found{}
	for _, f := range list {
		m[f.Address+" "+f.Finding] = f
	}
	return m
}

// pairFound reports whether both devices, and nobody else, were found as they are.
func pairFound(found map[string]api.Found) bool {
	for key, f := range found {
		if f.Finding == "device" && key != "1 device" && key != "2 device" {
			return false
		}
	}
	return found["1 device"].Kind == "wirenboard-wb-mdm3" && found["2 device"].Kind == "waveshare-relay-8ch"
}

// TestScanNamesAnEcho: an adapter that returns what is sent makes neither masters nor
// devices; it is named once, and so is an option that says so without reason.
func TestScanNamesAnEcho(t *testing.T) {
	t.Parallel()
	bareInBubble(t, pairSite, func(t *testing.T, h *house) {
		h.site.Buses[0].Options = map[string]string{"echo": "true"}
		found := rows(h.strangers("line", "--last", "5"))
		if f := found[" echo"]; len(found) != 1 || !strings.Contains(f.Detail, "DOES NOT RETURN") || !strings.Contains(f.Advice, "take the bus option echo away") {
			t.Errorf("the option without the echo: %+v", found)
		}
		h.fault(sim.Fault{Bus: "line", Kind: sim.FaultEcho})
		if found = rows(h.strangers("line", "--last", "5")); len(found) != 2 || !pairFound(found) {
			t.Errorf("the echo with its option: %+v", found)
		}
		h.site.Buses[0].Options = nil
		found = rows(h.strangers("line", "--last", "5"))
		if f := found[" echo"]; len(found) != 3 || !pairFound(found) || !f.Trouble || !strings.Contains(f.Advice, "set the bus option echo to true") {
			t.Errorf("the echo without its option: %+v", found)
		}
	})
}

// TestScanAccusesNoAddressUnderNoise: what somebody babbles is named first, and nobody
// is seen where only he is heard.
func TestScanAccusesNoAddressUnderNoise(t *testing.T) {
	t.Parallel()
	bareInBubble(t, pairSite, func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "line", Kind: sim.FaultBabble})
		list := h.strangers("line", "--last", "12")
		found := rows(list)
		if len(list) == 0 || list[0].Finding != "babble" || !strings.Contains(list[0].Detail, "it is no Modbus frame") {
			t.Errorf("the babble is not named first: %+v", list)
		}
		if !pairFound(found) {
			t.Errorf("the devices are %+v", found)
		}
		for key, f := range found {
			switch {
			case f.Address == "1", f.Address == "2", key == " babble":
			case key == " hindered" && strings.Contains(f.Detail, "cannot be told while the line is noisy"):
			default:
				t.Errorf("%s: %+v, where nobody is", key, f)
			}
		}
	})
}

// TestScanTellsDamage: a line on which every answer, or its question, is damaged is not
// an empty line.
func TestScanTellsDamage(t *testing.T) {
	t.Parallel()
	bareInBubble(t, pairSite, func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "line", Kind: sim.FaultCorrupt})
		found := rows(h.strangers("line", "--last", "4"))
		if len(found) == 0 {
			t.Error("nothing was found")
		}
		for key, f := range found {
			if f.Finding != "damaged" || f.Address != "1" && f.Address != "2" || !strings.Contains(f.Detail, "damaged answers: ") || !strings.Contains(f.Advice, "termination") {
				t.Errorf("%s: %+v, want damaged answers of 1 or 2", key, f)
			}
		}
	})
}

// TestScanMeasuresWhoIsLate: a device that answers when the scan does not wait any more
// is found, its figure is true, and what is advised is enough.
func TestScanMeasuresWhoIsLate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		delay time.Duration
		known bool
	}{
		{"a stranger", 900 * time.Millisecond, false},
		{"a stranger little late", 150 * time.Millisecond, false},
		// Its answers come while it is asked again, as if they were those to the next question.
		{"somebody of the site", 500 * time.Millisecond, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bareInBubble(t, pairSite, func(t *testing.T, h *house) {
				h.fault(sim.Fault{Bus: "line", Address: "2", Kind: sim.FaultDelay, DelayMs: int(tc.delay.Milliseconds())})
				var found map[string]api.Found
				if tc.known {
					h.fillStore()
					found = rows(h.scan("line", "--last", "2"))
				} else {
					found = rows(h.strangers("line", "--last", "2"))
				}
				f, ok := found["2 late"]
				if !ok || len(found) != 2 {
					t.Fatalf("found %+v, want 1, and 2 late", found)
				}
				said, err := time.ParseDuration(regexp.MustCompile(`answers after (\S+),`).FindStringSubmatch(f.Detail + " answers after 0s,")[1])
				if err != nil || said < tc.delay || said > tc.delay+80*time.Millisecond {
					t.Errorf("%q: want %v", f.Detail, tc.delay)
				}
				advised := regexp.MustCompile(`responseTimeout: ([^ ;]+)`).FindStringSubmatch(f.Advice)
				if advised == nil {
					t.Fatalf("advice %q", f.Advice)
				}
				if enough, err := time.ParseDuration(advised[1]); err != nil || enough < said+100*time.Millisecond {
					t.Errorf("responseTimeout %s is advised for %v", advised[1], said)
				}
				if tc.delay > 200*time.Millisecond {
					return // reading takes as long each time
				}
				h.site.Buses[0].Options = map[string]string{"responseTimeout": advised[1]}
				again := rows(h.strangers("line", "--first", "2", "--last", "2"))
				if again["2 device"].Kind != "waveshare-relay-8ch" || len(again) != 1 {
					t.Errorf("with responseTimeout %s: %+v", advised[1], again)
				}
			})
		})
	}
}
