// Package controller has no code of its own: this test keeps the floor plan.
package controller

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "svc.internal/controller/"

// mayImport lists, for every package of ours, which others of ours it may import
// besides the core (appliance). A package that is not listed here has no place in
// the house yet.
var mayImport = map[string][]string{
	// core: the standard library only
	"appliance":       {"appliance/shade"},
	"appliance/shade": nil,

	// shared shelves
	"cli":              nil,
	"web":              nil,
	"web/siege":        nil,
	"memory":           nil,
	"memory/confine":   nil,
	"trust":            nil,
	"password":         nil,
	"backup":           nil,
	"account":          nil,
	"account/bearer":   {"account", "web"},
	"ui":               nil,
	"ui/uitest":        {"ui"},
	"schema":           nil,
	"recording":        nil,
	"drivers/line":     nil,
	"drivers/line/pty": nil,
	"systemd":          nil,
	"buildroot":        nil,
	"drivers/option":   nil,
	"drivers/scan":     {"drivers/line"},
	"drivers/profile":  {"schema"},

	// living floor: doors; they never import each other
	"adminapi":   {"account", "account/bearer", "migration", "web"},
	"publicapi":  {"account", "account/bearer", "web"},
	"adminui":    {"ui"},
	"automation": {"wire"},
	"cloudlink":  {"trust", "wire"},

	// what operators type, and what it and the door /api/v1 do alike: programs, as those
	// in cmd are, they see what they wire together
	"admin/console": {"account", "admin/operations", "adminapi", "cli", "cloudlink", "conformance", "drivers", "drivers/dali", "drivers/dmx", "drivers/line",
		"drivers/modbus", "migration", "migration/reader", "recording", "sitefile", "store", "trust"},
	"admin/operations": {"adminapi", "drivers", "drivers/dmx", "drivers/modbus", "migration", "migration/reader", "recording", "schema", "sitefile", "store", "trust"},

	// clients of other controllers
	"conformance":         nil,
	"conformance/onezero": nil,
	"migration":           nil,
	"migration/reader":    {"migration", "trust"},

	// ground floor: copper and disk; neighbours never import each other
	"drivers":            {"drivers/dali", "drivers/dmx", "drivers/modbus", "drivers/sdn"},
	"drivers/dali":       {"drivers/line", "drivers/option", "drivers/scan"},
	"drivers/dmx":        {"drivers/line", "drivers/option", "drivers/profile", "drivers/scan", "schema"},
	"drivers/modbus":     {"drivers/line", "drivers/option", "drivers/profile", "drivers/scan", "schema"},
	"drivers/sdn":        {"drivers/line", "drivers/option", "drivers/scan"},
	"drivers/drivertest": {"drivers/line", "drivers/line/pty"},
	"sim":                {"drivers/line/pty", "sim/dalisim", "sim/dmxsim", "sim/sdnsim"},
	"sim/dalisim":        {"drivers/line/pty"},
	"sim/dmxsim":         {"drivers/line/pty"},
	"sim/sdnsim":         {"drivers/line/pty"},
	"store":              {"account", "backup", "migration", "password"},
	"sitefile":           {"schema"},

	// what the controller and the platform say to each other
	"wire": nil,

	// the platform: the nouns at its root import nothing, rooms below import them
	"platform":             nil,
	"platform/apikey":      {"web"},
	"platform/gate":        {"web"},
	"platform/login":       {"password", "web"},
	"platform/ratelimit":   nil,
	"platform/store":       nil,
	"platform/broker":      {"web", "wire"},
	"platform/link":        {"wire"},
	"platform/site":        {"wire"},
	"platform/peertest":    {"platform/store"},
	"platform/panel":       {"platform/sse", "web", "wire"},
	"platform/panel/webex": {"platform/panel"},
	"platform/voice":       {"web", "wire"},
	"platform/tunnel":      {"web", "wire"},
	"platform/pages":       {"platform/sse", "ui", "web"},
	"platform/sitetest":    nil,
	"platform/sse":         nil,
	"platform/chat":        {"platform/sse", "web"},
	"platform/mcp":         {"platform/sse", "web"},
	"platform/assistant":   {"platform/assistant/facts", "platform/assistant/model", "platform/assistant/question"},

	"platform/assistant/question": nil,
	"platform/assistant/facts":    nil,
	"platform/assistant/model":    nil,

	"platform/assistant/model/anthropic": {"platform/assistant/model"},
	"platform/assistant/model/openai":    {"platform/assistant/model"},
}

func TestImportsKeepTheFloorPlan(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		seen[pkg] = true
		checkFile(t, pkg, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("%s is in the floor plan but has no code: take it out", pkg)
		}
	}
}

func checkFile(t *testing.T, pkg, path string) {
	if strings.HasPrefix(pkg, "cmd/") || pkg == "bench" {
		return // only programs see everything
	}
	allowed, known := mayImport[pkg]
	if !known {
		t.Errorf("%s: package %s has no place in the floor plan (ARCHITECTURE.md); give it one", path, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	cloud := strings.HasPrefix(pkg+"/", "platform/")
	coreless := cloud || pkg == "wire" || pkg == "web" || strings.HasPrefix(pkg+"/", "ui/") // both sides have them
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		ours, isOurs := strings.CutPrefix(name, module)
		switch {
		case isOurs && contains(allowed, ours):
		case ours == "appliance" && !coreless:
		case ours == "platform" && (cloud || pkg == "wire"):
		case isOurs:
			t.Errorf("%s imports %s: neighbours never import neighbours; what two need belongs in the core or is written twice", path, ours)
		case pkg == "appliance" && strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
			t.Errorf("%s imports %s: the core knows the standard library only, so that technology can be exchanged", path, name)
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// A daemon that could play devices could also mistake them for real ones, and carries
// on a small board what it never needs.
func TestNoDaemonHasTheSimulatorInIt(t *testing.T) {
	for program, want := range map[string]bool{"./cmd/controllerd": false, "./cmd/simbuilding": true} {
		out, err := exec.Command("go", "list", "-deps", program).CombinedOutput()
		if err != nil {
			t.Fatalf("go list -deps %s: %v\n%s", program, err, out)
		}
		has := strings.Contains(string(out), module+"sim")
		if has != want {
			t.Errorf("%s: simulator linked: %v, want %v", program, has, want)
		}
	}
}
