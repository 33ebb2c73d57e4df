package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/shelf/intake"
)

// Bounds of a document.
const (
	MaxSize   = 8 << 20
	MaxValues = 200_000
	maxMarks  = 250_000 // of lists and mappings, counted before anything is made of them
	maxDepth  = 64
	maxKey    = 256      // characters of one mapping key
	maxKeys   = 1000     // of one mapping: the YAML library compares each with each
	maxPaths  = 64 << 20 // bytes of all key paths together
)

// Document is a parsed YAML document that remembers where everything stood.
type Document struct {
	File string

	root      *yaml.Node
	positions map[string]position // by key path
}

// position of a value, and of its key where it has one.
type position struct{ line, column, keyLine, keyColumn int }

// Position returns line and column of the value at a key path such as
// buses[1].line.parity. Where the path does not exist it is the position of the
// nearest enclosing value that does.
func (d *Document) Position(key string) (line, column int) {
	for {
		if p, ok := d.positions[key]; ok {
			return p.line, p.column
		}
		if key == "" {
			return 0, 0
		}
		key = parentKey(key)
	}
}

// Problem makes a problem at a key path, for checks that a schema cannot do.
func (d *Document) Problem(key, format string, args ...any) Problem {
	line, column := d.Position(key)
	return Problem{File: d.File, Line: line, Column: column, Key: key, Message: fmt.Sprintf(format, args...)}
}

// KeyProblem is [Document.Problem] pointing at the key instead of its value.
func (d *Document) KeyProblem(key, format string, args ...any) Problem {
	problem := d.Problem(key, format, args...)
	if p, ok := d.positions[key]; ok && p.keyLine > 0 {
		problem.Line, problem.Column = p.keyLine, p.keyColumn
	}
	return problem
}

// decode fills a struct from a document. Values of a wrong type are left out of it, and
// all else is filled in.
func (d *Document) decode(into any) (filled bool, err error) {
	err = d.root.Decode(into)
	if err == nil {
		return true, nil
	}
	var mistyped *yaml.TypeError
	if !errors.As(err, &mistyped) {
		return false, Problems{d.syntaxProblem(err.Error())}
	}
	var problems Problems
	for _, text := range mistyped.Errors {
		problems = append(problems, d.syntaxProblem(text))
	}
	return true, problems.Err()
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

// syntaxProblem takes the line number out of a message of the YAML library.
func (d *Document) syntaxProblem(text string) Problem {
	parts := yamlLine.FindStringSubmatch(text)
	p := Problem{File: d.File, Message: text}
	if parts != nil {
		p.Line, _ = strconv.Atoi(parts[1])
		p.Message = strings.TrimPrefix(parts[2], "yaml: ")
	}
	if p.Line > 0 {
		p.Column = 1
	}
	return p
}

var tabIndent = regexp.MustCompile(`(?m)^ *\t`)

// tabProblem says so if a line near a syntax problem begins with a tab: the YAML
// library tells of a wrong character at best, not what to do.
func tabProblem(data []byte, p Problem) Problem {
	for _, at := range tabIndent.FindAllIndex(data, -1) {
		line := 1 + bytes.Count(data[:at[0]], []byte("\n"))
		if p.Line-1 <= line && line <= p.Line+1 {
			p.Line, p.Column = line, at[1]-at[0]
			p.Message = "the line begins with a tab; YAML is indented with spaces only"
			return p
		}
	}
	return p
}

// parse reads one YAML document and turns it into the values that a JSON Schema
// speaks of: map[string]any, []any, string, int64, uint64, float64, bool, nil.
func parse(file string, data []byte) (*Document, any, error) {
	doc := &Document{File: file, positions: make(map[string]position)}
	if len(data) > MaxSize {
		return nil, nil, Problems{{File: file, Message: fmt.Sprintf("has %d bytes, at most %d are allowed", len(data), MaxSize)}}
	}
	if err := intake.YAML("the file", data, maxMarks); err != nil {
		return nil, nil, Problems{{File: file, Message: err.Error()}}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, nil, Problems{{File: file, Message: "is empty"}}
	} else if err != nil {
		return nil, nil, Problems{tabProblem(data, doc.syntaxProblem(err.Error()))}
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, nil, Problems{{File: file, Line: second.Line, Column: second.Column, Message: "a second document begins here, only one is allowed"}}
	} else if !errors.Is(err, io.EOF) {
		return nil, nil, Problems{doc.syntaxProblem(err.Error())}
	}
	doc.root = root.Content[0]
	w := walker{doc: doc, inside: make(map[*yaml.Node]bool)}
	value := w.value(doc.root, "", 0)
	if len(w.problems) > 0 {
		return nil, nil, w.problems.Err()
	}
	return doc, value, nil
}

// Peek decodes the little that into wants of a document that nobody has checked yet, and
// reports whether it could.
func Peek(data []byte, into any) bool {
	doc, _, err := parse("", data)
	return err == nil && doc.root.Decode(into) == nil
}

// walker turns YAML nodes into values and notes their positions.
type walker struct {
	doc      *Document
	values   int
	paths    int                 // bytes of key paths noted
	full     bool                // a bound was reached, said once
	inside   map[*yaml.Node]bool // aliases being followed
	problems Problems
}

func (w *walker) problem(n *yaml.Node, key, format string, args ...any) {
	if len(w.problems) > 2*maxProblems {
		return
	}
	w.problems = append(w.problems, Problem{
		File: w.doc.File, Line: n.Line, Column: n.Column, Key: key, Message: fmt.Sprintf(format, args...),
	})
}

func (w *walker) value(n *yaml.Node, key string, depth int) any {
	if w.full {
		return nil
	}
	w.values++
	w.paths += len(key)
	if w.values > MaxValues || w.paths > maxPaths {
		w.full = true
		w.problem(n, "", "more than %d values (aliases counted as often as they are used)", MaxValues)
		return nil
	}
	if depth > maxDepth {
		w.problem(n, key, "nested more than %d deep", maxDepth)
		return nil
	}
	p := w.doc.positions[key]
	p.line, p.column = n.Line, n.Column
	w.doc.positions[key] = p
	switch n.Kind {
	case yaml.AliasNode:
		if w.inside[n.Alias] {
			w.problem(n, key, "*%s contains itself", n.Value)
			return nil
		}
		w.inside[n.Alias] = true
		defer delete(w.inside, n.Alias)
		return w.value(n.Alias, key, depth+1)
	case yaml.MappingNode:
		return w.mapping(n, key, depth)
	case yaml.SequenceNode:
		if tag := n.ShortTag(); tag != "!!seq" {
			w.problem(n, key, "tag %s is not allowed", tag)
		}
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			list = append(list, w.value(item, fmt.Sprintf("%s[%d]", key, i), depth+1))
		}
		return list
	default:
		return w.scalar(n, key)
	}
}

