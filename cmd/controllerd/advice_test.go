package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
)

// TestRefusalsSayWhatToDo makes the mistakes of somebody who installs.
func TestRefusalsSayWhatToDo(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, smallSite)
	d := h.desk()
	d.must("site", "export", filepath.Join(h.dataDir, "there.yaml"))
	backup := filepath.Join(t.TempDir(), "site.db")
	d.must("backup", backup)
	stopped := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	for _, tc := range []struct {
		name  string
		desk  *desk
		input string
		args  []string
		code  int
		says  string // how the message ends
	}{
		{"second daemon", d, "", []string{"serve", "--listen", "127.0.0.1:0"}, 1, "in use by another process; it serves already: systemctl status controllerd tells more"},
		{"restore while the daemon runs", d, "", []string{"restore", backup}, 1, "in use by another process; stop it first: systemctl stop controllerd"},
		{"restore of another file", stopped, "", []string{"restore", d.write("site.yaml", smallSite)}, 1, "the file is not a backup of a controller"},
		{"export over a file", d, "", []string{"site", "export", filepath.Join(h.dataDir, "there.yaml")}, 1, "file exists; choose another name, a file that is there is never replaced"},
		{"short password", d, "short\n", []string{"user", "add", "mira", "--role", "operator", "--password-stdin"}, 1, "password has 5 characters, want at least 10"},
		{"password in Latin-1", d, "Schl\xfcsselbund\n", []string{"user", "add", "mira", "--role", "operator", "--password-stdin"}, 1, "password is not UTF-8, the only encoding that a log-in can carry; give it in UTF-8 or in plain ASCII characters"},
		{"changed to one in Latin-1", d, "Schl\xfcsselbund\n", []string{"user", "passwd", "viewer", "--password-stdin"}, 1, "give it in UTF-8 or in plain ASCII characters"},
		{"unknown role", d, "long enough\n", []string{"user", "add", "mira", "--role", "king", "--password-stdin"}, 1, `there is no role "king"; want one of admin, operator, api_service, viewer, none`},
		{"unknown user", d, "", []string{"user", "remove", "mira"}, 1, "not found; 'controllerd user list' shows those there are"},
		{"unknown key", d, "", []string{"key", "remove", "mira"}, 1, "not found; 'controllerd key list' shows those there are"},
		{"flags that exclude each other", d, "", []string{"bus", "monitor", "--all", "--recent", "--last", "3"}, 2, "--last and --recent exclude each other\nSee 'controllerd bus monitor --help'"},
		{"unknown level", d, "", []string{"--log-level", "loud", "user", "list"}, 2, "want DEBUG, INFO, WARN or ERROR\nSee 'controllerd user list --help'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.desk.typed(tc.input, tc.args...)
			if s.code != tc.code || !strings.HasSuffix(strings.TrimSpace(s.err), tc.says) {
				t.Errorf("exit code %d and %q\nwant %d and an end of %q", s.code, s.err, tc.code, tc.says)
			}
		})
	}
}

