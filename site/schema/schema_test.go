package schema

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const busSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["name", "buses"],
  "properties": {
    "name": {"type": "string", "minLength": 1},
    "note": {"type": "string"},
    "buses": {"type": "array", "maxItems": 4, "items": {"$ref": "#/$defs/bus"}},
    "extra": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}]}
  },
  "$defs": {
    "bus": {
      "type": "object",
      "additionalProperties": false,
      "required": ["name", "port"],
      "properties": {
        "name": {"type": "string"},
        "port": {"type": "string", "pattern": "^(/dev/|tcp://)", "title": "a device below /dev or tcp://host:port"},
        "baud": {"type": "integer", "minimum": 1200, "maximum": 115200},
        "parity": {"enum": ["none", "even", "odd"]},
        "timeout": {"type": "string", "format": "timespan"},
        "options": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
      }
    }
  }
}`

type busFile struct {
	Name  string `yaml:"name"`
	Buses []struct {
		Name    string            `yaml:"name"`
		Port    string            `yaml:"port"`
		Baud    int               `yaml:"baud"`
		Parity  string            `yaml:"parity"`
		Timeout time.Duration     `yaml:"timeout"`
		Options map[string]string `yaml:"options"`
	} `yaml:"buses"`
}

var compiled = MustCompile("bus.json", []byte(busSchema))

func TestDecodeGoodDocument(t *testing.T) {
	var got busFile
	doc, err := Decode("site.yaml", []byte(`
name: Library
buses:
  - name: ground
    port: /dev/ttyUSB0
    baud: 19200
    parity: even
    timeout: 1m30s
    options: {guard: 5ms, retries: 3, echo: true}
  - {name: roof, port: "tcp://10.0.0.4:502"}
`), compiled, &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "Library" || len(got.Buses) != 2 || got.Buses[0].Timeout != 90*time.Second || got.Buses[0].Baud != 19200 {
		t.Fatalf("decoded %+v", got)
	}
	if o := got.Buses[0].Options; o["guard"] != "5ms" || o["retries"] != "3" || o["echo"] != "true" {
		t.Fatalf("options %v", o)
	}
	for _, tc := range []struct {
		key          string
		line, column int
	}{
		{"buses[0].parity", 7, 13}, {"buses[1].name", 10, 12}, {"buses[1].parity", 10, 5},
		{"buses[7].name", 4, 3}, {"name", 2, 7}, {"", 2, 1},
	} {
		if line, column := doc.Position(tc.key); line != tc.line || column != tc.column {
			t.Errorf("position of %q: got %d:%d, want %d:%d", tc.key, line, column, tc.line, tc.column)
		}
	}
	p := doc.Problem("buses[1].name", "bus %q is unknown", "roof")
	if want := `site.yaml:10:12: buses[1].name: bus "roof" is unknown`; p.String() != want {
		t.Errorf("got %s, want %s", p, want)
	}
}

func TestEveryProblemIsToldWithItsPlace(t *testing.T) {
	_, err := Read("f.yaml", []byte(`nmae: x
buses:
  - name: a
    port: COM1
    baud: 300
    parity: evn
    timeout: 5
  - name: b
    port: tcp://h
    timeout: soon
    baud: 9600.5
    options: [1]
    kolour: 1
extra: {a: x}
`), compiled)
	want := []string{
		"f.yaml:1:1: name: is missing",
		"f.yaml:1:1: nmae: unknown key, allowed: buses, extra, name, note",
		`f.yaml:4:11: buses[0].port: is "COM1", want a device below /dev or tcp://host:port`,
		"f.yaml:5:11: buses[0].baud: is 300, allowed: from 1200 to 115200",
		`f.yaml:6:13: buses[0].parity: is "evn", allowed: none, even, odd`,
		"f.yaml:7:14: buses[0].timeout: is 5, want a time with its unit, such as 200ms, 25s or 1m30s",
		`f.yaml:10:14: buses[1].timeout: is "soon": want a time with its unit, such as 200ms, 25s or 1m30s`,
		"f.yaml:11:11: buses[1].baud: is 9600.5, want a whole number",
		"f.yaml:12:14: buses[1].options: is a list, want a mapping",
		"f.yaml:13:5: buses[1].kolour: unknown key, allowed: baud, name, options, parity, port, timeout",
		`f.yaml:14:12: extra.a: is "x", want a whole number`,
	}
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got %v, want Problems", err)
	}
	got := strings.Split(problems.Error(), "\n")
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("missing: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d problems, want %d:\n%s", len(got), len(want), err)
	}
}

func TestRefusedDocuments(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i <= 'i'; i++ {
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+string(i-1)+",", 8) + "*" + string(i-1) + "]\n"
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "x.yaml: is empty"},
		{"only a comment", "# nothing\n", "x.yaml: is empty"},
		{"duplicate key", "name: a\nname: b\nbuses: []\n", "x.yaml:2:1: name: is there twice (first on line 1)"},
		{"two documents", "name: a\nbuses: []\n---\nname: b\n", "only one is allowed"},
		{"merge key", "x: &x {a: 1}\ny:\n  <<: *x\n", "merge keys"},
		{"custom tag", "name: !secret a\nbuses: []\n", "tag !secret is not allowed"},
		{"binary", "name: !!binary aGVsbG8=\nbuses: []\n", "tag !!binary is not allowed"},
		{"not finite", "name: .nan\nbuses: []\n", "is not a finite number"},
		{"list as key", "? [a]\n: b\n", "a key must be plain text"},
		{"broken syntax", "name: a\nbuses: [\n", "x.yaml:"},
		{"tab", "name: a\n\tbuses: []\n", "x.yaml:2:1: the line begins with a tab; YAML is indented with spaces only"},
		{"tab after spaces", "name: a\nbuses:\n  \t- port: tcp://h\n", "x.yaml:3:3: the line begins with a tab"},
		{"tab elsewhere", "note: |\n  a\n  \tx\nname: a\n\n\nother: b\nbuses: @x\n", "x.yaml:8:1: found character that cannot start any token"},
		{"bad UTF-8", "name: \xff\xfe\n", "x.yaml: "},
		{"aliases that grow", bomb, "more than 200000 values"},
		{"alias in itself", "a: &a [*a]\n", "x.yaml:1:8: a[0][0]: *a contains itself"},
		{"too deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than 64 deep"},
		{"too long", strings.Repeat("#", MaxSize+1), "at most 8388608 are allowed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read("x.yaml", []byte(tc.text), compiled)
			var problems Problems
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want Problems with %q", err, tc.want)
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: a\nbuses: []\n")
	for i := range 500 {
		b.WriteString(strings.Repeat("k", i+1) + ": 1\n")
	}
	_, err := Read("x.yaml", []byte(b.String()), compiled)
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != maxProblems+1 {
		t.Fatalf("got %d problems, want %d", len(problems), maxProblems+1)
	}
}

func TestBrokenSchemaIsToldByName(t *testing.T) {
	for _, text := range []string{"{", `{"type": 5}`, `{"$ref": "https://elsewhere.example/x"}`} {
		if _, err := Compile("site.json", []byte(text)); err == nil || !strings.Contains(err.Error(), "site.json") {
			t.Errorf("%s: got %v, want an error naming site.json", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("name: a\nbuses: [{name: x, port: /dev/x}]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("\"[\\\"]\": {? 1 : 2}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Read("x.yaml", data, compiled)
		if err == nil {
			_, _ = doc.decode(new(busFile)) // must not panic; an error is an answer
			return
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 {
			t.Fatalf("got %v, want Problems", err)
		}
	})
}