func (w *walker) mapping(n *yaml.Node, key string, depth int) any {
	if tag := n.ShortTag(); tag != "!!map" {
		w.problem(n, key, "tag %s is not allowed", tag)
	}
	if keys := len(n.Content) / 2; keys > maxKeys {
		w.problem(n, key, "has %d keys, allowed: at most %d", keys, maxKeys)
		return nil
	}
	object := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Kind == yaml.AliasNode {
			name = name.Alias
		}
		if name.Kind != yaml.ScalarNode || name.ShortTag() == "!!null" {
			w.problem(n.Content[i], key, "a key must be plain text")
			continue
		}
		if name.ShortTag() == "!!merge" {
			w.problem(n.Content[i], key, "merge keys (<<) are not allowed")
			continue
		}
		if len(name.Value) > maxKey {
			w.problem(n.Content[i], key, "a key has %d characters, allowed: at most %d", len(name.Value), maxKey)
			continue
		}
		path := joinKey(key, name.Value)
		if _, ok := object[name.Value]; ok {
			w.problem(n.Content[i], path, "is there twice (first on line %d)", w.doc.positions[path].keyLine)
			continue
		}
		w.doc.positions[path] = position{keyLine: n.Content[i].Line, keyColumn: n.Content[i].Column}
		object[name.Value] = w.value(value, path, depth+1)
	}
	return object
}

// leadingZero is a number that YAML reads to base eight, and people to base ten.
var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]`)

func (w *walker) scalar(n *yaml.Node, key string) any {
	if tag := n.ShortTag(); (tag == "!!int" || tag == "!!float") && leadingZero.MatchString(n.Value) {
		w.problem(n, key, "write %s without zeros before it, or in quotes where text is wanted", n.Value)
		return nil
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return nil
	case "!!bool":
		var v bool
		if n.Decode(&v) == nil {
			return v
		}
	case "!!int":
		var signed int64
		if n.Decode(&signed) == nil {
			return signed
		}
		var unsigned uint64
		if n.Decode(&unsigned) == nil {
			return unsigned
		}
	case "!!float":
		var v float64
		if n.Decode(&v) == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v
		}
		w.problem(n, key, "%s is not a finite number", n.Value)
		return nil
	case "!!str", "!!timestamp":
		return n.Value
	default:
		w.problem(n, key, "tag %s is not allowed", tag)
		return nil
	}
	w.problem(n, key, "%q cannot be read as %s", clip(n.Value), n.ShortTag())
	return nil
}

// joinKey appends a mapping key to a path, in brackets if it would be ambiguous.
func joinKey(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" \t\n") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// parentKey drops the last element of a path.
func parentKey(path string) string {
	if strings.HasSuffix(path, `"]`) {
		if i := strings.LastIndex(path, `["`); i >= 0 {
			return path[:i]
		}
	}
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
