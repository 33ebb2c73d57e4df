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
// two things, or a state without a name. What it embeds it has as its own, but for what is shown as JSON: that is as
// long as its document says, and no state.
func TestStructsStaySmall(t *testing.T) {
	const fields, booleans = 20, 3
	sets := []string{"commissionFlags", "Change"} // what somebody asked for, or what has changed: no state
	doors := []string{"API"}                      // what they are configured with does not change
	all := structs(t)
	if len(all) == 0 {
		t.Fatal("no struct was found")
	}
	for name, s := range all {
		n, flags := all.count(name, map[string]bool{})
		if n > fields && !slices.Contains(doors, s.name) || flags > booleans && !slices.Contains(sets, s.name) {
			t.Errorf("%s: %s has %d fields, %d of them booleans; at most %d and %d", s.where, s.name, n, flags, fields, booleans)
		}
	}
}

// declared is a struct type of ours, and structsOf finds them by folder and name.
type declared struct {
	name, where string
	fields      []*ast.Field
	imports     map[string]string // folders by the names that the file calls them
}

type structsOf map[string]declared

func structs(t *testing.T) structsOf {
	all := structsOf{}
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
		imports := map[string]string{}
		for _, spec := range file.Imports {
			folder, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			name := folder[strings.LastIndex(folder, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if ours {
				imports[name] = folder
			}
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					all[folder+"."+spec.Name.Name] = declared{spec.Name.Name, set.Position(spec.Pos()).String(), s.Fields.List, imports}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// count tells how many fields a struct has, those of the structs of ours that it embeds among them, and how many of
// them are booleans.
func (all structsOf) count(name string, within map[string]bool) (n, booleans int) {
	s := all[name]
	for _, f := range s.fields {
		inner := s.embeds(f, name[:strings.LastIndex(name, ".")])
		if len(f.Names) == 0 && all[inner].name != "" && !within[inner] && !all[inner].isJSON() {
			within[inner] = true
			more, flags := all.count(inner, within)
			n, booleans = n+more, booleans+flags
			continue
		}
		here := max(1, len(f.Names))
		n += here
		if id, ok := f.Type.(*ast.Ident); ok && id.Name == "bool" {
			booleans += here
		}
	}
	return n, booleans
}

// isJSON reports whether a struct is a record that is shown as JSON.
func (s declared) isJSON() bool {
	return slices.ContainsFunc(s.fields, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") })
}

// embeds names the struct that a field without a name is.
func (s declared) embeds(f *ast.Field, folder string) string {
	kind := f.Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	switch kind := kind.(type) {
	case *ast.Ident:
		return folder + "." + kind.Name
	case *ast.SelectorExpr:
		if from, ok := kind.X.(*ast.Ident); ok {
			return s.imports[from.Name] + "." + kind.Sel.Name
		}
	}
	return ""
}
