package store

import (
	"errors"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Broken reports whether an error of opening or reading the database is that of a disk or
// of a file, which no other start mends: it is damaged, full, or cannot be written.
func Broken(err error) bool {
	for _, errno := range []unix.Errno{unix.EROFS, unix.ENOSPC, unix.EIO, unix.EDQUOT} {
		if errors.Is(err, errno) {
			return true
		}
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the kind; what is above it tells more
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
