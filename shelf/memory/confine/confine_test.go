package confine_test

import (
	"os/exec"
	"testing"

	"svc.internal/controller/shelf/memory/confine"
)

// TestKill has a program take more than its group may have: the kernel ends it, and the
// one that takes less lives.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int64
		kills int
	}{{"enough", 256 << 20, 0}, {"too little", 16 << 20, 1}} {
		t.Run(c.name, func(t *testing.T) {
			group := confine.New(t, c.bytes)
			// A line of 64 MB without an end, held whole.
			cmd := exec.Command("sh", "-c", "head -c 64000000 /dev/zero | tr '\\0' x | sort >/dev/null")
			group.Command(cmd)
			out, err := cmd.CombinedOutput()
			if kills := group.Kills(t); kills < c.kills || c.kills == 0 && kills > 0 { // it may end the shell, too
				t.Errorf("%d processes ended by the kernel, want %d or more (%v, %s)", kills, c.kills, err, out)
			}
		})
	}
}
