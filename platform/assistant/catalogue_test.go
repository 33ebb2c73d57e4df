package assistant

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sayings are all sentences and words that answers are made of, as they stand in the sources: what is given to f and in, and the
// words that are looked up first.
func sayings(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			arg := 0
			switch fun := call.Fun.(type) {
			case *ast.Ident:
				if fun.Name == "in" {
					arg = 1
				} else if fun.Name != "f" {
					return true
				}
			case *ast.SelectorExpr:
				if fun.Sel.Name != "f" {
					return true
				}
			default:
				return true
			}
			if len(call.Args) > arg {
				if lit, ok := call.Args[arg].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					all[text] = set.Position(lit.Pos()).String()
				}
			}
			return true
		})
	}
	add := func(what string, words ...string) {
		for _, w := range words {
			all[w] = what
		}
	}
	add("isWords", slices.Collect(maps.Values(isWords))...)
	add("viaWords", slices.Collect(maps.Values(viaWords))...)
	add("doWords", slices.Collect(maps.Values(doWords))...)
	add("boundWords", slices.Collect(maps.Values(boundWords))...)
	add("sides", slices.Collect(maps.Values(sides))...)
	add("aspects", slices.Collect(maps.Values(aspects))...)
	add("opWords", slices.Collect(maps.Values(opWords))...)
	add("sourceWords", slices.Collect(maps.Values(sourceWords))...)
	add("germanMany", slices.Collect(maps.Keys(germanMany))...)
	add("abilities", "switch", "dim", "tune", "colour", "measure", "move", "position")
	add("targets", "energy_usage", "comfort", "cost", "efficiency")
	add("helpText", helpText)
	add("notMeasured", notMeasured...)
	return all
}

// word is something that one language has and another has not: no figure, unit or place for a value.
var word = regexp.MustCompile(`[a-z]{2,}`)

// One place has every sentence in every language: none that an answer may say is missing in the German catalogue, and none stands
// there that no answer says.
func TestEverySentenceHasItsGerman(t *testing.T) {
	all := sayings(t)
	if len(all) < 200 {
		t.Fatalf("only %d sentences were found in the sources", len(all))
	}
	for _, en := range slices.Sorted(maps.Keys(all)) {
		if bare := verbs.ReplaceAllString(strings.ReplaceAll(en, "%%", ""), ""); word.MatchString(strings.ReplaceAll(bare, "kWh", "")) {
			if _, ok := inGerman(en); !ok {
				t.Errorf("no German for %q (%s)", en, all[en])
			}
		}
	}
}
