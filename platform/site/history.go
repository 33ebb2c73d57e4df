package site

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// shadeEnd is how near to an end a shade counts as being there, in percent.
const shadeEnd = 1.5

// doing is what a state says of a light or a shade for its history, and whether that was read from the device. Empty: it says
// nothing new, since it was known before a restart and not read again yet, or the thing does nothing.
func doing(s wire.State) (word string, read bool) {
	v := s.Level
	switch {
	case s.Kind == wire.KindShade:
		v = s.Position
	case s.Kind != wire.KindNode, v == nil && !slices.Contains(s.Abilities, "switch") && !slices.Contains(s.Abilities, "dim"):
		return "", false
	}
	switch {
	case s.Online == nil || !*s.Online:
		return "unknown", false
	case v == nil:
		return "unknown", true
	case v.Source == wire.Restored:
		return "", false
	case s.Kind == wire.KindShade:
		word = "between"
		if v.Value >= 100-shadeEnd {
			word = "open"
		} else if v.Value <= shadeEnd {
			word = "closed"
		}
	case v.Value > 0:
		word = "on"
	default:
		word = "off"
	}
	return word, v.Source == wire.Measured
}

// reach is whether a device answers; empty: nobody said so.
func reach(s wire.State) string {
	switch {
	case s.Kind != wire.KindNode && s.Kind != wire.KindShade || s.Online == nil:
		return ""
	case *s.Online:
		return "online"
	}
	return "offline"
}

// addLedger takes a part of a controller's ledger. What claims to be of the future is left out: it would stay the newest until
// then.
func addLedger(b *platform.Batch, m Message) error {
	var l wire.Ledger
	if _, err := open(m, &l); err != nil {
		return err
	}
	soon := m.At.Add(futureMost)
	switch {
	case l.Since.IsZero() || l.Until.Before(l.Since) || l.Until.After(soon):
		return platform.Invalid("a ledger from %v to %v", l.Since, l.Until)
	case len(l.Commands) > wire.LedgerMost:
		return platform.Invalid("%d commands in one message, at most %d", len(l.Commands), wire.LedgerMost)
	}
	part := platform.LedgerPart{Controller: m.Controller, Since: l.Since, Until: l.Until}
	for _, c := range l.Commands {
		if c.At.IsZero() || c.At.After(soon) || c.ID == "" || len(c.ID) > 64 || c.Do == "" || len(c.Not) > wire.LedgerNot ||
			utf8.RuneCountInString(c.Who) > wire.LedgerText || utf8.RuneCountInString(c.Via) > wire.LedgerText || utf8.RuneCountInString(c.Why) > wire.LedgerText {
			return platform.Invalid("command %.64q cannot be one of a ledger", c.ID)
		}
		part.Commands = append(part.Commands, platform.Command{
			Controller: m.Controller, ID: c.ID, At: c.At, Who: c.Who, Via: c.Via, Why: c.Why, Do: c.Do, Value: c.Value,
			Kind: string(c.Kind), Thing: c.Thing, Things: c.Things, Not: c.Not, Failed: c.Failed,
		})
	}
	b.Ledgers = append(b.Ledgers, part)
	return nil
}

// Ledger returns what was commanded in [from, to), newest first, at most limit.
func (r *Reader) Ledger(ctx context.Context, controller string, from, to time.Time, limit int) (platform.Ledger, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return platform.Ledger{}, err
	}
	return r.db.Ledger(ctx, controller, from, to, limit)
}

// Changes returns those of an aspect of things of a kind, by ID, newest first of each.
func (r *Reader) Changes(ctx context.Context, controller, kind string, aspect platform.Aspect) ([]platform.Change, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return nil, err
	}
	if err := r.room.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait to read the history of controller %s: %w", controller, err)
	}
	defer r.room.Release(1)
	return r.db.Changes(ctx, controller, kind, aspect)
}
