package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// Nodes 1 to 4 stay; 11 to 14 and the shades are what changes.
const churnSite = `
site: {name: Churn}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: One, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Two, bus: tcp, address: 2, profile: wirenboard-wb-mdm3}
  - {id: 3, name: Three, bus: tcp, address: 3, profile: wirenboard-wb-mdm3}
  - {id: 4, name: Four, bus: tcp, address: 4, profile: wirenboard-wb-mdm3}
  - {id: 9, name: Motors, bus: tcp, address: 9, profile: wirenboard-wb-mr6c}
  - {id: 11, name: Guest, bus: tcp, address: 11, profile: wirenboard-wb-mdm3}
  - {id: 12, name: Guest, bus: tcp, address: 12, profile: wirenboard-wb-mdm3}
  - {id: 13, name: Guest, bus: tcp, address: 13, profile: wirenboard-wb-mao4}
  - {id: 14, name: Guest, bus: tcp, address: 14, profile: wirenboard-wb-mao4}
shades:
  - {id: 5001, name: South, node: 9, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: West, node: 9, output: 2, travelUp: 3s, travelDown: 3s}
clusters:
  - {id: 1, name: First, nodes: [1, 2, 11], shades: [5001]}
  - {id: 2, name: Second, nodes: [3, 4, 12]}
`

// TestCampaignTheSiteChanges: somebody with a phone adds, renames, moves to other clusters and removes nodes and shades at
// random, while those that stay get some 50 commands a second: each is confirmed, nothing is opened anew, and no ID is
// changed or given twice. For ten seconds, or ten minutes with SOAK=1.
func TestCampaignTheSiteChanges(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	lasts := 10 * time.Second
	if soak() {
		lasts = 10 * time.Minute
	}
	virtually(t, churnSite, func(t *testing.T, h *house) {
		h.login("api_service")
		c := churn{house: h, token: h.enter("admin"), dice: rand.New(rand.NewPCG(18, 3)),
			guests: []appliance.ID{11, 12, 13, 14}, shades: []appliance.ID{5001, 5002}, given: map[appliance.ID]bool{11: true, 12: true, 13: true, 14: true, 5001: true, 5002: true}}
		connections := h.connections()
		ended := time.Now().Add(lasts)
		var mu sync.Mutex
		commands, slowest := 0, time.Duration(0)
		var all sync.WaitGroup
		for id := 1; id <= 4; id++ {
			all.Go(func() {
				turn := time.NewTicker(80 * time.Millisecond)
				defer turn.Stop()
				for level := id; time.Now().Before(ended) && !t.Failed(); level = (level + 7) % 101 {
					<-turn.C
					began := time.Now()
					if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id, level)); status != 1 {
						t.Errorf("node %d, which stays: %s", id, message)
					}
					mu.Lock()
					commands, slowest = commands+1, max(slowest, time.Since(began))
					mu.Unlock()
				}
			})
		}
		changes := 0
		for ; time.Now().Before(ended) && !t.Failed(); changes++ {
			c.change()
			time.Sleep(time.Duration(c.dice.IntN(100)) * time.Millisecond) // a change takes no virtual time
		}
		all.Wait()
		if was := h.connections(); was != connections {
			t.Errorf("the bus was connected to %d times instead of %d", was, connections)
		}
		s := h.daemon.core.Snapshot()
		for id := appliance.ID(1); id <= 4; id++ {
			if n, at := s.Node(id), h.site.Nodes[id-1]; n == nil || n.Node.Address != at.Address || !n.Online {
				t.Errorf("node %d, which stays, is %+v now", id, n)
			}
		}
		t.Logf("%d commands, the slowest %v; %d changes of the site", commands, slowest.Round(time.Millisecond), changes)
	})
}

// churn is somebody who cannot leave a site alone.
type churn struct {
	*house
	token          string
	dice           *rand.Rand
	guests, shades []appliance.ID
	given          map[appliance.ID]bool // every ID that a guest or a shade ever had
	turn           int
}

// change makes one change of a site.
func (c *churn) change() {
	c.turn++
	name := map[string]any{"name": fmt.Sprint("Changed ", c.turn)}
	switch c.dice.IntN(6) {
	case 0:
		c.ask(http.MethodPatch, fmt.Sprint("/nodes/", 1+c.dice.IntN(4)), name)
	case 1:
		members := map[string]any{"nodes": c.some([]appliance.ID{1, 2, 3, 4}, c.guests), "shades": c.some(c.shades)}
		c.ask(http.MethodPatch, fmt.Sprint("/clusters/", 1+c.dice.IntN(2)), members)
	case 2:
		c.ask(http.MethodPatch, fmt.Sprint("/shades/", c.shades[c.dice.IntN(len(c.shades))]), name)
	case 3:
		i := c.dice.IntN(len(c.shades))
		c.ask(http.MethodDelete, fmt.Sprint("/shades/", c.shades[i]), nil)
		c.shades[i] = c.made("/shades", map[string]any{"name": "South", "node": 9, "output": 1 + i, "travelUp": 3, "travelDown": 3})
	default:
		i := c.dice.IntN(len(c.guests))
		c.ask(http.MethodDelete, fmt.Sprint("/nodes/", c.guests[i]), nil)
		profile := "wirenboard-wb-mdm3"
		if i > 1 {
			profile = "wirenboard-wb-mao4"
		}
		c.guests[i] = c.made("/nodes", map[string]any{"name": "Guest", "bus": "tcp", "address": fmt.Sprint(11 + i), "profile": profile})
	}
}

// some of these, by chance.
func (c *churn) some(lists ...[]appliance.ID) []appliance.ID {
	out := slices.Concat(lists...)
	return slices.DeleteFunc(out, func(appliance.ID) bool { return c.dice.IntN(2) == 0 })
}

// made makes something and tells its ID, which nobody may have had before.
func (c *churn) made(path string, what any) appliance.ID {
	c.t.Helper()
	var is struct{ ID appliance.ID }
	if err := json.Unmarshal(c.ask(http.MethodPost, path, what), &is); err != nil {
		c.t.Fatal(err)
	}
	if c.given[is.ID] {
		c.t.Errorf("ID %d was given again", is.ID)
	}
	c.given[is.ID] = true
	return is.ID
}

// ask changes something, whatever it is by now.
func (c *churn) ask(method, path string, what any) []byte {
	c.t.Helper()
	var body []byte
	if what != nil {
		var err error
		if body, err = json.Marshal(what); err != nil {
			c.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if method != http.MethodPost {
		req.Header.Set("If-Match", "*")
	}
	status, answer, _ := c.answer(c.client, req, c.token)
	if status >= http.StatusBadRequest {
		c.t.Fatalf("%s %s %s: %d %s", method, path, body, status, answer)
	}
	return answer
}
