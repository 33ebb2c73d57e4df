package dali

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/sim/dalisim"
)

// ready waits until commands to a cluster go to a group, and returns that.
func ready(t *testing.T, ctl *control.Controller, cluster appliance.ID) (group string) {
	t.Helper()
	waitFor(t, "the cluster is a group", func() bool {
		g, err := ctl.Groups("attic")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range g.Clusters {
			if c.Cluster == cluster && c.Ready {
				group = c.Group
			}
		}
		return group != ""
	})
	return group
}

// keeping is a line of six gears with a cluster 1 of the first three and a cluster 2
// of the last two, and groups: keep.
func keeping(t *testing.T, r *rig, gateway string, change func(*appliance.Site)) *control.Controller {
	t.Helper()
	bus := r.bus(gateway, map[string]string{"groups": "keep"})
	site := appliance.Site{Buses: []appliance.Bus{bus}, Settings: quick}
	for _, n := range nodesOf(6, "dali-dt6") {
		n.Bus = bus.UUID
		site.Nodes = append(site.Nodes, n)
	}
	site.Clusters = []appliance.Cluster{{ID: 1, Name: "three", Nodes: []appliance.ID{1, 2, 3}}, {ID: 2, Name: "two", Nodes: []appliance.ID{5, 6}}}
	if change != nil {
		change(&site)
	}
	return r.run(site)
}

// tableWrites counts ADD TO GROUP and REMOVE FROM GROUP, which come twice each.
func (r *rig) tableWrites() (n int) {
	for _, f := range r.sim.Frames(0) {
		if a, command, ok := addressOf(byte(f.Frame >> 8)); ok && command && a.kind == kindShort && byte(f.Frame) >= OpAddGroup && byte(f.Frame) < OpSetShort {
			n++
		}
	}
	return n / 2
}

func (r *rig) holders(group string) (list []int) {
	n, _ := strconv.Atoi(group)
	for i, d := range r.sim.Devices() {
		if slices.Contains(d.Groups, n) {
			list = append(list, i)
		}
	}
	return list
}

func TestClustersBecomeGroups(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"atx", "luba", "sci"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gateway, Gears: gearsOf(6, func(i int, g *dalisim.GearConfig) {
					if i == 5 {
						g.Groups = 1<<15 | 1<<2 // somebody else's
					}
				}), Speed: 20, Seed: 1})
				ctl := keeping(t, r, gateway, nil)
				allOnline(t, ctl)
				three, two := ready(t, ctl, 1), ready(t, ctl, 2)
				if got := fmt.Sprintf("%s %v %s %v", three, r.holders(three), two, r.holders(two)); got != "14 [0 1 2] 13 [4 5]" {
					t.Errorf("groups and holders %s", got)
				}
				if got := r.sim.Devices()[5].Groups; !slices.Contains(got, 15) || !slices.Contains(got, 2) {
					t.Errorf("groups of others were touched: %v", got)
				}
				if n := r.tableWrites(); n != 5 {
					t.Errorf("%d groups written, want 5", n)
				}
				mark := r.mark()
				mustDo(t, ctl, levelTo(cluster(1), 50))
				if got := r.writes(mark); len(got) != 1 || got[0] != "9CE5" {
					t.Errorf("frames %v, want one to group 14", got)
				}
			})
		})
	}
}

// Gear that the site does not know, with a short address and without one, keeps the
// groups that it holds from being given away, and from being used.
func TestGroupsOfStrangersAreLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(8, func(i int, g *dalisim.GearConfig) {
			switch i {
			case 0, 1, 2:
				g.Groups = 1 << 7 // an installer's, and a stranger is in it
			case 6:
				g.Short, g.Groups = 40, 1<<15|1<<7
			case 7:
				g.Short, g.Groups = -1, 1<<14
			}
		})
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gears, Speed: 20, Seed: 1})
		ctl := keeping(t, r, "luba", nil)
		allOnline(t, ctl)
		if group := ready(t, ctl, 1); group != "13" {
			t.Errorf("group %s, want 13: strangers hold 7, 14 and 15", group)
		}
		mustDo(t, ctl, levelTo(cluster(1), 50))
		for _, i := range []int{6, 7} {
			if d := r.sim.Devices()[i]; d.Target != 0 {
				t.Errorf("gear %d, which nobody meant, is at %d", i, d.Target)
			}
		}
	})
}

func TestNoGroupIsWrittenUnlessAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, mode := range []string{"", "use", "off"} {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(6, sixGears), Speed: 20, Seed: 1})
			ctl := keeping(t, r, "atx", func(s *appliance.Site) {
				s.Buses[0].Options = map[string]string{"gateway": "atx"}
				if mode != "" {
					s.Buses[0].Options["groups"] = mode
				}
				s.Clusters[0].Nodes = []appliance.ID{1, 2, 3, 4}
			})
			allOnline(t, ctl)
			frames := "00E5 02E5 04E5 06E5"
			if mode != "off" {
				ready(t, ctl, 1)
				frames = "8AE5" // the group that is there, and that the site does not list
			}
			mark := r.mark()
			mustDo(t, ctl, levelTo(cluster(1), 50))
			if got := strings.Join(r.writes(mark), " "); got != frames {
				t.Errorf("%q: frames %s, want %s", mode, got, frames)
			}
			if n := r.tableWrites(); n != 0 {
				t.Errorf("%q: %d groups were written", mode, n)
			}
		}
	})
}

// More clusters than groups: the largest get them, the others work all the same.
func TestLargestClustersGetTheGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(9, nil), Speed: 100, Seed: 1})
		bus := r.bus("luba", map[string]string{"groups": "keep"})
		site := appliance.Site{Buses: []appliance.Bus{bus}, Settings: quick}
		for _, n := range nodesOf(9, "dali-dt6") {
			n.Bus = bus.UUID
			site.Nodes = append(site.Nodes, n)
		}
		// 18 pairs, then one of five.
		for i := range 18 {
			a, b := appliance.ID(i%8+1), appliance.ID((i+1+i/8)%8+1)
			site.Clusters = append(site.Clusters, appliance.Cluster{ID: appliance.ID(i + 1), Nodes: []appliance.ID{min(a, b), max(a, b)}})
		}
		site.Clusters = append(site.Clusters, appliance.Cluster{ID: 19, Nodes: []appliance.ID{1, 2, 3, 4, 5}})
		ctl := r.run(site)
		allOnline(t, ctl)
		ready(t, ctl, 19)
		var without []appliance.GroupedCluster
		waitFor(t, "all groups are in use", func() bool {
			g, _ := ctl.Groups("attic")
			without = nil
			used := 0
			for _, c := range g.Clusters {
				if c.Group == "" {
					without = append(without, c)
				} else if c.Ready {
					used++
				}
			}
			return used+len(without) == 19
		})
		if len(without) != 3 || without[0].Cluster != 16 || !strings.Contains(without[0].Why, "no group is left") {
			t.Errorf("without a group: %+v, want the last three pairs", without)
		}
		mark := r.mark()
		mustDo(t, ctl, levelTo(cluster(without[0].Cluster), 50))
		if got := r.writes(mark); len(got) != 2 {
			t.Errorf("frames %v, want one for each of the two", got)
		}
	})
}
