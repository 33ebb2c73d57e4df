package appliance

// Index finds things of one site by ID. It is built once per site and shared by
// all its snapshots.
type Index struct {
	Node    map[ID]int
	Shade   map[ID]int
	Cluster map[ID]int

	ClustersOfNode  map[ID][]ID
	ClustersOfShade map[ID][]ID
}

// NewIndex of a site.
func NewIndex(s *Site) *Index {
	x := &Index{
		Node:            make(map[ID]int, len(s.Nodes)),
		Shade:           make(map[ID]int, len(s.Shades)),
		Cluster:         make(map[ID]int, len(s.Clusters)),
		ClustersOfNode:  make(map[ID][]ID),
		ClustersOfShade: make(map[ID][]ID),
	}
	for i := range s.Nodes {
		x.Node[s.Nodes[i].ID] = i
	}
	for i := range s.Shades {
		x.Shade[s.Shades[i].ID] = i
	}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		x.Cluster[c.ID] = i
		for _, id := range c.Nodes {
			x.ClustersOfNode[id] = append(x.ClustersOfNode[id], c.ID)
		}
		for _, id := range c.Shades {
			x.ClustersOfShade[id] = append(x.ClustersOfShade[id], c.ID)
		}
	}
	return x
}

// Node returns the state of node id, nil if there is none.
func (s *Snapshot) Node(id ID) *NodeState {
	if i, ok := s.Index.Node[id]; ok {
		return s.Nodes[i]
	}
	return nil
}

// Shade returns the state of shade id, nil if there is none.
func (s *Snapshot) Shade(id ID) *ShadeState {
	if i, ok := s.Index.Shade[id]; ok {
		return s.Shades[i]
	}
	return nil
}

// Cluster returns the state of cluster id, nil if there is none.
func (s *Snapshot) Cluster(id ID) *ClusterState {
	if i, ok := s.Index.Cluster[id]; ok {
		return s.Clusters[i]
	}
	return nil
}

// BusOf returns the bus that a thing is on; zero if there is no such thing.
func (s *Snapshot) BusOf(r Ref) UUID {
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
