//go:build !peers

package drivertest

import "testing"

// Long begins a test that takes many seconds, nearly all of them waiting for simulated
// lines: make test runs it, a plain go test ./... leaves it out.
func Long(t testing.TB) {
	t.Helper()
	t.Skip("takes long: make test runs it")
}
