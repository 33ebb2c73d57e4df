package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
)

func TestBackupIsTriedOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, everydaySite)
	h.serve()
	admin := h.enter("admin")
	status, file, _ := h.send(http.MethodGet, "/api/v1/backup", admin, "")
	if status != http.StatusOK {
		t.Fatalf("backup: %d %s", status, file)
	}
	status, body, _ := h.send(http.MethodPost, "/api/v1/backup/drill", admin, string(file))
	var d api.Drilled
	if err := json.Unmarshal(body, &d); err != nil || status != http.StatusOK || d.Buses != 1 || d.Nodes != 3 || d.Clusters != 1 || d.Users != len(houseUsers) || len(d.Unreadable) != 0 {
		t.Errorf("drill: %d %s", status, body)
	}
	flipped := append([]byte(nil), file...)
	flipped[len(flipped)/2] ^= 1
	if status, body, _ := h.send(http.MethodPost, "/api/v1/backup/drill", admin, string(flipped)); status != http.StatusUnprocessableEntity || !strings.Contains(string(body), "damaged") {
		t.Errorf("drill of a damaged one: %d %s", status, body)
	}
	for _, c := range []struct{ file, state, want string }{{string(file), "done", `"nodes":3`}, {string(flipped), "failed", "damaged"}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/api/v1/backup/drill", strings.NewReader(c.file))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Prefer", "respond-async")
		var j api.Job
		status, body, head := h.answer(h.client, req, admin)
		if err := json.Unmarshal(body, &j); err != nil || status != http.StatusAccepted || head.Get("Location") != "/api/v1/jobs/"+j.ID {
			t.Fatalf("drill as a job: %d %s", status, body)
		}
		j = h.ended(admin, j.ID)
		if text, _ := json.Marshal(j); j.State != c.state || !strings.Contains(string(text), c.want) {
			t.Errorf("drill as a job, want %s with %s: %s", c.state, c.want, text)
		}
	}
	for _, role := range []string{"operator", "viewer"} {
		if status, _, _ := h.send(http.MethodPost, "/api/v1/backup/drill", h.enter(role), string(file)); status != http.StatusForbidden {
			t.Errorf("drill by a %s: %d, want 403", role, status)
		}
	}
	if status, body, _ := h.send(http.MethodPost, "/api/v1/backup/drill", admin, strings.Repeat("x", 33<<20)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("drill of 33 MB: %d %s", status, body)
	}
}

// TestNightlyBackupsAreTold: when the newest was made, and why none can be made, until one can.
func TestNightlyBackupsAreTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everydaySite)
	admin := h.enter("admin")
	told := func() (n api.NightlyBackups) {
		t.Helper()
		status, body, _ := h.send(http.MethodGet, "/api/v1/backup/nightly", admin, "")
		if err := json.Unmarshal(body, &n); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return n
	}
	if n := told(); n.Last != nil || n.Kept != 0 || n.Failed != "" || n.Folder == "" {
		t.Errorf("before the first: %+v", n)
	}
	folder := h.daemon.nightly.folder
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	h.daemon.backupIfDue(t.Context())
	if n := told(); n.Last != nil || !strings.Contains(n.Failed, "backup") {
		t.Errorf("a backup that failed: %+v", n)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	h.daemon.backupIfDue(t.Context())
	if n := told(); n.Last == nil || time.Since(*n.Last) > time.Hour || n.Kept != 1 || n.Failed != "" {
		t.Errorf("a backup that was made: %+v", n)
	}
	for _, role := range []string{"operator", "viewer"} {
		if status, _, _ := h.send(http.MethodGet, "/api/v1/backup/nightly", h.enter(role), ""); status != http.StatusForbidden {
			t.Errorf("asked by a %s: %d, want 403", role, status)
		}
	}
}

// enter logs in at /api/v1.
func (h *house) enter(name string) string {
	h.t.Helper()
	var s api.Session
	status, body, _ := h.send(http.MethodPost, "/api/v1/auth/login", "", `{"username":"`+name+`","password":"`+housePassword+`"}`)
	if err := json.Unmarshal(body, &s); err != nil || status != http.StatusOK {
		h.t.Fatalf("log in at /api/v1: %d %s", status, body)
	}
	return s.AccessToken
}
