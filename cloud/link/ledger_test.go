package link

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/cloud/wire"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// finished are n commands, one a second from noon on, numbered from first.
func finished(first, n int) []appliance.Entry {
	var out []appliance.Entry
	for i := first; i < first+n; i++ {
		at := noon.Add(time.Duration(i) * time.Second)
		out = append(out, appliance.Entry{ID: fmt.Sprintf("c-%05d", i), Command: appliance.Command{Kind: appliance.LightOff}, AcceptedAt: at, DoneAt: at})
	}
	return out
}

// hearer is a platform: what it was told, and from when to when it knows that nothing is missing.
type hearer struct {
	ids          map[string]bool
	since, until time.Time
}

func (h *hearer) hear(t *testing.T, l wire.Ledger) {
	t.Helper()
	if len(l.Commands) > wire.LedgerMost {
		t.Errorf("%d commands in one message", len(l.Commands))
	}
	if h.ids == nil || l.Since.After(h.until) {
		h.ids, h.since = map[string]bool{}, l.Since
	}
	for _, c := range l.Commands {
		h.ids[c.ID] = true
	}
	if l.Since.Before(h.since) {
		h.since = l.Since
	}
	if l.Until.After(h.until) {
		h.until = l.Until
	}
}

func (h *hearer) all(t *testing.T, r *reporter, now time.Time) {
	t.Helper()
	for range 1000 {
		l, ok := r.next(now)
		if !ok {
			return
		}
		h.hear(t, l)
	}
	t.Error("it never ends")
}

// complete checks that nothing is missing of what finished in the time for which that was claimed.
func (h *hearer) complete(t *testing.T, done []appliance.Entry) {
	t.Helper()
	for _, e := range done {
		if !e.DoneAt.Before(h.since) && e.DoneAt.Before(h.until) && !h.ids[e.ID] {
			t.Errorf("%s is missing between %v and %v", e.ID, h.since, h.until)
		}
	}
}

func TestEveryCommandIsToldOnceAndFromWhenOnNothingIsMissing(t *testing.T) {
	past := finished(0, 30)
	r := newReporter(append(past[10:], finished(5, 25)...), noon.Add(time.Minute)) // partly twice
	var h hearer
	h.all(t, r, noon.Add(time.Minute))
	if len(h.ids) != 25 || !h.since.Equal(noon.Add(5*time.Second)) || !h.until.Equal(noon.Add(time.Minute)) {
		t.Errorf("of the past: %d commands, complete from %v to %v", len(h.ids), h.since, h.until)
	}
	if l, ok := r.next(noon.Add(time.Hour)); ok {
		t.Errorf("nothing is new, and told is %+v", l)
	}
	r.add(finished(100, 60), 0)
	l, _ := r.next(noon.Add(time.Hour))
	if len(l.Commands) != wire.LedgerMost || l.Commands[0].ID != "c-00100" || !l.Since.Equal(noon.Add(time.Minute)) {
		t.Errorf("what is new: %d commands from %s, since %v", len(l.Commands), l.Commands[0].ID, l.Since)
	}
	h.hear(t, l)
	h.complete(t, finished(100, 60))
	h.all(t, r, noon.Add(time.Hour))
	h.complete(t, finished(100, 60))
	if len(h.ids) != 85 {
		t.Errorf("%d commands", len(h.ids))
	}
	r.again() // the platform was away
	h.all(t, r, noon.Add(2*time.Hour))
	if len(h.ids) != 85 || !h.until.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("told again: %d commands until %v", len(h.ids), h.until)
	}
}

func TestWhatIsLostOfTheLedgerIsNotClaimed(t *testing.T) {
	r := newReporter(nil, noon)
	var h hearer
	r.again()
	h.all(t, r, noon)
	if len(h.ids) != 0 || !h.since.Equal(noon) {
		t.Fatalf("an empty ledger: %v since %v", h.ids, h.since)
	}
	done := finished(10, 3*ledgerKept) // during an outage
	for i := 0; i < len(done); i += 50 {
		r.add(done[i:i+50], 0)
	}
	h.all(t, r, noon.Add(time.Hour))
	h.complete(t, done)
	if len(h.ids) != ledgerKept {
		t.Errorf("%d commands after an outage, want %d", len(h.ids), ledgerKept)
	}
	late := finished(5000, 10)
	r.add(late, 7)
	h.all(t, r, noon.Add(2*time.Hour))
	if !h.since.Equal(late[0].DoneAt) {
		t.Errorf("7 were lost before %v, and complete is said from %v", late[0].DoneAt, h.since)
	}
	h.complete(t, late)
}

