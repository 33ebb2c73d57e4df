package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"svc.internal/controller/adminapi"
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
	var d adminapi.Drilled
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
		var j adminapi.Job
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

// enter logs in at /api/v1.
func (h *house) enter(name string) string {
	h.t.Helper()
	var s adminapi.Session
	status, body, _ := h.send(http.MethodPost, "/api/v1/auth/login", "", `{"username":"`+name+`","password":"`+housePassword+`"}`)
	if err := json.Unmarshal(body, &s); err != nil || status != http.StatusOK {
		h.t.Fatalf("log in at /api/v1: %d %s", status, body)
	}
	return s.AccessToken
}
