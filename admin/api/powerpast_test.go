package api

import (
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// Steps are counted from midnight of the building's clock, on the days as well on which that is changed.
func TestStepsFollowTheClockOfTheBuilding(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	at := func(m time.Month, d, h, minute int) time.Time { return time.Date(2026, m, d, h, minute, 0, 0, zone) }
	for _, c := range []struct {
		name     string
		from, to time.Time
		step     time.Duration
		steps    int
		second   time.Time
	}{
		{"a day", at(11, 3, 0, 0), at(11, 4, 0, 0), time.Hour, 24, at(11, 3, 1, 0)},
		{"from the middle of an hour", at(11, 3, 8, 20), at(11, 3, 10, 10), time.Hour, 3, at(11, 3, 9, 0)},
		{"in spring", at(3, 29, 0, 0), at(3, 30, 0, 0), time.Hour, 23, at(3, 29, 1, 0)},
		{"in autumn", at(10, 25, 0, 0), at(10, 26, 0, 0), time.Hour, 25, at(10, 25, 1, 0)},
		{"days", at(10, 23, 0, 0), at(10, 28, 0, 0), 24 * time.Hour, 5, at(10, 24, 0, 0)},
		{"quarters", at(11, 3, 23, 50), at(11, 4, 0, 20), 15 * time.Minute, 3, at(11, 4, 0, 0)},
	} {
		edges := edgesOf(c.from, c.to, c.step, zone)
		if len(edges)-1 != c.steps || edges[0] != c.from.UnixMilli() || edges[len(edges)-1] != c.to.UnixMilli() || edges[1] != c.second.UnixMilli() {
			t.Errorf("%s: %d steps, %v", c.name, len(edges)-1, edges)
		}
		if !slices.IsSorted(edges) {
			t.Errorf("%s: %v", c.name, edges)
		}
	}
}

// What a meter used is put into the hours of the clock; the one that comes twice is one.
func TestHoursUsed(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 10, 24, 0, 0, 0, 0, zone)
	to := time.Date(2026, 10, 26, 0, 0, 0, 0, zone)
	tally := newTally(edgesOf(from, to, time.Hour, zone))
	begin := time.Date(2026, 10, 24, 22, 30, 0, 0, zone)
	tally.add(100, begin.UnixMilli(), begin.Add(6*time.Hour).UnixMilli()) // until 3:30 by the new time
	days := daysOf(from, to, zone)
	hours := hoursOf(tally, days, zone, 1)
	if !slices.Equal(days, []string{"2026-10-24", "2026-10-25"}) {
		t.Fatal(days)
	}
	want := map[[2]int]HourUsed{{0, 22}: {50, 30}, {0, 23}: {100, 60}, {1, 0}: {100, 60}, {1, 1}: {100, 60}, {1, 2}: {200, 120}, {1, 3}: {50, 30}}
	for d := range hours {
		for h, got := range hours[d] {
			w, known := want[[2]int{d, h}]
			if known != (got != nil) || known && *got != w {
				t.Errorf("day %d hour %d: %v, want %v", d, h, got, w)
			}
		}
	}
}

// Meters are told one by one with the floor that they are of; lights that measure themselves by floor, and none twice.
func TestSourcesOfPower(t *testing.T) {
	t.Parallel()
	site := &appliance.Site{
		Clusters: []appliance.Cluster{{ID: 1, Nodes: []appliance.ID{1, 2, 9}}, {ID: 2, Nodes: []appliance.ID{2, 3}}},
		Division: appliance.Division{
			Floors: []appliance.Floor{{Name: "Ground", Clusters: []appliance.ID{1}}, {Name: "Upper", Clusters: []appliance.ID{2}}},
			Meters: []appliance.Meter{{Node: 9, Covers: "ground", Clusters: []appliance.ID{1}}, {Node: 8, Covers: "all"}, {Node: 7, Covers: "gone"}},
		},
	}
	s := &appliance.Snapshot{Site: site, Index: appliance.NewIndex(site)}
	for id, can := range map[appliance.ID]appliance.Ability{1: appliance.CanDim | appliance.CanMeasure, 2: appliance.CanDim | appliance.CanMeasure, 3: appliance.CanDim, 8: appliance.CanMeasure, 9: appliance.CanMeasure} {
		tag := appliance.TagNode
		if id > 7 {
			tag = appliance.TagPeripheral
		}
		s.Index.Node[id] = len(s.Nodes)
		s.Nodes = append(s.Nodes, &appliance.NodeState{Node: &appliance.Node{ID: id}, Tag: tag, Abilities: can, Channels: []appliance.ChannelState{{Channel: appliance.Channel{Abilities: can}}}})
	}
	for i := range site.Clusters {
		s.Clusters = append(s.Clusters, &appliance.ClusterState{Cluster: &site.Clusters[i]})
	}
	got := sourcesOf(s)
	if len(got) != 3 || got[0].Meter != 9 || got[0].Floor != "Ground" || got[1].Meter != 8 || got[1].Floor != "" ||
		got[2].Floor != "Ground" || got[2].Lights != 2 || len(got[2].tracks) != 2 {
		t.Errorf("%+v", got)
	}
}
