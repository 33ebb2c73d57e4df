package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/shelf/web/siege"
)

// programDir holds the programs while the tests run.
var programDir string

// program and simulator are the paths of the real binaries, built once for all tests
// that need processes of their own.
var (
	program   = sync.OnceValues(func() (string, error) { return built(".") })
	simulator = sync.OnceValues(func() (string, error) { return built("../simbuilding") })
)

func built(folder string) (string, error) {
	build := exec.Command("go", "build", "-o", programDir+"/", folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	abs, err := filepath.Abs(folder)
	return filepath.Join(programDir, filepath.Base(abs)), err
}

func TestMain(m *testing.M) {
	siege.Main()
	dir, err := os.MkdirTemp("", "controllerd-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programDir = dir
	debug.SetGCPercent(400) // the daemons in this process are many and small; those of their own processes keep to theirs
	code := drivertest.SideBySide(m, 8)
	if err := uitest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "end Chromium:", err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// desk is where a technician types commands for one data directory.
type desk struct {
	t       *testing.T
	dataDir string
	house   *house // in whose bubble the commands run; nil: each is a process
}

// said is what a command answered.
type said struct {
	out, err string
	code     int
}

// command prepares a run of the program.
func (d *desk) command(ctx context.Context, args ...string) *exec.Cmd {
	d.t.Helper()
	path, err := program()
	if err != nil {
		d.t.Fatal(err)
	}
	return exec.CommandContext(ctx, path, append([]string{"--data-dir", d.dataDir}, args...)...)
}

// typed runs a command with something on its standard input.
func (d *desk) typed(input string, args ...string) said {
	d.t.Helper()
	if d.house != nil {
		var out, errs bytes.Buffer
		code := d.house.inProcess(d.t.Context(), d.dataDir, strings.NewReader(input), &out, &errs, args)
		return said{out.String(), errs.String(), code}
	}
	if _, err := program(); err != nil { // the first to ask waits for the build, which is not the command's time
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return d.answerOf(d.command(ctx, args...), input)
}

// answerOf runs a program to its end.
func (d *desk) answerOf(c *exec.Cmd, input string) said {
	d.t.Helper()
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &errs
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		d.t.Fatalf("%s: %v", strings.Join(c.Args, " "), err)
	}
	return said{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// run runs a command that may fail.
func (d *desk) run(args ...string) said {
	d.t.Helper()
	return d.typed("", args...)
}

// must runs a command that has to succeed and returns what it printed.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	s := d.run(args...)
	if s.code != 0 {
		d.t.Fatalf("controllerd %s: exit code %d\n%s%s", strings.Join(args, " "), s.code, s.out, s.err)
	}
	return s.out
}

// write makes a file beside the data directory.
func (d *desk) write(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// served is a daemon in a process of its own.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	client *http.Client
	log    *heard
	ended  chan struct{} // closed when the process is gone
}

// heard collects what a process says and tells when a pattern appears.
type heard struct {
	mu      sync.Mutex
	text    []byte
	pattern *regexp.Regexp
	found   chan string // first submatch, once
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p...)
	if m := h.pattern.FindSubmatch(h.text); m != nil && len(h.found) == 0 {
		select {
		case h.found <- string(m[1]):
		default:
		}
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

var servingLine = regexp.MustCompile(`msg=serving https=(\S+)`)

// serve starts a daemon on any free port and waits until it serves.
func (d *desk) serve(args ...string) *served {
	d.t.Helper()
	return d.serveIn(nil, args...)
}

// serveIn does so in a control group; nil: in none.
func (d *desk) serveIn(group *confine.Group, args ...string) *served {
	d.t.Helper()
	s := &served{t: d.t, ended: make(chan struct{}), log: &heard{pattern: servingLine, found: make(chan string, 1)}}
	s.cmd = d.command(context.Background(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Stderr = s.log
	if group != nil {
		group.Command(s.cmd)
	}
	if err := s.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { defer close(s.ended); s.cmd.Wait() }()
	d.t.Cleanup(s.kill)
	select {
	case addr := <-s.log.found:
		s.url = "https://" + addr
	case <-s.ended:
		d.t.Fatalf("the daemon ended at once: %s", s.log)
	case <-time.After(uitest.Patience):
		d.t.Fatalf("the daemon does not serve: %s", s.log)
	}
	s.client = trusting(d.t, filepath.Join(d.dataDir, certificateFile))
	return s
}

// gone reports whether the process has ended.
func (s *served) gone() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// kill ends the process as a power cut would, and waits until it is gone.
func (s *served) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// stop ends it as systemd would.
func (s *served) stop() {
	s.t.Helper()
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(uitest.Patience):
		s.t.Fatalf("the daemon did not end after SIGTERM: %s", s.log)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the daemon ended with exit code %d: %s", code, s.log)
	}
}
