package main

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/console"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
	"svc.internal/controller/store"
)

// dims are the DIM_LEVEL values by node, with the age the answer claims.
func (h *house) dims() (levels map[int]string, age int) {
	h.t.Helper()
	status, body, header := h.send(http.MethodGet, "/svc/api/getLightLevels?targetType=1", h.login(account.RoleViewer), "")
	age, err := strconv.Atoi(header.Get("X-State-Age"))
	if status != http.StatusOK || err != nil {
		h.t.Fatalf("getLightLevels: %d, X-State-Age %q, %s", status, header.Get("X-State-Age"), body)
	}
	var rows []struct {
		NodeID           int `json:"NodeId"`
		Value, ValueType string
	}
	h.get("/svc/api/getLightLevels?targetType=1", &rows)
	levels = map[int]string{}
	for _, r := range rows {
		if r.ValueType == "DIM_LEVEL" {
			levels[r.NodeID] = r.Value
		}
	}
	return levels, age
}

func TestRestartMovesNothing(t *testing.T) {
	t.Parallel()
	virtually(t, mixedSite, func(t *testing.T, h *house) {
		for _, c := range [][2]string{
			{"channelControl", `{"targetType":1,"command":"DIM","dimLevel":37}`},
			{"setColorTemp", `{"targetType":1,"colorTemp":3300}`},
			{"shadeControl", `{"targetType":3,"targetId":5001,"command":"UP"}`},
		} {
			if status, message := h.control(c[0], c[1]); status != 1 {
				t.Fatal(c, message)
			}
		}
		h.await(10*time.Second, "shade 5001 open", func() bool { return h.shade(5001).Position == 100 && !h.shade(5001).Moving })
		before := h.writes()
		h.restart()
		h.awaitOnline()
		// Online came with the first answer; two rounds of polls come after it.
		h.await(20*time.Second, "every light to be read again", func() bool {
			for _, n := range h.daemon.core.Snapshot().Nodes {
				if n.Abilities.Has(appliance.CanDim) && n.Level.Source != appliance.Measured {
					return false
				}
			}
			return true
		})
		if after := h.writes(); after != before {
			for _, b := range h.building.Buses() {
				if w, err := h.building.Writes(b.Name, 0, 3); err == nil {
					t.Logf("bus %s: last writes %+v", b.Name, w)
				}
			}
			t.Errorf("%d writes reached devices during the restart, want none", after-before)
		}
		if got := h.shade(5001); got.Moving || got.Position != 100 {
			t.Errorf("shade after the restart: %+v", got)
		}
	})
}

func TestRestartRestoresLastStateMarkedStale(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		if status, message := h.control("channelControl", `{"targetType":1,"command":"DIM","dimLevel":37}`); status != 1 {
			t.Fatal(message)
		}
		h.stop()
		for _, bus := range []string{"tcp", "rtu"} {
			h.fault(sim.Fault{Kind: sim.FaultUnplug, Bus: bus})
		}
		stopped := time.Now()
		h.pass(2100*time.Millisecond, stopped)
		h.serve()
		levels, age := h.dims()
		if levels[1] != "37" || levels[3] != "37" {
			t.Errorf("restored levels %v, want 37 at nodes 1 and 3", levels)
		}
		if age < 2 {
			t.Errorf("X-State-Age %d, want at least the 2 s that the daemon was away", age)
		}
		s := h.daemon.core.Snapshot()
		for _, id := range []appliance.ID{1, 2, 3} {
			n := s.Node(id)
			if n.Level.Source != appliance.Restored || n.Online {
				t.Errorf("node %d: source %v, online %t; want restored and offline", id, n.Level.Source, n.Online)
			}
		}
		for _, f := range h.building.Faults() {
			h.building.RemoveFault(f.ID)
		}
		h.awaitOnline()
		h.await(10*time.Second, "fresh values", func() bool {
			levels, age := h.dims()
			return age <= 6 && levels[1] == "37" && levels[3] == "37"
		})
	})
}

func TestKillLosesAtMostFiveSecondsOfState(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, smallSite)
	h.stop()
	d := h.desk()
	s := d.serve()
	h.url, h.client = s.url, s.client
	h.awaitActive(3)
	late := drivertest.Watch(t)
	h.insist("channelControl", `{"targetType":1,"command":"DIM","dimLevel":61}`)
	confirmed := time.Now()
	h.pass(5200*time.Millisecond, confirmed)
	h.pass(5200*time.Millisecond+late.Steps(10), confirmed) // what the machine was late by
	s.kill()
	for _, bus := range []string{"tcp", "rtu"} {
		h.fault(sim.Fault{Kind: sim.FaultUnplug, Bus: bus})
	}
	s = d.serve()
	h.url, h.client = s.url, s.client
	levels, age := h.dims()
	if levels[1] != "61" || levels[3] != "61" {
		t.Errorf("levels after the kill %v, want 61 at nodes 1 and 3 (age %d s)", levels, age)
	}
	s.stop()
}

// pass lets a stretch of time pass that is itself what is tested.
func (h *house) pass(stretch time.Duration, since time.Time) {
	<-time.After(time.Until(since.Add(stretch)))
}

