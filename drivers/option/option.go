// Package option reads the settings that a site file gives a driver as text.
package option

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// Setter takes one option's text or says what is wrong with it and what is allowed.
type Setter func(text string) error

// Read gives every text to the setter of its key. Keys without one are refused, and
// the allowed ones named.
func Read(texts map[string]string, setters map[string]Setter) error {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		set := setters[key]
		if set == nil {
			allowed := strings.Join(slices.Sorted(maps.Keys(setters)), ", ")
			if allowed == "" {
				allowed = "none"
			}
			return fmt.Errorf("option %q is unknown, allowed: %s", key, allowed)
		}
		if err := set(texts[key]); err != nil {
			return fmt.Errorf("option %s: %w", key, err)
		}
	}
	return nil
}

// Span reads a time with its unit, such as 700ms, within bounds.
func Span(to *time.Duration, low, high time.Duration) Setter {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < low || d > high {
			return fmt.Errorf("is %q, want a time with its unit from %v to %v", text, low, high)
		}
		*to = d
		return nil
	}
}

// Whole reads a whole number within bounds.
func Whole(to *int, low, high int) Setter {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("is %q, want a whole number from %d to %d", text, low, high)
		}
		*to = n
		return nil
	}
}

// Flag reads true or false.
func Flag(to *bool) Setter {
	return func(text string) error {
		switch text {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return fmt.Errorf("is %q, want true or false", text)
		}
		return nil
	}
}

// Choice reads one of a few words.
func Choice(to *string, allowed ...string) Setter {
	return func(text string) error {
		if !slices.Contains(allowed, text) {
			return fmt.Errorf("is %q, allowed: %s", text, strings.Join(allowed, ", "))
		}
		*to = text
		return nil
	}
}

// Groups reads what the site allows with the group tables of a bus.
func Groups(to *appliance.GroupMode) Setter {
	return func(text string) error {
		var word string
		if err := Choice(&word, "use", "keep", "off")(text); err != nil {
			return err
		}
		*to = map[string]appliance.GroupMode{"use": appliance.GroupsUsed, "keep": appliance.GroupsKept, "off": appliance.GroupsOff}[word]
		return nil
	}
}
