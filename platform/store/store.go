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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"svc.internal/controller/shelf/database"
)

// databaseFile is the file of a data directory.
const databaseFile = "platform.db"

const (
	// readers is how many connections read a SQLite file at a time: reading is work
	// for a processor, so more of them than processors help little.
	readers = 8
	// pooled is how many connections one instance opens to PostgreSQL; of the 100 that
	// it allows by default, four instances leave some to people.
	pooled = 20
	// connectTimeout bounds how long a start waits for PostgreSQL.
	connectTimeout = 15 * time.Second
)

// ErrNoDatabase: the data directory holds none.
var ErrNoDatabase = errors.New("there is no platform's database in it")

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	log *slog.Logger
	now func() time.Time

	conf     *sql.DB // what must be durable; SQLite: one connection, synchronous=FULL
	aside    *sql.DB // what may be lost in a power cut; SQLite: one connection, NORMAL
	views    *sql.DB // reads only
	postgres bool

	changes *changes // nil with PostgreSQL
	keys    keyCache

	hot     statements
	used    usage
	numbers numbers
}

// Open opens the database at databaseURL, which begins with postgres://, or, if that
// is empty, the SQLite file in dataDir, creating both file and directory when
// missing. Close it when done. Other processes may have it open too.
func Open(ctx context.Context, dataDir, databaseURL string, log *slog.Logger) (*Store, error) {
	s := &Store{log: log, now: time.Now}
	var err error
	if databaseURL != "" {
		err = s.openPostgres(ctx, databaseURL)
	} else {
		err = s.openSQLite(ctx, dataDir)
	}
	if err == nil {
		err = s.hot.prepare(ctx, s.views)
	}
	if err != nil {
		s.closeAll()
		return nil, err
	}
	s.used.start(s)
	return s, nil
}

// OpenExisting is [Open] for callers to whom an empty database is of no use. It
// makes no SQLite file, and returns [ErrNoDatabase] where there is none.
func OpenExisting(ctx context.Context, dataDir, databaseURL string, log *slog.Logger) (*Store, error) {
	if databaseURL == "" {
		switch _, err := os.Stat(filepath.Join(dataDir, databaseFile)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("open store in %s: %w", dataDir, ErrNoDatabase)
		case err != nil:
			return nil, fmt.Errorf("open store in %s: %w", dataDir, err)
		}
	}
	return Open(ctx, dataDir, databaseURL, log)
}

// Close writes what is pending and closes the database.
func (s *Store) Close() error {
	s.used.stop()
	return s.closeAll()
}

func (s *Store) closeAll() error {
	err := s.hot.close()
	closed := map[*sql.DB]bool{nil: true}
	for _, db := range []*sql.DB{s.views, s.aside, s.conf} {
		if !closed[db] { // PostgreSQL has one pool for all
			err = errors.Join(err, db.Close())
			closed[db] = true
		}
	}
	return errors.Join(err, s.changes.close())
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.views.PingContext(ctx) }

func (s *Store) openSQLite(ctx context.Context, dataDir string) error {
	if dataDir == "" { // which would mean the current directory
		return errors.New("open store: no data directory is named")
	}
	dataDir, err := filepath.Abs(dataDir)
	if err == nil {
		err = os.MkdirAll(dataDir, 0o700)
	}
	// What one large write leaves of the log is given back.
	file := database.File{Path: filepath.Join(dataDir, databaseFile), CacheKiB: 8192, Pragmas: []string{"journal_size_limit(67108864)"}}
	if err == nil {
		err = file.Create()
	}
	if err == nil {
		s.conf, err = file.Writer(database.Full)
	}
	if err == nil {
		err = migrate(ctx, s.conf, false)
	}
	if err == nil {
		s.aside, err = file.Writer(database.Normal)
	}
	if err == nil {
		s.views, err = file.Reader(readers, readers)
	}
	if err == nil {
		s.changes, err = watchChanges(file.Path)
	}
	if err != nil {
		return fmt.Errorf("open store in %s: %w", dataDir, err)
	}
	return nil
}

func (s *Store) openPostgres(ctx context.Context, databaseURL string) error {
	conf, err := pgx.ParseConfig(databaseURL)
	if err != nil { // its text has no password in it
		return fmt.Errorf("read DATABASE_URL: %w", err)
	}
	db := stdlib.OpenDB(*conf)
	s.conf, s.aside, s.views, s.postgres = db, db, db, true
	db.SetMaxOpenConns(pooled)
	db.SetMaxIdleConns(pooled)
	db.SetConnMaxIdleTime(5 * time.Minute)
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := migrate(ctx, db, true); err != nil {
		return fmt.Errorf("open store in the database %s of %s: %w", conf.Database, conf.Host, err)
	}
	return nil
}

// write runs fn in one durable transaction, as if no other were under way: all of it
// or nothing. PostgreSQL may ask for another try; then fn runs again.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.transact(ctx, s.conf, fn)
}

// writeAside is write for what may be lost in a power cut of a machine with SQLite.
func (s *Store) writeAside(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.transact(ctx, s.aside, fn)
}

// isolation is what PostgreSQL is asked for; SQLite knows but one level.
func (s *Store) isolation(level sql.IsolationLevel) sql.IsolationLevel {
	if s.postgres {
		return level
	}
	return sql.LevelDefault
}

// mostTries of one transaction: each failure means that another one got through.
const mostTries = 20

func (s *Store) transact(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	for try := 1; ; try++ {
		err := s.once(ctx, db, fn)
		if !collided(err) || try == mostTries {
			return err
		}
		pause := time.NewTimer(time.Duration(try) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

func (s *Store) once(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: s.isolation(sql.LevelSerializable)})
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// collided reports whether PostgreSQL wants a transaction to be tried again.
func collided(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01") // serialization failure, deadlock
}
