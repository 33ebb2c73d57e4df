package store_test

import (
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

// Whoever read what is kept of a controller knows by its revision whether that is so still, on every instance.
func TestARevisionMovesWithWhatIsKept(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		addController(t, one, "house")
		addController(t, one, "mill")
		revision := func(s *store.Store, id string) int64 {
			t.Helper()
			e, err := s.Enrolment(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return e.Revision
		}
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		thing := platform.Report{Controller: "house", Kind: "node", ID: 7, State: []byte("{}"), At: noon, ReportedAt: noon}
		seen := thing
		seen.Seen = noon.Add(time.Second)
		gone := thing
		gone.State = nil
		for _, c := range []struct {
			name  string
			batch platform.Batch
		}{
			{"a report", platform.Batch{Reports: []platform.Report{thing}}},
			{"a report again", platform.Batch{Reports: []platform.Report{thing}}},
			{"read again", platform.Batch{Seen: []platform.Report{seen}}},
			{"a sample", platform.Batch{Samples: map[string][]platform.Sample{"house": {{Node: 7, Watts: 3, At: noon}}}}},
			{"a sign of life", platform.Batch{Alive: map[string]time.Time{"house": noon}}},
			{"gone", platform.Batch{Reports: []platform.Report{gone}}},
		} {
			before, other := revision(two, "house"), revision(two, "mill")
			if err := one.SaveBatch(t.Context(), c.batch); err != nil {
				t.Fatal(err)
			}
			if after := revision(two, "house"); after <= before {
				t.Errorf("%s: %d, was %d", c.name, after, before)
			}
			if after := revision(two, "mill"); after != other {
				t.Errorf("%s of another controller moves it from %d to %d", c.name, other, after)
			}
		}
		if e, err := two.Enrolment(t.Context(), "house"); err != nil || !e.LastSeen.Equal(noon) {
			t.Errorf("last seen %v, want noon: a batch without a sign of life changes nothing of it (%v)", e.LastSeen, err)
		}
	})
}
