package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The engine, and the shade's machine in it, are values: no clock, no lock, no channel, no
// goroutine, no context, nothing read or written.
func TestTheEngineIsPure(t *testing.T) {
	files := []string{}
	for _, pattern := range []string{"*.go", "../shade/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	imports := []string{"cmp", "context", "errors", "fmt", "log/slog", "maps", "math", "reflect", "slices", "strings", "time"}
	never := []string{"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.Sleep", "time.NewTimer", "time.NewTicker", "time.Tick", "context.Context",
		"context.Background", "slog.Default", "slog.Logger"}
	set, looked := token.NewFileSet(), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			where := func() string { return set.Position(n.Pos()).String() }
			switch n := n.(type) {
			case *ast.ImportSpec:
				path := strings.Trim(n.Path.Value, `"`)
				if !strings.HasPrefix(path, "svc.internal/") && !slices.Contains(imports, path) {
					t.Errorf("%s: imports %s", where(), path)
				}
			case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
				t.Errorf("%s: a goroutine or a channel", where())
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && slices.Contains(never, of.Name+"."+n.Sel.Name) {
					t.Errorf("%s: %s.%s", where(), of.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
	if looked < 20 {
		t.Fatalf("looked at %d files", looked)
	}
}
