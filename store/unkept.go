package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc.internal/controller/shelf/account"
)

// loss says why nothing is kept, and since when.
type loss struct {
	cause error
	since time.Time
	tried time.Time // when it was last looked whether it is over
}

// tryEvery is how often it is looked whether a disk takes something again.
const tryEvery = 3 * time.Second

// Kept returns nil while what is written is kept, else why not. A store that was opened on a
// disk that takes nothing lives in memory until it does: reads and log-ins go on there,
// every change is refused with [account.ErrNotKept].
func (s *Store) Kept() error {
	if l := s.unkept.Load(); l != nil {
		return l.cause
	}
	return nil
}

// unwritable reports whether an error is that of a disk that takes nothing, from which one may
// still read.
func unwritable(err error) bool {
	for _, errno := range []unix.Errno{unix.EROFS, unix.ENOSPC, unix.EDQUOT, unix.EACCES, unix.EPERM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

// openCopy reads the database into memory, for as long as cause keeps anybody from writing it.
func (s *Store) openCopy(ctx context.Context, cause error) (*handles, error) {
	image, err := imageOf(s.path)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	db, err := openImage(ctx, image)
	if err != nil {
		return nil, errors.Join(cause, fmt.Errorf("%s: %w", s.path, err))
	}
	s.lost(cause)
	return &handles{read: db}, nil
}

// writeBy runs fn in a transaction of a writer, nil if there is none, and notes whether the disk took it.
func (s *Store) writeBy(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	if db == nil {
		return fmt.Errorf("%w (%w)", account.ErrNotKept, s.Kept())
	}
	err := transact(ctx, db, fn)
	switch {
	case unwritable(err):
		s.lost(err)
		return fmt.Errorf("%w (%w)", account.ErrNotKept, err)
	case err == nil && s.unkept.Load() != nil:
		s.regained()
	}
	return err
}

// passing runs fn in a durable transaction, or in the copy in memory: log-ins may be lost,
// and people must get in while a disk is full, whether it was so at the start or filled since.
func (s *Store) passing(ctx context.Context, fn func(*sql.Tx) error) error {
	h := s.db.Load()
	if h.conf == nil {
		return transact(ctx, h.read, fn)
	}
	err := s.writeBy(ctx, h.conf, fn)
	if !errors.Is(err, account.ErrNotKept) {
		return err
	}
	if h, err = s.fallBack(ctx, h, err); err != nil {
		return err
	}
	return transact(ctx, h.read, fn)
}

// fallBack puts a copy in memory in the place of the database that old has open and that takes
// nothing any more, until [Store.look] finds that it does. Nothing else is lost by it: what is
// not durable is refused, or kept by whoever wrote it.
func (s *Store) fallBack(ctx context.Context, old *handles, cause error) (*handles, error) {
	h, err := s.openCopy(ctx, cause)
	if err != nil {
		return nil, err
	}
	if !s.db.CompareAndSwap(old, h) { // somebody else did
		return s.db.Load(), h.close()
	}
	if err := old.close(); err != nil {
		s.log.Warn("close the database that cannot be written", "why", err)
	}
	return h, nil
}

func (s *Store) lost(cause error) {
	now := time.Now()
	if s.unkept.CompareAndSwap(nil, &loss{cause: cause, since: now, tried: now}) {
		s.log.Error("nothing is kept: the disk is full or cannot be written; lights and shades go on, changes are refused",
			"why", cause, "do", "make room or make it writable; no restart is needed")
		s.keeper.tell(Change{Kept: true})
	}
}

func (s *Store) regained() {
	if l := s.unkept.Swap(nil); l != nil {
		s.log.Info("the disk takes what is written again", "after", time.Since(l.since).Round(time.Second))
		s.keeper.tell(Change{Kept: true})
	}
}

// look tries, now and then, whether a disk that took nothing takes something again.
func (s *Store) look(ctx context.Context) {
	l := s.unkept.Load()
	if l == nil || time.Since(l.tried) < tryEvery {
		return
	}
	s.unkept.CompareAndSwap(l, &loss{cause: l.cause, since: l.since, tried: time.Now()})
	if s.db.Load().conf == nil {
		s.reopen(ctx)
		return
	}
	_ = s.write(ctx, touch) // which notes what comes of it
}

// touch writes a page as it is.
func touch(tx *sql.Tx) error {
	_, err := tx.Exec("UPDATE revision SET number = number")
	return err
}

// reopen puts the database in the place of its copy in memory, if it can be written.
func (s *Store) reopen(ctx context.Context) {
	h, err := s.open(ctx)
	if err == nil {
		if err = transact(ctx, h.conf, touch); err != nil {
			h.close()
		}
	}
	if err != nil {
		return
	}
	old := s.db.Swap(h)
	s.regained()
	if err := s.refresh(ctx); err != nil {
		s.log.Error("read the database again, trying every second", "error", err)
		s.keeper.again()
	}
	old.close() // log-ins of meanwhile end
}
