package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/sim"
)

const verbsSite = `
site: {name: Verbs, timeZone: Europe/Zurich}
buses:
  - {name: relays, driver: modbus, port: "@DIR@/relays", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {id: 1, name: Relays, bus: relays, address: 2, profile: wirenboard-wb-mr6c}
  - {id: 2, name: Gone, bus: relays, address: 3, profile: wirenboard-wb-mr6c}
  - {id: 3, name: Lamp, bus: relays, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
shades:
  - {id: 5001, name: South, node: 1, output: 1, travelUp: 20s, travelDown: 20s}
  - {id: 5002, name: West, node: 1, output: 2, travelUp: 10s, travelDown: 10s}
  - {id: 5003, name: Attic, node: 2, output: 1, travelUp: 10s, travelDown: 10s}
clusters:
  - {id: 4, name: Facade, shades: [5001, 5002]}
scenes:
  - {id: 10, name: Evening, actions: [{do: light-level, node: Lamp, level: 25}, {do: shade-close, cluster: Facade}]}
rules:
  - {id: 20, name: Dusk, disabled: true, when: {kind: sunset, offset: -15}, actions: [{scene: Evening}]}
  - {id: 21, name: Night, when: {kind: time, time: "04:00", days: [mon]}, actions: [{do: light-off, node: Lamp}]}
`

// TestShadesScenesAndRulesFromTheCommandLine: what a script moves, recalls and tries, and that --wait tells where shades stand.
func TestShadesScenesAndRulesFromTheCommandLine(t *testing.T) {
	t.Parallel()
	virtually(t, verbsSite, func(t *testing.T, h *house) {
		d := h.desk()
		wants := func(out string, words ...string) {
			t.Helper()
			for _, w := range words {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in\n%s", w, out)
				}
			}
		}
		fails := func(code int, word string, args ...string) said {
			t.Helper()
			s := d.run(args...)
			if s.code != code || !strings.Contains(s.err, word) {
				t.Errorf("%v: exit code %d, %q; want %d and %q", args, s.code, s.err, code, word)
			}
			return s
		}
		h.part("shades", func() {
			d.must("shade", "close", "--cluster", "Facade", "--wait")
			began := time.Now()
			wants(d.must("shade", "open", "South", "5002"), "5001  South  begun", "5002  West   begun")
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("without --wait it took %v", took)
			}
			wants(d.must("shade", "set", "50%", "South", "--wait"), "South", "there: 50")
			if took := time.Since(began); took < 9*time.Second {
				t.Errorf("half of 20 s took %v", took)
			}
			wants(d.must("shade", "open", "--cluster", "Facade", "--wait=1m"), "5001  South  there: 100 %", "5002  West   there: 100 %")
			wants(d.must("shade", "stop", "West", "--wait"), "stopped at 100 %")
			late := fails(1, "not every shade has it", "shade", "close", "South", "--wait=2s")
			wants(late.out, "still on its way after 2s")
			d.must("shade", "stop", "--all")
			var entries []api.Entry
			if err := json.Unmarshal([]byte(d.must("shade", "stop", "South", "--json")), &entries); err != nil || len(entries) != 1 || entries[0].Kind != "shade-stop" || entries[0].Via != "console" {
				t.Errorf("%v: %+v", err, entries)
			}
			fails(2, "want a position of 0 to 100 percent in front of the shades", "shade", "set", "140", "South")
			fails(2, "say how far open", "shade", "set")
			fails(2, "name the shades, or give --cluster or --all", "shade", "open")
			fails(1, `shade "Cellar": not found; 'controllerd shade list' shows`, "shade", "open", "Cellar")
		})
		h.part("scenes and rules", func() {
			wants(d.must("scene", "list"), "10  Evening  the whole building  2")
			wants(d.must("scene", "recall", "Evening"), "Lamp", "done", "South", "begun")
			wants(d.must("rule", "list"), "20  Dusk", "no", "sunset -15 min", "21  Night", "04:00 mon", "Mon ")
			wants(d.must("rule", "plan", "--days", "7"), "Night", "04:00")
			wants(d.must("rule", "try", "Dusk"), "Lamp", "South")
			var done api.Done
			if err := json.Unmarshal([]byte(d.must("rule", "try", "21", "--json")), &done); err != nil || !done.OK || len(done.Entries) != 1 {
				t.Errorf("%v: %+v", err, done)
			}
			var plan api.Schedule
			if err := json.Unmarshal([]byte(d.must("rule", "plan", "--json")), &plan); err != nil || plan.TimeZone != "Europe/Zurich" || len(plan.Due) != 2 {
				t.Errorf("%v: %+v", err, plan)
			}
			fails(1, `scene "Morning": not found; 'controllerd scene list' shows`, "scene", "recall", "Morning")
			fails(1, `rule "Noon": not found; 'controllerd rule list' shows`, "rule", "try", "Noon")
			fails(1, "days", "rule", "plan", "--days", "99")
		})
		h.part("one that is moved by hand while it is waited for, and one that falls silent", func() {
			d.must("shade", "set", "50", "South", "--wait")
			for _, c := range []struct {
				told string
				do   func()
			}{
				{"stands at", func() { h.desk().must("shade", "stop", "South") }},
				{"does not answer any more", func() { h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "relays"}) }},
			} {
				ran := make(chan struct{})
				go func() {
					defer close(ran)
					time.Sleep(3 * time.Second)
					c.do()
				}()
				s := d.run("shade", "close", "South", "--wait")
				<-ran
				if s.code != 1 || !strings.Contains(s.out, c.told) {
					t.Errorf("exit code %d, want 1 and %q in\n%s", s.code, c.told, s.out)
				}
			}
		})
	})
}
