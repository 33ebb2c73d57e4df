package link

import (
	"cmp"
	"context"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

const (
	// ledgerEvery is how often finished commands are told.
	ledgerEvery = 2 * time.Second
	// ledgerKept finished commands are kept to be told, or told again.
	ledgerKept = 250
)

// reporter knows which finished commands the platform was told of.
type reporter struct {
	kept  []wire.Commanded // the newest, in the order in which they finished
	sent  int              // how many of them were told
	since time.Time        // nothing that finished since then is missing in kept
	told  time.Time        // nothing that finished between since and then was left untold
	due   bool             // tell, even if there is nothing new
}

// newReporter begins with the newest commands of the past, in any order; some may be there twice.
func newReporter(past []appliance.Entry, now time.Time) *reporter {
	slices.SortFunc(past, func(x, y appliance.Entry) int {
		return cmp.Or(x.DoneAt.Compare(y.DoneAt), cmp.Compare(x.ID, y.ID))
	})
	r := &reporter{since: now}
	if len(past) > 0 {
		r.since = past[0].DoneAt
	}
	past = slices.CompactFunc(past, func(x, y appliance.Entry) bool { return x.ID == y.ID })
	r.add(past, 0)
	r.told = r.since
	return r
}

// add takes commands that finished; so many before them were lost.
func (r *reporter) add(entries []appliance.Entry, lost uint64) {
	if lost > 0 && len(entries) > 0 {
		r.kept, r.sent = nil, 0
		r.since = entries[0].DoneAt
		r.told = r.since
	}
	for _, e := range entries {
		r.kept = append(r.kept, commanded(e))
	}
	if over := len(r.kept) - ledgerKept; over > 0 {
		r.since = r.kept[over].Done
		if over > r.sent { // more than there is time to tell
			r.told = r.since
		}
		r.kept, r.sent = slices.Delete(r.kept, 0, over), max(0, r.sent-over)
	}
}

// again begins from the oldest that is kept.
func (r *reporter) again() {
	r.sent, r.told, r.due = 0, r.since, true
}

// next is what is to be told now; false: nothing.
func (r *reporter) next(now time.Time) (wire.Ledger, bool) {
	rest := r.kept[r.sent:]
	if len(rest) == 0 && !r.due {
		return wire.Ledger{}, false
	}
	n := min(len(rest), wire.LedgerMost)
	l := wire.Ledger{Since: r.told.UTC(), Until: now.UTC(), Commands: slices.Clone(rest[:n])}
	if n < len(rest) {
		l.Until = rest[n].Done
	}
	if l.Commands == nil {
		l.Commands = []wire.Commanded{}
	}
	r.sent, r.told, r.due = r.sent+n, l.Until, false
	return l, true
}

// tellLedger reports finished commands until ctx ends. Without a session nothing waits in the outbox: what is kept here is told
// when there is one again.
func (l *Link) tellLedger(ctx context.Context) {
	feed := l.cfg.Core.Entries()
	cursor := feed.End()
	r := newReporter(l.past(ctx), time.Now())
	pace := time.NewTicker(ledgerEvery)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.retell:
			r.again()
			continue
		case <-pace.C:
		}
		now := time.Now()
		entries, next, lost := feed.Since(cursor)
		cursor = next
		r.add(entries, lost)
		if !l.heard() {
			continue
		}
		batch, ok := r.next(now)
		if !ok {
			continue
		}
		b, err := envelope(wire.TypeLedger, "", batch)
		if err != nil {
			l.cfg.Log.Error("a part of the ledger cannot be packed", "why", err)
			continue
		}
		l.box.event(parcel{below: wire.UpLedger, qos: 1, bytes: b, event: true})
	}
}

// past are the newest finished commands, in memory and, as far as they are not there, on disk.
func (l *Link) past(ctx context.Context) []appliance.Entry {
	all := l.cfg.Core.RecentEntries()
	if l.cfg.Past != nil {
		older, err := l.cfg.Past(ctx, ledgerKept)
		if err != nil {
			l.cfg.Log.Warn("commands from before the start are not told to the platform", "why", err)
		}
		all = append(all, older...)
	}
	return slices.DeleteFunc(all, func(e appliance.Entry) bool { return e.DoneAt.IsZero() })
}

// commanded is an entry as the platform hears of it.
func commanded(e appliance.Entry) wire.Commanded {
	c := e.Command
	out := wire.Commanded{
		ID: e.ID, At: e.AcceptedAt.UTC(), Done: e.DoneAt.UTC(), Do: c.Kind.Word(), Failed: !e.OK(),
		Who: brief(c.Origin.Who), Via: brief(c.Origin.Via), Why: brief(c.Origin.Why),
	}
	value := func(v float64) { out.Value = &v }
	switch c.Kind {
	case appliance.LightLevel:
		value(float64(c.Level))
	case appliance.LightKelvin:
		value(float64(c.Kelvin))
	case appliance.ShadeMoveTo:
		value(float64(c.Position))
	}
	switch {
	case c.Target.Scope == appliance.All:
		out.Kind = wire.KindSite
	case c.Target.Scope == appliance.InCluster:
		out.Kind, out.Thing = wire.KindCluster, int64(c.Target.ID)
	case c.Kind.IsShade():
		out.Kind, out.Thing = wire.KindShade, int64(c.Target.ID)
	default:
		out.Kind, out.Thing = wire.KindNode, int64(c.Target.ID)
	}
	things, not := map[appliance.ID]bool{}, map[appliance.ID]bool{}
	for _, m := range e.Members {
		id := m.Ref.Node
		if c.Kind.IsShade() {
			id = m.Ref.Shade
		}
		things[id] = true
		if (m.Offline || m.Err != "") && !not[id] {
			not[id] = true
			if len(out.Not) < wire.LedgerNot {
				out.Not = append(out.Not, int64(id))
			}
		}
	}
	out.Things = len(things)
	return out
}

// brief bounds a text of a person or an installer.
func brief(text string) string {
	if r := []rune(text); len(r) > wire.LedgerText {
		return string(r[:wire.LedgerText-1]) + "…"
	}
	return text
}
