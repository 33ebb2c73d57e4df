package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// An export that leaves something out must say so.
func TestExportTellsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		d := h.desk()
		h.stop()
		breakRow(t, h.dataDir, "UPDATE node SET options = '{' WHERE id = 2")
		if s := d.run("site", "export"); s.code == 0 && !strings.Contains(s.out, "Relays") && !strings.Contains(s.err, "node 2") {
			t.Errorf("export without node 2 (Relays): exit code %d, said %q", s.code, s.err)
		}
	})
}

// One damaged row of the last state must not keep a building dark.
func TestDaemonStartsWithABadStateRow(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		h.stop()
		breakRow(t, h.dataDir, "INSERT OR REPLACE INTO state VALUES (1, 1, 0, 1, 40, 0, -1, 0, 0, 0, 40, 1, 0)")
		h.serve()
	})
}

// 012 is twelve to whoever writes it.
func TestLeadingZerosAreRefused(t *testing.T) {
	t.Parallel()
	virtualBuilding(t, smallSite, func(t *testing.T, h *house) {
		d := h.desk()
		site := `
buses:
  - {name: b, driver: modbus, port: "tcp://127.0.0.1:1"}
nodes:
  - {id: 10, name: ten, bus: b, address: 10, profile: wirenboard-wb-mao4}
  - {id: 12, name: twelve, bus: b, address: 12, profile: wirenboard-wb-mao4}
clusters:
  - {name: c, nodes: [012]}
`
		s := d.run("site", "import", "--preview", d.write("zeros.yaml", site))
		if s.code == 0 {
			t.Errorf("nodes: [012] was taken, as node 10:\n%s", s.out)
		}
		s = d.run("site", "import", "--preview", d.write("zeros2.yaml", strings.Replace(strings.Replace(site, "[012]", "[twelve]", 1), "id: 12", "id: 0012", 1)))
		if s.code == 0 || strings.Contains(s.err, "10 is the ID") {
			t.Errorf("id: 0012 was taken, as 10:\n%s%s", s.out, s.err)
		}
	})
}

func breakRow(t *testing.T, dataDir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dataDir, "controller.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
