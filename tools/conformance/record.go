package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// record is one object of an answer.
type record map[string]any

// field says what a record has to hold.
type field struct {
	name string
	kind func(any) string // what is wrong with a value; empty: nothing
}

// toldMost of what is wrong in one row.
const toldMost = 3

// check finds records that lack a field or have another kind of value there.
func check(of string, records []record, fields ...field) error {
	var wrong []string
	for i, rec := range records {
		for _, f := range fields {
			v, ok := rec[f.name]
			problem := "is missing"
			if ok {
				problem = f.kind(v)
			}
			if problem != "" {
				wrong = append(wrong, fmt.Sprintf("%s[%d].%s %s", of, i, f.name, problem))
			}
		}
	}
	return told(wrong)
}

// told makes one error of what is wrong, nil of nothing.
func told(wrong []string) error {
	switch n := len(wrong); {
	case n == 0:
		return nil
	case n > toldMost:
		return fmt.Errorf("%s, and %d more", strings.Join(wrong[:toldMost], "; "), n-toldMost)
	}
	return errors.New(strings.Join(wrong, "; "))
}

// only finds fields that nobody asked for.
func only(of string, records []record, names ...string) error {
	var wrong []string
	for i, rec := range records {
		for name := range rec {
			if !slices.Contains(names, name) {
				wrong = append(wrong, fmt.Sprintf("%s[%d] has a field %s besides", of, i, name))
			}
		}
	}
	return told(wrong)
}

func integerOf(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

func (rec record) integer(name string) int64 {
	i, _ := integerOf(rec[name])
	return i
}

func (rec record) text(name string) string {
	s, _ := rec[name].(string)
	return s
}

// Kinds of values.

func integer(v any) string {
	if _, ok := integerOf(v); !ok {
		return fmt.Sprintf("is %s, want an integer", shown(v))
	}
	return ""
}

func within(low, high int64) func(any) string {
	return func(v any) string {
		if i, ok := integerOf(v); !ok || i < low || i > high {
			return fmt.Sprintf("is %s, want an integer from %d to %d", shown(v), low, high)
		}
		return ""
	}
}

func text(v any) string {
	if _, ok := v.(string); !ok {
		return fmt.Sprintf("is %s, want a string", shown(v))
	}
	return ""
}

func filled(v any) string {
	if s, ok := v.(string); !ok || s == "" {
		return fmt.Sprintf("is %s, want a string that is not empty", shown(v))
	}
	return ""
}

func emptyText(v any) string {
	if s, ok := v.(string); !ok || s != "" {
		return fmt.Sprintf("is %s, want an empty string", shown(v))
	}
	return ""
}

func number(v any) string {
	if _, ok := v.(json.Number); !ok {
		return fmt.Sprintf("is %s, want a number", shown(v))
	}
	return ""
}

func oneOf(words ...string) func(any) string {
	return func(v any) string {
		if s, ok := v.(string); !ok || !slices.Contains(words, s) {
			return fmt.Sprintf("is %s, want one of %s", shown(v), strings.Join(words, ", "))
		}
		return ""
	}
}

// timeLayouts of ISO 8601 that controllers write.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700", "20060102T150405Z0700"}

func parseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isoTime(v any) string {
	s, _ := v.(string)
	if _, ok := parseTime(s); !ok {
		return fmt.Sprintf("is %s, want a date and time of ISO 8601", shown(v))
	}
	return ""
}

func timeOrNull(v any) string {
	if v == nil {
		return ""
	}
	return isoTime(v)
}

// colour reads R:G:B:W.
func colour(s string) (c [4]int, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 4 {
		return c, false
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v > 255 {
			return c, false
		}
		c[i] = v
	}
	return c, true
}

func rgbw(v any) string {
	s, _ := v.(string)
	if _, ok := colour(s); !ok {
		return fmt.Sprintf("is %s, want four numbers of 0 to 255 with colons, R:G:B:W", shown(v))
	}
	return ""
}

func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return clip(b)
}

// ascending finds a list that is not in order of its numbers.
func ascending(of string, records []record, name string) error {
	for i := 1; i < len(records); i++ {
		if a, b := records[i-1].integer(name), records[i].integer(name); a >= b {
			return fmt.Errorf("%s[%d].%s is %d after %d, want them ascending", of, i, name, b, a)
		}
	}
	return nil
}

// unique finds a number that two records have.
func unique(of string, records []record, name string) error {
	seen := map[int64]int{}
	for i, rec := range records {
		v := rec.integer(name)
		if first, ok := seen[v]; ok {
			return fmt.Errorf("%s[%d] and [%d] have the same %s %d", of, first, i, name, v)
		}
		seen[v] = i
	}
	return nil
}
