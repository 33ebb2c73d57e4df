package migration

import (
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
)

// Action is what becomes of one thing of the other house.
type Action string

// Actions.
const (
	Create    Action = "create"
	Return    Action = "return" // it was here before, and was undone or removed
	Rename    Action = "rename"
	Join      Action = "change" // a cluster with new members
	Unchanged Action = "unchanged"
	Skip      Action = "skip" // it conflicts
)

// Item is one thing of the other house.
type Item struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Action Action `json:"action"`
}

// Conflict is something that cannot come over: it is never given another ID.
type Conflict struct {
	Kind  Family `json:"kind"`
	ID    int64  `json:"id"`
	Here  string `json:"here"`  // what stands in the way
	There string `json:"there"` // its name in the other house
}

// Change is how the other house differs from when it was last taken over.
type Change struct {
	Kind  Family `json:"kind"`
	ID    int64  `json:"id"`
	What  string `json:"what"` // new, renamed, gone, joined, left
	Here  string `json:"here"`
	There string `json:"there"`
}

// Here is what this controller has and had.
type Here struct {
	Site    appliance.Site
	Live    map[Family]map[appliance.ID]Noun
	Retired map[Family]map[appliance.ID]Noun
	Last    *House // as it was taken over last; nil: never, or undone
}

// Noun is something that has an ID here, or had.
type Noun struct {
	UUID appliance.UUID
	Name string
}

// Plan is what a migration does.
type Plan struct {
	Clusters  []Item     `json:"clusters"`
	Nodes     []Item     `json:"nodes"`
	Shades    []Item     `json:"shades"`
	Conflicts []Conflict `json:"conflicts"`
	Warnings  []string   `json:"warnings"`
	Changes   []Change   `json:"changes"`

	// Site is what is new or changed, to be imported.
	Site appliance.Site `json:"-"`
}

// worker makes one plan.
type worker struct {
	house House
	here  Here
	plan  Plan
	lives map[Family]map[appliance.UUID]appliance.ID
	named map[Family]map[string][]appliance.ID // what lives here, by name
	was   map[Family]map[int64]string          // names in the house as it was taken over last
	comes map[Family]map[int64]bool            // is here afterwards
}

// Work works out what taking over a house does here.
func Work(house House, here Here) Plan {
	w := &worker{house: house, here: here, lives: map[Family]map[appliance.UUID]appliance.ID{}, named: map[Family]map[string][]appliance.ID{}, comes: map[Family]map[int64]bool{}}
	if here.Last != nil {
		w.was = here.Last.names()
	}
	w.plan = Plan{Clusters: []Item{}, Nodes: []Item{}, Shades: []Item{}, Conflicts: []Conflict{}, Changes: []Change{}, Warnings: append([]string{}, house.Warnings...)}
	for _, f := range []Family{Nodes, Shades, Clusters} {
		w.lives[f], w.named[f], w.comes[f] = map[appliance.UUID]appliance.ID{}, map[string][]appliance.ID{}, map[int64]bool{}
		for id, n := range here.Live[f] {
			w.lives[f][n.UUID] = id
			w.named[f][n.Name] = append(w.named[f][n.Name], id)
		}
	}
	w.nodes()
	w.shades()
	w.clusters()
	w.reserve()
	w.highest()
	if here.Last != nil {
		w.plan.Changes = append(w.plan.Changes, changes(*here.Last, house)...)
	}
	w.warn()
	return w.plan
}

func (w *worker) nodes() {
	known := byID(w.here.Site.Nodes, func(n appliance.Node) appliance.ID { return n.ID })
	for _, n := range w.house.Nodes {
		action := w.judge(Nodes, n.ID, n.Name)
		w.plan.Nodes = append(w.plan.Nodes, Item{n.ID, n.Name, action})
		node := appliance.Node{Tag: appliance.TagNode}
		if n.Peripheral {
			node.Tag = appliance.TagPeripheral
		}
		switch action {
		case Rename:
			have := known[appliance.ID(n.ID)]
			if have == nil {
				continue // its row cannot be read
			}
			node = *have
		case Create, Return:
		default:
			continue
		}
		node.ID, node.UUID, node.Name = appliance.ID(n.ID), UUIDOf(w.house.Source, Nodes, n.ID), n.Name
		w.plan.Site.Nodes = append(w.plan.Site.Nodes, node)
	}
}

