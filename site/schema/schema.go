package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema. Safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema

	mu       sync.Mutex
	compiler *jsonschema.Compiler // finds sub-schemas by location, for messages
}

// Compile reads a JSON Schema, draft 2020-12 unless it names another. name
// identifies it in messages. The format "timespan" is checked.
func Compile(name string, schemaJSON []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from disk or network
	c.RegisterFormat(&jsonschema.Format{Name: timespan, Validate: checkTimespan})
	c.AssertFormat()
	location := "mem:///" + name
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{compiled: compiled, compiler: c}, nil
}

// MustCompile is [Compile] for schemas embedded in the program.
func MustCompile(name string, schemaJSON []byte) *Schema {
	s, err := Compile(name, schemaJSON)
	if err != nil {
		panic(err)
	}
	return s
}

// at returns the sub-schema at a location that a validation error named, or nil.
func (s *Schema) at(location string) *jsonschema.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.compiler.Compile(location)
	if err != nil {
		return nil
	}
	return sub
}

// timespan is the format of times; wantTimespan tells what it looks like.
const (
	timespan     = "timespan"
	wantTimespan = "a time with its unit, such as 200ms, 25s or 1m30s"
)

// checkTimespan accepts text like 200ms, 25s, 1m30s; never negative.
func checkTimespan(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil // its type is the business of "type"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want " + wantTimespan)
	}
	return nil
}

// Decode parses data, checks it against s and decodes it into the struct that
// into points at (field names by yaml tags). What is wrong with the document is
// returned as [Problems]. The document is returned for positions of later
// checks; together with problems, if into was filled in all the same, so that the
// caller can tell what else is wrong. Otherwise it is nil when there is an error.
func Decode(file string, data []byte, s *Schema, into any) (*Document, error) {
	doc, wrong := Read(file, data, s)
	if doc == nil {
		return nil, wrong
	}
	if filled, err := doc.decode(into); err != nil && (!filled || wrong == nil) {
		return nil, cmp.Or(wrong, err)
	}
	return doc, wrong
}

// Read parses data and checks it against s without decoding it. A document that can be
// parsed is returned whatever is wrong with it.
func Read(file string, data []byte, s *Schema) (*Document, error) {
	doc, value, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	value = untilWrong(s.compiled, value)
	if err := s.compiled.Validate(value); err != nil {
		failed, ok := err.(*jsonschema.ValidationError)
		if !ok {
			return doc, Problems{{File: file, Message: err.Error()}}
		}
		e := explainer{schema: s, doc: doc, root: value}
		e.explain(failed)
		return doc, e.problems.Err()
	}
	return doc, nil
}

// untilWrong leaves out of lists what comes after more wrong entries than are told of: a
// validation makes a kilobyte of each.
func untilWrong(s *jsonschema.Schema, value any) any {
	for s.Ref != nil {
		s = s.Ref
	}
	switch v := value.(type) {
	case map[string]any:
		for key, sub := range s.Properties {
			if inner, ok := v[key]; ok {
				v[key] = untilWrong(sub, inner)
			}
		}
	case []any:
		if s.Items2020 == nil {
			return v
		}
		wrong := 0
		for i := range v {
			v[i] = untilWrong(s.Items2020, v[i])
			if len(v) <= maxProblems || s.Items2020.Validate(v[i]) == nil {
				continue
			}
			if wrong++; wrong > maxProblems {
				return v[:i+1]
			}
		}
	}
	return value
}
