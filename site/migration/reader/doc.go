// Package reader reads the house of another controller through its public API, gently:
// one request at a time, and never a command.
package reader
