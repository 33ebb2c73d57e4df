package link

import (
	"reflect"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// key names a thing with a state of its own.
type key struct {
	kind wire.Kind
	id   int64
}

// picture makes states out of one snapshot.
type picture struct {
	snap    *appliance.Snapshot
	buses   map[appliance.UUID]string
	trouble map[appliance.ID]string // by node
}

func newPicture(snap *appliance.Snapshot) *picture {
	p := &picture{snap: snap, buses: map[appliance.UUID]string{}, trouble: map[appliance.ID]string{}}
	for _, b := range snap.Buses {
		p.buses[b.Bus.UUID] = b.Bus.Name
		for _, d := range b.Devices {
			if d.Trouble == "" {
				continue
			}
			for _, id := range d.Nodes {
				p.trouble[id] = d.Trouble
			}
		}
	}
	return p
}

func (p *picture) site() *wire.State {
	s := p.snap.Site
	d := s.Division
	site := &wire.Site{Building: d.Building, TimeZone: d.TimeZone, NodeIDs: []int64{}, ShadeIDs: []int64{}, ClusterIDs: []int64{}}
	for _, f := range d.Floors {
		site.Floors = append(site.Floors, wire.Floor{Name: f.Name, AreaM2: f.AreaM2, Clusters: ids(f.Clusters)})
	}
	for _, m := range d.Meters {
		site.Meters = append(site.Meters, wire.Meter{Node: int64(m.Node), Covers: m.Covers, Clusters: ids(m.Clusters)})
	}
	for i := range s.Nodes {
		site.NodeIDs = append(site.NodeIDs, int64(s.Nodes[i].ID))
	}
	for i := range s.Shades {
		site.ShadeIDs = append(site.ShadeIDs, int64(s.Shades[i].ID))
	}
	for i := range s.Clusters {
		site.ClusterIDs = append(site.ClusterIDs, int64(s.Clusters[i].ID))
	}
	return &wire.State{Kind: wire.KindSite, Name: s.Name, Site: site}
}

func (p *picture) bus(i int) *wire.State {
	b := p.snap.Buses[i]
	up := b.Up
	return &wire.State{Kind: wire.KindBus, ID: int64(i + 1), UUID: b.Bus.UUID.String(), Name: b.Bus.Name, Online: &up, Trouble: b.Fault}
}

func (p *picture) node(n *appliance.NodeState) *wire.State {
	online := n.Online
	st := &wire.State{
		Kind: wire.KindNode, ID: int64(n.Node.ID), UUID: n.Node.UUID.String(), Name: n.Node.Name, Tag: string(n.Tag),
		Clusters: ids(n.Clusters), Bus: p.buses[n.Node.Bus], Profile: n.Node.Profile, Abilities: n.Abilities.Words(),
		Online: &online, LastSeen: moment(n.LastSeen),
		Level: value(n.Level), Kelvin: value(n.Kelvin), Power: value(n.Power),
		Trouble: n.Fault,
	}
	if n.RGBW.OK() {
		c := n.RGBW.Value
		st.RGBW = &wire.Colour{RGBW: [4]uint8{c.R, c.G, c.B, c.W}, At: n.RGBW.At.UTC(), Source: wire.Source(n.RGBW.Source.Word())}
	}
	if st.Trouble == "" {
		st.Trouble = p.trouble[n.Node.ID]
	}
	return st
}

func (p *picture) shade(s *appliance.ShadeState) *wire.State {
	online := s.Online
	st := &wire.State{
		Kind: wire.KindShade, ID: int64(s.Shade.ID), UUID: s.Shade.UUID.String(), Name: s.Shade.Name,
		Clusters: ids(s.Clusters), Node: int64(s.Shade.Node), Abilities: s.Channel.Abilities.Words(),
		Online: &online, LastSeen: moment(s.LastSeen),
		Position: value(s.Position), Motion: s.Motion.String(), Trouble: s.Fault,
	}
	if st.Position != nil {
		st.Position.Within = float64(s.Uncertainty)
	}
	if n := p.snap.Node(s.Shade.Node); n != nil {
		st.Bus, st.Profile = p.buses[n.Node.Bus], n.Node.Profile
	}
	if st.Trouble == "" {
		st.Trouble = p.trouble[s.Shade.Node]
	}
	return st
}

// cluster has means over the members that are online, as old as the oldest of them and no better known than the worst.
func (p *picture) cluster(c *appliance.ClusterState) *wire.State {
	st := &wire.State{Kind: wire.KindCluster, ID: int64(c.Cluster.ID), UUID: c.Cluster.UUID.String(), Name: c.Cluster.Name}
	for _, id := range c.Cluster.Nodes {
		if n := p.snap.Node(id); n != nil && n.Online {
			st.Level = older(st.Level, value(n.Level), float64(c.Level))
			st.Kelvin = older(st.Kelvin, value(n.Kelvin), float64(c.Kelvin))
		}
	}
	for _, id := range c.Cluster.Shades {
		if s := p.snap.Shade(id); s != nil && s.Online {
			st.Position = older(st.Position, value(s.Position), float64(c.Position))
			st.Motion = c.Motion.String()
		}
	}
	return st
}

// older takes a member's age and source into a mean.
func older(sum, member *wire.Value, mean float64) *wire.Value {
	switch {
	case member == nil:
		return sum
	case sum == nil:
		return &wire.Value{Value: mean, At: member.At, Source: member.Source}
	}
	if member.At.Before(sum.At) {
		sum.At = member.At
	}
	if rank[member.Source] > rank[sum.Source] {
		sum.Source = member.Source
	}
	return sum
}

// rank orders sources, the most trustworthy first.
var rank = map[wire.Source]int{wire.Measured: 0, wire.Acknowledged: 1, wire.Estimated: 2, wire.Sent: 3, wire.Restored: 4}

func ids(list []appliance.ID) []int64 {
	var out []int64
	for _, id := range list {
		out = append(out, int64(id))
	}
	return out
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func value[T ~int | ~float64](k appliance.Known[T]) *wire.Value {
	if !k.OK() {
		return nil
	}
	return &wire.Value{Value: float64(k.Value), At: k.At.UTC(), Source: wire.Source(k.Source.Word())}
}

// same reports whether two states tell the same, ages and power apart: power goes by telemetry.
func same(a, b *wire.State) bool {
	return a.Kind == b.Kind && a.ID == b.ID && a.UUID == b.UUID && a.Name == b.Name && a.Tag == b.Tag && a.Node == b.Node &&
		a.Bus == b.Bus && a.Profile == b.Profile && a.Motion == b.Motion && a.Trouble == b.Trouble &&
		slices.Equal(a.Clusters, b.Clusters) && slices.Equal(a.Abilities, b.Abilities) &&
		(a.Online == nil) == (b.Online == nil) && (a.Online == nil || *a.Online == *b.Online) &&
		sameValue(a.Level, b.Level) && sameValue(a.Kelvin, b.Kelvin) && sameValue(a.Position, b.Position) &&
		(a.Power == nil) == (b.Power == nil) &&
		(a.RGBW == nil) == (b.RGBW == nil) && (a.RGBW == nil || a.RGBW.RGBW == b.RGBW.RGBW && a.RGBW.Source == b.RGBW.Source) &&
		reflect.DeepEqual(a.Site, b.Site)
}

func sameValue(a, b *wire.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value == b.Value && a.Source == b.Source && a.Within == b.Within
}

// readAt is since when all values of a state, power apart, are known to hold; zero if it has none.
func readAt(s *wire.State) time.Time {
	var oldest time.Time
	for _, v := range []*wire.Value{s.Level, s.Kelvin, s.Position} {
		if v != nil && (oldest.IsZero() || v.At.Before(oldest)) {
			oldest = v.At
		}
	}
	if s.RGBW != nil && (oldest.IsZero() || s.RGBW.At.Before(oldest)) {
		oldest = s.RGBW.At
	}
	return oldest
}
