// Package controller has no code of its own: this test keeps the floor plan.
package controller

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
	"appliance":         nil,
	"appliance/shade":   nil,
	"appliance/engine":  {"appliance/shade"},
	"appliance/control": {"appliance/engine", "appliance/shade"},

	// shared shelves
	"shelf/cli":            nil,
	"shelf/web":            nil,
	"shelf/board":          nil,
	"shelf/network":        nil,
	"shelf/web/siege":      nil,
	"shelf/memory":         nil,
	"shelf/memory/confine": nil,
	"shelf/trust":          nil,
	"shelf/password":       nil,
	"shelf/lookalike":      nil,
	"shelf/freeport":       nil,
	"shelf/database":       nil,
	"shelf/intake":         nil,
	"shelf/picture":        nil,
	"site/backup":          {"shelf/intake"},
	"site/offsite":         {"shelf/trust"},
	"shelf/account":        nil,
	"shelf/account/bearer": {"shelf/account", "shelf/web"},
	"shelf/apidocs":        {"shelf/web"},
	"shelf/ui":             nil,
	"shelf/ui/uitest":      {"shelf/ui"},
	"site/schema":          {"shelf/intake"},
	"site/recording":       nil,
	"drivers/line":         nil,
	"drivers/line/pty":     nil,
	"drivers/line/cable":   {"drivers/line"},
	"systemd":              nil,
	"buildroot":            nil,
	"drivers/option":       nil,
	"drivers/scan":         {"drivers/line"},
	"drivers/profile":      {"site/schema"},

	// living floor: doors; they never import each other
	"admin/api":   {"appliance/control", "shelf/account", "shelf/account/bearer", "shelf/board", "shelf/memory", "shelf/network", "site/backup", "site/migration", "shelf/picture", "shelf/web"},
	"publicapi":   {"shelf/account", "shelf/account/bearer", "shelf/apidocs", "shelf/web"},
	"admin/pages": {"shelf/ui"},
	"automation":  {"cloud/wire"},
	"cloud/link":  {"appliance/control", "shelf/trust", "cloud/wire"},

	// what operators type, and what it and the door /api/v1 do alike: programs, as those
	// in cmd are, they see what they wire together
	"admin/console": {"appliance/control", "shelf/account", "admin/operations", "admin/api", "shelf/cli", "cloud/link", "tools/conformance", "drivers", "drivers/dali", "drivers/dmx", "drivers/line",
		"drivers/modbus", "site/backup", "site/migration", "site/migration/reader", "site/recording", "site/schema", "site/sitefile", "store", "shelf/trust"},
	"admin/operations": {"appliance/control", "admin/api", "drivers", "drivers/dmx", "drivers/line", "drivers/modbus", "site/backup", "site/migration", "site/migration/reader", "site/offsite", "site/recording", "site/schema", "site/sitefile", "store", "shelf/trust"},

	// clients of other controllers
	"tools/conformance":         nil,
	"tools/conformance/onezero": nil,
	"site/migration":            nil,
	"site/migration/reader":     {"shelf/intake", "site/migration", "shelf/trust"},

	// ground floor: copper and disk; neighbours never import each other
	"drivers":            {"drivers/dali", "drivers/dmx", "drivers/line", "drivers/modbus", "drivers/sdn"},
	"drivers/dali":       {"drivers/line", "drivers/option", "drivers/scan"},
	"drivers/dmx":        {"drivers/line", "drivers/option", "drivers/profile", "drivers/scan", "site/schema"},
	"drivers/modbus":     {"drivers/line", "drivers/option", "drivers/profile", "drivers/scan", "site/schema"},
	"drivers/sdn":        {"drivers/line", "drivers/option", "drivers/scan"},
	"drivers/drivertest": {"drivers/line", "drivers/line/pty"},
	"sim":                {"drivers/line/cable", "drivers/line/pty", "sim/dalisim", "sim/dmxsim", "sim/sdnsim"},
	"sim/dalisim":        {"drivers/line/pty"},
	"sim/dmxsim":         {"drivers/line/pty"},
	"sim/sdnsim":         {"drivers/line/pty"},
	"store":              {"shelf/account", "shelf/database", "shelf/lookalike", "shelf/intake", "site/backup", "site/migration", "shelf/password"},
	"store/past":         nil,
	"site/sitefile":      {"shelf/picture", "site/schema"},

	// what the controller and the platform say to each other
	"cloud/wire": nil,

	// the platform: the nouns at its root import nothing, rooms below import them
	"platform":              {"shelf/lookalike"},
	"platform/apikey":       {"shelf/web"},
	"platform/docs":         {"shelf/apidocs"},
	"platform/gate":         {"shelf/web"},
	"platform/login":        {"shelf/password", "shelf/web"},
	"platform/ratelimit":    nil,
	"platform/quota":        nil,
	"platform/store":        {"shelf/database", "shelf/lookalike"},
	"platform/broker":       {"shelf/web", "cloud/wire"},
	"platform/link":         {"cloud/wire"},
	"platform/site":         {"cloud/wire", "shelf/web"},
	"platform/peertest":     {"platform/store", "shelf/freeport"},
	"platform/panel":        {"platform/sse", "shelf/trust", "shelf/web", "cloud/wire"},
	"platform/panel/roomos": {"platform/panel", "shelf/trust"},
	"platform/panel/webex":  {"platform/panel"},
	"platform/voice":        {"platform/understand", "shelf/web", "cloud/wire"},
	"platform/tunnel":       {"shelf/web", "cloud/wire"},
	"platform/pages":        {"platform/sse", "shelf/ui", "shelf/web"},
	"platform/sitetest":     nil,
	"platform/sse":          {"shelf/web"},
	"platform/chat":         {"platform/sse", "shelf/web"},
	"platform/mcp":          {"platform/sse", "shelf/web"},
	"platform/assistant":    {"platform/assistant/facts", "platform/assistant/model", "platform/understand"},

	"platform/understand": nil,

	"platform/panel/roomos/roomostest": nil,

	"platform/assistant/facts": nil,
	"platform/assistant/model": nil,

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

// roomsMost is how many folders may stand at the top: what a newcomer holds in the head.
const roomsMost = 18

func TestTheHouseHasFewRooms(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var rooms []string
	for _, e := range entries {
		made := e.Name() == "bin" || e.Name() == "output" // by make, and ignored by git
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !made {
			rooms = append(rooms, e.Name())
		}
	}
	if len(rooms) > roomsMost {
		t.Errorf("%d folders at the top, want at most %d: %v", len(rooms), roomsMost, rooms)
	}
}

func checkFile(t *testing.T, pkg, path string) {
	if strings.HasPrefix(pkg, "cmd/") || pkg == "tools/bench" {
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
	coreless := cloud || pkg == "cloud/wire" || pkg == "shelf/web" || pkg == "shelf/apidocs" || strings.HasPrefix(pkg+"/", "shelf/ui/") // both sides have them
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
		case ours == "platform" && (cloud || pkg == "cloud/wire"):
		case isOurs:
			t.Errorf("%s imports %s: neighbours never import neighbours; what two need belongs in the core or is written twice", path, ours)
		case strings.HasPrefix(pkg+"/", "appliance/") && strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
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
