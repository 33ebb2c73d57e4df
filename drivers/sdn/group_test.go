package sdn_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// grouping is how the groups of the bus stand.
func (h *house) grouping() appliance.Grouping {
	h.t.Helper()
	g, err := h.ctl.Groups("shades")
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

// ready waits until a cluster's commands go to its group, and returns that.
func (h *house) ready(cluster appliance.ID) (group string) {
	h.t.Helper()
	h.wait(30*time.Second, "a group for the cluster, in use", func() bool {
		for _, c := range h.grouping().Clusters {
			if c.Cluster == cluster && c.Ready {
				group = c.Group
			}
		}
		return group != ""
	})
	return group
}

// inStep waits until every table is read and as it should be.
func (h *house) inStep() {
	h.t.Helper()
	h.wait(30*time.Second, "all tables in step", func() bool {
		for _, d := range h.grouping().Devices {
			if !d.InStep || d.ReadAt.IsZero() {
				return false
			}
		}
		return h.grouping().Surveyed
	})
}

// setGroups counts the writes to group tables.
func (h *house) setGroups() (n int) {
	for _, m := range h.sim.Heard(0) {
		if m.Message.ID == 0x51 {
			n++
		}
	}
	return n
}

func kept(list []sdnsim.Motor) plan {
	return plan{sim: quick(list), options: map[string]string{"groups": "keep"}, unread: true}
}

func TestClusterBecomesAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(6))
		list[0].Groups = []string{"01.01.77", "01.01.FE"} // a keypad's, one of them the first that we would take
		h := build(t, kept(list))
		h.awake()
		group := h.ready(1)
		if group == "01.01.77" || group == "01.01.FE" {
			t.Errorf("the cluster was given %s, which is somebody else's", group)
		}
		for i, d := range h.sim.Devices() {
			if slices.Contains(d.Groups, group) != (i < 4) {
				t.Errorf("motor %s holds %v", d.Address, d.Groups)
			}
		}
		if got := h.sim.Devices()[0].Groups; !slices.Contains(got, "01.01.77") || !slices.Contains(got, "01.01.FE") {
			t.Errorf("groups of others were touched: %v", got)
		}
		if n := h.setGroups(); n != 4 {
			t.Errorf("%d entries written, want one for each of the four members", n)
		}
		n := h.mark()
		h.must(moveTo(firstFour, 40))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one group frame", many, alone)
		}
	})
}

func TestTablesAreReadAndNotWrittenUnlessAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(5))
		for i := range 4 {
			list[i].Groups = []string{"01.01.09"} // an installer's tool wrote it, the site does not know
		}
		h := build(t, plan{sim: quick(list), unread: true, nodes: func(n []appliance.Node) {
			for i := range n {
				n[i].Groups = nil
			}
			n[4].Groups = []string{"01.01.33"} // the site says so, the motor does not
		}})
		h.awake()
		if group := h.ready(1); group != "01.01.09" {
			t.Errorf("group %s is used", group)
		}
		n := h.mark()
		h.must(moveTo(firstFour, 40))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one to the group that is there", many, alone)
		}
		h.wait(20*time.Second, "all read", func() bool {
			return !slices.ContainsFunc(h.grouping().Devices, func(d appliance.GroupedDevice) bool { return d.ReadAt.IsZero() })
		})
		if h.setGroups() != 0 {
			t.Error("a table was written")
		}
	})
}

func TestGroupsOffMeansThatNobodyAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(4))
		for i := range list {
			list[i].Groups = []string{"01.01.09"}
		}
		p := kept(list)
		p.options = map[string]string{"groups": "off", "broadcast": "false"}
		h := build(t, p)
		h.awake()
		n := h.mark()
		h.must(moveTo(firstFour, 40))
		if alone, many := h.orders(n); many != 0 || alone != 4 {
			t.Errorf("%d frames to several and %d to one, want one each", many, alone)
		}
		if slices.ContainsFunc(h.sim.Heard(0), func(m sdnsim.Heard) bool { return m.Message.ID == 0x41 || m.Message.ID == 0x51 }) {
			t.Error("group tables were asked for")
		}
		if err := h.ctl.WriteGroups(t.Context(), "shades", func(appliance.GroupProgress) {}); err == nil || !strings.Contains(err.Error(), "off") {
			t.Errorf("writing was not refused: %v", err)
		}
	})
}

