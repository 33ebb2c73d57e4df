// Package store keeps what must survive a power cut in one SQLite file.
//
// Two promises differ in strength, so two connections write:
//
//   - Configuration, IDs, users, keys, tokens: committed with
//     synchronous=FULL. SQLite calls fsync on the write-ahead log before the
//     commit returns, so what the caller was told is on the flash.
//   - Last known state and the ledger: committed with synchronous=NORMAL, which
//     appends to the same log without waiting for the flash. The keeper (see
//     keeper.go) calls fdatasync on the log at most 2 s after the first such
//     commit; many small batches share one. A power cut loses at most those 2 s
//     and what the core had not handed over yet; a crash of the process loses
//     nothing.
//
// Mixing them in one log is safe: the log is read back up to the first damaged
// frame, frames are in commit order, and the fsync of a FULL commit covers every
// frame before it. A NORMAL commit can therefore never take a FULL one with it,
// and before pages are copied from the log into the database both modes sync the
// log first.
//
// # IDs
//
// Every ID ever used is in one of two places: on a living row, or on a tombstone
// beside the UUID it had. Neither is ever reassigned, except that an import
// which brings ID's old UUID brings the same noun back. Automatic IDs count up
// from a high-water mark that is raised in the transaction that uses it.
//
// # Reading
//
// Readers have a connection of their own and never wait for a writer (WAL).
// Token checks touch no disk at all: [Store.User] and [Store.KeyOf] read an
// immutable directory that every commit to the accounts replaces.
package store
