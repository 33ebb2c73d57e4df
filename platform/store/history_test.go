package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

// words tells changes in short: what, since when, and after when, in seconds from noon; "?" where nothing was known before.
func words(noon time.Time, all []platform.Change) []string {
	var out []string
	for _, c := range all {
		after := "?"
		if !c.After.IsZero() {
			after = fmt.Sprint(c.After.Sub(noon).Seconds())
		}
		out = append(out, fmt.Sprintf("%d %s %s-%v", c.ID, c.Is, after, c.At.Sub(noon).Seconds()))
	}
	return out
}

func TestChangesAreKeptWithTheTimeInWhichTheyCame(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		report := func(id int64, second int, doing, reach string) platform.Report {
			at := noon.Add(time.Duration(second) * time.Second)
			return platform.Report{Controller: "house", Kind: "node", ID: id, State: []byte("{}"), At: at, ReportedAt: at, Doing: doing, Reach: reach, Read: true}
		}
		save := func(s *store.Store, b platform.Batch) {
			t.Helper()
			if err := s.SaveBatch(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range []platform.Report{
			report(7, 0, "on", "online"), report(7, 10, "on", "online"), report(7, 20, "off", "online"),
			report(7, 15, "on", "online"),    // late
			report(7, 30, "", "online"),      // nothing new
			report(7, 1000, "off", "online"), // not watched meanwhile
			report(7, 1010, "unknown", "offline"), report(7, 1020, "on", "online"),
			report(8, 0, "", ""), report(8, 5, "closed", "online"),
		} {
			save(one, platform.Batch{Reports: []platform.Report{r}})
			save(two, platform.Batch{Reports: []platform.Report{r}}) // the other instance hears the same
		}
		sent := report(7, 5000, "off", "online")
		sent.Read = false
		save(one, platform.Batch{Reports: []platform.Report{sent}})
		got, err := two.Changes(t.Context(), "house", "node", platform.Doing)
		want := []string{"7 off 5000-5000", "7 on 1010-1020", "7 unknown 1000-1010", "7 off 30-1000", "7 off 10-20", "7 on ?-0", "8 closed ?-5"}
		if err != nil || !slices.Equal(words(noon, got), want) {
			t.Errorf("got %q, want %q: %v", words(noon, got), want, err)
		}
		got, err = one.Changes(t.Context(), "house", "node", platform.Reach)
		want = []string{"7 online 1020-1020", "7 offline 1010-1010", "7 online ?-0", "8 online ?-5"}
		if err != nil || !slices.Equal(words(noon, got), want) {
			t.Errorf("reach: got %q, want %q: %v", words(noon, got), want, err)
		}
		if other, err := one.Changes(t.Context(), "other", "node", platform.Doing); err != nil || len(other) != 0 {
			t.Errorf("of another house: %v %v", other, err)
		}
		for i := range 3 * platform.ChangesKept { // a lamp that flickers
			save(one, platform.Batch{Reports: []platform.Report{report(7, 6000+i, []string{"on", "off"}[i%2], "online")}})
		}
		if got, _ = one.Changes(t.Context(), "house", "node", platform.Doing); len(got) != platform.ChangesKept+1 {
			t.Errorf("%d changes are kept", len(got))
		}
		if err := one.Purge(t.Context(), platform.Retention{History: noon.Add(24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if got, _ = two.Changes(t.Context(), "house", "node", platform.Doing); len(got) != 2 || got[0].Is != "off" || got[1].Is != "closed" {
			t.Errorf("after the purge, how it is now must be left: %v", words(noon, got))
		}
		save(one, platform.Batch{Reports: []platform.Report{{Controller: "house", Kind: "node", ID: 8}}})
		if got, _ = one.Changes(t.Context(), "house", "node", platform.Doing); len(got) != 1 {
			t.Errorf("what is gone: %v", words(noon, got))
		}
	})
}

func TestALedgerSaysFromWhenToWhenItIsWhole(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
		part := func(since, until int, commands ...int) {
			t.Helper()
			p := platform.LedgerPart{Controller: "house", Since: at(since), Until: at(until)}
			for _, m := range commands {
				p.Commands = append(p.Commands, platform.Command{Controller: "house", ID: fmt.Sprintf("c%03d", m), At: at(m), Who: "ada", Do: "light-off", Kind: "cluster", Thing: 3, Not: []int64{8}})
			}
			for _, s := range []*store.Store{one, two} {
				if err := s.SaveBatch(t.Context(), platform.Batch{Ledgers: []platform.LedgerPart{p}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(what string, since, until time.Time, commands int) {
			t.Helper()
			l, err := one.Ledger(t.Context(), "house", noon, noon.Add(24*time.Hour), 100)
			if err != nil || !l.Since.Equal(since) || !l.Until.Equal(until) || len(l.Commands) != commands {
				t.Errorf("%s: whole from %v to %v, %d commands, %v", what, l.Since, l.Until, len(l.Commands), err)
			}
		}
		check("never reported", time.Time{}, time.Time{}, 0)
		part(10, 20, 12, 15)
		part(20, 30, 25)
		check("in turn", at(10), at(30), 3)
		part(5, 20, 7, 12, 15) // told again
		check("told again", at(5), at(30), 4)
		part(40, 50, 45)
		check("after a gap", at(40), at(50), 5)
		part(31, 35, 33)
		check("late, from within the gap", at(40), at(50), 6)
		l, _ := two.Ledger(t.Context(), "house", at(13), at(46), 2)
		if len(l.Commands) != 2 || l.Commands[0].ID != "c045" || l.Commands[1].ID != "c033" || l.Commands[0].Who != "ada" || l.Commands[0].Not[0] != 8 {
			t.Errorf("the newest two of some minutes: %+v", l.Commands)
		}
		if err := one.Purge(t.Context(), platform.Retention{History: at(44)}); err != nil {
			t.Fatal(err)
		}
		check("after the purge", at(44), at(50), 1)
	})
}

func TestALedgerIsBounded(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		p := platform.LedgerPart{Controller: "house", Since: noon, Until: noon.Add(24 * time.Hour)}
		const over = 70
		for i := range platform.CommandsKept + over {
			p.Commands = append(p.Commands, platform.Command{ID: fmt.Sprintf("c%06d", i), At: noon.Add(time.Duration(i) * time.Second)})
		}
		if err := s.SaveBatch(t.Context(), platform.Batch{Ledgers: []platform.LedgerPart{p}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(t.Context(), platform.Retention{History: noon.Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
		l, err := s.Ledger(t.Context(), "house", noon, p.Until, 2*platform.CommandsKept)
		if err != nil || len(l.Commands) != platform.CommandsKept || !l.Since.Equal(noon.Add(over*time.Second)) {
			t.Errorf("%d commands, whole from %v: %v", len(l.Commands), l.Since, err)
		}
	})
}
