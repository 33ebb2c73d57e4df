package main

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/store"
)

var rescueLine = regexp.MustCompile(`msg="serving a rescue page" https=(\S+)`)

// rescued starts a daemon that must not start, and gives what its address answers.
func (d *desk) rescued() (get func(path string, accept ...string) (int, string), log *heard) {
	d.t.Helper()
	log = &heard{pattern: rescueLine, found: make(chan string, 1)}
	c := d.command(d.t.Context(), "serve", "--listen", "127.0.0.1:0")
	c.Stderr = log
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); c.Wait() }()
	d.t.Cleanup(func() { c.Process.Kill(); <-ended })
	var address string
	select {
	case address = <-log.found:
	case <-ended:
		d.t.Fatalf("the daemon ended: %s", log)
	case <-time.After(uitest.Patience):
		d.t.Fatalf("no rescue page: %s", log)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // its certificate is new
	d.t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	return func(path string, accept ...string) (int, string) {
		d.t.Helper()
		r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "https://"+address+path, nil)
		if err != nil {
			d.t.Fatal(err)
		}
		r.Header["Accept"] = accept
		res, err := client.Do(r)
		if err != nil {
			d.t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			d.t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}, log
}

func TestDamagedDatabaseShowsARescuePageAndIsRestored(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("site.yaml", "site: {name: House}\nclusters:\n  - {id: 3, name: Hall}\n"))
	site := d.must("site", "export")
	backup := filepath.Join(t.TempDir(), "backup")
	d.must("backup", backup)
	database := filepath.Join(d.dataDir, "controller.db")
	damaged := []byte(strings.Repeat("not a database any more ", 400))
	if err := os.WriteFile(database, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("rescue", func(t *testing.T) {
		d := &desk{t: t, dataDir: d.dataDir}
		get, log := d.rescued()
		if status, body := get("/"); status != http.StatusServiceUnavailable || !strings.Contains(body, "needs help") || !strings.Contains(body, "restore BACKUP") || !strings.Contains(body, "not a database") {
			t.Errorf("/: %d %s", status, body)
		}
		if status, body := get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "cannot start") {
			t.Errorf("/readyz: %d %s", status, body)
		}
		if status, body := get("/svc/api/getClusters"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"status":0`) {
			t.Errorf("getClusters: %d %s", status, body)
		}
		if status, body := get("/login", "text/html"); status != http.StatusServiceUnavailable || !strings.Contains(body, "needs help") {
			t.Errorf("/login in a browser: %d %s, want the page", status, body)
		}
		if status, _ := get("/healthz"); status != http.StatusOK {
			t.Errorf("/healthz: %d; the watchdog would start it again and again", status)
		}
		if !strings.Contains(log.String(), "the controller cannot start") {
			t.Errorf("the log says %s", log)
		}
		if now, err := os.ReadFile(database); err != nil || string(now) != string(damaged) {
			t.Errorf("the damaged file was changed (%v)", err)
		}
	})
	d.must("restore", backup)
	if got := d.must("site", "export"); got != site {
		t.Errorf("restored\n%s\nwant\n%s", got, site)
	}
	d.serve().stop()
}

func TestWhichFailuresAreShownOnAPage(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&os.PathError{Op: "open", Path: "controller.lock", Err: unix.EROFS}, true},
		{&os.PathError{Op: "write", Path: "controller.db", Err: unix.ENOSPC}, true},
		{&os.PathError{Op: "read", Path: "controller.db", Err: unix.EIO}, true},
		{&os.PathError{Op: "open", Path: "controller.db", Err: unix.EACCES}, false}, // called by the wrong account
		{store.ErrLocked, false}, // it runs already
		{store.ErrNewer, false},  // an update goes back
		{errors.New("anything else"), false},
	} {
		if got := rescuable(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

// One bus that is not there, and one profile that cannot be read, stop nothing else.
func TestMissingBusAndUnreadableProfileStopNothingElse(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	profiles := filepath.Join(d.dataDir, "profiles")
	own := filepath.Join(profiles, "own.yaml")
	if err := errors.Join(os.MkdirAll(profiles, 0o700), os.WriteFile(own, []byte("name: own\ntitle: Our own relays\nsource: a test\noutputs:\n  - kind: light\n    switches: [{table: coil, address: 0}]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.dataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.must("site", "import", d.write("site.yaml", `
buses:
  - {name: gone, driver: modbus, port: /dev/serial/by-id/not-there}
nodes:
  - {id: 1, name: Lamp, bus: gone, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Odd lamp, bus: gone, address: 2, profile: own}
clusters:
  - {id: 3, name: Hall, nodes: [1]}
`))
	if err := os.WriteFile(own, []byte("outputs: [\x00"), 0o600); err != nil { // it was good when the site was imported
		t.Fatal(err)
	}
	d.typed(housePassword+"\n", "user", "add", "api", "--role", "api_service", "--password-stdin")
	d.typed(housePassword+"\n", "user", "add", "admin", "--role", "admin", "--password-stdin")
	s := d.serve()
	h := &house{t: t, url: s.url, client: s.client, tokens: map[string]string{}}
	if token, _ := h.token("api", housePassword); h.read(token) != http.StatusOK {
		t.Error("the API does not answer")
	}
	waitFor(t, 60*time.Second, "the log names the bus and the profile", func() bool {
		return strings.Contains(s.log.String(), "gone") && strings.Contains(s.log.String(), "own.yaml")
	})
	if status, body, _ := h.send(http.MethodGet, "/readyz", "", ""); status != http.StatusOK || !strings.Contains(string(body), `"buses that are down: 1, entries that were set aside: 1;`) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	_, body, _ := h.send(http.MethodGet, "/api/v1/site", h.enter("admin"), "") // as the pages show it
	_, bus, _ := h.send(http.MethodGet, "/api/v1/buses/gone", h.enter("admin"), "")
	if !strings.Contains(string(body), "own.yaml") || !strings.Contains(string(bus), "not-there") || !strings.Contains(string(bus), `"up":false`) {
		t.Errorf("the pages are told %s\n%s", body, bus)
	}
	s.stop()
}
