package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
)

// A bundle is left for the system as it came, by an admin, one at a time; what the system
// says of it is told.
func TestUpdateIsHandedOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss, viewer := h.as(account.RoleAdmin), h.as(account.RoleViewer)
	bundle, inbox := "hsqs"+strings.Repeat("system", 100_000), filepath.Join(h.dir, "update", "upload.raucb")

	h.as(account.RoleOperator).must(403, "POST", "/update", bundle, nil)
	boss.must(422, "POST", "/update", "PK a zip file", nil)
	boss.must(422, "POST", "/update", "", nil)
	if left, err := filepath.Glob(filepath.Join(h.dir, "update", "*")); err != nil || len(left) > 0 {
		t.Errorf("refused, and left behind: %v %v", left, err)
	}
	must(t, os.MkdirAll(filepath.Dir(inbox), 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "update", "part-cut"), []byte("hsqs"), 0o600)) // the power went away
	var now api.UpdateStatus
	boss.must(202, "POST", "/update", bundle, &now)
	if !now.CanInstall || now.Status != "under way" {
		t.Errorf("just handed over: %+v", now)
	}
	if got, err := os.ReadFile(inbox); err != nil || string(got) != bundle {
		t.Errorf("the system gets %d bytes of %d: %v", len(got), len(bundle), err)
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "update", "part-*")); err != nil || len(left) > 0 {
		t.Errorf("parts stay: %v %v", left, err)
	}
	boss.must(409, "POST", "/update", bundle, nil)

	must(t, os.Remove(inbox))
	for told, want := range map[string]api.UpdateStatus{
		"v1.4.0\nrefused\nit is for another board\n": {System: "v1.4.0", Status: "refused", Report: "it is for another board"},
		"v1.5.0\nupdated\nfrom v1.4.0\nall well\n":   {System: "v1.5.0", Status: "updated", Report: "from v1.4.0\nall well"},
		"v1.4.0\nno word of ours\n?\n":               {System: "v1.4.0", Status: "none installed"},
	} {
		must(t, os.WriteFile(filepath.Join(h.dir, "told"), []byte(told), 0o644))
		want.Version, want.CanInstall = "test", true
		viewer.must(200, "GET", "/update", nil, &now)
		if now != want {
			t.Errorf("told %q: got %+v", told, now)
		}
		now = api.UpdateStatus{}
	}
}

// A bundle is fetched from an address that an admin gives, and from nowhere else.
func TestUpdateIsFetched(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss := h.as(account.RoleAdmin)
	bundle := "hsqs" + strings.Repeat("system", 1000)
	shelf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/update.raucb" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, bundle)
	}))
	t.Cleanup(shelf.Close)
	fetch := func(url string) map[string]string { return map[string]string{"url": url} }

	h.as(account.RoleOperator).must(403, "POST", "/update/fetch", fetch(shelf.URL+"/update.raucb"), nil)
	for _, url := range []string{"", "update.raucb", "file:///etc/passwd", "http://user:secret@127.0.0.1/update.raucb"} {
		boss.must(422, "POST", "/update/fetch", fetch(url), nil)
	}
	boss.must(502, "POST", "/update/fetch", fetch(shelf.URL+"/other.raucb"), nil)
	boss.must(502, "POST", "/update/fetch", fetch("http://127.0.0.1:1/update.raucb"), nil)
	if left, err := filepath.Glob(filepath.Join(h.dir, "update", "*")); err != nil || len(left) > 0 {
		t.Errorf("not fetched, and left behind: %v %v", left, err)
	}
	var now api.UpdateStatus
	boss.must(202, "POST", "/update/fetch", fetch(shelf.URL+"/update.raucb"), &now)
	if got, err := os.ReadFile(filepath.Join(h.dir, "update", "upload.raucb")); err != nil || string(got) != bundle {
		t.Errorf("the system gets %d bytes of %d: %v", len(got), len(bundle), err)
	}
	if now.Status != "under way" {
		t.Errorf("just handed over: %+v", now)
	}
}

// While one bundle comes in slowly, another is refused: each may fill the card.
func TestOneUpdateIsReceivedAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss := h.as(account.RoleAdmin)
	slow, more := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, boss.base+"/api/v1/update", slow)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+boss.token)
	first := make(chan int, 1)
	go func() {
		res, err := boss.http.Do(req)
		if err != nil {
			t.Error(err)
			first <- 0
			return
		}
		res.Body.Close()
		first <- res.StatusCode
	}()
	_, err = more.Write([]byte("hsqs"))
	must(t, err)
	_, err = more.Write([]byte("system")) // which is taken when the one before was looked at
	must(t, err)
	parts := func() int {
		left, err := filepath.Glob(filepath.Join(h.dir, "update", "part-*"))
		must(t, err)
		return len(left)
	}
	for parts() == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the first bundle is not received")
		}
		runtime.Gosched()
	}
	boss.must(409, "POST", "/update", "hsqs another", nil)
	if n := parts(); n != 1 {
		t.Errorf("%d bundles are being received, want one", n)
	}
	must(t, more.Close())
	if got := <-first; got != http.StatusAccepted {
		t.Errorf("the first: %d, want 202", got)
	}
}
