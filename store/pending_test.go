package store

import (
	"os"
	"path/filepath"
	"testing"
)

// A power cut after a restore's database is in its place and before its profiles are: they come with the next start,
// and once only.
func TestRestoreIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	profile := filepath.Join("profiles", "lamp.yaml")
	if err := os.MkdirAll(filepath.Join(filepath.Dir(s.path), "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.path), profile), []byte("outputs: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	blank := t.TempDir()
	if _, err := Restore(t.Context(), file, blank, nil); err != nil {
		t.Fatal(err)
	}
	gone := func() {
		if err := os.RemoveAll(filepath.Join(blank, "profiles")); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	restored := open(t, blank)
	if got, err := os.ReadFile(filepath.Join(blank, profile)); err != nil || string(got) != "outputs: []\n" {
		t.Errorf("the profile is %q, %v", got, err)
	}
	restored.Close()
	gone()
	open(t, blank)
	if _, err := os.Stat(filepath.Join(blank, profile)); err == nil {
		t.Error("a profile that was removed comes back")
	}
}
