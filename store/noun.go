package store

import (
	"context"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// CreateNode adds a node; its ID is found if it is 0. It fails with a [*Refused] if
// that cannot be, and with the error of check, unless that is nil.
func (s *Store) CreateNode(ctx context.Context, n appliance.Node, by string, check Check) (appliance.ID, error) {
	return nodeChanging.create(ctx, s, n, by, check)
}

// UpdateNode changes a node; its ID and UUID stay. change sees it as it is now, and its
// error ends it all, as that of check does, unless that is nil. It fails with
// [appliance.ErrNotFound] or a [*Refused].
func (s *Store) UpdateNode(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check Check) error {
	return nodeChanging.update(ctx, s, id, by, change, check)
}

// UpdateDevice is [Store.UpdateNode] for all nodes of the device of node id: those at its
// bus and address. change is called for each of them, for node id first.
func (s *Store) UpdateDevice(ctx context.Context, id appliance.ID, by string, change func(*appliance.Node) error, check Check) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		n, err := nodeChanging.find(site, id)
		if err != nil {
			return siteChange{}, err
		}
		nodes := []appliance.Node{n}
		for _, other := range site.Nodes {
			if other.ID != id && n.Bound() && other.Bus == n.Bus && other.Address == n.Address {
				nodes = append(nodes, other)
			}
		}
		for i := range nodes {
			if err := nodeChanging.apply(&nodes[i], change); err != nil {
				return siteChange{}, err
			}
		}
		return nodeChanging.only(check, nodes...), nil
	})
	return err
}

// RemoveNode retires a node. It fails with [appliance.ErrInUse] while shades hang off it.
func (s *Store) RemoveNode(ctx context.Context, id appliance.ID, by string, check func(appliance.Node) error) error {
	return nodeChanging.remove(ctx, s, id, by, check)
}

// Divide makes and changes nodes, shades and clusters in one, as an import of what make returns would,
// and retires the nodes and shades that it names. make sees the site as it is now; its error ends it all, as
// that of check does, unless that is nil. It fails with a [*Refused].
func (s *Store) Divide(ctx context.Context, by string, make func(have appliance.Site) (then appliance.Site, nodes, shades []appliance.ID, err error), check Check) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		then, nodes, shades, err := make(site)
		return siteChange{in: then, remove: map[Family][]appliance.ID{Nodes: nodes, Shades: shades}, check: check}, err
	})
	return err
}

// CreateShade is [Store.CreateNode] for shades.
func (s *Store) CreateShade(ctx context.Context, h appliance.Shade, by string, check Check) (appliance.ID, error) {
	return shadeChanging.create(ctx, s, h, by, check)
}

// UpdateShade is [Store.UpdateNode] for shades.
func (s *Store) UpdateShade(ctx context.Context, id appliance.ID, by string, change func(*appliance.Shade) error, check Check) error {
	return shadeChanging.update(ctx, s, id, by, change, check)
}

// RemoveShade retires a shade.
func (s *Store) RemoveShade(ctx context.Context, id appliance.ID, by string, check func(appliance.Shade) error) error {
	return shadeChanging.remove(ctx, s, id, by, check)
}

// CreateCluster is [Store.CreateNode] for clusters.
func (s *Store) CreateCluster(ctx context.Context, c appliance.Cluster, by string) (appliance.ID, error) {
	return clusterChanging.create(ctx, s, c, by, nil)
}

// UpdateCluster is [Store.UpdateNode] for clusters: their name and their members.
func (s *Store) UpdateCluster(ctx context.Context, id appliance.ID, by string, change func(*appliance.Cluster) error) error {
	return clusterChanging.update(ctx, s, id, by, change, nil)
}

// RemoveCluster retires a cluster; its members stay.
func (s *Store) RemoveCluster(ctx context.Context, id appliance.ID, by string, check func(appliance.Cluster) error) error {
	return clusterChanging.remove(ctx, s, id, by, check)
}

// CreateScene is [Store.CreateNode] for scenes.
func (s *Store) CreateScene(ctx context.Context, sc appliance.Scene, by string) (appliance.ID, error) {
	return sceneChanging.create(ctx, s, sc, by, nil)
}

// UpdateScene is [Store.UpdateNode] for scenes.
func (s *Store) UpdateScene(ctx context.Context, id appliance.ID, by string, change func(*appliance.Scene) error) error {
	return sceneChanging.update(ctx, s, id, by, change, nil)
}

// RemoveScene retires a scene. It fails with [appliance.ErrInUse] while a rule recalls it.
func (s *Store) RemoveScene(ctx context.Context, id appliance.ID, by string, check func(appliance.Scene) error) error {
	return sceneChanging.remove(ctx, s, id, by, check)
}

// CreateRule is [Store.CreateNode] for rules.
func (s *Store) CreateRule(ctx context.Context, r appliance.Rule, by string) (appliance.ID, error) {
	return ruleChanging.create(ctx, s, r, by, nil)
}

// UpdateRule is [Store.UpdateNode] for rules.
func (s *Store) UpdateRule(ctx context.Context, id appliance.ID, by string, change func(*appliance.Rule) error) error {
	return ruleChanging.update(ctx, s, id, by, change, nil)
}

// RemoveRule retires a rule.
func (s *Store) RemoveRule(ctx context.Context, id appliance.ID, by string, check func(appliance.Rule) error) error {
	return ruleChanging.remove(ctx, s, id, by, check)
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