// awaitActive waits until so many nodes are told to be online.
func (h *house) awaitActive(nodes int) {
	h.t.Helper()
	deadline := time.Now().Add(atMost(30 * time.Second))
	for {
		var active []struct{ ID int }
		h.get("/svc/api/getActiveNodes", &active)
		if len(active) == nodes {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%d nodes online after 30 s, want %d", len(active), nodes)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestSiteChangesWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		const text = `
buses: [{name: annex, driver: modbus, port: "tcp://127.0.0.1:0"}]
nodes: [{name: Annex light, bus: annex, address: 7, profile: wirenboard-wb-mdm3}]
`
		annex := &house{t: t, net: h.net}
		annex.readSite(text)
		annex.play()
		d := h.desk()
		file := d.write("annex.yaml", strings.Replace(text, "tcp://127.0.0.1:0", annex.building.Port("annex"), 1))

		was := h.connections()
		exchanges := h.exchanges("rtu")
		out := d.must("site", "import", file)
		imported := time.Now()
		if !strings.Contains(out, "created") {
			t.Fatal(out)
		}
		status, message := 0, ""
		h.await(3*time.Second, "the new node to obey", func() bool {
			status, message = h.control("channelControl", `{"targetType":3,"targetId":4,"command":"DIM","dimLevel":44}`)
			return status == 1
		})
		t.Logf("a node on a new bus obeyed %v after the import ended", time.Since(imported).Round(time.Millisecond))
		if got := annex.building.Devices()[0].Channels[0].TargetLevel; got != 44 {
			t.Errorf("the new device is at %d, want 44 (%s)", got, message)
		}
		// The change has settled; nothing else was reopened.
		if now := h.connections(); now != was {
			t.Errorf("the unchanged TCP bus was connected to %d times, before the change %d", now, was)
		}
		if now := h.exchanges("rtu"); now < exchanges {
			t.Errorf("the unchanged line counts %d exchanges since it was opened, before the change %d: it was opened again", now, exchanges)
		}

		full := d.must("site", "export")
		cut := full[:strings.Index(full, "  - id: 4\n")] + full[strings.Index(full, "clusters:"):]
		d.must("site", "import", "--replace", d.write("cut.yaml", cut))
		h.await(3*time.Second, "the removed node to be unknown", func() bool {
			status, _ = h.control("channelControl", `{"targetType":3,"targetId":4,"command":"OFF"}`)
			return status == 0 && h.daemon.core.Snapshot().Node(4) == nil
		})
		if status, message := h.control("channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":9}`); status != 1 {
			t.Errorf("the rest after the removal: %s", message)
		}
		if now := h.connections(); now != was {
			t.Errorf("the unchanged TCP bus was connected to %d times, before the removal %d", now, was)
		}
		d.must("site", "import", d.write("full.yaml", full))
		h.await(3*time.Second, "the returned node to obey under its old ID", func() bool {
			status, _ = h.control("channelControl", `{"targetType":3,"targetId":4,"command":"DIM","dimLevel":45}`)
			return status == 1
		})
	})
}

// connections counts those that the simulated TCP bus accepted.
func (h *house) connections() uint64 {
	h.t.Helper()
	for _, b := range h.building.Buses() {
		if b.Name == "tcp" {
			return b.Connections
		}
	}
	h.t.Fatal("no bus tcp")
	return 0
}

// exchanges counts those of a bus since the daemon opened it.
func (h *house) exchanges(bus string) uint64 {
	h.t.Helper()
	for _, b := range h.daemon.core.Snapshot().Buses {
		if b.Bus.Name == bus {
			return b.Stats.Exchanges
		}
	}
	h.t.Fatalf("no bus %s", bus)
	return 0
}

// TestImportDuringTheStartIsTakenOver: between loading the site and watching for
// changes the daemon makes a certificate and opens its doors.
func TestImportDuringTheStartIsTakenOver(t *testing.T) {
	t.Parallel()
	h := &house{t: t, dataDir: filepath.Join(t.TempDir(), "data"), tokens: map[string]string{}}
	db, err := store.Open(t.Context(), h.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	daemon, err := (&app{console.App{DataDir: h.dataDir}}).newDaemon(t.Context(), db, serveConfig{listen: "127.0.0.1:0", tokenLife: time.Hour}, api.NewLines(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h.site = appliance.Site{Name: "New", Buses: []appliance.Bus{{UUID: appliance.NewUUID(), Name: "a", Driver: "modbus", Port: "tcp://127.0.0.1:1"}}}
	other, err := store.Open(t.Context(), h.dataDir, slog.New(slog.DiscardHandler)) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if _, err := other.Import(t.Context(), h.site, store.ImportOptions{By: "tests"}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.AddUser(t.Context(), "late", housePassword, account.RoleViewer); err != nil {
		t.Fatal(err)
	}
	waitFor(t, 10*time.Second, "the store has seen it", func() bool { return len(db.Users()) == 1 })
	runFor(t, daemon.run)
	waitFor(t, 10*time.Second, "the site in force", func() bool { return len(daemon.core.Snapshot().Site.Buses) == 1 })
}