func (w *worker) shades() {
	known := byID(w.here.Site.Shades, func(s appliance.Shade) appliance.ID { return s.ID })
	for _, s := range w.house.Shades {
		action := w.judge(Shades, s.ID, s.Name)
		w.plan.Shades = append(w.plan.Shades, Item{s.ID, s.Name, action})
		shade := appliance.Shade{Output: 1}
		switch action {
		case Rename:
			have := known[appliance.ID(s.ID)]
			if have == nil {
				continue
			}
			shade = *have
		case Create, Return:
		default:
			continue
		}
		shade.ID, shade.UUID, shade.Name = appliance.ID(s.ID), UUIDOf(w.house.Source, Shades, s.ID), s.Name
		w.plan.Site.Shades = append(w.plan.Site.Shades, shade)
	}
}

func (w *worker) clusters() {
	known := byID(w.here.Site.Clusters, func(c appliance.Cluster) appliance.ID { return c.ID })
	var last map[int64]*Cluster
	if w.here.Last != nil {
		last = byID(w.here.Last.Clusters, func(c Cluster) int64 { return c.ID })
	}
	for _, c := range w.house.Clusters {
		action := w.judge(Clusters, c.ID, c.Name)
		cluster := appliance.Cluster{ID: appliance.ID(c.ID), UUID: UUIDOf(w.house.Source, Clusters, c.ID), Name: c.Name, CreatedBy: c.CreatedBy, CreatedOn: c.CreatedOn}
		var was Cluster // members as they were taken over, which people here may have changed since
		if have := known[cluster.ID]; have != nil && (action == Rename || action == Unchanged) {
			cluster = *have
			if action == Rename {
				cluster.Name = c.Name
			}
			if l := last[c.ID]; l != nil {
				was = *l
			}
		}
		nodes, shades := w.members(Nodes, cluster.Nodes, was.Nodes, c.Nodes), w.members(Shades, cluster.Shades, was.Shades, c.Shades)
		if action == Unchanged && (len(nodes) != len(cluster.Nodes) || len(shades) != len(cluster.Shades)) {
			action = Join
		}
		cluster.Nodes, cluster.Shades = nodes, shades
		w.plan.Clusters = append(w.plan.Clusters, Item{c.ID, c.Name, action})
		if action != Skip && action != Unchanged {
			w.plan.Site.Clusters = append(w.plan.Site.Clusters, cluster)
		}
	}
}

// members adds those that are new in the other house.
func (w *worker) members(f Family, have []appliance.ID, before, now []int64) []appliance.ID {
	out := slices.Clone(have)
	there := make(map[int64]bool, len(before)+len(have))
	for _, id := range before {
		there[id] = true
	}
	for _, id := range have {
		there[int64(id)] = true
	}
	for _, id := range now {
		if w.comes[f][id] && !there[id] {
			there[id] = true
			out = append(out, appliance.ID(id))
		}
	}
	slices.Sort(out)
	return out
}

// judge tells what becomes of one thing.
func (w *worker) judge(f Family, id int64, name string) Action {
	uuid := UUIDOf(w.house.Source, f, id)
	if here, ok := w.lives[f][uuid]; ok {
		w.comes[f][id] = true
		// Who was renamed here keeps that name until the other house gives it another.
		if name != w.here.Live[f][here].Name && name != w.was[f][id] {
			return Rename
		}
		return Unchanged
	}
	if here := w.obstacle(f, id, name, uuid); here != "" {
		w.plan.Conflicts = append(w.plan.Conflicts, Conflict{f, id, here, name})
		return Skip
	}
	w.comes[f][id] = true
	if _, ok := w.here.Retired[f][appliance.ID(id)]; ok {
		return Return
	}
	return Create
}

