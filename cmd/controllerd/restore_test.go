package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
)

// another is a house of another building, served by a process of its own.
func another(t *testing.T) (*house, *served) {
	h := bare(t, "site: {name: Elsewhere}\nnodes:\n  - {id: 77, name: Not of here}\n")
	h.fillStore()
	return h, h.process()
}

// process serves the house from a process of its own.
func (h *house) process() *served {
	s := h.desk().serve()
	h.url, h.client = s.url, s.client
	return s
}

// backupOf is everything of a house as one file, with an installer's profile.
func backupOf(t *testing.T, site string) []byte {
	t.Helper()
	h := bare(t, site)
	h.fillStore()
	if err := os.MkdirAll(filepath.Join(h.dataDir, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dataDir, "profiles", "own.yaml"), []byte("name: own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "house.backup")
	h.desk().must("backup", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const restoredSite = "site: {name: Restored}\nnodes:\n  - {id: 7, name: Lamp}\n  - {id: 40, name: Other lamp}\nclusters:\n  - {id: 3, name: Hall, nodes: [7]}\n"

// TestRestoreByUpload sends a backup to a daemon that runs: what is no whole backup of a controller is refused and
// changes nothing; a good one takes the place of everything, in the same process, with its port open all through.
// To systemd, the service goes on.
func TestRestoreByUpload(t *testing.T) {
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	said := everythingTold(manager)
	t.Setenv("NOTIFY_SOCKET", manager.LocalAddr().String())
	t.Setenv("WATCHDOG_USEC", "3000000")
	file := backupOf(t, restoredSite)
	h, s := another(t)
	admin := h.enter("admin")
	export := h.desk().must("site", "export")

	torn := bytes.Clone(file)
	torn[len(torn)/2] ^= 1
	for _, c := range []struct {
		name, role, body string
		status           int
		word             string
	}{
		{"a flipped bit", "admin", string(torn), http.StatusUnprocessableEntity, `"errors":[{"pointer":"","detail":"`},
		{"a file that was cut", "admin", string(file[:len(file)-9]), http.StatusUnprocessableEntity, "damaged"},
		{"something else", "admin", "site: {name: A}", http.StatusUnprocessableEntity, "not a backup"},
		{"nothing", "admin", "", http.StatusUnprocessableEntity, "not a backup"},
		{"33 MB", "admin", strings.Repeat("x", 33<<20), http.StatusRequestEntityTooLarge, ""},
		{"an operator", "operator", string(file), http.StatusForbidden, ""},
		{"a viewer", "viewer", string(file), http.StatusForbidden, ""},
	} {
		status, body, _ := h.send(http.MethodPost, "/api/v1/backup/restore", h.enter(c.role), c.body)
		if status != c.status || !strings.Contains(string(body), c.word) {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.status)
		}
	}
	if now := h.desk().must("site", "export"); now != export {
		t.Errorf("refused restores changed the site to\n%s", now)
	}

	// Somebody opens one connection after the other all the while: none is refused.
	calling, stop := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() { called <- callAnew(calling, h.url) }()
	defer stop()

	status, body, _ := h.send(http.MethodPost, "/api/v1/backup/restore", admin, string(file))
	var found api.Drilled
	if err := json.Unmarshal(body, &found); err != nil || status != http.StatusAccepted || found.Nodes != 2 || found.Profiles != 1 {
		t.Fatalf("restore: %d %s", status, body)
	}
	deadline := time.After(uitest.Patience)
	for again := true; again; {
		h.client = trusting(t, filepath.Join(h.dataDir, certificateFile)) // it has the backup's certificate
		if res, err := h.client.Get(h.url + "/api/v1/claim"); err == nil {
			res.Body.Close()
			again = !refusesToken(t, h, admin)
		}
		select {
		case <-deadline:
			t.Fatalf("no restored building: %s", s.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
	admin = h.enter("admin")
	var nodes []api.Node
	if _, body, _ = h.send(http.MethodGet, "/api/v1/nodes", admin, ""); json.Unmarshal(body, &nodes) != nil || len(nodes) != 2 || nodes[0].ID != 7 || nodes[1].ID != 40 {
		t.Errorf("nodes after the restore: %s", body)
	}
	if _, body, _ = h.send(http.MethodGet, "/api/v1/audit", admin, ""); !strings.Contains(string(body), `"who":"admin","from":"127.0.0.1","what":"backup.restore"`) {
		t.Errorf("the audit log: %s", body)
	}
	if kept, err := filepath.Glob(filepath.Join(h.dataDir, "controller.db.replaced-*Z")); err != nil || len(kept) != 1 {
		t.Errorf("replaced databases: %q, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(h.dataDir, "profiles", "own.yaml")); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-called; err != nil {
		t.Errorf("a caller of meanwhile: %v", err)
	}
	s.stop() // the process that was started
	last, err := net.Dial("unixgram", manager.LocalAddr().String())
	if err == nil {
		_, err = last.Write([]byte("that was all"))
	}
	if err != nil {
		t.Fatal(err)
	}
	told := <-said
	last.Close()
	manager.Close()
	if got := strings.Count(told, "READY=1"); got != 2 || strings.Count(told, "STOPPING=1") != 1 || !strings.HasSuffix(told, "STOPPING=1 ") {
		t.Errorf("systemd was told %s; want READY=1 twice, and STOPPING=1 at the end only", told)
	}
}

// refusesToken tells whether a token of before is void. What breaks off while the building changes tells nothing.
func refusesToken(t *testing.T, h *house, token string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/nodes", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := h.client.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusUnauthorized
}

// callAnew opens connections until ctx ends. Only what a port says that nobody serves is an error.
func callAnew(ctx context.Context, url string) error {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := &http.Client{Transport: transport, Timeout: uitest.Patience}
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err == nil {
			res.Body.Close()
		} else if strings.Contains(err.Error(), "refused") {
			return err
		}
	}
	return nil
}

// everythingTold is what a daemon says to systemd until somebody says that it was all.
func everythingTold(manager *net.UnixConn) <-chan string {
	all := make(chan string, 1)
	go func() {
		var out strings.Builder
		b := make([]byte, 256)
		for {
			n, err := manager.Read(b)
			told := string(b[:n])
			if err != nil || told == "that was all" {
				all <- out.String()
				return
			}
			if told != "WATCHDOG=1" {
				out.WriteString(told + " ")
			}
		}
	}()
	return all
}

// TestKilledRestoreByUpload ends the process at any moment after it took a backup: it comes back with all of the one
// building or all of the other.
func TestKilledRestoreByUpload(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	tries := 5
	if os.Getenv("SOAK") != "" {
		tries = 100
	}
	files := [2][]byte{backupOf(t, restoredSite), backupOf(t, strings.ReplaceAll(restoredSite, "Lamp", "Light"))}
	h, s := another(t)
	before := h.desk().must("site", "export")
	for i := range tries {
		status, body, _ := h.send(http.MethodPost, "/api/v1/backup/restore", h.enter("admin"), string(files[i%2]))
		if status != http.StatusAccepted {
			t.Fatalf("restore: %d %s", status, body)
		}
		<-time.After(time.Duration(rand.IntN(400)) * time.Millisecond)
		s.kill()
		s = h.process() // whole, or it would not serve the building
		after := h.desk().must("site", "export")
		was := strings.Contains(after, "Elsewhere") || strings.Contains(after, "name: Restored")
		if !was || strings.Contains(after, "name: Lamp") == strings.Contains(after, "name: Light") && !strings.Contains(after, "Elsewhere") {
			t.Fatalf("try %d: half of a building:\n%s\nbefore\n%s", i, after, before)
		}
		if _, err := os.Stat(filepath.Join(h.dataDir, "profiles", "own.yaml")); err != nil && !strings.Contains(after, "Elsewhere") {
			t.Fatalf("try %d: the building without its profile: %v", i, err)
		}
		before = after
	}
	s.stop()
}
