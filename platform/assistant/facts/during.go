package facts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/platform"
)

// During is how long a thing was so in a time, and of how much of it nothing is known.
type During struct {
	Thing
	So      Duration `json:"soSeconds"`
	Unknown Duration `json:"unknownSeconds"`
}

// DuringOf tells of things how long in [from, to) they were one of some words; known is false if there is no history of any.
func (s *Site) DuringOf(ctx context.Context, things []Thing, kind string, words []string, from, to time.Time) (all []During, known bool, err error) {
	changes, err := s.reader.Changes(ctx, s.Controller.ID, kind, platform.Doing)
	if err != nil {
		return nil, false, fmt.Errorf("read the history of controller %s: %w", s.Controller.ID, err)
	}
	of := map[int64][]platform.Change{}
	for _, c := range changes {
		of[c.ID] = append(of[c.ID], c)
	}
	heard := s.Now // nothing is known of what came later
	if !s.Controller.Online {
		heard = s.Controller.LastSeen
	}
	for _, t := range things {
		d := During{Thing: t}
		seen := time.Duration(0)
		end := heard
		for _, c := range of[t.ID] { // newest first
			known = true
			if part := overlap(c.At, end, from, to); c.Is != "unknown" {
				seen += part
				if slices.Contains(words, c.Is) {
					d.So += Duration(part)
				}
			}
			if end = c.At; c.At.Sub(c.After) > sharp {
				end = c.After // in between it was one or the other
			}
		}
		d.Unknown = Duration(to.Sub(from) - seen)
		all = append(all, d)
	}
	return all, known, nil
}

// overlap is how much of [a, b) lies in [from, to).
func overlap(a, b, from, to time.Time) time.Duration {
	if a.Before(from) {
		a = from
	}
	if b.After(to) {
		b = to
	}
	return max(0, b.Sub(a))
}
