package main

import (
	"archive/zip"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/store"
)

// fleet is a data directory with rooms, and the devices that stand in them; what they understand is tested beside
// platform/panel/roomos.
type fleet struct {
	dir       string
	addresses []string
	ca        string // PEM file of those that are there

	mu    sync.Mutex
	heard map[string]string // documents by address, one after the other
}

func newFleet(t *testing.T, there, away int) *fleet {
	t.Helper()
	f := &fleet{dir: t.TempDir(), heard: map[string]string{}}
	db, err := store.Open(t.Context(), f.dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range there + away {
		d := platform.RoomDevice{ID: fmt.Sprint("room ", i), Controller: "c", Clusters: []int64{1}}
		d.Deploy(true)
		if err := db.AddRoomDevice(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	for range there {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if name, password, _ := r.BasicAuth(); name != "integrator" || password != "right" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			f.mu.Lock()
			f.heard[r.Host] += string(b) + "\n"
			f.mu.Unlock()
			fmt.Fprint(w, `<Command><Result status="OK"/></Command>`)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		f.addresses = append(f.addresses, strings.TrimPrefix(s.URL, "https://"))
		f.ca = filepath.Join(f.dir, "devices.pem")
		if err := os.WriteFile(f.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range away {
		f.addresses = append(f.addresses, fmt.Sprintf("127.0.0.%d:1", i+2)) // nobody is there
	}
	return f
}

// list is the file with all of the fleet.
func (f *fleet) list() string {
	var b strings.Builder
	b.WriteString("# our house\naddress,device\n")
	for i, at := range f.addresses {
		fmt.Fprintf(&b, "%s, room %d\n", at, i)
	}
	return b.String()
}

func TestARollOutTellsWhatBecameOfEachDevice(t *testing.T) {
	const there, away = 20, 20
	f := newFleet(t, there, away)
	t.Setenv("ROOMOS_USERNAME", "integrator")
	t.Setenv("ROOMOS_PASSWORD", "right")
	install := []string{"rooms", "install", "-", "--platform", "https://rooms.example", "--ca-file", f.ca}
	code, printed := typed(t, f.dir, f.list(), append(install, "--json")...)
	if code != 1 {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	progress, table, found := strings.Cut(printed, "[\n")
	if strings.Count(progress, ": installed\n") != there || !strings.Contains(progress, "40/40 ") {
		t.Errorf("progress is told as\n%s", progress)
	}
	var all []became
	if err := json.NewDecoder(strings.NewReader("[\n" + table)).Decode(&all); !found || err != nil || len(all) != there+away {
		t.Fatalf("%v: %s", err, printed)
	}
	for i, b := range all {
		if want := i < there; b.Address != f.addresses[i] || b.Device != fmt.Sprint("room ", i) || b.Done != want || (b.Why == "") != want || (b.Macro == panel.MacroVersion) != want {
			t.Errorf("of device %d it tells %+v", i, b)
		}
		if got := f.heard[f.addresses[i]]; strings.Contains(got, fmt.Sprintf("const deviceId = &#34;room %d&#34;;", i)) != b.Done {
			t.Errorf("device %d was told\n%s", i, got)
		}
	}
	if !strings.Contains(printed, "not installed on 20 of 40 devices") || strings.Contains(printed, "right") {
		t.Errorf("it ends with\n%s", printed[len(printed)-200:])
	}
	one := f.addresses[0] + ",room 0\n"
	if code, printed = typed(t, f.dir, one, install...); code != 0 || !strings.Contains(printed, "ADDRESS") || !strings.Contains(printed, "installed") {
		t.Errorf("one that is there: exit code %d: %s", code, printed)
	}
	if code, printed = typed(t, f.dir, f.addresses[0], "rooms", "uninstall", "-", "--ca-file", f.ca); code != 0 || !strings.Contains(f.heard[f.addresses[0]], "<Remove") {
		t.Errorf("removal: exit code %d: %s", code, printed)
	}
	// A device that is not known is sent nothing, and how to know it is told; then it is known by that.
	clear(f.heard)
	code, printed = typed(t, f.dir, one, "rooms", "install", "-", "--platform", "https://rooms.example")
	_, fingerprint, _ := strings.Cut(printed, "if its fingerprint is ")
	fingerprint, _, found = strings.Cut(fingerprint, ",")
	if code != 1 || !found || len(f.heard) > 0 {
		t.Fatalf("an unknown device: exit code %d, it heard %v: %s", code, f.heard, printed)
	}
	if code, printed = typed(t, f.dir, one, "rooms", "install", "-", "--platform", "https://rooms.example", "--fingerprint", fingerprint); code != 0 {
		t.Errorf("known by its fingerprint: exit code %d: %s", code, printed)
	}
	if code, printed = typed(t, f.dir, f.addresses[0]+",room 0,"+fingerprint, "rooms", "install", "-", "--platform", "https://rooms.example"); code != 0 {
		t.Errorf("known by the fingerprint of the list: exit code %d: %s", code, printed)
	}
	credentials := filepath.Join(f.dir, "credentials")
	if err := os.WriteFile(credentials, []byte("integrator\r\nwrong password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, printed = typed(t, f.dir, one, append(install, "--credentials-file", credentials)...); code != 1 || !strings.Contains(printed, "user name or password is wrong") || strings.Contains(printed, "wrong password") {
		t.Errorf("a wrong password: exit code %d: %s", code, printed)
	}
}

func TestAWrongRollOutAsksNoDevice(t *testing.T) {
	f := newFleet(t, 1, 0)
	t.Setenv("ROOMOS_USERNAME", "integrator")
	t.Setenv("ROOMOS_PASSWORD", "right")
	at := f.addresses[0]
	address := []string{"--platform", "https://rooms.example", "--ca-file", f.ca}
	for list, says := range map[string]string{
		"":                                "lists no device",
		at:                                "want ADDRESS,DEVICE",
		at + ",room 0\n" + at + ",room 0": "stands there twice",
		at + ",no such room":              "there is no device",
		"https://" + at + ",room 0":       "is no address of a device",
		at + ",room 0,abc":                "64 hexadecimal digits",
		at + ",room 0,,,":                 "want ADDRESS,DEVICE",
		at + ",\"room 0":                  "read the list",
	} {
		if code, printed := typed(t, f.dir, list, append([]string{"rooms", "install", "-"}, address...)...); code != 2 || !strings.Contains(printed, says) {
			t.Errorf("%q: exit code %d, want %q: %s", list, code, says, printed)
		}
	}
	one := at + ",room 0"
	for _, wrong := range [][]string{
		{"--platform", "http://rooms.example", "--ca-file", f.ca}, {"--ca-file", f.ca}, {"--platform", "https://rooms.example", "--ca-file", f.ca, "--fingerprint", "ab"},
	} {
		if code, printed := typed(t, f.dir, one, append([]string{"rooms", "install", "-"}, wrong...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", wrong, code, printed)
		}
	}
	t.Setenv("ROOMOS_PASSWORD", "")
	if code, printed := typed(t, f.dir, one, append([]string{"rooms", "install", "-"}, address...)...); code != 2 || !strings.Contains(printed, "ROOMOS_PASSWORD") {
		t.Errorf("without a password: exit code %d: %s", code, printed)
	}
	if len(f.heard) > 0 {
		t.Errorf("devices heard %v", f.heard)
	}
}

func TestABundleIsWrittenForItsOwnerOnly(t *testing.T) {
	f := newFleet(t, 0, 1)
	file := filepath.Join(f.dir, "room.zip")
	platformd(t, f.dir, "", "rooms", "bundle", "room 0", "--platform", "https://rooms.example", "-o", file)
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || len(z.File) != 3 {
		t.Errorf("%d files, %v %v", len(z.File), info.Mode(), err)
	}
	if code, printed := typed(t, f.dir, "", "rooms", "bundle", "room 0", "--platform", "https://rooms.example", "-o", file); code != 1 {
		t.Errorf("over a file that is there: exit code %d: %s", code, printed)
	}
}
