package engine

import (
	"cmp"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// sectionsOf lists the clusters with the devices that they have on this bus, the
// largest first.
func (g *grouping) sectionsOf(clusters []appliance.Cluster) []section {
	var list []section
	for _, c := range clusters {
		p := section{cluster: c.ID, name: c.Name}
		add := func(node appliance.ID) {
			if d := g.bus.deviceOf[node]; d != nil && !slices.Contains(p.members, d.name) {
				p.members = append(p.members, d.name)
			}
		}
		if g.space.Shades {
			for _, id := range c.Shades {
				if m := g.bus.motors[id]; m != nil {
					add(m.shade.Node)
				}
			}
		} else {
			for _, id := range c.Nodes {
				add(id)
			}
		}
		if len(p.members) > 0 {
			slices.Sort(p.members)
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b section) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.cluster, b.cluster))
	})
	return list
}

// claimOf is the group that a cluster owns; empty if none.
func (g *grouping) claimOf(cluster appliance.ID) string {
	for _, c := range g.claims.list {
		if c.Cluster == cluster {
			return c.Group
		}
	}
	return ""
}

// ours reports whether a group belongs to a cluster, or did.
func (g *grouping) ours(group string) bool {
	return slices.Contains(g.claims.leaving, group) || slices.ContainsFunc(g.claims.list, func(c appliance.GroupClaim) bool { return c.Group == group })
}

// declared reports whether any node of the site lists a group.
func (g *grouping) declared(group string) bool {
	for _, names := range g.space.Declared {
		if slices.Contains(names, group) {
			return true
		}
	}
	return false
}

// should lists the groups that a device should hold, those of large clusters first:
// where the table is too small, the others have to do without.
func (g *grouping) should(d *groupDevice) []string {
	want := slices.Clone(g.space.Declared[d.name])
	room := g.space.PerDevice - len(g.foreign(d))
	for _, p := range g.claims.sections {
		group := g.claimOf(p.cluster)
		if group != "" && slices.Contains(p.members, d.name) && !slices.Contains(want, group) {
			want = append(want, group)
		}
	}
	want = want[:min(len(want), max(room, 0))]
	slices.Sort(want)
	return want
}

// foreign lists the groups that a device holds for somebody else.
func (g *grouping) foreign(d *groupDevice) []string {
	var out []string
	for _, group := range d.held {
		if !g.ours(group) && !slices.Contains(g.space.Declared[d.name], group) {
			out = append(out, group)
		}
	}
	return out
}

// difference is what has to be written to a device whose table is known.
func (g *grouping) difference(d *groupDevice) (join, leave []string) {
	want := g.should(d)
	for _, group := range want {
		if !slices.Contains(d.held, group) {
			join = append(join, group)
		}
	}
	for _, group := range d.held {
		if g.ours(group) && !slices.Contains(want, group) {
			leave = append(leave, group)
		}
	}
	return join, leave
}

// allot hands out groups. Without leave to write it only lets go of those that no
// device holds any more.
func (g *grouping) allot() {
	g.claims.allotted = true
	before, leavingBefore := slices.Clone(g.claims.list), slices.Clone(g.claims.leaving)
	if g.may() {
		var left []string
		g.claims.list, left = allot(g.claims.list, g.claims.sections, append(g.free(), g.claims.leaving...), func(p section) bool { return g.served(p) != "" || g.everything(p) })
		g.claims.leaving = append(g.claims.leaving, left...)
	}
	g.claims.leaving = slices.DeleteFunc(g.claims.leaving, func(group string) bool {
		owned := slices.ContainsFunc(g.claims.list, func(c appliance.GroupClaim) bool { return c.Group == group })
		return owned || !slices.ContainsFunc(g.devices, func(d *groupDevice) bool { return !d.known() || slices.Contains(d.held, group) })
	})
	if !slices.Equal(before, g.claims.list) || !slices.Equal(leavingBefore, g.claims.leaving) {
		g.claims.unsaved, g.dirty = true, true
		for _, c := range g.claims.list {
			if !slices.Contains(before, c) {
				g.bus.info("cluster was given a group", "cluster", c.Cluster, "group", c.Group)
			}
		}
	}
}

// free lists the groups that nobody is known to have.
func (g *grouping) free() []string {
	held, used := g.driver.StrangeGroups()
	return slices.DeleteFunc(slices.Clone(g.space.Names), func(group string) bool {
		return g.ours(group) || g.declared(group) || slices.Contains(held, group) || slices.Contains(used, group) ||
			slices.ContainsFunc(g.devices, func(d *groupDevice) bool { return slices.Contains(d.held, group) })
	})
}

// everything reports whether a section is all there is on the bus and may be ordered by
// one frame to all.
func (g *grouping) everything(p section) bool {
	return g.space.Closed && len(p.members) == len(g.devices)
}

