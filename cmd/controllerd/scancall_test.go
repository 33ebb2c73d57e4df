package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
)

// TestScanRefusesWhatNoBusHas: calls that cannot be meant end before a port is opened.
func TestScanRefusesWhatNoBusHas(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: t.TempDir()}
	for _, tc := range []struct{ args, want string }{
		{"--parity od", `--parity "od": want none, even or odd`},
		{"--first 9 --last 3", "--first 9 --last 3: the first address comes after the last"},
		{"--first -1", "--first -1: want 0 or more"},
		{"--last -1", "--last -1: want 0 or more"},
		{"--baud -9600", "--baud -9600: want a bit rate"},
		{"--stop-bits 3", "--stop-bits 3: want 1 or 2"},
	} {
		s := d.run(append([]string{"bus", "scan", "--port", "/dev/no-such-port"}, strings.Fields(tc.args)...)...)
		if s.code != 2 || !strings.Contains(s.err, tc.want) {
			t.Errorf("%s: exit code %d, %q; want 2 and %q", tc.args, s.code, s.err, tc.want)
		}
	}
}

// TestScanNamesABusOnce: what is wrong with a port is said with the name of its bus in
// front, once.
func TestScanNamesABusOnce(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: t.TempDir()}
	s := d.run("bus", "scan", "--port", "/dev/no-such-port", "--baud", "7")
	if s.code != 1 || !strings.Contains(s.err, "baud rate 7: want") || strings.Count(s.err, "bus no-such-port") != 1 {
		t.Errorf("exit code %d: %s; want the bus named once", s.code, s.err)
	}
}

// TestScanWritesNothingIfNothingIsNew: no site file is made to import for nothing, and
// standard output stays JSON. It is a process that scans a pseudo-terminal, as with installers.
func TestScanWritesNothingIfNothingIsNew(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := bare(t, `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 115200, parity: even, stopBits: 1}}
nodes:
  - {name: Lobby, bus: line, address: 1, profile: waveshare-relay-8ch}
`)
	h.fillStore()
	d := h.desk()
	draft := filepath.Join(t.TempDir(), "found.yaml")
	s := d.run("bus", "scan", "line", "--last", "2", "--site", draft)
	if s.code != 0 || !strings.Contains(s.out, "nothing new was found") || strings.Contains(s.out, "import") {
		t.Errorf("exit code %d\n%s%s", s.code, s.out, s.err)
	}
	if _, err := os.Stat(draft); err == nil {
		t.Errorf("%s was written: %s", draft, readText(draft))
	}
	// To whom the bus is new, the device is too.
	port := h.site.Buses[0].Port
	s = d.run("bus", "scan", "--port", port, "--baud", "115200", "--parity", "even", "--last", "2", "--option", "responseTimeout=2s", "--json", "--site", draft)
	var list []api.Found
	if err := json.Unmarshal([]byte(s.out), &list); err != nil || len(list) != 1 {
		t.Errorf("standard output is %q, want one device as JSON (%v)", s.out, err)
	}
	if !strings.Contains(s.err, "8 nodes written to "+draft) {
		t.Errorf("standard error says %q", s.err)
	}
}
