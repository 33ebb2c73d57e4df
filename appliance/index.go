package appliance

// index finds things of one site by ID. It is built once per site and shared by
// all its snapshots.
type index struct {
	node    map[ID]int
	shade   map[ID]int
	cluster map[ID]int

	clustersOfNode  map[ID][]ID
	clustersOfShade map[ID][]ID
}

func newIndex(s *Site) *index {
	x := &index{
		node:            make(map[ID]int, len(s.Nodes)),
		shade:           make(map[ID]int, len(s.Shades)),
		cluster:         make(map[ID]int, len(s.Clusters)),
		clustersOfNode:  make(map[ID][]ID),
		clustersOfShade: make(map[ID][]ID),
	}
	for i := range s.Nodes {
		x.node[s.Nodes[i].ID] = i
	}
	for i := range s.Shades {
		x.shade[s.Shades[i].ID] = i
	}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		x.cluster[c.ID] = i
		for _, id := range c.Nodes {
			x.clustersOfNode[id] = append(x.clustersOfNode[id], c.ID)
		}
		for _, id := range c.Shades {
			x.clustersOfShade[id] = append(x.clustersOfShade[id], c.ID)
		}
	}
	return x
}

// Node returns the state of node id, nil if there is none.
func (s *Snapshot) Node(id ID) *NodeState {
	if i, ok := s.index.node[id]; ok {
		return s.Nodes[i]
	}
	return nil
}

// Shade returns the state of shade id, nil if there is none.
func (s *Snapshot) Shade(id ID) *ShadeState {
	if i, ok := s.index.shade[id]; ok {
		return s.Shades[i]
	}
	return nil
}

// Cluster returns the state of cluster id, nil if there is none.
func (s *Snapshot) Cluster(id ID) *ClusterState {
	if i, ok := s.index.cluster[id]; ok {
		return s.Clusters[i]
	}
	return nil
}

// busOf returns the bus that a thing is on; zero if there is no such thing.
func (s *Snapshot) busOf(r Ref) UUID {
	if r.Shade != 0 {
		sh := s.Shade(r.Shade)
		if sh == nil {
			return UUID{}
		}
		r.Node = sh.Shade.Node
	}
	if n := s.Node(r.Node); n != nil {
		return n.Node.Bus
	}
	return UUID{}
}