// served is the group that covers exactly a section though no cluster owns it: one
// that the site lists, or that an installer's tool wrote.
func (g *grouping) served(p section) string {
	for _, group := range g.declaredFor(p) {
		return group
	}
	for _, u := range g.use.Groups {
		if !g.ours(u.Name) && slices.Equal(u.Members, p.members) {
			return u.Name
		}
	}
	return ""
}

// declaredFor lists the groups that exactly the members of a section list.
func (g *grouping) declaredFor(p section) []string {
	var out []string
	for _, group := range g.space.Declared[p.members[0]] {
		n := 0
		for _, names := range g.space.Declared {
			if slices.Contains(names, group) {
				n++
			}
		}
		all := !slices.ContainsFunc(p.members, func(m string) bool { return !slices.Contains(g.space.Declared[m], group) })
		if all && n == len(p.members) {
			out = append(out, group)
		}
	}
	return out
}

// usable says which groups commands may use: those whose members are known for
// certain, and which belong to the site. A group that only an installer's tool
// knows counts if nobody but the devices of the site can be in it.
func (g *grouping) usable() appliance.GroupUse {
	var use appliance.GroupUse
	members := map[string][]string{}
	for _, d := range g.devices {
		if d.known() {
			for _, group := range d.held {
				members[group] = append(members[group], d.name)
			}
			continue
		}
		if there, judged := g.answers(d); there || !judged {
			use.Unsure = append(use.Unsure, d.name)
		}
	}
	strangers, _ := g.driver.StrangeGroups()
	for group, in := range members {
		trusted := g.ours(group) || g.declared(group) || g.space.Closed && g.survey.looked
		if len(in) > 1 && trusted && !slices.Contains(strangers, group) {
			slices.Sort(in)
			use.Groups = append(use.Groups, appliance.Group{Name: group, Members: in})
		}
	}
	slices.SortFunc(use.Groups, func(a, b appliance.Group) int { return cmp.Compare(a.Name, b.Name) })
	return use
}

// show tells the driver and readers how things stand, when something changed and
// else once a second, since devices come and go.
func (g *grouping) show() {
	now := g.bus.now
	if !g.dirty && now.Sub(g.shownAt) < time.Second {
		return
	}
	g.dirty, g.shownAt = false, now
	use := g.usable()
	if g.space.Mode == appliance.GroupsOff {
		use = appliance.GroupUse{}
	}
	g.use = use
	g.driver.UseGroups(use)
	v := appliance.Grouping{Mode: g.space.Mode, Surveyed: g.survey.done}
	for _, p := range g.claims.sections {
		v.Clusters = append(v.Clusters, g.clusterView(p))
	}
	slices.SortFunc(v.Clusters, func(a, b appliance.GroupedCluster) int { return cmp.Compare(a.Cluster, b.Cluster) })
	for _, d := range g.devices {
		v.Devices = append(v.Devices, g.deviceView(d))
	}
	g.bus.do(GroupsShown{v})
}

func (g *grouping) clusterView(p section) appliance.GroupedCluster {
	c := appliance.GroupedCluster{Cluster: p.cluster, Name: p.name, Members: p.members, Group: cmp.Or(g.claimOf(p.cluster), g.served(p))}
	if c.Group == "" {
		for _, q := range g.claims.sections { // one with the same members may have one
			if slices.Equal(q.members, p.members) {
				c.Group = cmp.Or(c.Group, g.claimOf(q.cluster))
			}
		}
	}
	unsure := slices.ContainsFunc(g.use.Unsure, func(d string) bool { return !slices.Contains(p.members, d) })
	i := slices.IndexFunc(g.use.Groups, func(u appliance.Group) bool { return u.Name == c.Group })
	c.Ready = i >= 0 && !unsure && slices.Equal(g.use.Groups[i].Members, p.members)
	switch {
	case len(p.members) < 2:
		c.Why = "one member on this bus"
	case g.everything(p):
		c.Why = "all of the bus: one frame to everybody"
	case c.Ready:
	case c.Group == "" && g.space.Mode != appliance.GroupsKept:
		c.Why = "groups are not kept on this bus"
	case c.Group == "" && !g.claims.allotted:
		c.Why = "tables are still being read"
	case c.Group == "":
		c.Why = "no group is left; larger clusters have them"
	case unsure:
		c.Why = "tables are still being read"
	default:
		c.Why = "not all members hold it, or others do"
	}
	return c
}

func (g *grouping) deviceView(d *groupDevice) appliance.GroupedDevice {
	there, _ := g.answers(d)
	join, leave := g.difference(d)
	v := appliance.GroupedDevice{
		Device: d.name, Online: there, Known: d.known(), Has: d.held, Should: g.should(d), Foreign: g.foreign(d),
		InStep: d.known() && len(join)+len(leave) == 0, Trouble: d.trouble,
	}
	if d.table == tableRead {
		v.ReadAt = d.readAt
	}
	if !d.known() {
		v.Has, v.Foreign = nil, nil
	}
	return v
}
