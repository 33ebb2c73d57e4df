package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/tools/conformance/onezero"
)

// api sends a request to /api/v1, wants that status, and reads the answer into out, unless
// that is nil.
func (h *house) api(token string, status int, method, path string, in, out any) string {
	h.t.Helper()
	var text []byte
	if in != nil {
		var err error
		if text, err = json.Marshal(in); err != nil {
			h.t.Fatal(err)
		}
	}
	got, body, _ := h.send(method, "/api/v1"+path, token, string(text))
	if got != status {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, got, body, status)
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			h.t.Fatalf("%s %s: %v: %s", method, path, err, body)
		}
	}
	return string(body)
}

// ended waits for a job.
func (h *house) ended(token, id string) (j api.Job) {
	h.t.Helper()
	h.await(time.Minute, "the job to end", func() bool {
		h.api(token, 200, http.MethodGet, "/jobs/"+id, nil, &j)
		return j.State != "running"
	})
	return j
}

// lockedText is a log that is read while it is written.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A house is taken over by /api/v1 alone, and given back; the password of the other
// controller is kept nowhere.
func TestAHouseIsTakenOverByTheAPI(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	const secret = "the other's own word"
	other := onezero.New(onezero.NewHouse(2, 10, 4), onezero.Habits{})
	_, _, url := oldHouse(t, other)
	h := newBuilding(t, "site: {name: New}\nclusters:\n  - {id: 900, name: Ours}\n")
	log := &lockedText{}
	h.log = slog.New(slog.NewTextHandler(log, nil))
	h.serve()
	admin := h.enter("admin")
	export := func() string { return exported(t, h.desk()) }
	before := export()

	for _, role := range []account.Role{account.RoleOperator, account.RoleViewer} {
		h.api(h.enter(string(role)), 403, http.MethodPost, "/migrations/preview", nil, nil)
	}
	h.api(admin, 404, http.MethodGet, "/migrations/preview", nil, nil)
	h.api(admin, 409, http.MethodPost, "/migrations", api.MigrationStart{Preview: ""}, nil)
	for url, want := range map[string]string{"http://10.0.0.1": "use https://10.0.0.1", "http://127.evil.example": "use https://127.evil.example", "https://old.example/svc/api": "scheme, host and port alone"} {
		if said := h.api(admin, 422, http.MethodPost, "/migrations/certificate", api.ControllerAddress{URL: url}, nil); !strings.Contains(said, want) {
			t.Errorf("of %s it says %s, want %q", url, said, want)
		}
	}
	var shown api.ControllerShown
	h.api(admin, 200, http.MethodPost, "/migrations/certificate", api.ControllerAddress{URL: url}, &shown)
	from := api.MigrationSource{URL: url, Username: onezero.Username, Password: secret, Fingerprint: strings.Repeat("0", 64)}
	begin := func() api.Job {
		var j api.Job
		h.api(admin, 202, http.MethodPost, "/migrations/preview", from, &j)
		return h.ended(admin, j.ID)
	}
	if j := begin(); j.State != "failed" || other.Asked("authenticate") != 0 {
		t.Errorf("another certificate: %+v, asked %d times", j, other.Asked("authenticate"))
	}
	from.Fingerprint = shown.Fingerprint
	if j := begin(); j.State != "failed" || !strings.Contains(j.Error, "name and password") {
		t.Errorf("a wrong password: %+v", j)
	}
	from.Password = onezero.Password
	j := begin()
	if j.State != "done" {
		t.Fatalf("%+v", j)
	}
	var plan api.MigrationPreview
	h.api(admin, 200, http.MethodGet, "/migrations/preview", nil, &plan)
	if plan.ID != j.ID || len(plan.Clusters) != 2 || len(plan.Nodes) != 10 || len(plan.Shades) != 4 || len(plan.Conflicts) != 0 {
		t.Errorf("the preview has %+v", plan)
	}
	if got := export(); got != before {
		t.Errorf("the preview changed the site to\n%s", got)
	}

	// One of theirs is taken here meanwhile.
	var ours api.Cluster
	h.api(admin, 201, http.MethodPost, "/clusters", map[string]any{"id": plan.Clusters[0].ID, "name": "First come"}, &ours)
	h.api(admin, 200, http.MethodGet, "/migrations/preview", nil, &plan)
	if len(plan.Conflicts) != 1 || plan.Clusters[0].Action != "skip" {
		t.Errorf("with a conflict: %+v", plan)
	}
	h.api(admin, 409, http.MethodPost, "/migrations", api.MigrationStart{Preview: plan.ID}, nil)
	h.api(admin, 409, http.MethodPost, "/migrations", api.MigrationStart{Preview: "another", OnConflict: "skip"}, nil)
	h.api(admin, 422, http.MethodPost, "/migrations", api.MigrationStart{Preview: plan.ID, OnConflict: "renumber"}, nil)
	before = export()
	var done api.Migrated
	h.api(admin, 200, http.MethodPost, "/migrations", api.MigrationStart{Preview: plan.ID, OnConflict: "skip", Watch: true}, &done)
	if _, err := os.Stat(done.Backup); done.ID == 0 || err != nil {
		t.Errorf("done: %+v, its backup: %v", done, err)
	}
	h.api(admin, 200, http.MethodGet, fmt.Sprint("/nodes/", plan.Nodes[9].ID), nil, nil) // in force when the answer comes
	h.api(admin, 200, http.MethodPost, "/migrations", api.MigrationStart{Preview: plan.ID, OnConflict: "skip"}, &done)
	if done.ID != 0 {
		t.Errorf("the second time: %+v", done)
	}

	// What was changed since is not undone without force.
	var list []api.Migration
	h.api(admin, 200, http.MethodGet, "/migrations", nil, &list)
	if len(list) != 1 || list[0].Nodes != 10 || list[0].By != "admin" || list[0].UndoneAt != nil || list[0].Watch == nil || list[0].Watch.LookedAt == nil {
		t.Fatalf("made: %+v", list)
	}
	undo := fmt.Sprint("/migrations/", list[0].ID, "/undo")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, h.url+fmt.Sprint("/api/v1/nodes/", plan.Nodes[0].ID), strings.NewReader(`{"name":"Renamed"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-Match", "*")
	if status, body, _ := h.answer(h.client, req, admin); status != 200 {
		t.Fatalf("rename: %d %s", status, body)
	}
	if text := h.api(admin, 409, http.MethodPost, undo, api.MigrationUndo{}, nil); !strings.Contains(text, "Renamed") && !strings.Contains(text, "was changed: name") {
		t.Errorf("undoing what was renamed: %s", text)
	}
	h.api(admin, 204, http.MethodPost, undo, api.MigrationUndo{Force: true}, nil)
	if got := export(); got != before {
		t.Errorf("undoing left a trace: want\n%s\ngot\n%s", before, got)
	}
	h.api(admin, 404, http.MethodPost, undo, api.MigrationUndo{}, nil)
	if n := other.Controls(); n != 0 {
		t.Errorf("%d control calls reached the other controller", n)
	}

	kept := log.String() + h.api(admin, 200, http.MethodGet, "/audit", nil, nil) + h.api(admin, 200, http.MethodGet, "/jobs", nil, nil)
	if !strings.Contains(kept, "migration.apply") || !strings.Contains(kept, "migration.undo") {
		t.Error("the audit log does not tell of it")
	}
	files, err := filepath.Glob(filepath.Join(h.dataDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil { // a socket and folders cannot be read
			kept += string(text)
		}
	}
	for _, word := range []string{secret, onezero.Password} {
		if strings.Contains(kept, word) {
			t.Errorf("%q is kept somewhere", word)
		}
	}
}
