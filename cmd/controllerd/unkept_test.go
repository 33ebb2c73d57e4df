//go:build peers

package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/console"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// readOnly mounts a file system anew so that it takes nothing. It waits for programs that other tests start just now: they have what
// is open here until they run.
func readOnly(dir string, how uintptr) error {
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if err := unix.Mount("", dir, "", how|unix.MS_RDONLY, ""); !errors.Is(err, unix.EBUSY) || time.Now().After(until) {
			return err
		}
	}
}

// A disk that takes nothing when the daemon starts: a Controller 1.0 client logs in and is obeyed,
// everybody is told that nothing is kept, changes are refused, and when the disk takes something
// again so does the controller, without a restart. It mounts file systems, for which it must be root.
func TestLightsObeyOnADiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	for name, disk := range map[string]struct{ stop, free func(dir string) error }{
		"full": {stop: fill, free: func(dir string) error { return os.Remove(filepath.Join(dir, "filler")) }},
		"read-only": {
			stop: func(dir string) error { return readOnly(dir, unix.MS_REMOUNT) },
			free: func(dir string) error { return unix.Mount("", dir, "", unix.MS_REMOUNT, "size=8m") },
		},
		"bound read-only": {
			stop: func(dir string) error {
				return errors.Join(unix.Mount(dir, dir, "", unix.MS_BIND, ""), readOnly(dir, unix.MS_BIND|unix.MS_REMOUNT))
			},
			free: func(dir string) error { return unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT, "") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newBuilding(t, everydaySite)
			dir := mounted(t)
			data := filepath.Join(dir, "data")
			h.copyData(h.dataDir, data)
			h.dataDir = data
			h.serve()
			h.awaitOnline()
			h.stop()
			if err := disk.stop(dir); err != nil {
				t.Fatal(err)
			}
			h.serve()
			h.awaitOnline()
			h.insist("channelControl", `{"targetType":1,"targetId":1,"command":"DIM","dimLevel":40}`)
			if got := lampLevel(h.device(1)); got != 40 {
				t.Errorf("the lamp is at %v, want 40", got)
			}
			if levels, _ := h.dims(); levels[1] != "40" {
				t.Errorf("getLightLevels: %v", levels)
			}
			admin := h.enter("admin")
			if _, body, _ := h.send(http.MethodGet, "/readyz", "", ""); !strings.Contains(string(body), `"status":1,"message":"nothing is kept`) {
				t.Errorf("/readyz: %s", body)
			}
			if faults := h.siteFaults(admin); !strings.Contains(faults, "nothing is kept") {
				t.Errorf("/api/v1/site: faults %q", faults)
			}
			if _, body, _ := h.send(http.MethodGet, "/metrics", h.login(account.RoleViewer), ""); !strings.Contains(string(body), "controller_storage_kept 0") {
				t.Error("/metrics does not tell that nothing is kept")
			}
			user := `{"username":"new","password":"` + housePassword + `","role":"viewer"}`
			if status, body, _ := h.send(http.MethodPost, "/api/v1/auth/users", admin, user); status != http.StatusInsufficientStorage || !strings.Contains(string(body), "nothing can be kept") {
				t.Errorf("a change: %d %s, want 507", status, body)
			}

			if err := disk.free(dir); err != nil {
				t.Fatal(err)
			}
			h.await(3*time.Minute, "the disk to be used again", func() bool { return h.daemon.db.Kept() == nil && h.siteFaults(h.enter("admin")) == "" })
			if status, body, _ := h.send(http.MethodPost, "/api/v1/auth/users", h.enter("admin"), user); status != http.StatusCreated {
				t.Errorf("a change afterwards: %d %s", status, body)
			}
			h.await(3*time.Minute, "the ledger of meanwhile to be written", func() bool {
				entries, err := h.daemon.db.Entries(t.Context(), 10, "")
				return err == nil && len(entries) > 0
			})
			h.await(3*time.Minute, "the command line to be answered", func() bool {
				c, err := net.Dial("unix", filepath.Join(data, console.SocketName))
				if err == nil {
					c.Close()
				}
				return err == nil
			})
		})
	}
}

