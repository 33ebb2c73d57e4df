// Package confine has a test run a program inside a control group of memory, as its
// systemd unit does with MemoryMax: what takes more is ended by the kernel.
package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A Group is a control group of memory.
type Group struct {
	dir, kills string
}

// hierarchies are where the kernel shows control groups of memory: the unified one, and
// the older one.
var hierarchies = []struct{ root, limit, kills string }{
	{"/sys/fs/cgroup", "memory.max", "memory.events"},
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"},
}

var made atomic.Int64

// New makes a control group that may have so many bytes, gone with the test. It ends the
// test where none can be made: root can.
func New(t testing.TB, bytes int64) *Group {
	t.Helper()
	name := fmt.Sprintf("controller-test-%d-%d", os.Getpid(), made.Add(1))
	var errs []error
	for _, h := range hierarchies {
		g, err := newGroup(filepath.Join(h.root, name), h.limit, bytes)
		if err == nil {
			g.kills = h.kills
			t.Cleanup(func() { g.remove(t) })
			return g
		}
		errs = append(errs, err)
	}
	t.Fatalf("make a control group of %d bytes (root can): %v", bytes, errors.Join(errs...))
	return nil
}

func newGroup(dir, limit string, bytes int64) (*Group, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	// Never made by us: beside the unified hierarchy may stand an ordinary folder.
	file, err := os.OpenFile(filepath.Join(dir, limit), os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(strconv.FormatInt(bytes, 10))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &Group{dir: dir}, nil
}

// Command has a command that is not started yet begin its life inside the group, so that
// it finds the limit as it would under systemd. Its process ID stays the program's.
func (g *Group) Command(cmd *exec.Cmd) {
	program := append([]string{cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.Args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, program...)
}

// Kills is how many processes the kernel has ended because the group was full.
func (g *Group) Kills(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, g.kills))
	if err != nil {
		t.Fatalf("read what the kernel ended: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if n, found := strings.CutPrefix(line, "oom_kill "); found {
			kills, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				t.Fatalf("read what the kernel ended: %v", err)
			}
			return kills
		}
	}
	t.Fatalf("%s of the control group does not tell what the kernel ended:\n%s", g.kills, text)
	return 0
}

// remove takes the group away as soon as its last process has ended.
func (g *Group) remove(t testing.TB) {
	err := os.Remove(g.dir)
	for until := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(until); err = os.Remove(g.dir) {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("remove the control group, in which something still runs: %v", err)
	}
}
