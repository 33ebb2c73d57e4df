package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

// explainer turns a tree of validation errors into problems a person can act on.
type explainer struct {
	schema   *Schema
	doc      *Document
	root     any
	problems Problems
}

func (e *explainer) explain(v *jsonschema.ValidationError) {
	switch v.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		e.explainChoice(v)
		return
	}
	if len(v.Causes) > 0 {
		for _, cause := range v.Causes {
			e.explain(cause)
		}
		return
	}
	e.explainLeaf(v)
}

// explainChoice reports a value that fits none of several forms. The form it
// came furthest with is taken as the one that was meant.
func (e *explainer) explainChoice(v *jsonschema.ValidationError) {
	if sub := e.schema.at(v.SchemaURL); sub != nil && sub.Title != "" {
		e.add(v, "is %s, want %s", e.shown(v), sub.Title)
		return
	}
	best, bestDepth, tied := -1, -1, false
	for i, cause := range v.Causes {
		switch depth := deepest(cause); {
		case depth > bestDepth:
			best, bestDepth, tied = i, depth, false
		case depth == bestDepth:
			tied = true
		}
	}
	if best >= 0 && (!tied || bestDepth > len(v.InstanceLocation)) {
		e.explain(v.Causes[best])
		return
	}
	e.add(v, "is %s, which fits none of the allowed forms", e.shown(v))
}

func deepest(v *jsonschema.ValidationError) int {
	depth := len(v.InstanceLocation)
	for _, cause := range v.Causes {
		depth = max(depth, deepest(cause))
	}
	return depth
}

func (e *explainer) explainLeaf(v *jsonschema.ValidationError) {
	sub := e.schema.at(v.SchemaURL)
	switch k := v.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		e.unknownKeys(v, sub, k.Properties)
	case *kind.Required:
		for _, name := range k.Missing {
			e.missing(v, sub, name)
		}
	case *kind.DependentRequired:
		for _, name := range k.Missing {
			e.add(v, "%s is missing: required because %s is there", name, k.Prop)
		}
	case *kind.PropertyNames:
		path := joinKey(e.keyPath(v.InstanceLocation), k.Property)
		e.problems = append(e.problems, e.doc.KeyProblem(path, "is not allowed as a key here"))
	case *kind.Type:
		e.add(v, "is %s, want %s", e.shown(v), wantedType(sub, k.Want))
	case *kind.Enum:
		e.add(v, "is %s, allowed: %s", e.shown(v), list(k.Want))
	case *kind.Const:
		e.add(v, "is %s, want %s", e.shown(v), list([]any{k.Want}))
	case *kind.Format:
		e.add(v, "is %s: %v", e.shown(v), k.Err)
	case *kind.Pattern:
		want := "text matching " + k.Want
		if sub != nil && sub.Title != "" {
			want = sub.Title
		}
		e.add(v, "is %s, want %s", e.shown(v), want)
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		e.add(v, "is %s, allowed: %s", e.shown(v), bounds(sub))
	case *kind.FalseSchema:
		e.add(v, "is not allowed here")
	case *kind.Not:
		want := "another value"
		if sub != nil && sub.Title != "" {
			want = sub.Title
		}
		e.add(v, "is %s, want %s", e.shown(v), want)
	case *kind.MinLength:
		e.add(v, "is %s, want at least %d characters", e.shown(v), k.Want)
	case *kind.MaxLength:
		e.add(v, "has %d characters, allowed: at most %d", k.Got, k.Want)
	case *kind.MinItems:
		e.add(v, "has %d entries, want at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		e.add(v, "has %d entries, allowed: at most %d", k.Got, k.Want)
	case *kind.UniqueItems:
		e.add(v, "entries %d and %d are equal, each may be there once", k.Duplicates[0]+1, k.Duplicates[1]+1)
	default:
		e.add(v, "%s", v.ErrorKind.LocalizedString(english))
	}
}

func (e *explainer) add(v *jsonschema.ValidationError, format string, args ...any) {
	e.problems = append(e.problems, e.doc.Problem(e.keyPath(v.InstanceLocation), format, args...))
}

func (e *explainer) unknownKeys(v *jsonschema.ValidationError, sub *jsonschema.Schema, names []string) {
	var allowed []string
	if sub != nil {
		for name := range sub.Properties {
			allowed = append(allowed, name)
		}
		slices.Sort(allowed)
	}
	at := e.keyPath(v.InstanceLocation)
	for _, name := range names {
		text := "unknown key, allowed: " + strings.Join(allowed, ", ")
		if len(allowed) == 0 {
			text = "unknown key, none is allowed here"
		}
		e.problems = append(e.problems, e.doc.KeyProblem(joinKey(at, name), "%s", text))
	}
}

func (e *explainer) missing(v *jsonschema.ValidationError, sub *jsonschema.Schema, name string) {
	what := ""
	if sub != nil {
		if p := sub.Properties[name]; p != nil {
			switch {
			case p.Title != "":
				what = ": " + p.Title
			case p.Description != "":
				what = ": " + p.Description
			}
		}
	}
	key := joinKey(e.keyPath(v.InstanceLocation), name)
	e.problems = append(e.problems, e.doc.Problem(key, "is missing%s", what))
}

// shown gives the offending value for a message.
func (e *explainer) shown(v *jsonschema.ValidationError) string {
	value := e.root
	for _, step := range v.InstanceLocation {
		switch in := value.(type) {
		case map[string]any:
			value = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return "something else"
			}
			value = in[i]
		}
	}
	switch value := value.(type) {
	case nil:
		return "empty"
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(clip(value))
	default:
		return fmt.Sprint(value)
	}
}

// keyPath writes an instance location as a key path; list positions are told
// from mapping keys by the document.
func (e *explainer) keyPath(location []string) string {
	path, value := "", e.root
	for _, step := range location {
		switch in := value.(type) {
		case []any:
			path += "[" + step + "]"
			value = nil
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(in) {
				value = in[i]
			}
		case map[string]any:
			path = joinKey(path, step)
			value = in[step]
		default:
			path = joinKey(path, step)
		}
	}
	return path
}

var typeNames = map[string]string{
	"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"object": "a mapping", "array": "a list", "null": "nothing",
}

func wantedType(sub *jsonschema.Schema, want []string) string {
	if sub != nil && sub.Title != "" {
		return sub.Title
	}
	if sub != nil && sub.Format != nil && sub.Format.Name == timespan {
		return wantTimespan
	}
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = typeNames[w]
	}
	return strings.Join(names, " or ")
}

func list(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			texts[i] = s
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			texts[i] = fmt.Sprint(v)
			continue
		}
		texts[i] = string(b)
	}
	return strings.Join(texts, ", ")
}

func bounds(sub *jsonschema.Schema) string {
	if sub == nil {
		return "a smaller range"
	}
	var parts []string
	if sub.Minimum != nil {
		parts = append(parts, "from "+sub.Minimum.RatString())
	}
	if sub.ExclusiveMinimum != nil {
		parts = append(parts, "above "+sub.ExclusiveMinimum.RatString())
	}
	if sub.Maximum != nil {
		parts = append(parts, "to "+sub.Maximum.RatString())
	}
	if sub.ExclusiveMaximum != nil {
		parts = append(parts, "below "+sub.ExclusiveMaximum.RatString())
	}
	if sub.MultipleOf != nil {
		parts = append(parts, "multiples of "+sub.MultipleOf.RatString())
	}
	return strings.Join(parts, " ")
}
