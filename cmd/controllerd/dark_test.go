package main

import (
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
)

// TestModbusGoesDark measures on Modbus what the tests of DALI and DMX measure there:
// how long after the request the last lamp is dark, bus by bus.
func TestModbusGoesDark(t *testing.T) {
	t.Parallel()
	site, lights := campaignSite()
	virtually(t, site, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		for _, command := range []string{`"DIM","dimLevel":60`, `"OFF"`} {
			from := time.Now()
			status, message := h.control("channelControl", `{"targetType":1,"command":`+command+`}`)
			answered := time.Since(from)
			if status != 1 {
				t.Fatalf("%s: status %d: %s", command, status, message)
			}
			if command != `"OFF"` {
				continue
			}
			h.pass(time.Second, time.Now()) // lamps that fade
			first, last := map[string]time.Time{}, map[string]time.Time{}
			lamps := map[string]int{}
			for _, d := range h.building.Devices() {
				for _, c := range d.Channels {
					if c.Level != 0 {
						t.Errorf("%s is at %d", d.Name, c.Level)
					}
					lamps[d.Bus]++
					if first[d.Bus].IsZero() || c.ChangedAt.Before(first[d.Bus]) {
						first[d.Bus] = c.ChangedAt
					}
					if c.ChangedAt.After(last[d.Bus]) {
						last[d.Bus] = c.ChangedAt
					}
				}
			}
			for bus, n := range lamps {
				t.Logf("Modbus bus %s, %d lamps: last lamp dark %v after the HTTP request, first to last %v", bus, n, ms(last[bus].Sub(from)), ms(last[bus].Sub(first[bus])))
			}
			t.Logf("all %d devices read back and answered after %v", len(lights), ms(answered))
		}
	})
}
