// Package peertest gives tests the real databases that the platform runs on. SQLite
// is always there; PostgreSQL and Redis with the build tag peers, where a program
// that is missing fails the test.
package peertest
