package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/ui/uitest"
)

// TestPhonesAreLedToTheClaim starts the daemon with the two sockets that an appliance's system opens, and asks the second one what
// phones ask by themselves in a Wi-Fi that they do not know.
func TestPhonesAreLedToTheClaim(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	var files []*os.File
	var addresses []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		addresses, files = append(addresses, l.Addr().String()), append(files, f)
		l.Close() // f stays
	}
	serve := d.command(context.Background(), "serve", "--listen", "systemd")
	c := exec.Command("/bin/sh", append([]string{"-c", `export LISTEN_PID=$$; exec "$0" "$@"`}, serve.Args...)...)
	c.Env = append(os.Environ(), "LISTEN_FDS=2", "LISTEN_FDNAMES=claim-page:controllerd.socket")
	c.ExtraFiles = files
	log := &heard{pattern: servingLine, found: make(chan string, 1)}
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, cmd: c, ended: make(chan struct{}), log: log}
	go func() { defer close(s.ended); c.Wait() }()
	t.Cleanup(s.kill)
	for _, f := range files {
		f.Close()
	}
	select {
	case at := <-log.found:
		if at != addresses[1] {
			t.Fatalf("HTTPS is served on %s, want the socket of that name, %s", at, addresses[1])
		}
	case <-s.ended:
		t.Fatalf("the daemon ended at once: %s", log)
	case <-time.After(uitest.Patience):
		t.Fatalf("the daemon does not serve: %s", log)
	}
	s.client = trusting(t, filepath.Join(d.dataDir, certificateFile))

	phone := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(phone.CloseIdleConnections)
	ask := func(method, host, path, language string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addresses[0]+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Accept-Language", language)
		resp, err := phone.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(b)
	}
	for host, path := range map[string]string{
		"connectivitycheck.gstatic.com": "/generate_204", "captive.apple.com": "/hotspot-detect.html",
		"www.msftconnecttest.com": "/connecttest.txt", "127.0.0.1": "/login",
	} {
		if resp, _ := ask("GET", host, path, ""); resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "http://127.0.0.1/" {
			t.Errorf("http://%s%s: %s, to %s", host, path, resp.Status, resp.Header.Get("Location"))
		}
	}
	if resp, _ := ask("POST", "127.0.0.1", "/", ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
	code := ""
	waitFor(t, 60*time.Second, "the claim code", func() bool {
		said, _ := os.ReadFile(filepath.Join(d.dataDir, api.ClaimFile))
		code = strings.TrimSpace(string(said))
		return code != ""
	})
	for language, want := range map[string]string{"en-GB,en;q=0.9": "Claim this controller", "de-CH,de;q=0.9,en;q=0.5": "Steuerung übernehmen"} {
		resp, page := ask("GET", "127.0.0.1", "/", language)
		fingerprint := strings.ReplaceAll(log.String(), `"`, "")
		_, fingerprint, _ = strings.Cut(fingerprint, "fingerprint=")
		fingerprint, _, _ = strings.Cut(fingerprint, " ")
		if resp.StatusCode != http.StatusOK || !strings.Contains(page, want) || !strings.Contains(page, `href="https://127.0.0.1/claim"`) || !strings.Contains(page, fingerprint) {
			t.Errorf("%s: %s, want %q, the claim's address and the fingerprint %s in\n%s", language, resp.Status, want, fingerprint, page)
		}
		if strings.Contains(page, code) {
			t.Error("the page tells the claim code to whoever asks")
		}
	}

	resp, err := s.client.Post("https://"+addresses[1]+"/api/v1/claim", "application/json",
		strings.NewReader(`{"code":"`+code+`","username":"mira","password":"correct horse battery"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("claim: %s", resp.Status)
	}
	for _, host := range []string{"captive.apple.com", "127.0.0.1"} {
		if resp, page := ask("GET", host, "/", ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s after the claim: %s %s", host, resp.Status, page)
		}
	}
	s.stop()
}
