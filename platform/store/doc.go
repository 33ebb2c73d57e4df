// Package store keeps what the platform must remember, in one SQLite file or in a
// PostgreSQL database that several instances share.
//
// The SQL is written once, in what both understand: $1 for parameters, TEXT, BIGINT,
// BOOLEAN, BYTEA and DOUBLE PRECISION for columns, ON CONFLICT, RETURNING, TRUE and
// FALSE; IDs are UUIDs made here, times microseconds since 1970 ([Micros]). A
// transaction of [Store.write] sees and changes the database as if it were alone,
// with either; it may be run again from its beginning, so it changes nothing
// outside the database.
//
// # A noun of one's own
//
// Add a file migrations/NNNN_noun.sql with the next number, and noun.go with methods
// of [Store]: what changes goes through write, what reads asks s.views, and each runs
// over rows. A migration that was released is never changed.
//
// # Reading
//
// With SQLite readers have connections of their own and never wait for a writer
// (WAL). What one instance, or the command line, has changed holds from the next
// request on all others: nothing of accounts is cached, and a key only until anything
// at all is committed to the file (changes.go).
package store
