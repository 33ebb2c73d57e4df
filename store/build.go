package store

import (
	"cmp"
	"slices"

	"svc.internal/controller/appliance"
)

// buildNodes makes the nodes of the site after the import.
func (p *plan) buildNodes() {
	r := p.byFamily[Nodes]
	before := map[appliance.ID]appliance.Node{}
	for _, n := range p.have.Nodes {
		before[n.ID] = n
	}
	have := map[appliance.UUID]bool{}
	for _, b := range p.final.Buses {
		have[b.UUID] = true
	}
	for i, n := range p.in.Nodes {
		n.ID, n.UUID = r.found[i].ID, r.found[i].UUID
		if bus, ok := p.busOf[n.Bus]; ok {
			n.Bus = bus
		}
		if !n.Bus.IsZero() && !have[n.Bus] {
			r.complain(i, "bus", "there is no bus with UUID %s", n.Bus)
		}
		n.Outputs, n.Groups, n.Options = nilIfEmpty(n.Outputs), nilIfEmpty(n.Groups), emptyAsNil(n.Options)
		p.final.Nodes = append(p.final.Nodes, n)
		p.note(Nodes, r.found[i], n.Name, nodeChanges(before[n.ID], n, slices.Concat(p.final.Buses, p.have.Buses)))
	}
	for _, n := range p.have.Nodes {
		if !p.opts.Replace && !p.touched[Nodes][n.ID] && !p.removes(Nodes, n.ID) {
			p.final.Nodes = append(p.final.Nodes, n)
		}
	}
	slices.SortFunc(p.final.Nodes, func(a, b appliance.Node) int { return cmp.Compare(a.ID, b.ID) })
}

func (p *plan) buildShades() {
	r := p.byFamily[Shades]
	before := map[appliance.ID]appliance.Shade{}
	for _, h := range p.have.Shades {
		before[h.ID] = h
	}
	for i, h := range p.in.Shades {
		h.ID, h.UUID = r.found[i].ID, r.found[i].UUID
		node, ok := p.refer(Nodes, h.Node)
		if !ok && h.Node != 0 {
			r.complain(i, "node", "there is no node %d", h.Node)
		}
		h.Node = node
		p.final.Shades = append(p.final.Shades, h)
		p.note(Shades, r.found[i], h.Name, shadeChanges(before[h.ID], h))
	}
	for _, h := range p.have.Shades {
		if !p.opts.Replace && !p.touched[Shades][h.ID] && !p.removes(Shades, h.ID) {
			p.final.Shades = append(p.final.Shades, h)
		}
	}
	slices.SortFunc(p.final.Shades, func(a, b appliance.Shade) int { return cmp.Compare(a.ID, b.ID) })
}

func (p *plan) buildClusters() {
	r := p.byFamily[Clusters]
	before := map[appliance.ID]appliance.Cluster{}
	for _, c := range p.have.Clusters {
		before[c.ID] = c
	}
	for i, c := range p.in.Clusters {
		c.ID, c.UUID = r.found[i].ID, r.found[i].UUID
		c.Nodes = p.members(r, i, "nodes", Nodes, c.Nodes)
		c.Shades = p.members(r, i, "shades", Shades, c.Shades)
		was, lives := before[c.ID]
		switch {
		case lives: // who made it and when does not change
			c.CreatedBy, c.CreatedOn = was.CreatedBy, was.CreatedOn
		case p.opts.asItWas && !c.CreatedOn.IsZero():
			c.CreatedOn = c.CreatedOn.UTC()
		case c.CreatedOn.IsZero():
			c.CreatedBy, c.CreatedOn = cmp.Or(c.CreatedBy, p.opts.By), p.now.UTC()
		default: // it was made elsewhere, perhaps by nobody in particular
			c.CreatedOn = c.CreatedOn.UTC()
		}
		p.final.Clusters = append(p.final.Clusters, c)
		p.note(Clusters, r.found[i], c.Name, clusterChanges(was, c))
	}
	for _, c := range p.have.Clusters {
		if !p.opts.Replace && !p.touched[Clusters][c.ID] && !p.removes(Clusters, c.ID) {
			p.final.Clusters = append(p.final.Clusters, c)
		}
	}
	slices.SortFunc(p.final.Clusters, func(a, b appliance.Cluster) int { return cmp.Compare(a.ID, b.ID) })
}

// refer turns a reference of the import into an ID of the site afterwards.
func (p *plan) refer(f Family, ref appliance.ID) (appliance.ID, bool) {
	r := p.byFamily[f]
	if ref < 0 {
		i, ok := r.carried[ref]
		if !ok {
			return ref, false
		}
		return r.found[i].ID, true
	}
	if p.touched[f][ref] {
		return ref, true
	}
	_, lives := r.ids.live[ref]
	return ref, lives && !p.opts.Replace && !p.removes(f, ref)
}

func (p *plan) members(r *resolver, i int, key string, f Family, refs []appliance.ID) []appliance.ID {
	var ids []appliance.ID
	for _, ref := range refs {
		id, ok := p.refer(f, ref)
		if !ok {
			r.complain(i, key, "there is no %s %d", f, ref)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// checkOverlaps refuses entries of the import that drive an output which
// something else drives too. Profiles number their outputs each in their own
// way, so nodes are compared within one profile; the driver knows the rest.
func (p *plan) checkOverlaps() {
	type place struct {
		bus              appliance.UUID
		address, profile string
	}
	at := map[place][]appliance.Node{}
	for _, n := range p.final.Nodes {
		if !n.Bound() {
			continue
		}
		k := place{n.Bus, n.Address, n.Profile}
		at[k] = append(at[k], n)
	}
	r := p.byFamily[Nodes]
	for i := range p.in.Nodes {
		id := r.found[i].ID
		j, _ := slices.BinarySearchFunc(p.final.Nodes, id, func(n appliance.Node, id appliance.ID) int { return cmp.Compare(n.ID, id) })
		n := p.final.Nodes[j]
		for _, other := range at[place{n.Bus, n.Address, n.Profile}] {
			// Of two entries of one import, the later one is told.
			if j, both := r.claims[other.ID]; other.ID == id || both && j > i {
				continue
			}
			if overlap(n.Outputs, other.Outputs) {
				r.complain(i, "outputs", "node %d (%s) at the same bus and address (%s) drives the same outputs", other.ID, other.Name, n.Address)
			}
		}
	}
	p.checkShadeOutputs()
}

func (p *plan) checkShadeOutputs() {
	type place struct {
		node   appliance.ID
		output int
	}
	at := map[place][]appliance.Shade{}
	for _, h := range p.final.Shades {
		if h.Node == 0 {
			continue
		}
		at[place{h.Node, h.Output}] = append(at[place{h.Node, h.Output}], h)
	}
	r := p.byFamily[Shades]
	for i, in := range p.in.Shades {
		node, _ := p.refer(Nodes, in.Node)
		for _, other := range at[place{node, in.Output}] {
			if j, both := r.claims[other.ID]; other.ID == r.found[i].ID || both && j > i {
				continue
			}
			r.complain(i, "output", "shade %d (%s) hangs off the same output %d of node %d", other.ID, other.Name, in.Output, node)
		}
	}
}

// overlap reports whether two nodes at one address share an output; no outputs
// means all of them.
func overlap(a, b []int) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(o int) bool { return slices.Contains(b, o) })
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func emptyAsNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}
