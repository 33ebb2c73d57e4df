package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// record is one object of a list, as some controller writes it.
type record map[string]any

// records reads a list. Where there is nothing some answer nothing at all.
func records(endpoint string, body []byte) ([]record, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var out []record
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read %s: want a list of objects, got %s", endpoint, clip(body))
	}
	for i, r := range out {
		if r == nil {
			return nil, fmt.Errorf("read %s: entry %d is null", endpoint, i)
		}
	}
	return out, nil
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
			return v, nil
		default:
			return "", fmt.Errorf("%s: %s is %v, want text", where, name, v)
		}
	}
	return "", nil
}

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

// nameMost is how many characters a name may have here.
const nameMost = 200

// cleaned is a name as it may stand here, and what was done to it.
func cleaned(name string) (clean, changed string) {
	clean = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if clean != name {
		changed = "characters that cannot be shown were left out of its name"
	}
	if utf8.RuneCountInString(clean) > nameMost {
		clean = string([]rune(clean)[:nameMost])
		changed = fmt.Sprintf("its name was cut to %d characters", nameMost)
	}
	return clean, changed
}
