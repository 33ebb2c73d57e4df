package main

import (
	"bufio"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/shelf/web/siege"
)

// TestMain lets the test binary be the program itself, or who attacks it.
func TestMain(m *testing.M) {
	siege.Main()
	if os.Getenv("BE_PLATFORMD") != "" {
		main()
	}
	debug.SetGCPercent(400) // the daemons in this process are many and small; those of their own processes keep to theirs
	code := drivertest.SideBySide(m, 8)
	os.RemoveAll(deliveredIn)
	if err := uitest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "end Chromium:", err)
	}
	os.Exit(code)
}

// command is the program with these arguments, on a data directory.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	return commandOf(t, os.Args[0], dir, args...)
}

func commandOf(t *testing.T, program, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, append([]string{"--data-dir", dir}, args...)...)
	c.Env = append(os.Environ(), "BE_PLATFORMD=1")
	return c
}

// typed runs a command in this process, which has long begun, and returns its exit code and what it printed.
func typed(t *testing.T, dir, stdin string, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"--data-dir", dir}, args...))
	code = cli.Run(t.Context(), root)
	return code, out.String()
}

// platformd runs a command that has to succeed, and returns what it printed.
func platformd(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	code, out := typed(t, dir, stdin, args...)
	if code != 0 {
		t.Fatalf("platformd %s: exit code %d: %s", strings.Join(args, " "), code, out)
	}
	return out
}

// served is a running daemon.
type served struct {
	*house
	run *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *served) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// addressOf is where it serves by a protocol, as its log says.
func (s *served) addressOf(protocol string) (address string) {
	s.t.Helper()
	eventually(s.t, "it serves "+protocol, func() bool {
		_, at, ok := strings.Cut(s.printed(), "msg=serving "+protocol+"=")
		if ok {
			address = strings.Fields(at)[0]
		}
		return ok
	})
	return address
}

// serve starts the daemon with plain HTTP on a free port.
func serve(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	return serveIn(t, nil, os.Args[0], dir, args...)
}

// serveIn does so with the program in a file and in a control group; nil: in none.
func serveIn(t *testing.T, group *confine.Group, program, dir string, args ...string) *served {
	t.Helper()
	s := &served{run: commandOf(t, program, dir, append([]string{"serve", "--listen", "", "--insecure-http", "127.0.0.1:0", "--mqtt-listen", "127.0.0.1:0"}, args...)...)}
	if group != nil {
		group.Command(s.run)
	}
	pipe, err := s.run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			s.mu.Lock()
			s.out.WriteString(lines.Text() + "\n")
			s.mu.Unlock()
			if _, at, ok := strings.Cut(lines.Text(), "msg=serving http="); ok {
				address <- strings.Fields(at)[0]
			}
		}
	}()
	select {
	case at := <-address:
		s.house = &house{t: t, url: "http://" + at}
	case <-time.After(patience):
		t.Fatalf("it does not serve: %s", s.printed())
	}
	t.Cleanup(func() {
		if s.run.ProcessState == nil {
			s.run.Process.Kill()
			s.run.Wait()
		}
	})
	return s
}

func TestTheCommandLineWorksOnARunningDaemonFromTheNextRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	platformd(t, dir, password+"\n", "user", "add", "ada", "--role", "admin", "--password-stdin")
	s := serve(t, dir)
	ada := s.login("ada")
	_, key := ada.newKey(`{"name":"k"}`)
	accepted := func() bool {
		// Whatever the room makes of it: a key that is good counts by itself.
		return s.ask("POST", chatPath+"?apiKey="+key, `{}`).Header.Get("X-RateLimit-Limit") == "100"
	}
	if !accepted() {
		t.Fatal("the key does not work")
	}
	platformd(t, dir, "", "user", "disable", "ada")
	if accepted() {
		t.Error("a key of a user who was disabled by the command line works")
	}
	platformd(t, dir, "", "user", "enable", "ada")
	if !accepted() {
		t.Error("a key of a user who was enabled again does not work")
	}
	ada = s.login("ada")
	platformd(t, dir, "another password\n", "user", "passwd", "ada", "--password-stdin")
	ada.api("GET", "/api/api-keys", "").want(t, 401, "a session after the password was changed")
	platformd(t, dir, "", "controller", "add", "Main street 5", "--id", "main")
	if list := platformd(t, dir, "", "controller", "list", "--json"); !strings.Contains(list, `"id": "main"`) || !strings.Contains(list, `"lastSeen": null`) {
		t.Errorf("controller list: %s", list)
	}
	if list := platformd(t, dir, "", "user", "list"); !strings.Contains(list, "ada   admin  enabled") {
		t.Errorf("list is\n%s", list)
	}
	platformd(t, dir, "", "user", "remove", "ada")
	if accepted() {
		t.Error("a key of a user who was removed works")
	}
	if strings.Contains(s.printed(), key) || !strings.Contains(s.printed(), "apiKey=…") {
		t.Errorf("the log is\n%s", s.printed())
	}
}

