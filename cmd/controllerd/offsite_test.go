package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/webdav"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/site/backup"
)

// elsewhere is a WebDAV server that has nothing of ours.
type elsewhere struct {
	dir, url, fingerprint string
	password              atomic.Value
}

const elsewherePassword = "pass/word:of+elsewhere"

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{dir: t.TempDir()}
	e.password.Store(elsewherePassword)
	dav := &webdav.Handler{Prefix: "/dav", FileSystem: webdav.Dir(e.dir), LockSystem: webdav.NewMemLS()}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != "owner" || p != e.password.Load() {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		dav.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(server.Certificate().Raw)
	e.url, e.fingerprint = server.URL+"/dav", hex.EncodeToString(sum[:])
	return e
}

// files are the copies there.
func (e *elsewhere) files(t *testing.T) (out [][]byte) {
	t.Helper()
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(e.dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

func (e *elsewhere) edit(key string, with ...string) string {
	text, _ := json.Marshal(api.OffsiteEdit{Key: key, Keep: 2, Server: &api.OffsiteServerEdit{
		Kind: "webdav", URL: e.url, User: "owner", Password: elsewherePassword, Fingerprint: e.fingerprint,
	}})
	return strings.NewReplacer(with...).Replace(string(text))
}

// noted is a log that can be read while it is written.
type noted struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *noted) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *noted) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// offsite asks how it stands, once nothing is under way.
func (h *house) offsite(admin string) (o api.OffsiteBackups) {
	h.t.Helper()
	for until := time.Now().Add(uitest.Patience); ; time.Sleep(20 * time.Millisecond) {
		status, body, _ := h.send(http.MethodGet, "/api/v1/backup/offsite", admin, "")
		o = api.OffsiteBackups{}
		if err := json.Unmarshal(body, &o); err != nil || status != http.StatusOK {
			h.t.Fatalf("%d %s", status, body)
		}
		if strings.Contains(string(body), "pass/word") {
			h.t.Fatalf("the password is told: %s", body)
		}
		if !o.UnderWay {
			return o
		}
		if time.Now().After(until) {
			h.t.Fatal("a copy takes a minute")
		}
	}
}

// TestBackupsLeaveTheBox sends copies to a WebDAV server, which then takes another password, and back.
func TestBackupsLeaveTheBox(t *testing.T) {
	t.Parallel()
	log := &noted{}
	h := bare(t, restoredSite)
	h.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.tokens = map[string]string{}
	h.fillStore()
	h.serve()
	e := newElsewhere(t)
	admin := h.enter("admin")
	tokens := map[string]string{"admin": admin, "operator": h.enter("operator"), "viewer": h.enter("viewer")}
	public, secret, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/backup/offsite"
	for _, c := range []struct {
		name, role, method, path, body, pointer string
		status                                  int
	}{
		{"a viewer looks", "viewer", http.MethodGet, path, "", "", http.StatusForbidden},
		{"an operator sets it", "operator", http.MethodPut, path, e.edit(public), "", http.StatusForbidden},
		{"an operator tries it", "operator", http.MethodPost, path + "/try", "", "", http.StatusForbidden},
		{"nothing to try", "admin", http.MethodPost, path + "/try", "", "", http.StatusConflict},
		{"no key", "admin", http.MethodPut, path, e.edit(""), "/key", http.StatusUnprocessableEntity},
		{"the secret key", "admin", http.MethodPut, path, e.edit(secret), "/key", http.StatusUnprocessableEntity},
		{"none is kept", "admin", http.MethodPut, path, e.edit(public, `"keep":2`, `"keep":0`), "/keep", http.StatusUnprocessableEntity},
		{"no TLS", "admin", http.MethodPut, path, e.edit(public, "https://", "http://"), "/server/url", http.StatusUnprocessableEntity},
		{"no password", "admin", http.MethodPut, path, e.edit(public, elsewherePassword, ""), "/server/password", http.StatusUnprocessableEntity},
		{"no fingerprint", "admin", http.MethodPut, path, e.edit(public, e.fingerprint, "abc"), "/server/fingerprint", http.StatusUnprocessableEntity},
		{"no stick here", "admin", http.MethodPut, path, e.edit(public, `"keep":2`, `"keep":2,"stick":true`), "/stick", http.StatusUnprocessableEntity},
		{"set", "admin", http.MethodPut, path, e.edit(public), "", http.StatusOK},
		{"another address without the password", "admin", http.MethodPut, path, e.edit(public, elsewherePassword, "", "/dav", "/evil"), "/server/password", http.StatusUnprocessableEntity},
		{"the same without the password", "admin", http.MethodPut, path, e.edit(public, elsewherePassword, ""), "", http.StatusOK},
	} {
		status, body, _ := h.send(c.method, c.path, tokens[c.role], c.body)
		if status != c.status || !strings.Contains(string(body), `"pointer":"`+c.pointer) && c.pointer != "" || strings.Contains(string(body), secret) {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, body, c.status, c.pointer)
		}
	}
	try := func() api.OffsiteCopies {
		t.Helper()
		if status, body, _ := h.send(http.MethodPost, path+"/try", admin, ""); status != http.StatusAccepted {
			t.Fatalf("try: %d %s", status, body)
		}
		return h.offsite(admin).Server.Copies
	}
	first := try()
	if first.Last == nil || first.Failed != nil || first.Overdue || !strings.HasPrefix(first.File, "controller-"+h.offsite(admin).Series+"-") {
		t.Errorf("the first: %+v", first)
	}
	file := e.files(t)
	if len(file) != 1 {
		t.Fatalf("%d files are there", len(file))
	}
	if _, found, err := tried(t.Context(), file[0], &secret); err != nil || found.Nodes != 2 {
		t.Errorf("the copy: %v, %+v", err, found)
	}
	e.password.Store("another")
	if bad := try(); bad.Failed == nil || !strings.Contains(bad.Why, "does not take user and password") || bad.Last == nil || !bad.Last.Equal(*first.Last) {
		t.Errorf("with another password there: %+v", bad)
	}
	if out := h.desk().must("backup", "offsite"); !strings.Contains(out, "does not take user and password") || !strings.Contains(out, first.File) {
		t.Errorf("on the console: %s", out)
	}
	e.password.Store(elsewherePassword)
	if out := h.desk().must("backup", "offsite", "now"); strings.Contains(out, "failed") {
		t.Errorf("on the console: %s", out)
	}
	for name, text := range map[string]string{"the log": log.String(), "the audit log": audited(h, admin), "the metrics": metricsOf(t, h)} {
		if strings.Contains(text, elsewherePassword) || strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(elsewherePassword)) {
			t.Errorf("%s tells the password", name)
		}
	}
	if text := metricsOf(t, h); !strings.Contains(text, `controller_offsite_backup_overdue{to="server"} 0`) || !strings.Contains(text, `controller_offsite_backup_last_timestamp_seconds{to="stick"} 0`) {
		t.Error("the metrics do not tell of copies")
	}
	h.stop()
	h.serve() // what is known of it stays
	if o := h.offsite(h.enter("admin")); o.Server == nil || o.Server.Copies.Last == nil || o.Key != public {
		t.Errorf("after a restart: %+v", o)
	}
}

