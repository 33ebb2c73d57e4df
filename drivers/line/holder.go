package line

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const askHolderEvery = 10 * time.Second

// busy explains a port that another program holds.
func (o *Opener) busy(path string) error {
	if time.Since(o.at) > askHolderEvery {
		o.who, o.at = holder(path), time.Now()
	}
	if o.who == "" {
		return fmt.Errorf("%s is in use by another program (run \"fuser -v %s\" as root to see which): stop it", path, path)
	}
	return fmt.Errorf("%s is in use by %s: stop it, or take this bus out of its configuration", path, o.who)
}

// holder names a process that has the device open, as far as this user may see.
func holder(path string) string {
	device, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	self := ""
	for _, proc := range procs {
		pid, err := strconv.Atoi(proc.Name())
		if err != nil || !hasOpen(proc.Name(), device) {
			continue
		}
		if pid == os.Getpid() {
			self = fmt.Sprintf("another bus of this program (process %d)", pid)
			continue
		}
		name, _ := os.ReadFile(filepath.Join("/proc", proc.Name(), "comm"))
		return fmt.Sprintf("%s (process %d)", strings.TrimSpace(string(name)), pid)
	}
	return self
}

func hasOpen(pid, device string) bool {
	dir := filepath.Join("/proc", pid, "fd")
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && target == device {
			return true
		}
	}
	return false
}