func TestAnOrderlyEndLetsRequestsUnderWayFinish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	platformd(t, dir, password+"\n", "user", "add", "ada", "--password-stdin")
	s := serve(t, dir)
	// A login whose body is still coming when the end is asked for. The daemon says "100 Continue" when it reads the body:
	// before that nobody knows whether it has taken the connection, and one that waits to be taken ends with the listener.
	body, write := io.Pipe()
	type outcome struct {
		status int
		err    error
	}
	begun, done := make(chan struct{}), make(chan outcome, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/api/auth/login", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	go func() {
		a, err := client.Do(req)
		if err != nil {
			done <- outcome{err: err}
			return
		}
		a.Body.Close()
		done <- outcome{status: a.StatusCode}
	}()
	select {
	case <-begun:
	case got := <-done:
		t.Fatalf("the request ended before it had begun: %d %v", got.status, got.err)
	}
	if _, err := io.WriteString(write, `{"username":"ada",`); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(s.url, "http://")
	if err := s.run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			break // it takes nobody new
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("it goes on taking connections")
		}
	}
	if _, err := io.WriteString(write, `"password":"`+password+`"}`); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if got := <-done; got.err != nil || got.status != 200 {
		t.Errorf("the request under way got %d %v", got.status, got.err)
	}
	if err := s.run.Wait(); err != nil {
		t.Errorf("the end: %v: %s", err, s.printed())
	}
	if log := s.printed(); !strings.Contains(log, "stopping") || !strings.Contains(log, "msg=stopped") {
		t.Errorf("the end is not in the log: %s", log)
	}
}

func TestWrongCallsExitWith2(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"nonsense"}, {"serve", "--nonsense"}, {"user", "add"}, {"user", "add", "ada", "--role", "king", "--password-stdin"},
		{"serve", "--listen", "", "--insecure-http", "0.0.0.0:8080"}, {"serve", "--listen", ""},
		{"serve", "--tls-cert", "x"}, {"serve", "--listen", "127.0.0.1:0", "--trusted-proxy", "proxy"},
	} {
		if code, out := typed(t, t.TempDir(), "", args...); code != 2 || !strings.Contains(out, "platformd: ") {
			t.Errorf("%q: exit code %d: %s", args, code, out)
		}
	}
}