// obstacle is what here stands in the way of something new; empty if nothing does.
func (w *worker) obstacle(f Family, id int64, name string, uuid appliance.UUID) string {
	if id < 1 || id > int64(appliance.MaxID) {
		return fmt.Sprintf("want an ID from 1 to %d", appliance.MaxID)
	}
	if n, ok := w.here.Live[f][appliance.ID(id)]; ok {
		return fmt.Sprintf("%s %d (%s) is here", f, id, n.Name)
	}
	if n, ok := w.here.Retired[f][appliance.ID(id)]; ok && n.UUID != uuid {
		return fmt.Sprintf("%s %d (%s) was here and was removed; IDs are never used again", f, id, n.Name)
	}
	if other := map[Family]Family{Nodes: Shades, Shades: Nodes}[f]; other != "" {
		own := UUIDOf(w.house.Source, other, id)
		for _, known := range []map[appliance.ID]Noun{w.here.Live[other], w.here.Retired[other]} {
			if n, ok := known[appliance.ID(id)]; ok && n.UUID != own {
				return fmt.Sprintf("%s %d (%s) has this ID here; nodes and shades share none", other, id, n.Name)
			}
		}
	}
	for _, other := range w.named[f][name] {
		if w.here.Live[f][other].UUID != UUIDOf(w.house.Source, f, int64(other)) {
			return fmt.Sprintf("%s %d has this name here", f, other)
		}
	}
	return ""
}

// reserve keeps IDs of nodes that only their values name from being given to others.
func (w *worker) reserve() {
	for _, id := range w.house.Reserved {
		uuid := UUIDOf(w.house.Source, Nodes, id)
		if id < 1 || id > int64(appliance.MaxID) || w.comes[Nodes][id] || w.here.Live[Nodes][appliance.ID(id)] != (Noun{}) || w.here.Retired[Nodes][appliance.ID(id)] != (Noun{}) {
			continue
		}
		w.plan.Site.Retired = append(w.plan.Site.Retired, appliance.Retired{UUID: uuid, Node: appliance.ID(id), Name: fmt.Sprintf("Node %d", id)})
	}
}

// countedMost is the ID from which on IDs no longer count for the next automatic one:
// somebody chose them by hand.
const countedMost = 1_000_000

// highest keeps gaps of the old house from being filled.
func (w *worker) highest() {
	top := func(f Family) (high appliance.ID) {
		for id := range w.comes[f] {
			if id < countedMost {
				high = max(high, appliance.ID(id))
			}
		}
		return high
	}
	w.plan.Site.Highest = appliance.Highest{Node: top(Nodes), Shade: top(Shades), Cluster: top(Clusters)}
	for _, id := range w.house.Reserved {
		if id < countedMost {
			w.plan.Site.Highest.Node = max(w.plan.Site.Highest.Node, appliance.ID(id))
		}
	}
}

func (w *worker) warn() {
	say := func(format string, args ...any) {
		w.plan.Warnings = append(w.plan.Warnings, fmt.Sprintf(format, args...))
	}
	shared := 0
	for id := range w.comes[Nodes] {
		if w.comes[Shades][id] {
			shared++
		}
	}
	if shared > 0 {
		say("%d IDs name a node and a shade, as in the old house: such an ID of a node sent to shadeControl moves the shade", shared)
	}
	if len(w.house.Shades) > 0 {
		say("which way 100 is cannot be known from the old controller: compare a shade with what both controllers say of it; if 100 was closed there, say so when you take over")
	}
	if len(w.plan.Site.Nodes)+len(w.plan.Site.Shades) > 0 {
		say("what comes over is offline until it is bound to a bus and an address")
	}
}

// byID leads from IDs to entries; the first counts.
func byID[T any, K comparable](list []T, of func(T) K) map[K]*T {
	out := make(map[K]*T, len(list))
	for i := range list {
		if id := of(list[i]); out[id] == nil {
			out[id] = &list[i]
		}
	}
	return out
}
