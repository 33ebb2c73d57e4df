package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"svc.internal/controller/shelf/account"
)

// What listens on this machine only, or answers on its cable without asking who is there, was
// within reach of whoever may fetch an update: by its address, by a name, or by a redirect.
func TestUpdatesAreNotFetchedFromThisMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	secret := mirror(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "hsqs what only this machine may read")
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(secret, "http://"), ":")
	outside := mirror(t, ownAddress(t), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, secret, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "hsqs a system")
	})
	addresses := []string{
		secret, outside + "/redirect", "http://localhost:" + port, "http://127.8.9.1:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port,
		"http://[::]:" + port, "http://[::1]:" + port, "http://169.254.169.254/latest", "http://[::ffff:a9fe:a9fe]/", "http://[fe80::1]/", "http://[fe80::1%25lo]/",
		"http://224.0.0.1/", "http://255.255.255.255/",
	}

	h := newBuilding(t, smallSite)
	d := h.desk()
	s := d.serve("--appliance", t.TempDir())
	for _, url := range addresses {
		if status, said := s.fetchUpdate(url); status != http.StatusBadGateway || !strings.Contains(said, "--update-from-local") {
			t.Errorf("fetch from %s: %d %s", url, status, said)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("what listens on this machine only was asked %d times", n)
	}
	if status, said := s.fetchUpdate(outside); status != http.StatusAccepted {
		t.Errorf("a mirror in the building: %d %s", status, said)
	}
	s.stop()
}

// A proxy would dial where the daemon may not.
func TestUpdatesAreFetchedWithoutProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := mirror(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { asked.Add(1) })
	t.Setenv("HTTP_PROXY", proxy)
	outside := mirror(t, ownAddress(t), func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hsqs a system") })
	h := newBuilding(t, smallSite)
	s := h.desk().serve("--appliance", t.TempDir())
	if status, said := s.fetchUpdate(outside); status != http.StatusAccepted || asked.Load() != 0 {
		t.Errorf("with HTTP_PROXY set: %d %s; the proxy was asked %d times", status, said, asked.Load())
	}
	s.stop()
}

// The mirror on the machine itself, where whoever runs it says so.
func TestUpdateFromThisMachineWhereAllowed(t *testing.T) {
	t.Parallel()
	here := mirror(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hsqs a system") })
	h := newBuilding(t, smallSite)
	s := h.desk().serve("--appliance", t.TempDir(), "--update-from-local")
	if status, said := s.fetchUpdate(here); status != http.StatusAccepted {
		t.Errorf("with --update-from-local: %d %s", status, said)
	}
	s.stop()
}

// mirror is a shelf with updates at an address of this machine.
func mirror(t *testing.T, address string, answers http.HandlerFunc) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: answers}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// ownAddress is one that others know this machine by.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has no address but those of loopback: one is needed to tell apart who may be reached")
	return ""
}

func (s *served) fetchUpdate(url string) (status int, said string) {
	s.t.Helper()
	token := s.adminToken()
	body, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/v1/update/fetch", strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return s.answered(req)
}

func (s *served) adminToken() string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/v1/auth/login", strings.NewReader(
		`{"username":"`+string(account.RoleAdmin)+`","password":"`+housePassword+`"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	status, said := s.answered(req)
	if err := json.Unmarshal([]byte(said), &answer); err != nil || status != http.StatusOK {
		s.t.Fatalf("log in: %d %s", status, said)
	}
	return answer.Token
}

func (s *served) answered(req *http.Request) (status int, said string) {
	s.t.Helper()
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