func TestWrongSettingsExitWith2AndTellNoPassword(t *testing.T) {
	for setting, says := range map[string]string{
		"REDIS_URL=foo": `REDIS_URL is "foo"; want an address such as redis://`,
		"REDIS_URL=http://ada:geheim@host?password=geheim": `REDIS_URL is "http://host"; want an address such as redis://`,
		"REDIS_URL=ada:geheim@host":                        `REDIS_URL is "…@host"`,
		"REDIS_URL=redis://ada:gehe/im@host":               `REDIS_URL cannot be read as an address`,
		"REDIS_URL=redis://host/first":                     `REDIS_URL`,
		"DATABASE_URL=mysql://ada:geheim@host/x":           `DATABASE_URL is "mysql://host/x"; want an address such as postgres://`,
		"DATABASE_URL=postgres://ada:gehe/im@host":         `DATABASE_URL cannot be read as an address`,
		"OIDC_ISSUER=login.example":                        "OIDC_ISSUER",
		"OIDC_CREATE_USERS=perhaps":                        "OIDC_CREATE_USERS",
		"OIDC_CLIENT_ID=pages":                             "OIDC_ISSUER",
		"WEBEX_CLIENT_ID=x":                                "WEBEX_CLIENT_SECRET",
		"ROOMOS_NETWORKS=10.0.0.0/8,rooms":                 "ROOMOS_NETWORKS: rooms: want an address or a network",
		"ROOMOS_CA_FILE=/no/such/file":                     "ROOMOS_CA_FILE",
		"VOICE_ACTION_ENABLED=true":                        "VOICE_ACTION_TOKEN",
		"LLM_URL=x":                                        "LLM_MODEL",
		"TUNNEL_DOMAIN=x":                                  "TUNNEL_DOMAIN",
		"MQTT_CA_FILE=/nowhere":                            "MQTT_CA_FILE",
	} {
		t.Run(setting, func(t *testing.T) {
			name, value, _ := strings.Cut(setting, "=")
			t.Setenv(name, value)
			code, out := typed(t, t.TempDir(), "", "serve", "--listen", "127.0.0.1:0", "--mqtt-listen", "127.0.0.1:0")
			if code != 2 || !strings.Contains(out, says) || strings.Contains(out, "gehe") {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
}

func TestSayingNamesWhatItNeeds(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var refused *web.Error
		errors.As(gate.TooMany(1, time.Minute, 7*time.Second), &refused)
		w.WriteHeader(refused.Status)
		w.Write(refused.Body)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "certificate.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	say := []string{"voice", "say", "--url", server.URL, "--device", "room", "lights on"}
	for says, args := range map[string][]string{
		"give that certificate, or its authority's, with --ca": say,
		"Too many requests; try again in 7 s\n":                append(say, "--ca", ca),
	} {
		if code, out := typed(t, t.TempDir(), "", args...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("%q: %s", args, out)
		}
	}
}

func TestABusyAddressNamesItsFlag(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, flag := range []string{"--listen", "--insecure-http", "--mqtt-listen"} {
		args := []string{"serve"}
		for _, f := range []string{"--listen", "--insecure-http", "--mqtt-listen"} {
			at := "127.0.0.1:0"
			if f == flag {
				at = busy.Addr().String()
			}
			args = append(args, f, at)
		}
		out, err := command(t, t.TempDir(), args...).CombinedOutput()
		if err == nil || !bytes.HasSuffix(bytes.TrimSpace(out), []byte("; another program has it: choose another with "+flag)) {
			t.Errorf("%s: %v: %s", flag, err, out)
		}
	}
}

// Whoever starts a second instance on one machine hears at once of every flag that it needs,
// and its broker never opens the files of the first.
func TestASecondInstanceOnOneMachineIsToldItsFlags(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	plain, mqtt := strings.TrimPrefix(s.url, "http://"), s.addressOf("mqtts")
	out, err := command(t, t.TempDir(), "serve", "--listen", "", "--insecure-http", plain, "--mqtt-listen", mqtt).CombinedOutput()
	for _, want := range []string{"choose another with --insecure-http", "choose another with --mqtt-listen", "--data-dir of its own"} {
		if err == nil || !bytes.Contains(out, []byte(want)) {
			t.Errorf("%q is missing: %v: %s", want, err, out)
		}
	}
	out, err = command(t, dir, "serve", "--listen", "", "--insecure-http", "127.0.0.1:0", "--mqtt-listen", "127.0.0.1:0").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("choose another directory with --data-dir")) {
		t.Errorf("the same directory: %v: %s", err, out)
	}
	s.ask("GET", "/readyz", "").want(t, 200, "the first one")
}

// The row "What counts": X-Forwarded-For only from a configured proxy.
func TestATrustedProxySpeaksForOthersAndNobodyElseDoes(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, "--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8")
	s.early("X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2", "X-Forwarded-For: 2001:db8::1", "X-Forwarded-For: 2001:db8:0:1::1")
	left := func(forwarded string) string {
		return s.ask("GET", "/api/nowhere", "", "X-Forwarded-For: "+forwarded).Header.Get("X-RateLimit-Remaining")
	}
	for _, c := range [][2]string{
		{"203.0.113.1", "19"}, {"203.0.113.1", "18"}, {"203.0.113.2", "19"},
		{"203.0.113.9, 203.0.113.1", "17"}, // what stands before him he may have written himself
		{"203.0.113.1, 10.1.2.3", "16"},    // a chain of proxies of ours
		{"2001:db8::1", "19"},              // one host has a whole /64
		{"2001:db8::ffff:2", "18"},         //
		{"2001:db8:0:1::1", "19"},          // another network
	} {
		if got := left(c[0]); got != c[1] {
			t.Errorf("%s has %s left, want %s", c[0], got, c[1])
		}
	}
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	h.early("X-None: ")
	h.newPerson("ada", platform.RoleUser) // one request from here
	if got := h.ask("GET", "/api/nowhere", "", "X-Forwarded-For: 203.0.113.1").Header.Get("X-RateLimit-Remaining"); got != "18" {
		t.Errorf("believed without being configured: %s left", got)
	}
}