// A motor of which somebody wiped the table misses the next group frame. It is told
// by itself, its table is read and written again.
func TestWipedMotorIsRepaired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, kept(fast(motors(6))))
		h.awake()
		group := h.ready(1)
		h.inStep()
		read := h.grouping().Devices[2].ReadAt
		for i := range 16 {
			h.sim.Say(sdnsim.Message{ID: 0x51, Src: 0x7F7F7F, Dst: 0x061A02, Data: []byte{byte(i), 0, 0, 0}})
		}
		h.wait(10*time.Second, "wiped", func() bool { return len(h.sim.Devices()[2].Groups) == 0 })
		h.wait(10*time.Second, "old enough to be doubted", func() bool { return time.Since(read) > 5*time.Second })
		h.must(moveTo(firstFour, 40))
		h.wait(20*time.Second, "in the group again", func() bool { return slices.Equal(h.sim.Devices()[2].Groups, []string{group}) })
		h.ready(1)
		h.wait(20*time.Second, "all at rest", func() bool {
			for i := range 4 {
				if h.shade(i).Motion != appliance.Stopped || h.shade(i).Position.Value != 40 {
					return false
				}
			}
			return true
		})
		n := h.mark()
		h.must(moveTo(firstFour, 60))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one group frame", many, alone)
		}
	})
}

func TestDeclaredGroupsAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(2))
		list[0].Groups = []string{"01.01.77", "01.01.05"} // one is a keypad's
		p := kept(list)
		p.nodes = func(n []appliance.Node) {
			n[0].Groups = []string{"01.01.05", "01.01.06"}
			n[1].Groups = []string{"01.01.06"}
		}
		h := build(t, p)
		h.wait(20*time.Second, "the groups are there", func() bool {
			d := h.sim.Devices()
			return slices.Equal(d[0].Groups, []string{"01.01.77", "01.01.05", "01.01.06"}) && slices.Equal(d[1].Groups, []string{"01.01.06"})
		})
		h.awake()
		h.must(kind(appliance.ShadeClose, everything))
	})
}

// A cluster that changes takes its group along, one that goes gives it back, and
// nobody else is touched.
func TestGroupsFollowTheClusters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, kept(fast(motors(6))))
		h.awake()
		group := h.ready(1)
		site := h.of
		site.Clusters = []appliance.Cluster{site.Clusters[0]}
		site.Clusters[0].Shades = []appliance.ID{firstShade + 1, firstShade + 2, firstShade + 5}
		h.ctl.Apply(site, nil)
		in := func(members ...int) func() bool {
			return func() bool {
				for i, d := range h.sim.Devices() {
					if slices.Contains(d.Groups, group) != slices.Contains(members, i) {
						return false
					}
				}
				return true
			}
		}
		h.wait(20*time.Second, "the new members are in it, and no others", in(1, 2, 5))
		if h.ready(1) != group {
			t.Error("the cluster changed its group")
		}
		site.Clusters = nil
		h.ctl.Apply(site, nil)
		h.wait(20*time.Second, "nobody is in it", in())
		if n := h.setGroups(); n != 4+3+3 { // in: 4; out 2 and in 1; out 3
			t.Errorf("%d entries written, want 10", n)
		}
	})
}

func TestInstallerBringsTablesInStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := kept(fast(motors(5)))
		p.options = nil
		h := build(t, p)
		h.awake()
		if h.setGroups() != 0 {
			t.Fatal("written unasked")
		}
		var steps []string
		if err := h.ctl.WriteGroups(t.Context(), "shades", func(p appliance.GroupProgress) { steps = append(steps, p.Device+" "+p.What) }); err != nil {
			t.Fatal(err)
		}
		if n := h.setGroups(); n != 4 {
			t.Errorf("%d entries written, want 4; %q", n, steps)
		}
		group := h.ready(1)
		if !slices.Contains(steps, address(0)+" writing: into "+group) || !slices.Contains(steps, address(0)+" in step") {
			t.Errorf("told %q", steps)
		}
		// Once more: nothing to do.
		if err := h.ctl.WriteGroups(t.Context(), "shades", func(appliance.GroupProgress) {}); err != nil {
			t.Fatal(err)
		}
		if n := h.setGroups(); n != 4 {
			t.Errorf("%d entries written by a second order", n)
		}
		if err := h.sim.SetTrouble(address(3), sdnsim.Trouble{Deaf: time.Minute}); err != nil {
			t.Fatal(err)
		}
		if err := h.ctl.WriteGroups(t.Context(), "shades", func(appliance.GroupProgress) {}); err == nil || !strings.Contains(err.Error(), address(3)) {
			t.Errorf("a deaf motor is not named: %v", err)
		}
	})
}
