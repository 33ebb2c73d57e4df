package publicapi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"svc.internal/controller/appliance"
)

func TestMetricsShowEveryBusAndDevice(t *testing.T) {
	b := lobby()
	b.s.Buses = []*appliance.BusState{{
		Bus: &appliance.Bus{Name: "ground-floor"}, Up: true, Use: 0.25, DeadUse: 0.04, Demand: 1.5, Queue: 3,
		Bound: 40 * time.Millisecond, Typical: 10 * time.Millisecond, LookedAt: time.Now().Add(-time.Hour),
		Stats: appliance.BusStats{Exchanges: 100, Silent: 7, Damaged: 1},
		Devices: []appliance.DeviceState{
			{Device: "5", Online: true, Stats: appliance.BusStats{Exchanges: 93}},
			{Device: "6", Trouble: "lamp failure", Stats: appliance.BusStats{Exchanges: 7, Silent: 7}},
		},
	}}
	b.s.Faults = []appliance.Fault{{Where: "node 9", What: "unknown profile"}}
	h := newHouse(t, b.snapshot())
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`)
	h.core.answer(nil)
	got := h.get("/metrics").body
	for _, line := range []string{
		`controller_bus_up{bus="ground-floor"} 1`,
		`controller_bus_use_ratio{bus="ground-floor"} 0.25`,
		`controller_bus_dead_use_ratio{bus="ground-floor"} 0.04`,
		`controller_bus_demand_ratio{bus="ground-floor"} 1.5`,
		`controller_bus_queue{bus="ground-floor"} 3`,
		`controller_bus_wait_bound_seconds{bus="ground-floor"} 0.04`,
		`controller_bus_wait_typical_seconds{bus="ground-floor"} 0.01`,
		`controller_bus_looked_age_seconds{bus="ground-floor"} 3600`,
		`controller_bus_exchanges_total{bus="ground-floor"} 100`,
		`controller_bus_errors_total{bus="ground-floor",class="silent"} 7`,
		`controller_bus_errors_total{bus="ground-floor",class="refused"} 0`,
		`controller_device_online{bus="ground-floor",device="5"} 1`,
		`controller_device_online{bus="ground-floor",device="6"} 0`,
		`controller_device_trouble{bus="ground-floor",device="5"} 0`,
		`controller_device_trouble{bus="ground-floor",device="6"} 1`,
		`controller_device_errors_total{bus="ground-floor",class="silent",device="6"} 7`,
		`controller_things{family="node",status="online"} 2`,
		`controller_things{family="node",status="offline"} 1`,
		`controller_things{family="peripheral",status="online"} 1`,
		`controller_things{family="shade",status="offline"} 1`,
		`controller_faults 1`,
		`controller_command_seconds_count{kind="light_on",status="1"} 1`,
		`controller_oldest_value_age_seconds{class="power"} 2`,
	} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("missing: %s", line)
		}
	}
	problems, err := testutil.GatherAndLint(h.api.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.send("GET", "/healthz", "").want(t, 200, `{"status":1}`)
	h.send("GET", "/readyz", "").want(t, 200, `{"status":1}`)
	h.ready = errors.New("bus ground-floor is not started yet")
	h.send("GET", "/healthz", "").want(t, 200, `{"status":1}`)
	h.send("GET", "/readyz", "").want(t, 503, `{"status":0,"message":"bus ground-floor is not started yet"}`)

	b := lobby() // what does not run is counted, and named to those who log in
	b.s.Faults = []appliance.Fault{{Where: "node 9", What: "unknown profile"}}
	b.s.Buses = []*appliance.BusState{{Bus: &appliance.Bus{Name: "cellar"}}, {Bus: &appliance.Bus{Name: "attic", Disabled: true}}}
	newHouse(t, b.snapshot()).send("GET", "/readyz", "").want(t, 200, `{"status":1,"message":"buses that are down: 1, entries that were set aside: 1; the pages and the log tell which"}`)
}
