// Package database opens the one database file of a daemon, in the way that both daemons open theirs: readable by nobody else,
// with a log written ahead, one connection that writes durably, one for what a power cut may take, and some that only read.
package database

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// busyTimeout bounds how long a writer waits for another one: the largest import holds the write lock for well under a second.
const busyTimeout = 10 * time.Second

// inMemory is the path of a database that is nowhere else.
const inMemory = ":memory:"

// Durability of what is committed.
type Durability string

// The durabilities: Full survives a power cut, Normal a crash of the program (PRAGMA synchronous, sqlite.org/pragma.html).
const (
	Full   Durability = "FULL"
	Normal Durability = "NORMAL"
)

// File is a database file and what its connections have in common.
type File struct {
	Path     string
	CacheKiB int      // pages that each connection keeps
	Pragmas  []string // of connections that write, such as "page_size(1024)"
}

// Create makes an empty file readable by nobody else; one that is there stays. SQLite gives its -wal and -shm files the same mode.
func (f File) Create() error {
	file, err := os.OpenFile(f.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(f.Path))
}

// Writer opens the one connection that writes with a durability.
func (f File) Writer(d Durability) (*sql.DB, error) {
	p := f.parameters()
	for _, pragma := range f.Pragmas {
		p.Add("_pragma", pragma)
	}
	p.Set("_journal_mode", "WAL")
	p.Set("_synchronous", string(d))
	p.Set("_txlock", "immediate")
	return f.connect(p, 1, 1)
}

// Reader opens up to conns connections that cannot write, of which idle stay open while nobody reads.
func (f File) Reader(conns, idle int) (*sql.DB, error) {
	p := f.parameters()
	p.Set("_query_only", "1")
	return f.connect(p, conns, idle)
}

// Memory opens the one connection to an empty database that is nowhere else, whatever the path.
func (f File) Memory() (*sql.DB, error) {
	f.Path = inMemory
	p := f.parameters()
	p.Set("_txlock", "immediate")
	return f.connect(p, 1, 1)
}

// parameters that every connection needs. They are part of the data source's name because a pool may open a connection at any time.
func (f File) parameters() url.Values {
	return url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"1"},
		"_dqs":          {"0"},
		"_pragma":       {fmt.Sprintf("cache_size(-%d)", f.CacheKiB), "trusted_schema(0)"},
	}
}

func (f File) connect(p url.Values, conns, idle int) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: f.Path, RawQuery: p.Encode()}
	if f.Path == inMemory {
		name.Path, name.Opaque = "", f.Path
	}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(idle)
	db.SetConnMaxLifetime(0)
	return db, nil
}

// SyncDir makes durable which files a directory holds.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Steps returns the statements of every file of a folder migrations, whose names begin with 0001_, 0002_ and so on. Step i leads
// to version i+1.
func Steps(files fs.FS) ([]string, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	steps := make([]string, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s is number %d of its kind: its name must begin with %04d_", name, i+1, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps[i] = string(text)
	}
	return steps, nil
}
