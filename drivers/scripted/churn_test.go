package scripted_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Nodes come, go, move, and change their names, outputs and clusters at random, on the bus
// of lamps that get 50 commands a second: no command fails or waits for it. Thirty seconds,
// or ten minutes with SOAK=1.
func TestChurnCampaign(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lasts := 30 * time.Second
		if os.Getenv("SOAK") != "" {
			lasts = 10 * time.Minute
		}
		const steady, more = 8, 8 // lamps that stay; units for those that do not
		u := newUnits(steady + more)
		site := oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, steady, "lamp")
		h := start(t, site, steady)
		ended := time.Now().Add(lasts)
		dice := rand.New(rand.NewPCG(3, 4))
		var all sync.WaitGroup
		changes := 0
		all.Go(func() {
			for ; time.Now().Before(ended); changes++ {
				h.Apply(churned(site, dice, steady, more, changes), nil)
				time.Sleep(time.Duration(dice.IntN(150)) * time.Millisecond)
			}
		})
		var mu sync.Mutex
		var worst time.Duration
		commands := 0
		for turn := time.NewTicker(20 * time.Millisecond); time.Now().Before(ended); commands++ {
			<-turn.C
			id, to := appliance.ID(1+commands%steady), appliance.Level(1+commands%100)
			all.Go(func() {
				began := time.Now()
				e, err := h.Do(context.Background(), appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.One, ID: id}, Level: to})
				took := time.Since(began)
				if err != nil || !e.OK() && !strings.Contains(e.Err, appliance.ErrSuperseded.Error()) {
					t.Errorf("lamp %d: %v %q after %v", id, err, e.Err, took)
				}
				mu.Lock()
				worst = max(worst, took)
				mu.Unlock()
			})
		}
		all.Wait()
		if worst > 2*time.Second { // what a command may take anyhow
			t.Errorf("one took %v", worst)
		}
		for i, n := range h.Snapshot().Nodes[:steady] {
			if n.Node.ID != site.Nodes[i].ID || n.Node.UUID != site.Nodes[i].UUID || !n.Online {
				t.Errorf("lamp %d is %+v, online %v", site.Nodes[i].ID, n.Node, n.Online)
			}
		}
		if opened := strings.Count(h.log.String(), "port open"); opened != 1 {
			t.Errorf("the port was opened %d times", opened)
		}
		t.Logf("%d commands, the slowest %v; %d changes of the site", commands, worst, changes)
	})
}

// churned is the site with other names and clusters, and some lamps more.
func churned(site appliance.Site, dice *rand.Rand, steady, more, turn int) appliance.Site {
	out := oneBus(site.Buses[0], steady, "lamp")
	out.Nodes[dice.IntN(steady)].Name = fmt.Sprint("renamed ", turn)
	cluster := appliance.Cluster{ID: 1, UUID: appliance.UUID{3}, Name: "room"}
	for i := range more {
		id := appliance.ID(steady + i + 1)
		n := appliance.Node{ID: id, UUID: appliance.UUID{2, byte(id)}, Name: "guest", Bus: out.Buses[0].UUID, Address: fmt.Sprint(steady + 1 + dice.IntN(more)), Profile: "pair", Outputs: []int{1 + dice.IntN(2)}}
		if dice.IntN(2) == 0 { // some are at one device, and some of these at one output: quarantined
			out.Nodes = append(out.Nodes, n)
		}
		if dice.IntN(2) == 0 {
			cluster.Nodes = append(cluster.Nodes, appliance.ID(1+i))
		}
	}
	out.Clusters = []appliance.Cluster{cluster}
	return out
}
