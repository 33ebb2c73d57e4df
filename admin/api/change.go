package api

import (
	"reflect"
	"time"

	"svc.internal/controller/appliance"
)

// Picture is the first event of a stream: everything.
type Picture struct {
	Time      time.Time `json:"time" doc:"The controller's clock."`
	Version   string    `json:"version"`
	Site      Site      `json:"site"`
	Clusters  []Cluster `json:"clusters"`
	Nodes     []Node    `json:"nodes"`
	Shades    []Shade   `json:"shades"`
	Buses     []Bus     `json:"buses"`
	Ports     []Port    `json:"ports"`
	Jobs      []Job     `json:"jobs"`
	Attention Attention `json:"attention"`
}

// Change is how the state differs from what a reader was shown before: whole records
// of what changed. Values that were read again and are the same come as ages, every
// few seconds.
type Change struct {
	Time      time.Time  `json:"time"`
	Site      *Site      `json:"site,omitempty"`
	Clusters  []Cluster  `json:"clusters,omitempty"`
	Nodes     []Node     `json:"nodes,omitempty"`
	Shades    []Shade    `json:"shades,omitempty"`
	Buses     []Bus      `json:"buses,omitempty"`
	Removed   *Removed   `json:"removed,omitempty"`
	Ages      *Ages      `json:"ages,omitempty"`
	Attention *Attention `json:"attention,omitempty"`
}

func (c Change) empty() bool {
	return c.Site == nil && c.Removed == nil && c.Ages == nil && c.Attention == nil &&
		len(c.Clusters)+len(c.Nodes)+len(c.Shades)+len(c.Buses) == 0
}

// Removed are the IDs of what is gone; buses by UUID.
type Removed struct {
	Clusters []appliance.ID `json:"clusters,omitempty"`
	Nodes    []appliance.ID `json:"nodes,omitempty"`
	Shades   []appliance.ID `json:"shades,omitempty"`
	Buses    []string       `json:"buses,omitempty"`
}

// Ages are the times of values that were read again, in milliseconds since 1970. A
// value whose time is left out was not read again.
type Ages struct {
	Nodes  []NodeAges  `json:"nodes,omitempty"`
	Shades []ShadeAges `json:"shades,omitempty"`
}

// NodeAges are the times of the values of a node.
type NodeAges struct {
	ID       appliance.ID `json:"id"`
	LastSeen int64        `json:"lastSeen"`
	Level    int64        `json:"level,omitempty"`
	Kelvin   int64        `json:"kelvin,omitempty"`
	RGBW     int64        `json:"rgbw,omitempty"`
	Power    int64        `json:"power,omitempty"`
}

// ShadeAges are the times of the values of a shade.
type ShadeAges struct {
	ID       appliance.ID `json:"id"`
	LastSeen int64        `json:"lastSeen"`
	Position int64        `json:"position,omitempty"`
}

// Tick proves that the stream is alive, and tells the time.
type Tick struct {
	Time time.Time `json:"time"`
}

// Lost tells how many events of a kind a slow reader missed; the state is not among
// them.
type Lost struct {
	Feed string `json:"feed" enum:"entries,jobs"`
	Lost uint64 `json:"lost"`
}

func removedSince(s, old *appliance.Snapshot) *Removed {
	var r Removed
	for _, n := range old.Nodes {
		if s.Node(n.Node.ID) == nil {
			r.Nodes = append(r.Nodes, n.Node.ID)
		}
	}
	for _, sh := range old.Shades {
		if s.Shade(sh.Shade.ID) == nil {
			r.Shades = append(r.Shades, sh.Shade.ID)
		}
	}
	for _, cl := range old.Clusters {
		if s.Cluster(cl.Cluster.ID) == nil {
			r.Clusters = append(r.Clusters, cl.Cluster.ID)
		}
	}
	for _, b := range old.Buses {
		if _, err := findBus(s, b.Bus.UUID.String()); err != nil {
			r.Buses = append(r.Buses, b.Bus.UUID.String())
		}
	}
	if len(r.Nodes)+len(r.Shades)+len(r.Clusters)+len(r.Buses) == 0 {
		return nil
	}
	return &r
}

func agesSince(s, old *appliance.Snapshot) *Ages {
	var a Ages
	d := s.Since(old)
	for _, n := range d.Nodes {
		row := NodeAges{ID: n.Node.ID, LastSeen: n.LastSeen.UnixMilli(),
			Level: ageOf(n.Level), Kelvin: ageOf(n.Kelvin), RGBW: ageOf(n.RGBW), Power: ageOf(n.Power)}
		if !n.LastSeen.IsZero() {
			a.Nodes = append(a.Nodes, row)
		}
	}
	for _, sh := range d.Shades {
		if !sh.LastSeen.IsZero() {
			a.Shades = append(a.Shades, ShadeAges{sh.Shade.ID, sh.LastSeen.UnixMilli(), ageOf(sh.Position)})
		}
	}
	if len(a.Nodes)+len(a.Shades) == 0 {
		return nil
	}
	return &a
}

func ageOf[T any](k appliance.Known[T]) int64 {
	if !k.OK() {
		return 0
	}
	return k.At.UnixMilli()
}

// same reports whether two values differ in their age only.
func same[T comparable](a, b appliance.Known[T]) bool {
	return a.Value == b.Value && a.Source == b.Source
}

func sameNode(a, b *appliance.NodeState) bool {
	if a.Online != b.Online || a.Fault != b.Fault || a.Tag != b.Tag || a.Abilities != b.Abilities || len(a.Channels) != len(b.Channels) ||
		!same(a.Level, b.Level) || !same(a.Kelvin, b.Kelvin) || !same(a.RGBW, b.RGBW) || !same(a.Power, b.Power) {
		return false
	}
	for i := range a.Channels {
		x, y := &a.Channels[i], &b.Channels[i]
		if x.Channel != y.Channel || !same(x.Level, y.Level) || !same(x.Kelvin, y.Kelvin) || !same(x.RGBW, y.RGBW) || !same(x.Power, y.Power) {
			return false
		}
	}
	return a.Node == b.Node || reflect.DeepEqual(a.Node, b.Node) && reflect.DeepEqual(a.Clusters, b.Clusters)
}

func sameShade(a, b *appliance.ShadeState) bool {
	return a.Online == b.Online && a.Fault == b.Fault && a.Channel == b.Channel && a.Motion == b.Motion && a.Uncertainty == b.Uncertainty &&
		same(a.Position, b.Position) &&
		(a.Shade == b.Shade || *a.Shade == *b.Shade && reflect.DeepEqual(a.Clusters, b.Clusters))
}

func sameCluster(a, b Cluster) bool {
	a.At, b.At = nil, nil
	return reflect.DeepEqual(a, b)
}
