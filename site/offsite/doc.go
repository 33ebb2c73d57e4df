// Package offsite keeps copies of backups outside of the box: on a stick, on a WebDAV server, or in an S3 bucket.
//
//	controller-1a2b3c4d-20261127T030000Z.backup.age   one of the series 1a2b3c4d
//	controller-1a2b3c4d.part                          what is being written, or was when the power failed
//
// A copy is written under the second name, read back whole, and only then gets its own; a bucket cannot rename, so that there it
// has its own at once, and is removed if it is not what was sent. Nothing of another name is ever touched.
package offsite
