package database

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestStepsAreInTheOrderOfTheirNumbers(t *testing.T) {
	files := fstest.MapFS{
		"migrations/0002_second.sql": {Data: []byte("B")},
		"migrations/0001_first.sql":  {Data: []byte("A")},
		"migrations/README":          {Data: []byte("no step")},
	}
	steps, err := Steps(files)
	if got := strings.Join(steps, ""); err != nil || got != "AB" {
		t.Errorf("steps %q, %v; want A before B", got, err)
	}
	files["migrations/0004_late.sql"] = &fstest.MapFile{}
	if _, err := Steps(files); err == nil || !strings.Contains(err.Error(), "0003_") {
		t.Errorf("a step that leaves out a number: %v, want an error that says what its name must begin with", err)
	}
}

func TestFileIsItsOwnersAlone(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "x.db"), CacheKiB: 64}
	if err := f.Create(); err != nil {
		t.Fatal(err)
	}
	db, err := f.Writer(Full)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{f.Path, f.Path + "-wal", f.Path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 600", filepath.Base(name), info, err)
		}
	}
	if err := f.Create(); err != nil {
		t.Errorf("a file that is there: %v, want it to stay", err)
	}
	read, err := f.Reader(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var n int
	if err := read.QueryRow("SELECT n FROM a").Scan(&n); err != nil || n != 7 {
		t.Errorf("read %d, %v; want 7", n, err)
	}
	if _, err := read.Exec("DELETE FROM a"); err == nil {
		t.Error("a connection that reads has written")
	}
}

func TestMemoryTouchesNoDisk(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "x.db")}
	db, err := f.Memory()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE a (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}
