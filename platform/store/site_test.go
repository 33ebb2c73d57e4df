package store_test

import (
	"crypto/sha256"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

func addController(t *testing.T, s *store.Store, id string) {
	t.Helper()
	if err := s.AddController(t.Context(), id, "House", sha256.Sum256([]byte("code of "+id)), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func issue(id string) platform.Credential {
	return platform.Credential{Username: id, Controller: id, Hash: sha256.Sum256([]byte("password"))}
}

func TestAnEnrolmentCodeIsGoodOnceAndRevocationEndsAllCredentials(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		addController(t, one, "house")
		code := sha256.Sum256([]byte("code of house"))
		if err := one.AddController(t.Context(), "house", "", code, time.Now()); !errors.Is(err, platform.ErrExists) {
			t.Errorf("a second house: %v", err)
		}
		if id, err := two.Enrol(t.Context(), code, issue); err != nil || id != "house" {
			t.Fatalf("enrol: %q %v", id, err)
		}
		if _, err := one.Enrol(t.Context(), code, issue); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("second use of a code: %v", err)
		}
		if err := one.PutCredential(t.Context(), platform.Credential{Username: "peer", Controller: "house", Integration: true}); err != nil {
			t.Fatal(err)
		}
		if c, err := one.Credential(t.Context(), "house"); err != nil || c != issue("house") {
			t.Errorf("got %+v %v", c, err)
		}
		if all, err := two.Credentials(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("got %+v %v", all, err)
		}
		if err := two.RevokeController(t.Context(), "house"); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Credential(t.Context(), "house"); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("credential after revocation: %v", err)
		}
		if _, err := one.NextNumber(t.Context(), "house"); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("number after revocation: %v", err)
		}
		late := sha256.Sum256([]byte("late"))
		if err := one.RenewCode(t.Context(), "house", late, time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Enrol(t.Context(), late, issue); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("expired code: %v", err)
		}
	})
}

func TestMessagesToAControllerAreNumberedAcrossInstances(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		addController(t, one, "house")
		var last platform.Number
		for i := range 20 {
			s := one
			if i%2 == 1 {
				s = two
			}
			n, err := s.NextNumber(t.Context(), "house")
			if err != nil || n.Seq != last.Seq+1 || i > 0 && n.Epoch != last.Epoch {
				t.Fatalf("got %+v %v after %+v", n, err, last)
			}
			last = n
		}
		// Many at once, on both: no number twice, none left out, each later than those given out before.
		addController(t, one, "other")
		var mu sync.Mutex
		given := map[int64]bool{}
		var wg sync.WaitGroup
		for i := range 200 {
			s, id := []*store.Store{one, two}[i%2], []string{"house", "other"}[i/2%2]
			wg.Go(func() {
				n, err := s.NextNumber(t.Context(), id)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if id == "house" {
					given[n.Seq-last.Seq] = true
				}
			})
		}
		wg.Wait()
		for i := int64(1); i <= 100; i++ {
			if !given[i] {
				t.Errorf("number %d was not given; there are %d", i, len(given))
			}
		}
		if _, err := one.NextNumber(t.Context(), "nowhere"); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("a number for nobody: %v", err)
		}
	})
}

func TestADeathOfAnOlderSessionIsIgnored(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		addController(t, s, "house")
		for i, c := range []struct {
			online bool
			boot   int64
			news   bool
			after  bool
		}{
			{true, 7, true, true},
			{true, 8, false, true},
			{false, 7, false, true}, // a slow will
			{false, 8, true, false},
			{false, 8, false, false},
			{true, 3, true, true}, // a controller restored from a backup counts from there
			{false, 3, true, false},
		} {
			news, err := s.SetSession(t.Context(), platform.Session{Controller: "house", Online: c.online, Boot: c.boot, At: time.Now(), Name: "Name"})
			e, err2 := s.Enrolment(t.Context(), "house")
			if err != nil || err2 != nil || news != c.news || e.Online != c.after {
				t.Errorf("step %d: news %v online %v, %v %v", i, news, e.Online, err, err2)
			}
		}
	})
}

