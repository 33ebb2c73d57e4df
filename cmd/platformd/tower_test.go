package main

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
)

// enrolled puts a controller into the database.
func (e *estate) enrolled(id, name string) {
	e.t.Helper()
	code := link.NewCode()
	if err := e.db.AddController(e.t.Context(), id, name, link.HashCode(code), time.Now().Add(time.Hour)); err != nil {
		e.t.Fatal(err)
	}
	_, err := e.db.Enrol(e.t.Context(), link.HashCode(code), func(id string) platform.Credential {
		return platform.Credential{Username: id, Controller: id, Hash: sha256.Sum256([]byte(code))}
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// tower puts a site into the database that reported for a week: two meters with their days, and
// a device that does not answer.
func (e *estate) tower() {
	e.t.Helper()
	ctx, now := e.t.Context(), time.Now()
	must := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	e.enrolled("tower", "Tower")
	report := func(s wire.State) platform.Report {
		state, err := json.Marshal(s)
		must(err)
		return platform.Report{Controller: "tower", Kind: string(s.Kind), ID: s.ID, State: state, At: now, ReportedAt: now, Silent: s.Online != nil && !*s.Online}
	}
	yes, no := true, false
	b := platform.Batch{Alive: map[string]time.Time{"tower": now}, Samples: map[string][]platform.Sample{}, Reports: []platform.Report{
		report(wire.State{Kind: wire.KindNode, ID: 1, Name: "Main meter", Tag: "PERIPHERAL", Online: &yes}),
		report(wire.State{Kind: wire.KindNode, ID: 2, Name: "Meter of the ground floor", Tag: "PERIPHERAL", Online: &no, LastSeen: &now}),
		report(wire.State{Kind: wire.KindCluster, ID: 1, Name: "Lobby"}),
		report(wire.State{Kind: wire.KindSite, Name: "Tower", Site: &wire.Site{
			TimeZone: "Europe/Zurich", Floors: []wire.Floor{{Name: "Ground", Clusters: []int64{1}}}, NodeIDs: []int64{1, 2}, ClusterIDs: []int64{1},
			Meters: []wire.Meter{{Node: 1, Covers: "whole building"}, {Node: 2, Covers: "lobby", Clusters: []int64{1}}},
		}}),
	}}
	for at := now.Add(-7 * 24 * time.Hour); at.Before(now); at = at.Add(time.Minute) {
		if h := at.Hour(); h < 6 || h > 19 {
			continue // nobody measured at night
		}
		day := math.Sin(math.Pi * (float64(at.Hour()*60+at.Minute()) - 360) / 840)
		b.Samples["tower"] = append(b.Samples["tower"],
			platform.Sample{Node: 1, Watts: 500 + 3500*day, At: at}, platform.Sample{Node: 2, Watts: 100 + 600*day, At: at})
	}
	_, err := e.db.SetSession(ctx, platform.Session{Controller: "tower", Online: true, Boot: 1, At: now})
	must(err)
	must(e.db.SaveBatch(ctx, b))
}