// A disk that fills while the daemon runs keeps nobody out: whoever wants to know why lights
// obey and changes are refused must be able to log in.
func TestPeopleLogInWhenTheDiskHasFilled(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, everydaySite)
	dir := mounted(t)
	data := filepath.Join(dir, "data")
	h.copyData(h.dataDir, data)
	h.dataDir = data
	h.serve()
	h.awaitOnline()
	before := h.enter("admin")
	if err := fill(dir); err != nil {
		t.Fatal(err)
	}
	level := 20
	// The journal has room that it gives back when it begins anew: full may be taken back once or twice.
	full := func() {
		t.Helper()
		h.await(3*time.Minute, "the disk to be found full", func() bool {
			if h.daemon.db.Kept() != nil {
				return true
			}
			level = 60 - level
			h.control("channelControl", `{"targetType":1,"targetId":1,"command":"DIM","dimLevel":`+strconv.Itoa(level)+`}`)
			return false
		})
	}
	for range 3 {
		full()
		for _, token := range []string{before, h.enter("admin")} {
			h.await(3*time.Minute, "/api/v1/site to tell of it", func() bool {
				full()
				return strings.Contains(h.siteFaults(token), "nothing is kept")
			})
		}
		if token, code := h.token("api_service", housePassword); h.write(token) != http.StatusOK {
			t.Errorf("/svc/api takes no log-in: %q", code)
		}
	}
	user := func(name string) string {
		return `{"username":"` + name + `","password":"` + housePassword + `","role":"viewer"}`
	}
	tries := 0
	h.await(3*time.Minute, "a change to be refused", func() bool {
		full()
		tries++
		status, body, _ := h.send(http.MethodPost, "/api/v1/auth/users", before, user("new"+strconv.Itoa(tries)))
		if status != http.StatusInsufficientStorage && status != http.StatusCreated {
			t.Fatalf("a change: %d %s, want 507", status, body)
		}
		return status == http.StatusInsufficientStorage
	})
	if h.insist("channelControl", `{"targetType":1,"targetId":1,"command":"DIM","dimLevel":70}`); lampLevel(h.device(1)) != 70 {
		t.Errorf("DIM to 70 was confirmed; the lamp is at %v", lampLevel(h.device(1)))
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	h.await(3*time.Minute, "the disk to be used again", func() bool { return h.daemon.db.Kept() == nil && h.siteFaults(h.enter("admin")) == "" })
	if status, body, _ := h.send(http.MethodPost, "/api/v1/auth/users", h.enter("admin"), user("new"+strconv.Itoa(tries))); status != http.StatusCreated {
		t.Errorf("a change afterwards: %d %s", status, body)
	}
	h.await(3*time.Minute, "the ledger of meanwhile to be written", func() bool {
		entries, err := h.daemon.db.Entries(t.Context(), 1, "")
		return err == nil && len(entries) == 1 && entries[0].Command.Level == 70
	})
}

// mounted is a small file system of its own.
func mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatalf("mount a file system (which root may): %v", err)
	}
	t.Cleanup(func() {
		for unix.Unmount(dir, unix.MNT_DETACH) == nil { // bound mounts lie on each other
		}
	})
	return dir
}

// fill leaves not one byte.
func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return err
	}
	defer f.Close()
	for piece := make([]byte, 4096); ; {
		if _, err := f.Write(piece); errors.Is(err, unix.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func lampLevel(d sim.Device) int { return d.Channels[0].TargetLevel }

// siteFaults are what /api/v1 tells of.
func (h *house) siteFaults(token string) string {
	h.t.Helper()
	var site api.Site
	status, body, _ := h.send(http.MethodGet, "/api/v1/site", token, "")
	if err := json.Unmarshal(body, &site); err != nil || status != http.StatusOK {
		h.t.Fatalf("GET /api/v1/site: %d %s", status, body)
	}
	var out []string
	for _, f := range site.Faults {
		out = append(out, f.Where+": "+f.What)
	}
	return strings.Join(out, "\n")
}
