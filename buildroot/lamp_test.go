package buildroot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLampShowsHowTheBoxIs has systemd and the update say one thing after the other, and looks at a lamp that is a folder, as the
// kernel shows one.
func TestLampShowsHowTheBoxIs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.dir
	systemd := func(active string, restarts int, status string) {
		s.put("systemd", fmt.Sprintf("ActiveState=%s\nNRestarts=%d\nStatusText=%s\n", active, restarts, status))
	}
	s.script("usr/lib/appliance/lamp", "bin/lamp", "/run/appliance/", dir+"/")
	s.put("bin/systemctl", "#!/bin/sh\n[ \"$*\" = 'show controllerd -p ActiveState -p NRestarts -p StatusText' ] && cat "+dir+"/systemd\n")
	s.put("bin/sleep", "#!/bin/sh\nexec /bin/sleep 0.05\n")
	s.put("ACT/max_brightness", "1\n")
	for _, name := range []string{"trigger", "pattern", "brightness"} {
		s.put("ACT/"+name, "")
	}
	lamp := func(args ...string) *exec.Cmd {
		c := s.command("bin/lamp", args...)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return c
	}
	systemd("inactive", 0, "")
	shows := lamp(filepath.Join(dir, "ACT"))
	if err := shows.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-shows.Process.Pid, syscall.SIGKILL); _ = shows.Wait() })

	const flash, pause = "1 150 1 0 0 250 0 0 ", "0 1200 0 0"
	for _, c := range []struct {
		name              string
		set               func()
		file, want, words string
	}{
		{"before the daemon is started", func() {}, "trigger", "heartbeat", "starting"},
		{"while nobody can log in", func() { systemd("active", 0, "waits to be claimed") }, "pattern", flash + pause, "waits to be claimed"},
		{"in order", func() { systemd("active", 0, "in order") }, "trigger", "none", "in order"},
		{"a silent bus", func() { systemd("active", 0, "a bus is silent: offices") }, "pattern", flash + flash + pause, "a bus is silent: offices"},
		{"an update", func() { s.put("told", "1.4.0\nunder way\nfrom 1.4.0 to 1.5.0\n") }, "pattern", "1 100 1 0 0 100 0 0", "an update is under way"},
		{"the restart after it", func() { s.put("told", "1.5.0\nupdated\n\n"); systemd("activating", 0, "") }, "trigger", "heartbeat", "starting"},
		{"a daemon that ends again and again", func() { systemd("activating", 2, "") }, "pattern", flash + flash + flash + pause, "failed"},
		{"in order again", func() { systemd("active", 2, "in order") }, "trigger", "none", "in order"},
		{"a rescue page", func() { systemd("active", 0, "failed, and shows a rescue page: damaged") }, "pattern", flash + flash + flash + pause, "failed, and shows a rescue page: damaged"},
	} {
		c.set()
		got := ""
		for deadline := time.Now().Add(30 * time.Second); got != c.want; time.Sleep(20 * time.Millisecond) {
			b, err := os.ReadFile(filepath.Join(dir, "ACT", c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got = strings.TrimSpace(string(b)); time.Now().After(deadline) {
				t.Fatalf("%s: the lamp's %s is %q, want %q", c.name, c.file, got, c.want)
			}
		}
		out, err := lamp().CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.words {
			t.Errorf("%s: it says %q, want %q (%v)", c.name, got, c.words, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "ACT/brightness")); err != nil || string(b) != "1\n" {
		t.Errorf("in order the lamp is at %q, want 1: %v", b, err)
	}
}
