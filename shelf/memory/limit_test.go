package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestLimitIsPartOfWhatThereIs(t *testing.T) {
	const board = "MemTotal:         507904 kB\nMemFree: 1 kB\n" // 496 MiB
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"a board without a limit", map[string]string{"proc/meminfo": board, "proc/self/cgroup": "0::/\n"}, 507904 << 10 / 4},
		{"a unit's MemoryMax", map[string]string{"proc/meminfo": board, "proc/self/cgroup": "0::/system.slice/controllerd.service\n",
			"sys/fs/cgroup/system.slice/controllerd.service/memory.max": "200000000\n"}, 160000000},
		{"a unit without, in a slice with one", map[string]string{"proc/meminfo": board, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "300000000\n"}, 240000000},
		{"the older hierarchy", map[string]string{"proc/meminfo": board, "proc/self/cgroup": "9:cpu:/x\n4:memory:/docker/1\n",
			"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "250000000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 200000000},
		{"a limit that is too low to be kept", map[string]string{"proc/self/cgroup": "0::/x\n", "sys/fs/cgroup/x/memory.max": "20000000\n"}, least},
		{"a machine that tells nothing", nil, math.MaxInt64},
		{"nonsense", map[string]string{"proc/meminfo": "MemTotal: much\n", "proc/self/cgroup": "nonsense\n"}, math.MaxInt64},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, from := choose(root); got != c.want {
			t.Errorf("%s: %d (%s), want %d", c.name, got, from, c.want)
		}
	}
}

func TestLimitIsNeverMoreThanNeeded(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	if limit, _ := SetLimit(1 << 20); limit != 1<<20 || debug.SetMemoryLimit(-1) != 1<<20 {
		t.Errorf("the limit is %d", limit)
	}
}

func TestEnvironmentOverrules(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "123MiB")
	if _, from := SetLimit(1); from != "GOMEMLIMIT" {
		t.Errorf("the limit is from %s", from)
	}
}

func TestWhatIsBorrowedIsGivenBack(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "") // as in a unit
	before := debug.SetMemoryLimit(64 << 20)
	defer debug.SetMemoryLimit(before)
	giveBack := Borrow(8 << 20)
	if got := debug.SetMemoryLimit(-1); got != 72<<20 {
		t.Errorf("limit of %d bytes while 8 MiB are borrowed, want 72 MiB", got)
	}
	giveBack()
	if got := debug.SetMemoryLimit(-1); got != 64<<20 {
		t.Errorf("limit of %d bytes afterwards, want 64 MiB", got)
	}
	most, _ := choose("/")
	giveBack = Borrow(math.MaxInt64 / 2)
	if got := debug.SetMemoryLimit(-1); got != most {
		t.Errorf("limit of %d bytes for whoever wants everything, want %d, what there is", got, most)
	}
	giveBack()
	t.Setenv("GOMEMLIMIT", "64MiB")
	Borrow(8 << 20)()
	if got := debug.SetMemoryLimit(-1); got != 64<<20 {
		t.Errorf("limit of %d bytes where the environment sets it, want 64 MiB", got)
	}
}
