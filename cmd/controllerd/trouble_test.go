package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

const failingSite = `
site: {name: Troubled, freshness: {light: 200ms, power: 200ms}}
buses:
  - {name: line, driver: dali, port: "@DIR@/dali", options: {gateway: atx}}
nodes:
  - {id: 4, name: Well, bus: line, address: 4, profile: dali-dt6}
  - {id: 5, name: Desk lamp, bus: line, address: 5, profile: dali-dt6}
`

// TestFailedLampIsShown breaks a lamp: who looks at the devices reads which and why,
// and no longer once it is mended.
func TestFailedLampIsShown(t *testing.T) {
	t.Parallel()
	virtually(t, failingSite, func(t *testing.T, h *house) {
		trouble := func() (found string) {
			for _, d := range h.daemon.core.Snapshot().Buses[0].Devices {
				if d.Trouble != "" {
					found += d.Device + ": " + d.Trouble + "\n"
				}
			}
			return found
		}
		metric := func() string {
			_, body, _ := h.send(http.MethodGet, "/metrics", h.login(account.RoleViewer), "")
			return strings.Join(regexp.MustCompile(`(?m)^controller_device_trouble.*$`).FindAllString(string(body), -1), "\n")
		}
		const well = `controller_device_trouble{bus="line",device="4"} 0` + "\n" + `controller_device_trouble{bus="line",device="5"} `
		if got := metric(); trouble() != "" || got != well+"0" {
			t.Errorf("before anything failed: %q, %s", trouble(), got)
		}
		mend := h.fault(sim.Fault{Bus: "line", Address: "5", Kind: sim.FaultLamp})
		h.await(20*time.Second, "the broken lamp to be noticed", func() bool { return trouble() == "5: lamp failure\n" })
		if got := metric(); got != well+"1" {
			t.Errorf("metric %s", got)
		}
		rows := regexp.MustCompile(`(?m)^line +4 +4 Well +online .* -$\n^line +5 +5 Desk lamp +online .* lamp failure$`)
		if out := h.desk().must("bus", "list", "--devices"); !rows.MatchString(out) {
			t.Errorf("bus list --devices:\n%s", out)
		}
		if out := h.desk().must("bus", "list", "--json"); strings.Count(out, `"trouble": "lamp failure"`) != 1 {
			t.Errorf("bus list --json:\n%s", out)
		}
		mend()
		h.await(20*time.Second, "the mended lamp to be noticed", func() bool { return trouble() == "" })
	})
}
