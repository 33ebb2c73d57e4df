package controller

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A struct with more fields, or more booleans that describe one thing's state, can no longer be held in the head: it is
// two things, or a state without a name.
func TestStructsStaySmall(t *testing.T) {
	const fields, booleans = 20, 3
	sets := []string{"commissionFlags", "Change"} // what somebody asked for, or what has changed: no state
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || slices.Contains([]string{"testdata", "bin", "sim", "bench"}, d.Name())) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			found++
			all, flags := count(s)
			if all > fields || flags > booleans && !slices.Contains(sets, spec.Name.Name) {
				t.Errorf("%s: %s has %d fields, %d of them booleans; at most %d and %d", set.Position(spec.Pos()), spec.Name.Name, all, flags, fields, booleans)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Fatal("no struct was found")
	}
}

// count tells how many fields a struct has, an embedded one being one, and how many of them are booleans.
func count(s *ast.StructType) (all, booleans int) {
	for _, f := range s.Fields.List {
		n := max(1, len(f.Names))
		all += n
		if id, ok := f.Type.(*ast.Ident); ok && id.Name == "bool" {
			booleans += n
		}
	}
	return all, booleans
}