func TestACommandIsToldWithWhoAndWhatItDid(t *testing.T) {
	e := appliance.Entry{ID: "x", AcceptedAt: noon, DoneAt: noon.Add(time.Second), Err: "1 of 2 did not obey", Command: appliance.Command{
		Kind: appliance.LightLevel, Level: 40, Target: appliance.Target{Scope: appliance.InCluster, ID: 3},
		Origin: appliance.Origin{Who: `key "BMS"`, Via: "assistant", Why: "light_brightness released 102"}},
		Members: []appliance.Member{{Ref: appliance.Ref{Node: 7, Channel: 1}}, {Ref: appliance.Ref{Node: 7, Channel: 2}}, {Ref: appliance.Ref{Node: 8, Channel: 1}, Err: "silent"}}}
	c := commanded(e)
	if c.Who != `key "BMS"` || c.Via != "assistant" || c.Do != "light-level" || c.Value == nil || *c.Value != 40 || c.Kind != wire.KindCluster || c.Thing != 3 || c.Things != 2 || len(c.Not) != 1 || c.Not[0] != 8 || !c.Failed {
		t.Errorf("got %+v", c)
	}
	e.Command.Kind, e.Command.Target, e.Members, e.Err = appliance.ShadeStop, appliance.Target{Scope: appliance.One, ID: 5001}, []appliance.Member{{Ref: appliance.Ref{Shade: 5001}}}, ""
	if c := commanded(e); c.Kind != wire.KindShade || c.Thing != 5001 || c.Value != nil || c.Things != 1 || c.Failed {
		t.Errorf("got %+v", c)
	}
}

// Texts of people, and what they cost at most when they are packed, do not make a message too large.
func TestTheLargestPartOfALedgerFitsIntoAMessage(t *testing.T) {
	text := strings.Repeat("\x01", 1000)
	var entries []appliance.Entry
	for _, e := range finished(0, wire.LedgerMost) {
		e.ID, e.Command.Origin = strings.Repeat("f", 40), appliance.Origin{Who: text, Via: text, Why: text}
		e.Command.Kind, e.Command.Position, e.Command.Target = appliance.ShadeMoveTo, 100, appliance.Target{Scope: appliance.InCluster, ID: appliance.MaxID}
		for i := range 5000 {
			e.Members = append(e.Members, appliance.Member{Ref: appliance.Ref{Shade: appliance.MaxID - appliance.ID(i)}, Err: "silent"})
		}
		entries = append(entries, e)
	}
	r := newReporter(nil, noon)
	r.add(entries, 0)
	l, ok := r.next(noon)
	if b, err := envelope(wire.TypeLedger, "", l); !ok || err != nil || len(l.Commands) != wire.LedgerMost {
		t.Errorf("%d commands, %d bytes: %v", len(l.Commands), len(b), err)
	}
}

// Without a session nothing is put into the outbox; with one again, what finished meanwhile is told within some seconds.
func TestNothingOfTheLedgerWaitsInTheOutboxDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := control.New(control.Options{})
		l, err := New(Config{Core: core, Credentials: wire.Credentials{Controller: "house"}, Log: slog.New(slog.DiscardHandler),
			Past: func(_ context.Context, limit int) ([]appliance.Entry, error) { return finished(0, min(3, limit)), nil }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { l.tellLedger(ctx) })
		defer ended.Wait()
		defer cancel()
		synctest.Wait()
		told := func() (ids []string) {
			for {
				p, ok, err := l.box.next(true, seal)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					return ids
				}
				var part wire.Ledger
				if env, err := wire.Open(p.bytes); err != nil || env.Type != wire.TypeLedger || p.below != wire.UpLedger || env.Read(&part) != nil {
					t.Fatalf("got %s on %s: %v", p.bytes, p.below, err)
				}
				for _, c := range part.Commands {
					ids = append(ids, c.ID)
				}
			}
		}
		for _, e := range finished(10, 2) {
			core.Entries().Add(e)
		}
		time.Sleep(time.Hour)
		if ids := told(); len(ids) > 0 {
			t.Errorf("without a session: %q", ids)
		}
		l.note(true)
		l.setPlatform(true)
		time.Sleep(2 * ledgerEvery)
		if ids := told(); !slices.Equal(ids, []string{"c-00000", "c-00001", "c-00002", "c-00010", "c-00011"}) {
			t.Errorf("with a session: %q", ids)
		}
		core.Entries().Add(finished(12, 1)[0])
		l.setPlatform(false)
		time.Sleep(time.Minute)
		if ids := told(); len(ids) > 0 {
			t.Errorf("while the platform is away: %q", ids)
		}
		l.setPlatform(true)
		poke(l.retell)
		time.Sleep(2 * ledgerEvery)
		// The one that is new may go out just before all are told again.
		ids := told()
		if all := ids[max(0, len(ids)-6):]; !slices.Equal(all, []string{"c-00000", "c-00001", "c-00002", "c-00010", "c-00011", "c-00012"}) {
			t.Errorf("when it is back: %q", ids)
		}
	})
}
