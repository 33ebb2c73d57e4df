package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplacedDatabasesAreKeptThreeDeep(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var replaced []string
	for range 6 {
		r, err := Restore(t.Context(), file, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Replaced != "" {
			replaced = append(replaced, r.Replaced)
		}
	}
	for i, kept := range replaced {
		if _, err := os.Stat(kept); (err == nil) != (i >= len(replaced)-replacedMost) {
			t.Errorf("database %d of %d that were replaced: %v", i+1, len(replaced), err)
		}
	}
	if len(replaced) != 5 {
		t.Errorf("%d were replaced, want 5", len(replaced))
	}
}