func audited(h *house, admin string) string {
	_, body, _ := h.send(http.MethodGet, "/api/v1/audit", admin, "")
	return string(body)
}

func metricsOf(t *testing.T, h *house) string {
	_, body, _ := h.send(http.MethodGet, "/metrics", h.login(account.RoleViewer), "")
	return string(body)
}

// claimRestore sends a backup to a controller that is to be claimed.
func (s *served) claimRestore(t *testing.T, code, key string, file []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/claim/restore", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Claim-Code", code)
	if key != "" {
		req.Header.Set("Backup-Passphrase", url.QueryEscape(key))
	}
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(res.Body)
	return res.StatusCode, body.String()
}

// TestABoxIsReplaced has a copy of one controller restored to an empty one by who has the claim code.
func TestABoxIsReplaced(t *testing.T) {
	t.Parallel()
	public, secret, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	old := bare(t, restoredSite)
	old.fillStore()
	file := filepath.Join(t.TempDir(), "copy.age")
	old.desk().must("backup", "--to", public, file)
	copied, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	s := fresh.serve("--insecure-http", "127.0.0.1:0")
	code := ""
	for until := time.Now().Add(uitest.Patience); len(code) != len("AAAA-BBBB-CCCC"); time.Sleep(20 * time.Millisecond) { // it is made once the daemon serves
		read, err := os.ReadFile(filepath.Join(fresh.dataDir, api.ClaimFile))
		if err != nil && time.Now().After(until) {
			t.Fatal(err)
		}
		code = strings.TrimSpace(string(read))
	}
	_, other, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, code, key string
		file            []byte
		status          int
		word            string
	}{
		{"without the code", "", secret, copied, http.StatusForbidden, "claim code"},
		{"with another code", "AAAA-BBBB-CCCC", secret, copied, http.StatusForbidden, "claim code"},
		{"without the key", code, "", copied, http.StatusUnprocessableEntity, "secret key"},
		{"with another key", code, other, copied, http.StatusUnprocessableEntity, "does not belong"},
		{"half of it", code, secret, copied[:len(copied)/2], http.StatusUnprocessableEntity, "damaged"},
		{"something else", code, "", []byte("holiday"), http.StatusUnprocessableEntity, "not a backup"},
		{"33 MB", code, secret, make([]byte, 33<<20), http.StatusRequestEntityTooLarge, ""},
	} {
		status, body := s.claimRestore(t, c.code, c.key, c.file)
		if status != c.status || !strings.Contains(body, c.word) || strings.Contains(body, c.key) && c.key != "" {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.status)
		}
	}
	if status, body := s.claimRestore(t, strings.ToLower(code), secret, copied); status != http.StatusAccepted || !strings.Contains(body, `"nodes":2`) {
		t.Fatalf("restore: %d %s", status, body)
	}
	h := &house{t: t, url: s.url, dataDir: fresh.dataDir}
	for until := time.Now().Add(uitest.Patience); ; time.Sleep(50 * time.Millisecond) {
		h.client = trusting(t, filepath.Join(fresh.dataDir, certificateFile)) // of the old box
		if res, err := h.client.Post(h.url+"/api/v1/auth/login", "application/json", strings.NewReader(`{"username":"admin","password":"`+housePassword+`"}`)); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(until) {
			t.Fatalf("nobody of the backup can log in yet: %s", s.log)
		}
	}
	s.client = h.client
	if status, body := s.claimRestore(t, code, secret, copied); status != http.StatusConflict {
		t.Errorf("once more: %d %s", status, body)
	}
	if out := fresh.must("site", "export"); !strings.Contains(out, "Other lamp") {
		t.Errorf("restored: %s", out)
	}
	if text := s.log.String(); strings.Contains(text, secret) {
		t.Error("the log has the secret key")
	}
}
