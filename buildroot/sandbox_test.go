package buildroot

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sandbox is a folder in place of a box's files, where its scripts run with programs of ours in bin.
type sandbox struct {
	t   *testing.T
	dir string
}

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	return sandbox{t, t.TempDir()}
}

// put writes a file whole, in place of what it was, that can be run.
func (s sandbox) put(path, text string) {
	s.t.Helper()
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	syscall.ForkLock.RLock() // else a process that another test begins may hold it open, and it cannot be run
	err := os.WriteFile(path+".part", []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		s.t.Fatal(err)
	}
}

// read gives "" for a file that is not there.
func (s sandbox) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}

// script puts one of the appliance's files, by its path there, with some of the paths in it replaced.
func (s sandbox) script(path, to string, oldAndNew ...string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("board/common/overlay", path))
	if err != nil {
		s.t.Fatal(err)
	}
	s.put(to, strings.NewReplacer(oldAndNew...).Replace(string(text)))
}

// command is a script that was put, and finds the programs of bin first.
func (s sandbox) command(script string, args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), filepath.Join(s.dir, script), args...)
	c.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	return c
}
