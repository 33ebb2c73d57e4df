package drivertest_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// What the blueprint is compiled against: when it changes, this test runs again.
	_ "svc.internal/controller/appliance"
	_ "svc.internal/controller/drivers/drivertest"
	_ "svc.internal/controller/drivers/line"
)

const (
	docs = "../../docs"
	// guide is the text for people who write a driver.
	guide = docs + "/drivers.md"
)

// call is how the guide has the suite called, in a test of its own.
const call = `package acme

import (
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// open is left to the reader.
func open(*testing.T, string) appliance.Driver { return &Driver{} }

func TestSuite(t *testing.T) {
%s}
`

// The driver that the guide shows, and its call of the suite, compile and pass vet.
func TestBlueprintOfTheGuide(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	driver, suite := block(t, text, "// Package acme "), block(t, text, "drivertest.Suite{")
	if nice, err := format.Source([]byte(driver)); err != nil || string(nice) != driver {
		t.Errorf("the blueprint is not gofmt-ed: %v", err)
	}
	vet(t, map[string]string{"acme.go": driver, "acme_test.go": fmt.Sprintf(call, suite)})
}

// block is the Go code of the guide that begins so.
func block(t *testing.T, text []byte, begin string) string {
	t.Helper()
	_, rest, found := strings.Cut(string(text), "\n```go\n"+begin)
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("%s has no Go code that begins with %q", guide, begin)
	}
	return begin + code + "\n"
}

// vet compiles and vets a package as if its files lay beside the guide. They are laid
// over the tree, which stays as it is.
func vet(t *testing.T, files map[string]string) {
	t.Helper()
	tree, err := filepath.Abs(docs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var over struct{ Replace map[string]string }
	over.Replace = make(map[string]string)
	for file, code := range files {
		path := filepath.Join(dir, file)
		over.Replace[filepath.Join(tree, file)] = path
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(over)
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "vet", "-overlay", overlay, docs).CombinedOutput()
	if err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}
