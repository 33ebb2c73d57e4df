package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// siteChange is one change of the site: one noun made, changed or removed. It is worked out
// as an import of that noun alone would be, so that the same rules hold for both.
type siteChange struct {
	in     appliance.Site
	remove map[Family][]appliance.ID
	scrap  []appliance.UUID
	// check, if any, refuses the change by the site as it is and as it would be.
	check Check
}

// Check refuses a change of the site: its error ends it. have is the site as it is, then as
// it would be.
type Check = func(have, then appliance.Site) error

// changeSite makes one change in one durable transaction. make sees the site as it is
// in that transaction; its error ends it.
func (s *Store) changeSite(ctx context.Context, by string, make func(appliance.Site) (siteChange, error)) (Report, error) {
	var report Report
	err := s.write(ctx, func(tx *sql.Tx) error {
		have, _, err := loadSite(ctx, tx)
		if err != nil {
			return err
		}
		c, err := make(have)
		if err != nil {
			return err
		}
		p, err := newPlan(ctx, tx, c.in, ImportOptions{By: by}, s.now())
		if err != nil {
			return err
		}
		p.removing(c)
		if err := p.work(); err != nil {
			return err
		}
		report = p.report
		if !report.Writes() {
			return nil
		}
		if c.check != nil {
			if err := c.check(have, p.final); err != nil {
				return err
			}
		}
		return p.save(ctx, tx)
	})
	if err == nil && report.Writes() {
		s.committed(ctx)
	}
	return report, err
}

// removing notes what is retired by name.
func (p *plan) removing(c siteChange) {
	p.remove = map[Family]map[appliance.ID]bool{}
	for f, list := range c.remove {
		p.remove[f] = map[appliance.ID]bool{}
		for _, id := range list {
			p.remove[f][id] = true
		}
	}
	p.scrap = map[appliance.UUID]bool{}
	for _, u := range c.scrap {
		p.scrap[u] = true
	}
}

// made is the identity of the one noun that a change made.
func made(r Report, err error) (appliance.ID, error) {
	if err != nil {
		return 0, err
	}
	if len(r.Created) != 1 {
		return 0, fmt.Errorf("it is not new: %w", account.ErrExists)
	}
	return r.Created[0].ID, nil
}

// CreateNode adds a node; its ID is found if it is 0. It fails with a [*Refused] if
// that cannot be, and with the error of check, unless that is nil.
func (s *Store) CreateNode(ctx context.Context, n appliance.Node, by string, check Check) (appliance.ID, error) {
	if n.UUID.IsZero() {
		n.UUID = appliance.NewUUID() // so that no name decides what it is
	}
	return made(s.changeSite(ctx, by, func(appliance.Site) (siteChange, error) {
		return siteChange{in: appliance.Site{Nodes: []appliance.Node{n}}, check: check}, nil
	}))
}

// UpdateNode changes a node; its ID and UUID stay. change sees it as it is now, and its
// error ends it all, as that of check does, unless that is nil. It fails with
// [appliance.ErrNotFound] or a [*Refused].
func (s *Store) UpdateNode(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check Check) error {
	return s.updateNodes(ctx, id, by, change, check, func(n, other appliance.Node) bool { return false })
}

// UpdateDevice is [Store.UpdateNode] for all nodes of the device of node id: those at its
// bus and address. change is called for each of them, for node id first.
func (s *Store) UpdateDevice(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check Check) error {
	return s.updateNodes(ctx, id, by, change, check, func(n, other appliance.Node) bool {
		return n.Bound() && other.Bus == n.Bus && other.Address == n.Address
	})
}

func (s *Store) updateNodes(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check Check, too func(n, other appliance.Node) bool) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		n, err := find(site.Nodes, id, "node", func(n appliance.Node) appliance.ID { return n.ID })
		if err != nil {
			return siteChange{}, err
		}
		nodes := []appliance.Node{n}
		for _, other := range site.Nodes {
			if other.ID != id && too(n, other) {
				nodes = append(nodes, other)
			}
		}
		for i := range nodes {
			id, uuid := nodes[i].ID, nodes[i].UUID
			if err := change(&nodes[i]); err != nil {
				return siteChange{}, err
			}
			nodes[i].ID, nodes[i].UUID = id, uuid
		}
		return siteChange{in: appliance.Site{Nodes: nodes}, check: check}, nil
	})
	return err
}

// RemoveNode retires a node. It fails with [appliance.ErrInUse] while shades hang off it.
func (s *Store) RemoveNode(ctx context.Context, id appliance.ID, by string, check func(appliance.Node) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		n, err := find(site.Nodes, id, "node", func(n appliance.Node) appliance.ID { return n.ID })
		if err == nil {
			err = check(n)
		}
		for _, h := range site.Shades {
			if err == nil && h.Node == id {
				err = fmt.Errorf("node %d: shade %d (%s): %w; remove or move it first", id, h.ID, h.Name, appliance.ErrInUse)
			}
		}
		return siteChange{remove: map[Family][]appliance.ID{Nodes: {id}}}, err
	})
	return err
}

// CreateShade is [Store.CreateNode] for shades.
func (s *Store) CreateShade(ctx context.Context, h appliance.Shade, by string, check Check) (appliance.ID, error) {
	if h.UUID.IsZero() {
		h.UUID = appliance.NewUUID()
	}
	return made(s.changeSite(ctx, by, func(appliance.Site) (siteChange, error) {
		return siteChange{in: appliance.Site{Shades: []appliance.Shade{h}}, check: check}, nil
	}))
}