func TestEnergyIsWhatSamplesMeasuredAndNothingElse(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		var samples []platform.Sample
		for s := 30; s <= 300; s += 30 { // a ramp from 60 W to 600 W
			samples = append(samples, platform.Sample{Node: 127, Watts: float64(2 * s), At: noon.Add(time.Duration(s) * time.Second)})
		}
		for s := 600; s <= 660; s += 30 { // after a gap of 5 minutes: 100 W
			samples = append(samples, platform.Sample{Node: 127, Watts: 100, At: noon.Add(time.Duration(s) * time.Second)})
		}
		save := func(s *store.Store, samples ...platform.Sample) {
			t.Helper()
			if err := s.SaveBatch(t.Context(), platform.Batch{Samples: map[string][]platform.Sample{"house": samples}}); err != nil {
				t.Fatal(err)
			}
		}
		save(one, samples[:4]...)
		save(two, samples[2:8]...) // two instances, and messages that come twice
		save(one, samples...)
		save(two, platform.Sample{Node: 127, Watts: math.NaN(), At: noon.Add(time.Hour)})

		minutes, err := one.Energy(t.Context(), "house", 127, time.Minute, noon, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		covered, watthours := 0.0, 0.0
		for _, e := range minutes {
			covered += e.Covered * 60
			watthours += e.WattHours
		}
		// 270 s of a ramp with a mean of 330 W, 60 s of 100 W.
		if want := (270*330.0 + 60*100) / 3600; math.Abs(watthours-want) > 1e-6 || math.Abs(covered-330) > 1e-6 {
			t.Errorf("got %.4f Wh over %.1f s, want %.4f over 330", watthours, covered, want)
		}
		if first := minutes[0]; !first.Start.Equal(noon) || math.Abs(first.Covered-0.5) > 1e-9 || math.Abs(first.WattHours-30*90.0/3600) > 1e-9 {
			t.Errorf("first minute: %+v", first)
		}
		quarters, err := two.Energy(t.Context(), "house", 127, 15*time.Minute, noon, noon.Add(time.Hour))
		if err != nil || len(quarters) != 1 || math.Abs(quarters[0].WattHours-watthours) > 1e-6 || math.Abs(quarters[0].Covered-330.0/900) > 1e-9 {
			t.Errorf("quarters: %+v %v", quarters, err)
		}
		m, err := one.Meters(t.Context(), "house")
		if err != nil || len(m) != 1 || !m[0].Since.Equal(noon.Add(30*time.Second)) || m[0].Last.Watts != 100 {
			t.Errorf("meters: %+v %v", m, err)
		}
		if err := one.Purge(t.Context(), platform.Retention{Minutes: noon.Add(5 * time.Minute), Quarters: noon, Events: noon}); err != nil {
			t.Fatal(err)
		}
		minutes, _ = one.Energy(t.Context(), "house", 127, time.Minute, noon, noon.Add(time.Hour))
		quarters, _ = one.Energy(t.Context(), "house", 127, 15*time.Minute, noon, noon.Add(time.Hour))
		if len(minutes) != 1 || len(quarters) != 1 {
			t.Errorf("after the purge: %d minutes, %d quarters", len(minutes), len(quarters))
		}
	})
}

func TestAnOlderReportChangesNothing(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		report := func(state string, at time.Time) platform.Report {
			return platform.Report{Controller: "house", Kind: "node", ID: 1, State: []byte(state), At: at, ReportedAt: at}
		}
		event := platform.MessageEvent{ID: "1", Event: platform.Event{Controller: "house", Code: "node.offline", Kind: "node", Thing: 1, At: noon}}
		err := s.SaveBatch(t.Context(), platform.Batch{
			Reports: []platform.Report{report("new", noon), report("old", noon.Add(-time.Second))},
			Seen:    []platform.Report{{Controller: "house", Kind: "node", ID: 1, Seen: noon.Add(time.Minute)}},
			Events:  []platform.MessageEvent{event, event},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Reports(t.Context(), "house", "node")
		if err != nil || len(got) != 1 || string(got[0].State) != "new" || !got[0].Seen.Equal(noon.Add(time.Minute)) {
			t.Errorf("got %+v %v", got, err)
		}
		if events, err := s.Events(t.Context(), "house", noon, noon.Add(time.Second), 10); err != nil || len(events) != 1 {
			t.Errorf("events: %+v %v", events, err)
		}
		gone := report("", noon.Add(time.Second))
		if err := s.SaveBatch(t.Context(), platform.Batch{Reports: []platform.Report{gone}}); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Reports(t.Context(), "house", ""); len(got) != 0 {
			t.Errorf("what is gone: %+v", got)
		}
	})
}
