package siege

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Resident is how much memory a process has, in bytes (VmRSS).
func Resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("memory of process %d: it has none", pid)
}

// Watch looks at a process and a folder until the function that it returns is called, which
// tells the most memory that the process had and the most that the folder grew by, in bytes.
func Watch(t testing.TB, pid int, folder string) (stop func() (most, grown int64)) {
	t.Helper()
	began, err := Stored(folder)
	if err != nil {
		t.Fatal(err)
	}
	var most, grown int64 // read once done is closed
	over, done := make(chan struct{}), make(chan struct{})
	look := func() bool {
		memory, err := Resident(pid)
		stored, failed := Stored(folder)
		if err = errors.Join(err, failed); err != nil {
			t.Errorf("look at what the daemon takes: %v", err)
			return false
		}
		most, grown = max(most, memory), max(grown, stored-began)
		return true
	}
	go func() {
		defer close(done)
		for look() {
			select {
			case <-over:
				return
			case <-time.After(watchEvery):
			}
		}
	}()
	return sync.OnceValues(func() (int64, int64) {
		close(over)
		<-done
		return most, grown
	})
}

// watchEvery is how often it looks.
const watchEvery = 50 * time.Millisecond

// Stored is how many bytes the files of a folder take on the disk.
func Stored(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var about fs.FileInfo
			if about, err = e.Info(); err == nil {
				total += about.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // it was taken away meanwhile
			return nil
		}
		return err
	})
	return total, err
}