// UpdateShade is [Store.UpdateNode] for shades.
func (s *Store) UpdateShade(ctx context.Context, id appliance.ID, by string, change func(*appliance.Shade) error, check Check) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		h, err := find(site.Shades, id, "shade", func(h appliance.Shade) appliance.ID { return h.ID })
		if err != nil {
			return siteChange{}, err
		}
		uuid := h.UUID
		if err := change(&h); err != nil {
			return siteChange{}, err
		}
		h.ID, h.UUID = id, uuid
		return siteChange{in: appliance.Site{Shades: []appliance.Shade{h}}, check: check}, nil
	})
	return err
}

// RemoveShade retires a shade.
func (s *Store) RemoveShade(ctx context.Context, id appliance.ID, by string, check func(appliance.Shade) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		h, err := find(site.Shades, id, "shade", func(h appliance.Shade) appliance.ID { return h.ID })
		if err == nil {
			err = check(h)
		}
		return siteChange{remove: map[Family][]appliance.ID{Shades: {id}}}, err
	})
	return err
}

// CreateCluster is [Store.CreateNode] for clusters.
func (s *Store) CreateCluster(ctx context.Context, c appliance.Cluster, by string) (appliance.ID, error) {
	if c.UUID.IsZero() {
		c.UUID = appliance.NewUUID()
	}
	return made(s.changeSite(ctx, by, func(appliance.Site) (siteChange, error) {
		return siteChange{in: appliance.Site{Clusters: []appliance.Cluster{c}}}, nil
	}))
}

// UpdateCluster is [Store.UpdateNode] for clusters: their name and their members.
func (s *Store) UpdateCluster(ctx context.Context, id appliance.ID, by string, change func(*appliance.Cluster) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		c, err := find(site.Clusters, id, "cluster", func(c appliance.Cluster) appliance.ID { return c.ID })
		if err != nil {
			return siteChange{}, err
		}
		uuid := c.UUID
		c.Nodes, c.Shades = slices.Clone(c.Nodes), slices.Clone(c.Shades)
		if err := change(&c); err != nil {
			return siteChange{}, err
		}
		c.ID, c.UUID = id, uuid
		return siteChange{in: appliance.Site{Clusters: []appliance.Cluster{c}}}, nil
	})
	return err
}

// RemoveCluster retires a cluster; its members stay.
func (s *Store) RemoveCluster(ctx context.Context, id appliance.ID, by string, check func(appliance.Cluster) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		c, err := find(site.Clusters, id, "cluster", func(c appliance.Cluster) appliance.ID { return c.ID })
		if err == nil {
			err = check(c)
		}
		return siteChange{remove: map[Family][]appliance.ID{Clusters: {id}}}, err
	})
	return err
}

// CreateBus adds a bus. The error of check ends it, unless that is nil.
func (s *Store) CreateBus(ctx context.Context, b appliance.Bus, by string, check Check) (appliance.UUID, error) {
	b.UUID = appliance.NewUUID()
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		if slices.ContainsFunc(site.Buses, func(o appliance.Bus) bool { return o.Name == b.Name }) {
			return siteChange{}, fmt.Errorf("bus %q: %w", b.Name, account.ErrExists)
		}
		return siteChange{in: appliance.Site{Buses: []appliance.Bus{b}}, check: check}, nil
	})
	return b.UUID, err
}

// UpdateBus changes a bus; its UUID stays. The error of change or of check ends it.
func (s *Store) UpdateBus(ctx context.Context, id appliance.UUID, by string, change func(*appliance.Bus) error, check Check) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		b, err := find(site.Buses, id, "bus", func(b appliance.Bus) appliance.UUID { return b.UUID })
		if err != nil {
			return siteChange{}, err
		}
		number := b.Number
		if err := change(&b); err != nil {
			return siteChange{}, err
		}
		b.UUID, b.Number = id, number
		return siteChange{in: appliance.Site{Buses: []appliance.Bus{b}}, check: check}, nil
	})
	return err
}

// RemoveBus removes a bus. It fails with [appliance.ErrInUse] while nodes are on it.
func (s *Store) RemoveBus(ctx context.Context, id appliance.UUID, by string, check func(appliance.Bus) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		b, err := find(site.Buses, id, "bus", func(b appliance.Bus) appliance.UUID { return b.UUID })
		if err == nil {
			err = check(b)
		}
		for _, n := range site.Nodes {
			if err == nil && n.Bus == id {
				err = fmt.Errorf("bus %s: node %d (%s): %w; remove or move it first", b.Name, n.ID, n.Name, appliance.ErrInUse)
			}
		}
		return siteChange{scrap: []appliance.UUID{id}}, err
	})
	return err
}

// UpdateSettings changes the name and the settings of the site, and how it is divided.
func (s *Store) UpdateSettings(ctx context.Context, by string, change func(name *string, set *appliance.Settings, d *appliance.Division) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		name, set, division := site.Name, site.Settings, site.Division
		if err := change(&name, &set, &division); err != nil {
			return siteChange{}, err
		}
		return siteChange{in: appliance.Site{Name: name, Settings: set, Division: division}}, nil
	})
	return err
}

func find[T any, K comparable](list []T, key K, word string, of func(T) K) (T, error) {
	for _, v := range list {
		if of(v) == key {
			return v, nil
		}
	}
	var none T
	return none, fmt.Errorf("%s %v: %w", word, key, appliance.ErrNotFound)
}
