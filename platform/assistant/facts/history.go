package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
)

// Hold is how long a thing has been as it is, or was.
type Hold struct {
	Thing
	Is string `json:"is"` // a word of [platform.Change]; empty: no history of it is kept
	// It began in (After, Since]; After is zero if it may have begun at any time before.
	Since time.Time `json:"since,omitzero"`
	After time.Time `json:"after,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: it goes on
}

// sharp is how far apart two looks at a thing may be for the time of a change to be told as one moment.
const sharp = 2 * time.Minute

// Sharp reports whether the moment is known at which a hold began.
func (h Hold) Sharp() bool { return !h.After.IsZero() && h.Since.Sub(h.After) <= sharp }

// For tells whether a hold that goes on has lasted as a condition says: it has, it may have, or neither.
func (h Hold) For(now time.Time, holds func(minutes float64) bool) (sure, maybe bool) {
	least, most := now.Sub(h.Since), now.Sub(h.After)
	if h.After.IsZero() {
		most = 100 * 365 * 24 * time.Hour
	}
	a, b := holds(least.Minutes()), holds(most.Minutes())
	return a && b, a || b
}

// Holds tells of things of a kind since when they are as they are. With words, it is the last time that they were one of these,
// as if they were one; of a thing that never was, as far as is known, there is none. One without any history is there with no word.
func (s *Site) Holds(ctx context.Context, things []Thing, kind string, aspect platform.Aspect, words ...string) ([]Hold, error) {
	changes, err := s.reader.Changes(ctx, s.Controller.ID, kind, aspect)
	if err != nil {
		return nil, fmt.Errorf("read the history of controller %s: %w", s.Controller.ID, err)
	}
	of := map[int64][]platform.Change{}
	for _, c := range changes {
		of[c.ID] = append(of[c.ID], c)
	}
	var out []Hold
	for _, t := range things {
		all := of[t.ID]
		if len(all) == 0 {
			out = append(out, Hold{Thing: t})
			continue
		}
		fits := func(c platform.Change) bool { return c.Is == all[0].Is }
		if len(words) > 0 {
			fits = func(c platform.Change) bool { return slices.Contains(words, c.Is) }
		}
		if h, ok := hold(t, all, fits); ok {
			out = append(out, h)
		}
	}
	return out, nil
}

// hold is the newest run of changes that fit; they come newest first.
func hold(t Thing, all []platform.Change, fits func(platform.Change) bool) (Hold, bool) {
	first := slices.IndexFunc(all, fits)
	if first < 0 {
		return Hold{}, false
	}
	h := Hold{Thing: t, Is: all[first].Is, Since: all[first].At}
	if first > 0 {
		h.Until = all[first-1].At
	}
	for i := first; i < len(all); i++ {
		if c := all[i]; !fits(c) {
			if silent(c) && i+1 < len(all) && fits(all[i+1]) && all[i-1].At.Sub(c.At) <= sharp {
				continue // a restart, or a moment without an answer, between two of the same
			}
			if c.Is == "unknown" { // it may have been so meanwhile
				h.After = time.Time{}
			}
			break
		}
		h.Since, h.After = all[i].At, all[i].After
		unwatched := !h.After.IsZero() && h.Since.Sub(h.After) > platform.UnwatchedMost
		if unwatched && i+1 < len(all) && fits(all[i+1]) { // it may have been so all the time
			h.After = time.Time{}
		}
		if unwatched {
			break
		}
	}
	return h, true
}

// silent reports whether a change says that nothing is heard of a thing.
func silent(c platform.Change) bool { return c.Is == "unknown" || c.Is == "offline" }

// Commanded is the newest command that a thing had, as a question wants it.
type Commanded struct {
	platform.Command
	Things []Thing `json:"for"`
}

// Commands are what was commanded.
type Commands struct {
	Reported bool        `json:"reported"` // the controller reports its ledger
	Since    time.Time   `json:"since,omitzero"`
	Last     []Commanded `json:"last"`              // newest first
	Without  []Thing     `json:"without,omitempty"` // none since then
}

// ownStop is the door of commands that a controller gives to shades by itself.
const ownStop = "shade engine"

// commandsMost bounds what one answer looks through.
const commandsMost = 2000

// LastCommands finds of each thing the newest command in [from, to) that it obeyed and that is wanted; kind is
// [platform.KindLight] or [platform.KindShade].
func (s *Site) LastCommands(ctx context.Context, things []Thing, kind string, from, to time.Time, wanted func(platform.Command) bool) (Commands, error) {
	l, err := s.reader.Ledger(ctx, s.Controller.ID, from, to, commandsMost)
	if err != nil {
		return Commands{}, fmt.Errorf("read the ledger of controller %s: %w", s.Controller.ID, err)
	}
	out := Commands{Reported: !l.Since.IsZero(), Since: l.Since}
	if from.After(out.Since) {
		out.Since = from
	}
	if n := len(l.Commands); n == commandsMost && l.Commands[n-1].At.After(out.Since) {
		out.Since = l.Commands[n-1].At
	}
	left := slices.Clone(things)
	for _, c := range l.Commands {
		if c.Via == ownStop { // it ends the way that somebody else's command began
			continue
		}
		if strings.HasPrefix(c.Do, kind+"-") && wanted(c) && !(c.Failed && len(c.Not) == 0) {
			var hit []Thing
			left = slices.DeleteFunc(left, func(t Thing) bool {
				if !addressed(c, t) || slices.Contains(c.Not, t.ID) {
					return false
				}
				hit = append(hit, t)
				return true
			})
			if len(hit) > 0 {
				out.Last = append(out.Last, Commanded{c, hit})
			}
		}
	}
	out.Without = left
	return out, nil
}

// NewestCommands are the n newest commands in [from, to) that were wanted and that any of the things obeyed, or with disobeyed did not, newest first; of is by
// [platform.KindLight] and [platform.KindShade].
func (s *Site) NewestCommands(ctx context.Context, of map[string][]Thing, from, to time.Time, wanted func(platform.Command) bool, disobeyed bool, n int) (Commands, error) {
	l, err := s.reader.Ledger(ctx, s.Controller.ID, from, to, commandsMost)
	if err != nil {
		return Commands{}, fmt.Errorf("read the ledger of controller %s: %w", s.Controller.ID, err)
	}
	out := Commands{Reported: !l.Since.IsZero(), Since: l.Since}
	if from.After(out.Since) {
		out.Since = from
	}
	for _, c := range l.Commands {
		family, _, _ := strings.Cut(c.Do, "-")
		nobody := c.Failed && len(c.Not) == 0 // obeyed
		if len(out.Last) == n || c.Via == ownStop || !wanted(c) || nobody && !disobeyed {
			continue
		}
		hit := slices.DeleteFunc(slices.Clone(of[family]), func(t Thing) bool {
			return !addressed(c, t) || (nobody || slices.Contains(c.Not, t.ID)) != disobeyed
		})
		if len(hit) > 0 {
			out.Last = append(out.Last, Commanded{c, hit})
		}
	}
	return out, nil
}

// addressed reports whether a command of the right family was for a thing, as the building is divided now.
func addressed(c platform.Command, t Thing) bool {
	switch c.Kind {
	case "site":
		return true
	case "cluster":
		return slices.Contains(t.Zones, c.Thing)
	}
	return c.Thing == t.ID
}
