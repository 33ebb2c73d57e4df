package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// record is one object of a list, as some controller writes it.
type record map[string]any

// recordOf is one entry of a list.
func recordOf(entry []byte) (record, error) {
	dec := json.NewDecoder(bytes.NewReader(entry))
	dec.UseNumber()
	var out record
	err := dec.Decode(&out)
	return out, err
}

// integer finds a number under one of several names; a number as text is one too.
func (r record) integer(where string, names ...string) (int64, error) {
	for _, name := range names {
		v, ok := r[name]
		if !ok || v == nil {
			continue
		}
		text := fmt.Sprint(v)
		if _, isText := v.(string); !isText {
			if _, isNumber := v.(json.Number); !isNumber {
				return 0, fmt.Errorf("%s: %s is %v, want a number", where, name, v)
			}
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %s is %q, want a whole number", where, name, text)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s: there is no %s", where, names[0])
}

// text finds a string under one of several names; "" if there is none.
func (r record) text(where string, names ...string) (string, error) {
	for _, name := range names {
		switch v := r[name].(type) {
		case nil:
		case string:
			return strings.Clone(v[:min(len(v), textMost)]), nil // cut or not: what is not UTF-8 is cleaned away
		default:
			return "", fmt.Errorf("%s: %s is %v, want text", where, name, v)
		}
	}
	return "", nil
}

// textMost bounds a text, in bytes: more than a name may have here, so that it is told that it
// was cut.
const textMost = 8 * nameMost

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", time.DateOnly}

// when reads a time; none is the zero one.
func (r record) when(where, name string) (time.Time, error) {
	text, err := r.text(where, name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: %s is %q, want a date and time of ISO 8601", where, name, text)
}
