package publicapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

func TestPageIsRenderedOncePerChangeOfValues(t *testing.T) {
	var p pages
	v := view{list: lightLevelList, target: appliance.Target{Scope: appliance.All}}
	s1 := lobby().snapshot()
	first := p.get(s1, v)
	if p.get(s1, v) != first {
		t.Error("the same snapshot was rendered twice")
	}
	older := lobby()
	older.s.Nodes[0].Power.At = time.Now().Add(-time.Hour)
	older.s.Site = s1.Site // the same values, other ages
	aged := p.get(older.snapshot(), v)
	if &aged.body[0] != &first.body[0] {
		t.Error("a snapshot with the same values was rendered again")
	}
	if age := time.Since(aged.oldest); age < time.Hour {
		t.Errorf("the age is %v, want an hour", age)
	}
	next := lobby()
	next.s.Values = 2
	next.s.Nodes[0].Level.Value = 77
	changed := p.get(next.snapshot(), v)
	if string(changed.body) == string(first.body) {
		t.Error("a change of values is not seen")
	}
	if got := p.get(s1, v); string(got.body) != string(first.body) {
		t.Error("whoever holds an older snapshot sees another one")
	}
	if p.now.Load().values != 2 {
		t.Error("an older snapshot took the place of a newer one")
	}
}

func TestPagesKeptAreBounded(t *testing.T) {
	b := newSite()
	for i := range pagesMost + 100 {
		b.node(appliance.ID(i+1), "N", dimmable, func(n *appliance.NodeState) { n.Level = known(appliance.Level(1), 0) })
	}
	s := b.snapshot()
	var p pages
	for i := range s.Nodes {
		v := view{list: lightLevelList, target: appliance.Target{Scope: appliance.One, ID: appliance.ID(i + 1)}}
		if pg := p.get(s, v); pg == nil || len(pg.body) < 20 {
			t.Fatalf("node %d: got %v", i+1, pg)
		}
	}
	if n := p.now.Load().count.Load(); n > pagesMost {
		t.Errorf("%d pages are kept, want at most %d", n, pagesMost)
	}
	if pg := p.get(s, view{list: clusterNodeList, target: appliance.Target{Scope: appliance.InCluster, ID: 5}}); pg != nil {
		t.Error("a cluster that is not there has a page")
	}
}

// TestPagesUnderConcurrentReadersAndWriters is for the race detector, and proves
// that nobody sees a body that mixes two states.
func TestPagesUnderConcurrentReadersAndWriters(t *testing.T) {
	h := newHouse(t, consistent(0))
	token := h.token(account.RoleViewer)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				var rows []struct{ Value string }
				body := h.send("GET", "/svc/api/getLightLevels", "", "Authorization: Bearer "+token).body
				if err := json.Unmarshal([]byte(body), &rows); err != nil || len(rows) != 50 {
					t.Errorf("%v: %s", err, body)
					return
				}
				for _, r := range rows {
					if r.Value != rows[0].Value {
						t.Errorf("one answer mixes %s and %s", rows[0].Value, r.Value)
						return
					}
				}
				now, _ := strconv.Atoi(rows[0].Value)
				if now < last {
					t.Errorf("a reader went back from %d to %d", last, now)
					return
				}
				last = now
			}
		})
	}
	for i := range 500 {
		h.core.snap.Store(consistent(i))
	}
	close(stop)
	readers.Wait()
}

// consistent is a site whose lights all have the same number.
func consistent(n int) *appliance.Snapshot {
	b := newSite()
	b.s.Values = uint64(n + 1)
	for i := range 50 {
		b.node(appliance.ID(i+1), "N", dimmable, func(s *appliance.NodeState) { s.Level = known(appliance.Level(n), 0) })
	}
	return b.snapshot()
}

func TestPollAllocatesLittle(t *testing.T) {
	h := newHouse(t, bigSite(1000))
	var p pages
	v := view{list: lightLevelList, target: appliance.Target{Scope: appliance.All}}
	s := h.core.Snapshot()
	p.get(s, v)
	if n := testing.AllocsPerRun(100, func() { p.get(s, v) }); n > 2 {
		t.Errorf("a page that is there costs %v allocations, want at most 2", n)
	}
}

func TestPowerIsANumberWhateverTheDriverSays(t *testing.T) {
	for watts, want := range map[float64]string{
		0: "0", -0.01: "0", 12.34: "12.3", 12.35: "12.4", -250: "-250", 1e6: "1000000",
		math.NaN(): "0", math.Inf(1): "0", math.Inf(-1): "0",
	} {
		if got := string(appendPower(nil, watts)); got != want {
			t.Errorf("%v: got %s, want %s", watts, got, want)
		}
	}
	h := newHouse(t, newSite().node(1, "N", metered, func(n *appliance.NodeState) { n.Power = known(math.NaN(), 0) }).snapshot())
	h.get("/svc/api/getLightLevels").want(t, 200, "[]")
}

func TestAnEmptySiteHasEmptyLists(t *testing.T) {
	h := newHouse(t, newSite().snapshot())
	for _, list := range []string{"getClusters", "getActiveNodes", "getLightLevels", "getShades"} {
		got := h.get("/svc/api/" + list)
		got.want(t, 200, "[]")
		if age := got.header.Get("X-State-Age"); age != "" {
			t.Errorf("%s: nothing is %s s old", list, age)
		}
	}
}

// TestRowIDsFitOldClients is a property over the whole range of IDs.
func TestRowIDsFitOldClients(t *testing.T) {
	for _, id := range []appliance.ID{1, 2, 5000, 5001, appliance.MaxID - 1, appliance.MaxID} {
		for kind := rowDim; kind <= rowPower; kind++ {
			if row := int64(id)*10 + int64(kind); row > math.MaxInt32 || appliance.ID(row/10) != id {
				t.Error(fmt.Errorf("row %d of ID %d does not fit", row, id))
			}
		}
	}
}
