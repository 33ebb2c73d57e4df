package engine

import (
	"maps"
	"reflect"
	"slices"

	"svc.internal/controller/appliance"
)

// Wiring is what a bus drives: its part of the site, and what the driver makes of that.
// One that is in force does not change: another takes its place, between two frames. Of
// the driver the engine asks what it plans, reads and knows of groups, and nothing that
// touches a wire.
type Wiring struct {
	Config appliance.BusConfig
	Opened appliance.Opened
}

// Kept lists the nodes that are the same outputs of the same devices in two wirings; nil:
// none are.
func (w *Wiring) Kept(before *Wiring) map[appliance.ID]bool {
	kept := map[appliance.ID]bool{}
	if before == nil {
		return kept
	}
	for i := range w.Config.Nodes {
		n := &w.Config.Nodes[i]
		old := appliance.NodeIn(before.Config.Nodes, n.ID)
		same := old != nil && n.SamePlace(old) && slices.Equal(old.Outputs, n.Outputs) && maps.Equal(old.Options, n.Options)
		if same && w.Opened.Device[n.ID] == before.Opened.Device[n.ID] && reflect.DeepEqual(w.Opened.Channels[n.ID], before.Opened.Channels[n.ID]) {
			kept[n.ID] = true
		}
	}
	return kept
}

// Drives reports whether a shade of another wiring is the same motor here.
func (w *Wiring) Drives(other *Wiring, s appliance.Shade) bool {
	_, ok := w.Opened.Shades[s.ID]
	return ok && slices.ContainsFunc(w.Config.Shades, func(n appliance.Shade) bool {
		return n.ID == s.ID && s.SameMotor(&n, other.Config.Nodes, w.Config.Nodes)
	})
}

// nodeOf is the node that a thing is, or hangs off.
func (w *Wiring) nodeOf(r appliance.Ref) appliance.ID {
	if i := slices.IndexFunc(w.Config.Shades, func(s appliance.Shade) bool { return r.Shade != 0 && s.ID == r.Shade }); i >= 0 {
		return w.Config.Shades[i].Node
	}
	return r.Node
}

// channel returns what a driver made of an entry; of none, nothing can be done with it.
func (w *Wiring) channel(r appliance.Ref) appliance.Channel {
	if r.Shade != 0 {
		return w.Opened.Shades[r.Shade]
	}
	if chs := w.Opened.Channels[r.Node]; r.Channel >= 1 && r.Channel <= len(chs) {
		return chs[r.Channel-1]
	}
	return appliance.Channel{}
}

// most is how many exchanges may be out at once.
func (w *Wiring) most() int { return max(1, w.Opened.InFlight) }
