package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/shelf/ui/uitest"
)

// TestWhatAnOwnerPreparedIsTakenOver: whole or not at all, while nobody has claimed the controller; it enrols once the platform lets it.
func TestWhatAnOwnerPreparedIsTakenOver(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	platform := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch n := asked.Add(1); {
		case string(body) != `{"code":"ABCDE-FGHIJ"}`:
			w.WriteHeader(http.StatusUnauthorized)
		case n == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"controllerId":"annex","broker":"mqtts://127.0.0.1:1","username":"u","password":"p"}`)
		}
	}))
	t.Cleanup(platform.Close)
	sum := sha256.Sum256(platform.Certificate().Raw)
	file := fmt.Sprintf("# ours\nhostname=annex\ntime-zone=Europe/Zurich\nplatform=%s\nplatform-code=ABCDE-FGHIJ\nplatform-fingerprint=%s\n", platform.URL, hex.EncodeToString(sum[:]))
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	prepared := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(d.dataDir, "prepared", name))
		return strings.TrimSpace(string(b))
	}

	bad := d.typed(strings.Replace(file, "Europe/Zurich", "Europe/Zürich", 1), "prepare", "-")
	if bad.code != 1 || !strings.Contains(bad.err, "nothing was taken over:\nline 3, time-zone: want a time zone") || prepared("enrolment") != "" {
		t.Errorf("a wrong file: exit code %d, %q", bad.code, bad.out+bad.err)
	}
	good := d.typed(file, "prepare", "-")
	if good.code != 0 || good.out != "hostname: annex\ntime-zone: Europe/Zurich\nplatform: "+platform.URL+"; the controller enrols there once it is reached\n" {
		t.Errorf("exit code %d, %q %q", good.code, good.out, good.err)
	}
	if prepared("hostname") != "annex" {
		t.Errorf("the system is handed the name %q", prepared("hostname"))
	}
	if out := d.must("site", "export", "-"); !strings.Contains(out, "Europe/Zurich") {
		t.Errorf("the site does not know its time zone:\n%s", out)
	}

	s := d.serve()
	for deadline := time.Now().Add(uitest.Patience); !strings.Contains(d.run("cloud", "status").out, "annex"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not enrolled, asked %d times: %s", asked.Load(), s.log)
		}
	}
	s.stop()
	if prepared("enrolment") != "" {
		t.Error("the code stays after the enrolment")
	}
	if log := s.log.String(); strings.Contains(log, "ABCDE") || !strings.Contains(log, "503") {
		t.Errorf("the log has the code, or not why it took two tries: %s", log)
	}

	if wrong := d.typed(strings.Replace(file, "ABCDE-FGHIJ", "GONE", 1), "prepare", "-"); wrong.code != 0 {
		t.Errorf("exit code %d, %q", wrong.code, wrong.err)
	}
	s = d.serve()
	for deadline := time.Now().Add(uitest.Patience); prepared("enrolment") != ""; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a code that is refused is tried for ever: %s", s.log)
		}
	}
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "have a new one made") || strings.Contains(log, "GONE") {
		t.Errorf("the log says not that the code is refused, or says the code: %s", log)
	}

	if s := d.typed("a secret of twelve\n", "user", "add", "owner", "--role", "admin", "--password-stdin"); s.code != 0 {
		t.Fatal(s.err)
	}
	if late := d.typed(file, "prepare", "-"); late.code != 3 || !strings.Contains(late.err, "has an owner already") || prepared("enrolment") != "" {
		t.Errorf("after it was claimed: exit code %d, %q", late.code, late.out+late.err)
	}
}
