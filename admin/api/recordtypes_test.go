package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the pages know of the records anew")

// recordTypes is what the pages' types are checked against by make lint.
const recordTypes = "../pages/records.d.ts"

// description is what is used here of the description of this door.
type description struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Description          string
	Enum                 []string
	AnyOf                []schema
	Items                *schema
	AdditionalProperties *schema
	Properties           map[string]schema
	Required             []string
}

// The pages name fields of records as this door sends them: their types are made from the same Go types.
func TestPagesKnowTheRecords(t *testing.T) {
	t.Parallel()
	body, err := (&API{}).describe()
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	want := d.typeScript()
	if *update {
		if err := os.WriteFile(recordTypes, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(recordTypes)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what this door sends; write it anew: go test ./admin/api -run PagesKnow -update", recordTypes)
	}
}

// typeScript declares the records, and what GET answers by path.
func (d description) typeScript() string {
	var b strings.Builder
	b.WriteString("// What /api/v1 sends, made from the Go types: go test ./admin/api -run PagesKnow -update\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		fmt.Fprintf(&b, "\nexport interface %s {\n", name)
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			f, optional := s.Properties[field], "?"
			if slices.Contains(s.Required, field) {
				optional = ""
			}
			if f.Description != "" {
				fmt.Fprintf(&b, "  /** %s */\n", f.Description)
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", field, optional, f.typeScript())
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** What GET answers, by path; what follows a question mark is no part of it. */\nexport interface Got {\n")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		answer, ok := d.Paths[path]["get"].Responses["200"].Content["application/json"]
		if !ok {
			continue
		}
		key := "'" + strings.TrimPrefix(path, prefix) + "'"
		switch at := strings.Index(path, "}"); {
		case at >= 0 && at < len(path)-1:
			continue // TypeScript would take it for what stands before it
		case at >= 0:
			key = "[path: `" + inPath.ReplaceAllString(strings.TrimPrefix(path, prefix), "$${string}") + "`]"
		}
		fmt.Fprintf(&b, "  %s: %s;\n", key, answer.Schema.typeScript())
	}
	b.WriteString("}\n")
	return b.String()
}

var inPath = regexp.MustCompile(`\{[a-z]+\}`)

func (s schema) typeScript() string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/components/schemas/")
	case s.Enum != nil:
		return "'" + strings.Join(s.Enum, "' | '") + "'"
	case s.AnyOf != nil:
		var of []string
		for _, one := range s.AnyOf {
			of = append(of, one.typeScript())
		}
		return strings.Join(of, " | ")
	case s.Type == "array":
		return "Array<" + s.Items.typeScript() + ">"
	case s.AdditionalProperties != nil:
		return "Record<string, " + s.AdditionalProperties.typeScript() + ">"
	case s.Type == "integer":
		return "number"
	case s.Type == "":
		return "unknown"
	}
	return s.Type
}
