package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sayers are the sources of what the platform answers to pages and panels in words.
var sayers = []string{
	"login/room.go", "login/password.go", "gate/guard.go", "gate/meter.go", "apikey/input.go", "panel/room.go", "panel/tap.go", "panel/door.go", "panel/rollout.go", "panel/roomos/roomos.go", "panel/roomos/document.go", "pages/desk.go",
	"chat/chat.go", "store/key.go", "store/roomdevice.go", "roomdevice.go", "outcome.go",
}

// hole is where a value stands in a sentence: a verb here, a name there.
var hole = regexp.MustCompile(`%(?:\.\d+)?[a-z]|\{\w+\}`)

// spoken are the sentences in a file: what refusals are made of, outcomes are given, and functions return that word one.
func spoken(t *testing.T, file string) (all []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				all = append(all, text)
			}
		}
	}
	names := []string{"Invalid", "Conflict", "Refuse", "inTheWay", "Sprintf"}
	if strings.Contains(file, "roomos") { // whose errors are told as they are
		names = append(names, "New", "Errorf")
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch fun := n.Fun.(type) {
			case *ast.Ident:
				name = fun.Name
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			}
			if slices.Contains(names, name) {
				for _, arg := range n.Args {
					add(arg)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Message" {
				add(n.Value)
			} else if ok && key.Name == "what" { // a step, before why it was not done
				add(n.Value)
				all[len(all)-1] += ": %w"
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				add(r)
			}
		case *ast.ValueSpec:
			for _, v := range n.Values {
				add(v)
			}
		}
		return true
	})
	return all
}

// Every sentence that the platform answers has its German, which takes the same values.
func TestWhatThePlatformSaysHasItsGerman(t *testing.T) {
	source, err := os.ReadFile("app/german.js")
	if err != nil {
		t.Fatal(err)
	}
	german := map[string]string{}
	whole := regexp.MustCompile(`(['"])\s*\+\s*['"]`).ReplaceAllString(string(source), "")
	for _, m := range regexp.MustCompile(`\[\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),?\s*\]`).FindAllStringSubmatch(whole, -1) {
		plain := func(text string) string {
			return strings.ReplaceAll(strings.ReplaceAll(text[1:len(text)-1], `\'`, `'`), `\"`, `"`)
		}
		en, de := plain(m[1]), plain(m[2])
		german[hole.ReplaceAllString(en, "{}")] = de
		a, b := hole.FindAllString(en, -1), hole.FindAllString(de, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("%q has %v, its German %v", en, a, b)
		}
	}
	// What pages never send, so that only programs hear of it.
	programs := regexp.MustCompile(`^(body|refreshToken|Refresh token|deviceId is missing|permissions|isActive|\{\} is not|name is not|rateLimit|expiresAt|there is no permission|Send the|want |\{\}: \{\}$|widget |type |text:|message is|SELECT|k\.id|Login required|API key|Invalid or inactive|rate limit exceeded)`)
	found := 0
	for _, file := range sayers {
		for _, text := range spoken(t, filepath.Join("..", file)) {
			found++
			text = hole.ReplaceAllString(strings.ReplaceAll(strings.TrimPrefix(text, "; "), "%q", `"%s"`), "{}")
			if file == "outcome.go" && !strings.Contains(text, "{}") { // behind a name
				text = "{} " + text
			}
			if programs.MatchString(text) {
				continue
			}
			if _, ok := german[text]; !ok {
				t.Errorf("%s: no German for %q", file, text)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d sentences were found in the sources", found)
	}
}
