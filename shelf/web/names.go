package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Decode takes a JSON body, but none that says the same thing twice: encoding/json takes
// "role" and "ROLE" for one name, and the last of them for its value, and whoever looked
// at the body before may have seen the other.
func Decode(data []byte, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		return err
	}
	return NamesOnce(data)
}

// NamesOnce refuses well-formed JSON in which two names of one object are the same but
// for case.
func NamesOnce(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var within []map[string]bool // names so far of the objects and (nil) lists around
	name := false                // the next token is a name, if a string
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // its end: it was found well-formed before
		}
		delim, _ := token.(json.Delim)
		switch text, isText := token.(string); {
		case delim == '{':
			within, name = append(within, map[string]bool{}), true
			continue
		case delim == '[':
			within, name = append(within, nil), false
			continue
		case delim != 0:
			within = within[:len(within)-1]
		case name && isText:
			seen, key := within[len(within)-1], folded(text)
			if seen[key] {
				return fmt.Errorf("%q is there twice; upper and lower case count as one", shortName(text))
			}
			seen[key], name = true, false
			continue
		}
		name = len(within) > 0 && within[len(within)-1] != nil
	}
}

// folded is the same for all that strings.EqualFold takes for one, as encoding/json does.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

func shortName(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
