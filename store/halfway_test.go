package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A process that is killed in the middle of a backup leaves nothing: what it has written
// until then has no name.
func TestBackupHasNoNameUntilItIsWhole(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	dir := t.TempDir()
	before := namesIn(t, filepath.Dir(s.path))
	asked := false
	s.now = func() time.Time { // asked for when the database is copied and nothing packed
		asked = true
		if there := namesIn(t, dir); len(there) > 0 {
			t.Errorf("half-way there is %q", there)
		}
		if there := namesIn(t, filepath.Dir(s.path)); !slices.Equal(there, before) {
			t.Errorf("half-way the data directory holds %q, want %q", there, before)
		}
		return time.Now()
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "house.backup"), BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if there := namesIn(t, dir); !asked || !slices.Equal(there, []string{"house.backup"}) {
		t.Errorf("there is %q afterwards (looked half-way: %v)", there, asked)
	}
}

// A restore that is refused leaves a directory as it was, and makes none.
func TestRefusedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	own := filepath.Dir(s.path)
	file := filepath.Join(t.TempDir(), "house.backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, own)
	blank := filepath.Join(t.TempDir(), "blank")
	for _, dir := range []string{own, blank} {
		if _, err := Restore(t.Context(), file, dir, nil); err == nil {
			t.Errorf("%s: a damaged backup was restored", dir)
		}
	}
	if after := namesIn(t, own); !slices.Equal(after, before) {
		t.Errorf("the directory holds %q, want %q", after, before)
	}
	if _, err := os.Stat(blank); err == nil {
		t.Error("a directory was made")
	}
}
