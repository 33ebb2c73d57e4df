//go:build peers

package drivertest

import "testing"

// Long begins a test that takes many seconds, which a plain go test ./... leaves out.
func Long(testing.TB) {}
