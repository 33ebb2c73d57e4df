package control

import (
	"math"
	"slices"

	"svc.internal/controller/appliance"
)

// mean collects the arithmetic mean of a few numbers.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum += v; m.n++ }

// value is rounded half up; 0 of nothing.
func (m mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Floor(m.sum/float64(m.n) + 0.5)
}

// meanRGBW is the mean of each component by itself.
type meanRGBW struct{ r, g, b, w mean }

func (m *meanRGBW) add(c appliance.RGBW) {
	m.r.add(float64(c.R))
	m.g.add(float64(c.G))
	m.b.add(float64(c.B))
	m.w.add(float64(c.W))
}

func (m meanRGBW) value() appliance.RGBW {
	return appliance.RGBW{R: uint8(m.r.value()), G: uint8(m.g.value()), B: uint8(m.b.value()), W: uint8(m.w.value())}
}

// summarise computes a node's own values from its channels. A node's value is as
// old as the oldest channel in it, and no better known than the worst.
func summarise(n *appliance.NodeState) {
	var level, kelvin mean
	var rgbw meanRGBW
	var power float64
	var l appliance.Known[appliance.Level]
	var k appliance.Known[appliance.Kelvin]
	var c appliance.Known[appliance.RGBW]
	var p appliance.Known[float64]
	n.Abilities = 0
	for i := range n.Channels {
		ch := &n.Channels[i]
		n.Abilities |= ch.Abilities
		if ch.Level.OK() {
			level.add(float64(ch.Level.Value))
			worst(&l, ch.Level)
		}
		if ch.Kelvin.OK() {
			kelvin.add(float64(ch.Kelvin.Value))
			worst(&k, ch.Kelvin)
		}
		if ch.RGBW.OK() {
			rgbw.add(ch.RGBW.Value)
			worst(&c, ch.RGBW)
		}
		if ch.Power.OK() {
			power += ch.Power.Value
			worst(&p, ch.Power)
		}
	}
	l.Value, k.Value, c.Value, p.Value = appliance.Level(level.value()), appliance.Kelvin(kelvin.value()), rgbw.value(), power
	n.Level, n.Kelvin, n.RGBW, n.Power = l, k, c, p
}

// worst takes the older age of two values, and Restored over any other source.
func worst[T any](sum *appliance.Known[T], k appliance.Known[T]) {
	if !sum.OK() {
		sum.At, sum.Source = k.At, k.Source
		return
	}
	if k.At.Before(sum.At) {
		sum.At = k.At
	}
	if k.Source == appliance.Restored || sum.Source == appliance.Unknown {
		sum.Source = k.Source
	}
}

// clusterStates computes the aggregates of the clusters in which something was learned
// since the last snapshot, and keeps those of the others.
func (s *state) clusterStates(next, last *appliance.Snapshot) []*appliance.ClusterState {
	if last == nil || last.Site != next.Site {
		out := make([]*appliance.ClusterState, len(next.Site.Clusters))
		for i := range out {
			out[i] = clusterState(next, &next.Site.Clusters[i])
		}
		return out
	}
	if last.Values == next.Values {
		return last.Clusters
	}
	out := slices.Clone(last.Clusters)
	for thing := range s.fresh {
		var in []appliance.ID
		switch thing := thing.(type) {
		case *appliance.NodeState:
			in = thing.Clusters
		case *appliance.ShadeState:
			in = thing.Clusters
		}
		for _, id := range in {
			if i := s.index.Cluster[id]; out[i] == last.Clusters[i] {
				out[i] = clusterState(next, out[i].Cluster)
			}
		}
	}
	return out
}

func clusterState(s *appliance.Snapshot, c *appliance.Cluster) *appliance.ClusterState {
	st := &appliance.ClusterState{Cluster: c}
	var level, kelvin, position mean
	var rgbw meanRGBW
	for _, id := range c.Nodes {
		n := s.Node(id)
		if n == nil {
			continue
		}
		if n.Tag == appliance.TagNode {
			st.Lights++
		}
		if !n.Online {
			continue
		}
		if n.Level.OK() {
			level.add(float64(n.Level.Value))
		}
		if n.Kelvin.OK() {
			kelvin.add(float64(n.Kelvin.Value))
		}
		if n.RGBW.OK() {
			rgbw.add(n.RGBW.Value)
		}
	}
	first := true
	for _, id := range c.Shades {
		sh := s.Shade(id)
		if sh == nil || !sh.Online {
			continue
		}
		if sh.Position.OK() {
			position.add(float64(sh.Position.Value))
		}
		switch {
		case first:
			st.Motion, first = sh.Motion, false
		case st.Motion != sh.Motion:
			st.Motion = appliance.Moving
		}
	}
	st.Level, st.Kelvin, st.RGBW = appliance.Level(level.value()), appliance.Kelvin(kelvin.value()), rgbw.value()
	st.Position = appliance.Position(position.value())
	return st
}
