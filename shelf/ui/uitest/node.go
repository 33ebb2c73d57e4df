//go:build peers

package uitest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var passed = regexp.MustCompile(`(?m)^# pass [1-9]\d*$`)

// Node runs the tests in folder tests of a package with Node's own runner: what decides in
// the browser, without one.
func Node(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("tests/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("find tests/*.test.js: %v, %v", files, err)
	}
	said, err := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-reporter=tap"}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("node --test: %v\n%s", err, said)
	}
	if !passed.Match(said) {
		t.Fatalf("node --test passed nothing:\n%s", said)
	}
}
