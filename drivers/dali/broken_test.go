package dali

import (
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/sim/dalisim"
)

// A lamp whose site entry is broken is on the line all the same: a command to the
// others must not light it along.
func TestBrokenNodeIsNotLitAlong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(4, nil)})
		nodes := nodesOf(4, "dali-dt6")
		nodes[3].Options = map[string]string{"fade": "soon"} // quarantined
		bus := r.bus("luba", nil)
		site := appliance.Site{Buses: []appliance.Bus{bus}, Clusters: []appliance.Cluster{{ID: 1, Name: "room", Nodes: []appliance.ID{1, 2, 3}}}, Settings: quick}
		for _, n := range nodes {
			n.Bus = bus.UUID
			site.Nodes = append(site.Nodes, n)
		}
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"dali": r.open}})
		ctl.Apply(site, nil)
		ctx := t.Context()
		done := make(chan error, 1)
		go func() { done <- ctl.Run(ctx) }()
		t.Cleanup(func() { <-done })
		waitFor(t, "three gears were read", func() bool {
			n := 0
			for _, s := range ctl.Snapshot().Nodes {
				if s.Online && s.Level.OK() {
					n++
				}
			}
			return n == 3
		})
		before := r.sim.Devices()[3].Target
		mustDo(t, ctl, levelTo(appliance.Target{Scope: appliance.InCluster, ID: 1}, 80))
		if after := r.sim.Devices()[3].Target; after != before {
			t.Errorf("a command to cluster 1 (gear 0 to 2) sent gear 3, whose entry is broken and who is in no cluster, from %d to %d", before, after)
		}
	})
}

// As TestBrokenNodeIsNotLitAlong, by way of a group that the broken one holds.
func TestGroupOfABrokenNodeIsNotUsed(t *testing.T) {
	t.Parallel()
	nodes := nodesOf(4, "dali-dt6", "1")
	nodes = append(nodes, nodesOf(5, "dali-dt6")[4]) // or those in group 1 would be all of the line
	o, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "x", Port: "/dev/ttyNone", Options: map[string]string{"gateway": "atx"}}, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	plan := func(d *Driver) int {
		d.UseGroups(appliance.GroupUse{Groups: []appliance.Group{{Name: "1", Members: []string{"0", "1", "2"}}}})
		var wants []appliance.Want
		for i := range 3 {
			wants = append(wants, appliance.Want{Ref: appliance.Ref{Node: nodes[i].ID, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: 30}})
		}
		return len(d.Plan(wants))
	}
	if n := plan(o.Driver.(*Driver)); n != 1 {
		t.Errorf("%d chains for a group of three, want 1", n)
	}
	for _, address := range []string{"3", "64"} {
		nodes[3].Address, nodes[3].Options = address, map[string]string{"fade": "soon"}
		o, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "x", Port: "/dev/ttyNone", Options: map[string]string{"gateway": "atx"}}, Nodes: nodes})
		if err != nil || o.BrokenNodes[nodes[3].ID] == nil {
			t.Fatal(err, o.BrokenNodes)
		}
		if n := plan(o.Driver.(*Driver)); n != 3 {
			t.Errorf("address %s: %d chains, want one each: gear 3 would be lit along", address, n)
		}
	}
}
