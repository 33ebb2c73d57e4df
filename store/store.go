package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/shelf/database"
	"svc.internal/controller/shelf/password"
)

// databaseFile is the one file of a data directory that matters.
const databaseFile = "controller.db"

// ErrNoDatabase: the data directory holds none.
var ErrNoDatabase = errors.New("there is no controller's database in it")

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	path string
	log  *slog.Logger
	now  func() time.Time
	// synced reports whether the clock is known to be right.
	synced func() bool
	use    *Guard

	db     atomic.Pointer[handles]
	unkept atomic.Pointer[loss] // nil: what is written is kept

	accounts  atomic.Pointer[directory]
	refreshMu sync.Mutex                // one refresh of accounts and revisions at a time
	seen      revisions                 // guarded by refreshMu
	loaded    atomic.Pointer[revisions] // as of the last Site; nil before the first
	hashing   chan struct{}
	waiting   atomic.Int32 // callers that want to hash a password
	decoy     string       // password hash of nobody

	keeper keeper
}

// handles are the connections of an open database.
type handles struct {
	conf   *sql.DB // one connection, synchronous=FULL; nil of a copy in memory
	behind *sql.DB // one connection, synchronous=NORMAL; nil of a copy in memory
	read   *sql.DB // query only, or the one connection of a copy in memory
}

func (h *handles) close() error {
	var errs []error
	for _, db := range []*sql.DB{h.read, h.behind, h.conf} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Open opens the database of a data directory, creating both when missing. Close
// it when done. Any number of processes may have it open; one that must be alone
// takes [Lock] besides. A database that can be read and not written is opened as a
// copy in memory, which is told by [Store.Kept].
func Open(ctx context.Context, dataDir string, log *slog.Logger) (*Store, error) {
	if dataDir == "" { // which would mean the current directory
		return nil, errors.New("open store: no data directory is named")
	}
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	use, err := await(ctx, dataDir, byteUse, unix.F_RDLCK)
	switch {
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("open store in %s (a restore may be running): %w", dataDir, err)
	case err != nil:
		return nil, fmt.Errorf("open store in %s: %w", dataDir, err)
	}
	s := &Store{
		path: filepath.Join(dataDir, databaseFile),
		log:  log,
		now:  time.Now, synced: clockSynced,
		use:     use,
		hashing: make(chan struct{}, maxHashings),
	}
	s.decoy = password.Decoy()
	os.Remove(s.path + partSuffix) // of a restore that was killed: none runs while the data directory is in use
	h, err := s.open(ctx)
	if unwritable(err) {
		h, err = s.openCopy(ctx, err)
	}
	if err == nil {
		s.db.Store(h)
		err = s.refresh(ctx)
	}
	if err != nil {
		s.closeAll()
		return nil, fmt.Errorf("open store in %s: %w", dataDir, err)
	}
	if err := s.finishRestore(ctx); err != nil && s.Kept() == nil {
		log.Warn("profiles of the backup are not all in their place; tried again at the next start", "why", err)
	}
	s.keeper.start(s)
	return s, nil
}

// OpenExisting is [Open] for callers to whom an empty database is of no use. It
// creates nothing, and returns [ErrNoDatabase] where there is none.
func OpenExisting(ctx context.Context, dataDir string, log *slog.Logger) (*Store, error) {
	if err := Exists(dataDir); err != nil {
		return nil, err
	}
	return Open(ctx, dataDir, log)
}

// Exists tells why there is no store to open in a data directory: [ErrNoDatabase], or that nobody can look.
func Exists(dataDir string) error {
	switch _, err := os.Stat(filepath.Join(dataDir, databaseFile)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open store in %s: %w", dataDir, ErrNoDatabase)
	case err != nil:
		return fmt.Errorf("open store in %s: %w", dataDir, err)
	}
	return nil
}

func (s *Store) open(ctx context.Context) (*handles, error) {
	opening, err := await(ctx, filepath.Dir(s.path), byteOpening, unix.F_WRLCK)
	if err != nil {
		return nil, err
	}
	defer opening.Release()
	h := &handles{}
	if err := s.connect(ctx, h); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (s *Store) connect(ctx context.Context, h *handles) error {
	file := fileAt(s.path)
	if err := file.Create(); err != nil {
		return err
	}
	steps, err := database.Steps(migrations)
	if err != nil {
		return err
	}
	if h.conf, err = file.Writer(database.Full); err != nil {
		return err
	}
	if err := migrate(ctx, h.conf, s.path, steps); err != nil {
		return err
	}
	if h.behind, err = file.Writer(database.Normal); err != nil {
		return err
	}
	h.read, err = file.Reader(4, 2)
	return err
}

// Close ends the keeper, writes what is pending and closes the database.
func (s *Store) Close() error {
	s.keeper.stop()
	return s.closeAll()
}

func (s *Store) closeAll() error {
	var err error
	if h := s.db.Load(); h != nil {
		err = h.close()
	}
	return errors.Join(err, s.use.Release())
}

// fileAt is the database at path. 512 KiB of page cache hold a building. Pages of 1 KiB and a log of 4,000 of them before it is
// copied into the database keep small batches small: measured, 40 % fewer bytes to the flash than with pages of 4 KiB. The page
// size counts when the database is created. What one large import leaves of the log is given back.
func fileAt(path string) database.File {
	return database.File{Path: path, CacheKiB: 512, Pragmas: []string{"page_size(1024)", "wal_autocheckpoint(4000)", "journal_size_limit(4194304)"}}
}

// write runs fn in one durable transaction: all of it or nothing.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.writeBy(ctx, s.db.Load().conf, fn)
}

// view runs fn on one consistent state of the database.
func (s *Store) view(ctx context.Context, fn func(*sql.Tx) error) error {
	return transact(ctx, s.db.Load().read, fn)
}

func transact(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// nanos gives the stored form of t.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// moment is the inverse of nanos.
func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