func TestSiteCheckNamesEntriesAsTheFileDoes(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	s := d.run("site", "check", d.write("site.yaml", `
buses:
  - {name: a, driver: modbus, port: ttyUSB0}
  - {name: b, driver: modbas, port: /dev/ttyUSB1}
  - {name: c, driver: modbus, port: /dev/ttyUSB2}
nodes:
  - {name: Lobby, bus: c, address: 5, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {name: Hall, bus: c, address: 5, profile: wirenboard-wb-mr6c, outputs: [3]}
shades:
  - {name: South, node: Lobby, output: 1}
`))
	for _, want := range []string{
		`buses[0]: port "ttyUSB0": want a device path`,
		`buses[1]: there is no driver "modbas", want one of dali, dmx, modbus, sdn`,
		`nodes[1]: address "5": unit 5 is a wirenboard-wb-mdm3 already (nodes[0] (Lobby)); one unit has one profile`,
		`shades[0]: nodes[0] (Lobby): a Wiren Board WB-MDM3`,
	} {
		if !strings.Contains(s.err, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(s.err)
	}
}

func TestSiteCheckKnowsProfilesOfFixtures(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	const fixture = `
name: acme-wash
title: Acme Wash
source: Acme manual, page 12
slots: 5
outputs:
  - {level: {slot: 1}, red: {slot: 2}, green: {slot: 3}, blue: {slot: 4}}
fixed:
  - {slot: 5, value: 0, what: strobe off}
`
	if out := d.must("site", "check", d.write("acme-wash.yaml", fixture)); !strings.Contains(out, "profile is good") {
		t.Error(out)
	}
	s := d.run("site", "check", d.write("acme-wash.yaml", strings.Replace(fixture, "slot: 5, value", "slot: 6, value", 1)))
	if s.code != 1 || !strings.Contains(s.err, "acme-wash.yaml:9:") || !strings.Contains(s.err, "slot") {
		t.Errorf("a slot beyond the fixture: %+v", s)
	}
	if out := d.must("site", "schema", "dmx-profile"); !strings.Contains(out, `"slots"`) {
		t.Error("site schema dmx-profile tells nothing of slots")
	}
}

func TestListsForScriptsKeepOneForm(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("key", "add", "grafana")
	var keys []struct {
		Name      string
		CreatedAt time.Time
		LastUsed  *time.Time
	}
	if err := json.Unmarshal([]byte(d.must("key", "list", "--json")), &keys); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 1 || time.Since(keys[0].CreatedAt).Abs() > time.Minute || keys[0].LastUsed != nil {
		t.Errorf("key list: %+v", keys)
	}
	out := d.must("site", "import", "--preview", "--json", d.write("site.yaml", `
buses: [{name: a, driver: modbus, port: "tcp://127.0.0.1:502"}]
nodes: [{name: Dimmer, bus: a, address: 1, profile: wirenboard-wb-mdm3}]
`))
	for _, want := range []string{`"preview": true`, `"retired": []`, `"family": "bus"`, `"name": "Dimmer"`} {
		if !strings.Contains(out, want) {
			t.Errorf("import report lacks %s:\n%s", want, out)
		}
	}
}

// TestSiteCheckTellsEverythingAtOnce: what is wrong in one way hides nothing that is
// wrong in another.
func TestSiteCheckTellsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	profiles := filepath.Join(d.dataDir, "profiles")
	if err := os.MkdirAll(profiles, 0o700); err != nil {
		t.Fatal(err)
	}
	const own = "name: acme-dim\ntitle: Acme\nsource: its manual\noutputs:\n  - {kind: light, level: {at: {table: holding, address: 0}, map: percent}}\n"
	misnamed := filepath.Join(profiles, "acme.yaml")
	if err := os.WriteFile(misnamed, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	s := d.run("site", "check", d.write("site.yaml", `
site: {name: "House\u202Eon the hill"}
buses:
  - {name: a, driver: modbus, port: /dev/ttyUSB0, colour: red}
  - {name: b, driver: sdn, port: /dev/ttyUSB0}
  - {name: spare, driver: modbus, port: /dev/ttyUSB0, disabled: true}
  - {name: c, driver: modbus, port: "tcp://192.0.2.1:502"}
  - {name: d, driver: modbus, port: "tcp://192.0.2.1:502"}
nodes:
  - {id: 9, name: Lobby, bus: spare, address: 5, profile: wirenboard-wb-mdm33}
  - {id: 3, name: Hall, bus: a, address: 300, profile: wirenboard-wb-mr6c}
  - {name: Desk, bus: a, address: 6, profile: acme-dim}
  - {name: Attic, bus: loft, address: 7, profile: wirenboard-wb-mr6c}
`))
	for _, want := range []string{
		`:2:14: site.name: holds characters that turn the order of others round`,
		`:4:51: buses[0].colour: unknown key`,
		`:5:34: buses[1].port: bus "a" has this port already; give each bus a port of its own, or set disabled: true on one of them`,
		`:10:5: nodes[0]: there is no profile "wirenboard-wb-mdm33"`,
		`:11:5: nodes[1]: address "300": the unit must be a number from 1 to 247`,
		`:12:5: nodes[2]: profile acme-dim is broken: ` + misnamed + `: name: is "acme-dim", must be the file's name "acme"`,
		`:13:24: nodes[3].bus: there is no bus called "loft" in this file`,
	} {
		if !strings.Contains(s.err, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if n := strings.Count(s.err, "\n"); s.code != 1 || n != 7 {
		t.Errorf("exit code %d, %d lines, want 1 and 7", s.code, n)
	}
	if t.Failed() {
		t.Log(s.err)
	}
	s = d.run("site", "check", misnamed)
	if s.code != 1 || !strings.Contains(s.err, `acme.yaml: name: is "acme-dim", so that the file must be called acme-dim.yaml, or it is not found`) {
		t.Errorf("a profile in a file of another name: %+v", s)
	}
	if out := d.must("site", "check", d.write("acme-dim.yaml", own)); !strings.Contains(out, "profile is good") {
		t.Error(out)
	}
}
