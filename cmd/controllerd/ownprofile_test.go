package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestABrokenProfileIsToldOf at the start and by the command that lists profiles, with its line, though no
// site names it.
func TestABrokenProfileIsToldOf(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	folder := filepath.Join(d.dataDir, "profiles")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "x.yaml"), []byte("name: x\noutputs: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// One that is no file would be read without end, or never.
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := d.serve().log.String()
	if !strings.Contains(log, "pipe.yaml: is no plain file") {
		t.Errorf("nothing is told of a pipe: %s", log)
	}
	for what, text := range map[string]string{"the log": log, "controllerd site profiles": d.run("site", "profiles").err} {
		if !strings.Contains(text, "x.yaml:") || !strings.Contains(text, "an own profile cannot be used") {
			t.Errorf("%s says %s", what, text)
		}
	}
}
