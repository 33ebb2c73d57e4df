package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

// smallSite is quickly there.
const smallSite = `
site: {name: Small}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {id: 1, name: Dimmer, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Relays, bus: rtu, address: 3, profile: waveshare-relay-8ch}
  - {id: 3, name: Analogue, bus: rtu, address: 5, profile: wirenboard-wb-mao4}
clusters:
  - {id: 1, name: Both, nodes: [1, 2]}
`

// within is how soon a running daemon must notice what a command changed.
const within = 2 * time.Second

// token logs somebody in, or returns the errorCode.
func (h *house) token(user, password string) (token, errorCode string) {
	h.t.Helper()
	status, body, _ := h.send(http.MethodPost, "/svc/api/authenticate", "", fmt.Sprintf(`{"username":%q,"password":%q}`, user, password))
	var answer struct {
		Token     string `json:"auth_token"`
		ErrorCode string `json:"errorCode"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK {
		h.t.Fatalf("login of %s: %d %s", user, status, body)
	}
	return answer.Token, answer.ErrorCode
}

// read is the HTTP status of a read with a token, write that of a command.
func (h *house) read(token string) int {
	h.t.Helper()
	status, _, _ := h.send(http.MethodGet, "/svc/api/getClusters", token, "")
	return status
}

func (h *house) write(token string) int {
	h.t.Helper()
	status, _, _ := h.send(http.MethodPost, "/svc/api/channelControl", token, `{"targetType":3,"targetId":1,"command":"ON"}`)
	return status
}

// knows reports whether the daemon has taken a user over. Trying to log in would
// soon be stopped by the brake.
func (h *house) knows(user string) bool {
	return slices.ContainsFunc(h.daemon.db.Users(), func(u account.User) bool { return u.Name == user })
}

func (h *house) desk() *desk {
	d := &desk{t: h.t, dataDir: h.dataDir}
	if h.net != nil {
		d.house = h
	}
	return d
}

func TestUserCommandsReachTheRunningDaemon(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, smallSite)
	d := h.desk()
	if s := d.typed("first password\n", "user", "add", "building", "--role", "api_service", "--password-stdin"); s.code != 0 {
		t.Fatal(s)
	}
	login := func(password string) string {
		token, errorCode := h.token("building", password)
		if token == "" {
			t.Fatalf("login with %s: errorCode %q", password, errorCode)
		}
		return token
	}
	old := login("first password")
	if r, w := h.read(old), h.write(old); r != 200 || w != 200 {
		t.Errorf("api_service: read %d, write %d, want 200 and 200", r, w)
	}
	if out := d.must("user", "list", "--json"); !strings.Contains(out, `"building"`) || !strings.Contains(out, `"api_service"`) {
		t.Errorf("user list --json: %s", out)
	}
	if out := d.must("user", "list"); !strings.Contains(out, "building") {
		t.Errorf("user list: %s", out)
	}

	if s := d.typed("second password\n", "user", "passwd", "building", "--password-stdin"); s.code != 0 {
		t.Fatal(s)
	}
	if got := h.read(old); got != 401 {
		t.Errorf("the old token after passwd: %d, want 401", got)
	}
	if _, code := h.token("building", "first password"); code != "AuthFailed" {
		t.Errorf("login with the old password: errorCode %q, want AuthFailed", code)
	}
	token := login("second password")

	d.must("user", "role", "building", "viewer")
	if got := h.write(token); got == 200 {
		t.Error("the old role still holds")
	}
	token = login("second password")
	if r, w := h.read(token), h.write(token); r != 200 || w != 403 {
		t.Errorf("viewer: read %d, write %d, want 200 and 403", r, w)
	}

	d.must("user", "remove", "building")
	if got := h.read(token); got != 401 {
		t.Errorf("the token of a removed user: %d, want 401", got)
	}
	if _, code := h.token("building", "second password"); code != "AuthFailed" {
		t.Errorf("login of a removed user: errorCode %q, want AuthFailed", code)
	}
	for _, args := range [][]string{{"user", "remove", "building"}, {"user", "role", "building", "viewer"}, {"user", "role", "viewer", "king"}} {
		if s := d.run(args...); s.code != 1 || !strings.HasPrefix(s.err, "controllerd: ") {
			t.Errorf("%v: exit code %d, %q; want 1 and a reason", args, s.code, s.err)
		}
	}
}

func TestKeyCommandsReachTheRunningDaemon(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, smallSite)
	d := h.desk()
	reader := strings.TrimSpace(d.must("key", "add", "dashboard"))
	writer := strings.TrimSpace(d.must("key", "add", "scripts", "--write"))
	for _, key := range []string{reader, writer} {
		if !regexp.MustCompile(`^ctl_[0-9a-f]{64}$`).MatchString(key) {
			t.Fatalf("key %q, want ctl_ and 64 hexadecimal digits", key)
		}
	}
	for _, key := range []string{reader, writer} {
		if got := h.read(key); got != 200 {
			t.Errorf("a key just made: %d, want 200", got)
		}
	}
	if r, w := h.write(reader), h.write(writer); r != 403 || w != 200 {
		t.Errorf("write: read key %d, write key %d, want 403 and 200", r, w)
	}
	out := d.must("key", "list", "--json")
	if strings.Contains(out, reader) || strings.Contains(out, writer) {
		t.Error("key list shows a key")
	}
	if !strings.Contains(out, "dashboard") || !strings.Contains(out, "scripts") {
		t.Errorf("key list: %s", out)
	}
	d.must("key", "remove", "dashboard")
	if got := h.read(reader); got != 401 {
		t.Errorf("a key just removed: %d, want 401", got)
	}
	if got := h.read(writer); got != 200 {
		t.Errorf("the other key: %d, want 200", got)
	}
}

func TestSiteExportImportsIdenticallyElsewhere(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, mixedSite)
	first := h.desk().must("site", "export")
	file := h.desk().write("site.yaml", first)
	elsewhere := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "other")}
	if out := elsewhere.must("site", "check", file); !strings.Contains(out, "site is good: 4 buses, 11 nodes, 2 shades, 2 clusters") {
		t.Errorf("site check: %s", out)
	}
	if out := elsewhere.must("site", "import", "--preview", file); !strings.Contains(out, "preview, nothing was changed") {
		t.Errorf("preview: %s", out)
	}
	elsewhere.must("site", "import", file)
	if second := elsewhere.must("site", "export"); second != first {
		t.Errorf("exported again it differs:\n%s\nfirst it was\n%s", second, first)
	}
	if out := elsewhere.must("site", "import", "--replace", file); !strings.Contains(out, "0 created, 0 returned, 0 changed, 19 unchanged, 0 retired") {
		t.Errorf("imported again: %s", out)
	}
	target := filepath.Join(t.TempDir(), "out.yaml")
	elsewhere.must("site", "export", target)
	if s := elsewhere.run("site", "export", target); s.code != 1 {
		t.Errorf("export over a file that is there: exit code %d, want 1", s.code)
	}
}

// Old controllers allowed spaces around names. What has them keeps them, here and wherever it is brought, and nobody gets new ones.
func TestNamesWithSpacesAreImportedAsTheyWereExported(t *testing.T) {
	t.Parallel()
	const site = `site: {name: Moved}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:502"}
nodes:
  - {uuid: 0193a5d2-7c1e-7d3a-8f00-5b6c7d8e9f01, id: 7, name: "Lamp ", bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
clusters:
  - {uuid: 0193a5d2-7c1e-7d3a-8f00-5b6c7d8e9f02, id: 8, name: " Room", nodes: [7]}
`
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("moved.yaml", site))
	exported := d.must("site", "export")
	if !strings.Contains(exported, `"Lamp "`) && !strings.Contains(exported, `'Lamp '`) || !strings.Contains(exported, " Room") {
		t.Errorf("exported without its spaces:\n%s", exported)
	}
	elsewhere := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "other")}
	for _, to := range []*desk{d, elsewhere} {
		to.must("site", "check", to.write("exported.yaml", exported))
		to.must("site", "import", "--replace", to.write("exported.yaml", exported))
		if again := to.must("site", "export"); again != exported {
			t.Errorf("exported again it differs:\n%s\nfirst it was\n%s", again, exported)
		}
	}
	for name, file := range map[string]string{
		"another name": strings.Replace(exported, "Lamp ", "Other ", 1),
		"a new node":   site + "shades:\n  - {name: \"New \", output: 1, node: 7}\n",
	} {
		if s := d.run("site", "import", d.write("new.yaml", file)); s.code != 1 || !strings.Contains(s.err, "begins or ends with a space") {
			t.Errorf("%s: exit code %d, %s", name, s.code, s.err)
		}
	}
}

func TestSiteFilesComeFromStandardInputToo(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	const good = "buses:\n  - {name: a, driver: modbus, port: \"tcp://127.0.0.1:502\"}\n"
	for name, tc := range map[string]struct {
		text, says string
		code       int
	}{
		"good":               {good, "standard input: site is good: 1 buses", 0},
		"unknown key":        {good + "node: []\n", "standard input:3:1: node: ", 1},
		"what a driver says": {strings.Replace(good, "modbus", "modbas", 1), "standard input:2:5: buses[0]: ", 1},
		"profile":            {"name: ab\ntitle: T\nsource: S\ncolour: 1\noutputs: [{kind: meter}]\n", "standard input:4:1: colour: ", 1},
		"nothing":            {"", "standard input: is empty", 1},
	} {
		if s := d.typed(tc.text, "site", "check", "-"); s.code != tc.code || !strings.Contains(s.out+s.err, tc.says) {
			t.Errorf("%s: exit code %d, %q %q; want %d and %q", name, s.code, s.out, s.err, tc.code, tc.says)
		}
	}
	if s := d.typed(good, "site", "import", "-"); s.code != 0 || !strings.Contains(s.out, "imported: 1 created") {
		t.Errorf("import: %+v", s)
	}
	if s := d.typed(d.must("site", "export", "-"), "site", "check", "-"); s.code != 0 {
		t.Errorf("check of an export: %+v", s)
	}
}

func TestSiteCheckNamesFileLineAndKey(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	const head = "buses:\n  - {name: a, driver: modbus, port: \"tcp://127.0.0.1:502\"}\n"
	node := func(rest string) string { return head + "nodes:\n  - name: One\n    bus: a\n" + rest }
	for _, tc := range []struct{ name, text, line, key, word string }{
		{"unknown key", node("    address: 1\n    profile: wirenboard-wb-mdm3\n    adress: 2\n"), "8", "adress", "adress"},
		{"unknown profile", node("    address: 1\n    profile: nobody-makes-this\n"), "4", "nodes[0]", "nobody-makes-this"},
		{"bad address", node("    address: 999\n    profile: wirenboard-wb-mdm3\n"), "4", "nodes[0]", "999"},
		{"wrong type", node("    address: 1\n    profile: wirenboard-wb-mdm3\n    outputs: many\n"), "8", "outputs", "outputs"},
		{"unknown bus", strings.Replace(node("    address: 1\n    profile: wirenboard-wb-mdm3\n"), "    bus: a", "    bus: b", 1), "5", "nodes[0].bus", `"b"`},
		{"duplicate key", node("    address: 1\n    address: 2\n    profile: wirenboard-wb-mdm3\n"), "7", "address", "address"},
		{"duplicate ID", head + "nodes:\n  - {id: 1, name: One, bus: a, address: 1, profile: wirenboard-wb-mdm3}\n  - {id: 1, name: Two, bus: a, address: 2, profile: wirenboard-wb-mdm3}\n", "5", "nodes[1]", "1"},
		{"same output twice", head + "nodes:\n  - {id: 1, name: One, bus: a, address: 1, profile: wirenboard-wb-mdm3}\n  - {id: 2, name: Two, bus: a, address: 1, profile: wirenboard-wb-mdm3}\n", "5", "nodes[1]", "1"},
		{"unknown driver", "buses:\n  - {name: a, driver: knx, port: \"tcp://127.0.0.1:502\"}\n", "2", "buses[0]", "knx"},
		{"bad YAML", "buses: [\n", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := d.write("site.yaml", tc.text)
			for _, verb := range []string{"check", "import"} {
				s := d.run("site", verb, file)
				if s.code != 1 {
					t.Errorf("site %s: exit code %d, want 1: %s", verb, s.code, s.out)
				}
				want := file + ":" + tc.line
				i := strings.Index(s.err, want)
				if i < 0 || !strings.Contains(s.err[i:], tc.key) || !strings.Contains(s.err[i:], tc.word) {
					t.Errorf("site %s said %q\nwant %s, key %q, %q", verb, s.err, want, tc.key, tc.word)
				}
			}
		})
	}
	if _, err := os.Stat(d.dataDir); !os.IsNotExist(err) {
		t.Errorf("a refused import left a data directory (%v)", err)
	}
}

// TestSiteCheckTellsAllAtOnce tells everything wrong with a file, each thing once, however
// much of it is no value at all.
func TestSiteCheckTellsAllAtOnce(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	s := d.run("site", "check", d.write("site.yaml", `buses:
  - {name: a, driver: modbus, port: /dev/ttyUSB0, line: {baudRate: 9601000}}
nodes:
  - {name: N, bus: a, address: 1, profile: wirenboard-wb-mr6c}
  - {name: M, bus: nowhere, address: 2, profile: wirenboard-wb-mr6c}
shades:
  - {name: S, node: N, output: one, travelUp: 5}
`))
	var keys []string
	for line := range strings.Lines(s.err) {
		_, text, _ := strings.Cut(line, "site.yaml:")
		if parts := strings.SplitN(text, ": ", 3); len(parts) == 3 {
			keys = append(keys, parts[1])
		}
	}
	if want := []string{"buses[0].line.baudRate", "nodes[1].bus", "shades[0].output", "shades[0].travelUp"}; !slices.Equal(keys, want) {
		t.Errorf("problems at %v, want at %v\n%s", keys, want, s.err)
	}
}

func TestBusCommandsWithAndWithoutDaemon(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		d := h.desk()
		h.control("channelControl", `{"targetType":3,"targetId":2,"command":"ON"}`)

		list := func() (buses []api.BusDetail) {
			if err := json.Unmarshal([]byte(d.must("bus", "list", "--json")), &buses); err != nil {
				t.Fatal(err)
			}
			if len(buses) != 2 || buses[0].Name != "tcp" || buses[1].Name != "rtu" {
				t.Fatalf("bus list: %+v", buses)
			}
			return buses
		}
		for _, b := range list() {
			if !b.Up || b.Online != b.Nodes || b.Nodes == 0 || b.BoundMs <= 0 || b.TypicalMs <= 0 || b.TypicalMs > b.BoundMs || len(b.Devices) == 0 {
				t.Errorf("bus list with daemon: %+v", b)
			}
		}
		if out := d.must("bus", "list"); !strings.Contains(out, "BOUND") || !strings.Contains(out, "rtu") {
			t.Errorf("bus list: %s", out)
		}

		scan := func() {
			t.Helper()
			s := d.run("bus", "scan", "rtu", "--last", "6", "--json")
			var found []api.Found
			if err := json.Unmarshal([]byte(s.out), &found); err != nil || s.code != 0 {
				t.Fatalf("bus scan: %d %v %s%s", s.code, err, s.out, s.err)
			}
			if len(found) != 2 || found[0].Address != "3" || found[0].Kind != "waveshare-relay-8ch" || found[1].Address != "5" || found[1].Kind != "wirenboard-wb-mao4" {
				t.Errorf("bus scan found %+v, want one row for the relays at 3 and one for the analogue outputs at 5", found)
			}
			if s.err != "" {
				t.Errorf("standard error is no terminal, and got %q", s.err)
			}
		}
		scan()
		if out := d.must("bus", "scan", "rtu", "--first", "3", "--last", "3"); strings.Count(out, "\n") != 4 || !strings.Contains(out, "1 address answered, 0 of the site silent, 0 not in the site") {
			t.Errorf("scan as a table: want a heading, one row and a summary:\n%s", out)
		}

		out := d.must("bus", "monitor", "rtu", "--recent", "--json")
		sent, received := 0, 0
		for line := range strings.Lines(out) {
			var f struct {
				Direction string `json:"direction"`
				OK        bool   `json:"ok"`
				Fields    struct{ Unit int }
			}
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatalf("bus monitor: %v in %s", err, line)
			}
			if f.OK && f.Direction == "sent" {
				sent++
			} else if f.OK && f.Direction == "received" {
				received++
			}
		}
		if sent < 5 || received < 5 {
			t.Errorf("bus monitor --recent: %d frames sent and %d received were understood, want some", sent, received)
		}
		if out := d.must("bus", "monitor", "rtu", "--recent"); !strings.Contains(out, "→") || !strings.Contains(out, "←") {
			t.Errorf("bus monitor for people: %.300s", out)
		}
		for _, args := range [][]string{{"bus", "monitor", "attic", "--recent"}, {"bus", "scan", "attic"}} {
			if s := d.run(args...); s.code != 1 || !strings.Contains(s.err, "attic") {
				t.Errorf("%v: exit code %d, %q; want 1 and the name", args, s.code, s.err)
			}
		}

		h.stop()
		for _, b := range list() {
			if b.Up || b.Fault == "" || b.Nodes == 0 {
				t.Errorf("bus list without daemon: %+v", b)
			}
		}
		scan()
		if s := d.run("bus", "monitor", "rtu", "--recent"); s.code != 1 || !strings.Contains(s.err, "no daemon is running") {
			t.Errorf("bus monitor without daemon: %d %q", s.code, s.err)
		}
		if s := d.run("bus", "scan", "--port", h.building.Port("rtu"), "--baud", "19200", "--parity", "even", "--stop-bits", "1", "--first", "5", "--last", "5"); s.code != 0 || !strings.Contains(s.out, "wirenboard-wb-mao4") {
			t.Errorf("bus scan --port: %d %s%s", s.code, s.out, s.err)
		}
	})
}

func TestBusDecodeExplainsEveryVector(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../drivers/modbus/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Name, Why         string
		Request, Response *string
		Unit              int
	}
	var file struct{ RTU, TCP, Damaged []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	decode := func(transport string, frames []string) (out []map[string]any) {
		s := d.typed(strings.Join(frames, "\n")+"\n", "bus", "decode", "--protocol", "modbus-"+transport)
		if s.code != 0 {
			t.Fatalf("bus decode: %d %s", s.code, s.err)
		}
		for line := range strings.Lines(s.out) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatalf("bus decode: %v in %q", err, line)
			}
			out = append(out, fields)
		}
		if len(out) != len(frames) {
			t.Fatalf("%d frames in, %d lines out", len(frames), len(out))
		}
		return out
	}
	total := 0
	for transport, vectors := range map[string][]vector{"rtu": file.RTU, "tcp": file.TCP} {
		var frames, names []string
		var units []int
		for _, v := range vectors {
			for what, frame := range map[string]*string{"request": v.Request, "response": v.Response} {
				if frame != nil {
					frames, names, units = append(frames, *frame), append(names, v.Name+" ("+what+")"), append(units, v.Unit)
				}
			}
		}
		for i, got := range decode(transport, frames) {
			total++
			if got["ok"] != true || got["unit"] != float64(units[i]) {
				t.Errorf("%s %s: %v, want ok and unit %d", transport, names[i], got, units[i])
			}
		}
	}
	rejected := 0
	for _, v := range file.Damaged {
		if v.Response == nil || !strings.Contains(v.Why, "crc") {
			continue // the frame by itself is in order, it only answers something else
		}
		rejected++
		if got := decode("rtu", []string{*v.Response})[0]; got["ok"] != false || got["error"] == "" {
			t.Errorf("%s: %v, want it rejected", v.Name, got)
		}
	}
	t.Logf("%d frames explained, %d damaged ones rejected", total, rejected)
	if total < 100 || rejected < 2 {
		t.Error("too few vectors were read")
	}
	if got := decode("rtu", []string{"01 03"})[0]; got["ok"] != false {
		t.Errorf("a piece of a frame: %v, want it rejected", got)
	}
}

func TestBackupRestoresOnBlankHardware(t *testing.T) {
	t.Parallel()
	h := newHouse(t, smallSite)
	d := h.desk()
	key := strings.TrimSpace(d.must("key", "add", "dashboard"))
	site := d.must("site", "export")
	users := d.must("user", "list", "--json")
	file := filepath.Join(t.TempDir(), "backup.db")
	d.must("backup", file)
	if s := d.run("backup", file); s.code != 1 || !strings.Contains(s.err, "--overwrite") {
		t.Errorf("backup over a file: %d %q", s.code, s.err)
	}
	d.must("backup", "--overwrite", file)
	if s := d.run("restore", file); s.code != 1 {
		t.Errorf("restore under a running daemon: exit code %d, want 1: %s%s", s.code, s.out, s.err)
	}
	if got := h.read(h.login(account.RoleAPIService)); got != 200 {
		t.Errorf("after a refused restore the daemon answers %d", got)
	}
	h.stop()

	blank := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "blank")}
	blank.must("restore", file)
	if got := blank.must("site", "export"); got != site {
		t.Errorf("restored site\n%s\nwant\n%s", got, site)
	}
	if got := blank.must("user", "list", "--json"); got != users {
		t.Errorf("restored users\n%s\nwant\n%s", got, users)
	}
	s := blank.serve()
	other := &house{t: t, url: s.url, client: s.client, tokens: map[string]string{}}
	if got := other.read(key); got != 200 {
		t.Errorf("the key after the restore: %d, want 200", got)
	}
	if token, _ := other.token("admin", housePassword); other.read(token) != 200 {
		t.Error("the admin cannot log in after the restore")
	}
	if s := blank.run("restore", file); s.code != 1 {
		t.Errorf("restore under a daemon in its own process: exit code %d, want 1", s.code)
	}
	if s := blank.run("serve", "--listen", "127.0.0.1:0"); s.code != 1 || !strings.Contains(s.err, "a daemon runs on data directory") {
		t.Errorf("second daemon: %d %q", s.code, s.err)
	}
	s.stop()
}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	helpOf := func(c *cobra.Command, out string) {
		if !strings.Contains(out, "Usage:") || !strings.Contains(out, c.Short[:10]) && c.Long == "" {
			t.Errorf("%s --help: %s", c.CommandPath(), out)
		}
	}
	count := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		count++
		var out strings.Builder
		root := newRoot(&app{})
		root.SetOut(&out)
		root.SetArgs(append([]string{"--data-dir", d.dataDir}, append(path, "--help")...))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%s --help: %v", c.CommandPath(), err)
		}
		helpOf(c, out.String())
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				walk(sub, append(slices.Clone(path), sub.Name()))
			}
		}
	}
	root := newRoot(&app{})
	walk(root, nil)
	helpOf(root, d.must("--help"))
	t.Logf("%d commands", count)
	if _, err := os.Stat(d.dataDir); err == nil {
		t.Error("asking for help made a data directory")
	}
}

// TestMistypedDataDirectories: what would tell of nothing refuses, and nothing is made.
func TestMistypedDataDirectories(t *testing.T) {
	t.Parallel()
	typo := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "typo")}
	empty := &desk{t: t, dataDir: t.TempDir()}
	elsewhere := t.TempDir()
	for _, args := range [][]string{
		{"backup", filepath.Join(elsewhere, "b.db")}, {"backup", "-"}, {"user", "list"}, {"user", "list", "--json"}, {"user", "role", "mira", "viewer"},
		{"user", "remove", "mira"}, {"user", "passwd", "mira", "--password-stdin"}, {"key", "list"}, {"key", "remove", "any"}, {"site", "export"},
		{"site", "export", filepath.Join(elsewhere, "s.yaml")}, {"bus", "list"}, {"bus", "scan", "line"},
	} {
		for _, d := range []*desk{typo, empty} {
			s := d.typed("long enough\n", args...)
			if s.code != 1 || s.out != "" || !strings.Contains(s.err, d.dataDir+": there is no controller's database in it; is --data-dir right?") {
				t.Errorf("%v: exit code %d, %q %q", args, s.code, s.out, s.err)
			}
		}
	}
	file := typo.write("site.yaml", "site: {name: S}\nbuses: [{name: a, driver: modbus, port: \"tcp://127.0.0.1:502\"}]\n")
	if s := typo.run("site", "import", "--preview", file); s.code != 0 || !strings.Contains(s.out, "preview, nothing was changed: 1 created") || !strings.Contains(s.err, "no controller's database in "+typo.dataDir+" yet") {
		t.Errorf("preview for a new controller: %+v", s)
	}
	if _, err := os.Stat(typo.dataDir); !os.IsNotExist(err) {
		t.Errorf("%s was made (%v)", typo.dataDir, err)
	}
	for _, dir := range []string{empty.dataDir, elsewhere} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v were made in %s (%v)", left, dir, err)
		}
	}
}

func TestNewControllersBeginWith(t *testing.T) {
	t.Parallel()
	first := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "first")}
	first.must("site", "import", first.write("site.yaml", "site: {name: S}\nbuses: []\n"))
	backup := filepath.Join(t.TempDir(), "b.db")
	first.must("backup", backup)
	for name, args := range map[string][]string{
		"user": {"user", "add", "mira", "--role", "viewer", "--password-stdin"}, "key": {"key", "add", "any"}, "restore": {"restore", backup},
	} {
		d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), name)}
		if s := d.typed("long enough\n", args...); s.code != 0 {
			t.Errorf("%v: exit code %d, %s", args, s.code, s.err)
		}
		d.must("user", "list")
	}
}

func TestEmptyDataDirIsRefused(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	file := (&desk{t: t, dataDir: here}).write("site.yaml", "site: {name: S}\nbuses: []\n")
	for _, args := range [][]string{
		{"serve"}, {"user", "list"}, {"user", "add", "mira", "--role", "viewer", "--password-stdin"}, {"backup", "b.db"}, {"restore", "b.db"},
		{"site", "import", file}, {"site", "export"}, {"site", "check", file}, {"bus", "list"}, {"bus", "monitor"}, {"shade", "list"},
	} {
		c := (&desk{t: t, dataDir: ""}).command(t.Context(), args...)
		c.Dir, c.Stdin = here, strings.NewReader("long enough\n")
		out, err := c.CombinedOutput()
		if err == nil || c.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "--data-dir is empty; name a directory, or leave it out for /var/lib/controllerd") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("%v were made in the current directory (%v)", left, err)
	}
}

func TestBackupToStandardOutputIsTheBackupAlone(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("key", "add", "any")
	s := d.run("backup", "-")
	if s.code != 0 || s.err != "" || !strings.HasPrefix(s.out, "controllerd backup 1\n") {
		t.Fatalf("exit code %d, %.40q, %q", s.code, s.out, s.err)
	}
	other := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "other")}
	other.must("restore", d.write("received.db", s.out))
	if got, want := other.must("key", "list", "--json"), d.must("key", "list", "--json"); got != want {
		t.Errorf("restored keys\n%s\nwant\n%s", got, want)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("key", "add", "any") // makes the database
	for _, tc := range []struct {
		args string
		code int
	}{
		{"version", 0},
		{"bus list", 0},
		{"user list", 0},
		{"site export", 0},
		{"", 0}, // shows the help
		{"bus", 0},
		{"user remove nobody", 1},
		{"key remove nobody", 1},
		{"bus scan nowhere", 1},
		{"site import /does/not/exist", 1},
		{"site check /does/not/exist", 1},
		{"backup /does/not/exist/file", 1},
		{"restore /does/not/exist", 1},
		{"nonsense", 2},
		{"bus nonsense", 2},
		{"user nonsense --json", 2},
		{"version extra", 2},
		{"--nonsense", 2},
		{"serve --nonsense", 2},
		{"serve --insecure-http 0.0.0.0:80", 2},
		{"serve --tls-cert x", 2},
		{"serve --token-lifetime long", 2},
		{"user add", 2},
		{"user add somebody", 2}, // no role
		{"user add somebody --role viewer", 2},
		{"bus scan", 2},
		{"bus scan --port /does/not/exist --first 248", 2},
		{"bus scan --port /does/not/exist --first 64 --driver dali --option gateway=atx", 2},
		{"bus scan --port /does/not/exist --first 3 --last 2", 2},
		{"bus scan --port /does/not/exist --site /", 1},
		{"bus decode", 2},
		{"bus decode --protocol morse", 2},
		{"site schema wrong", 2},
	} {
		if s := d.run(strings.Fields(tc.args)...); s.code != tc.code {
			t.Errorf("controllerd %s: exit code %d, want %d: %s", tc.args, s.code, tc.code, s.err)
		} else if tc.code != 0 && !strings.HasPrefix(s.err, "controllerd: ") {
			t.Errorf("controllerd %s says %q", tc.args, s.err)
		}
	}
}
