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
		have, err := wholeSite(ctx, tx)
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

// changing is how the nouns of one family are made, changed and retired one by one: all in the same way.
type changing[T any] struct {
	family Family
	list   func(*appliance.Site) *[]T
	names  func(*T) (*appliance.ID, *appliance.UUID)
	own    func(*T)                             // gives it lists that no other site shares; nil: it has none
	room   func(appliance.Site) error           // refuses one more; nil: there is always room
	inUse  func(site appliance.Site, v T) error // refuses to retire it; nil: nothing needs it
}

var (
	nodeChanging = changing[appliance.Node]{
		family: Nodes,
		list:   func(s *appliance.Site) *[]appliance.Node { return &s.Nodes },
		names:  func(n *appliance.Node) (*appliance.ID, *appliance.UUID) { return &n.ID, &n.UUID },
		inUse: func(site appliance.Site, n appliance.Node) error {
			for _, h := range site.Shades {
				if h.Node == n.ID {
					return fmt.Errorf("node %d: shade %d (%s): %w; remove or move it first", n.ID, h.ID, h.Name, appliance.ErrInUse)
				}
			}
			return nil
		},
	}
	shadeChanging = changing[appliance.Shade]{
		family: Shades,
		list:   func(s *appliance.Site) *[]appliance.Shade { return &s.Shades },
		names:  func(h *appliance.Shade) (*appliance.ID, *appliance.UUID) { return &h.ID, &h.UUID },
	}
	clusterChanging = changing[appliance.Cluster]{
		family: Clusters,
		list:   func(s *appliance.Site) *[]appliance.Cluster { return &s.Clusters },
		names:  func(c *appliance.Cluster) (*appliance.ID, *appliance.UUID) { return &c.ID, &c.UUID },
		own:    func(c *appliance.Cluster) { c.Nodes, c.Shades = slices.Clone(c.Nodes), slices.Clone(c.Shades) },
	}
	sceneChanging = changing[appliance.Scene]{
		family: Scenes,
		list:   func(s *appliance.Site) *[]appliance.Scene { return &s.Scenes },
		names:  func(sc *appliance.Scene) (*appliance.ID, *appliance.UUID) { return &sc.ID, &sc.UUID },
		own:    func(sc *appliance.Scene) { sc.Actions = slices.Clone(sc.Actions) },
		room:   func(site appliance.Site) error { return roomFor("scene", len(site.Scenes)) },
		inUse: func(site appliance.Site, sc appliance.Scene) error {
			for _, r := range site.Rules {
				if slices.ContainsFunc(r.Actions, func(a appliance.Action) bool { return a.Scene == sc.ID }) {
					return fmt.Errorf("scene %d: rule %d (%s) recalls it: %w; change or remove that first", sc.ID, r.ID, r.Name, appliance.ErrInUse)
				}
			}
			return nil
		},
	}
	ruleChanging = changing[appliance.Rule]{
		family: Rules,
		list:   func(s *appliance.Site) *[]appliance.Rule { return &s.Rules },
		names:  func(r *appliance.Rule) (*appliance.ID, *appliance.UUID) { return &r.ID, &r.UUID },
		own:    func(r *appliance.Rule) { r.Actions = slices.Clone(r.Actions) },
		room:   func(site appliance.Site) error { return roomFor("rule", len(site.Rules)) },
	}
)

// create adds a noun; its ID is found if it is 0. It fails with a [*Refused] if that cannot be, and with the error of check,
// unless that is nil.
func (k changing[T]) create(ctx context.Context, s *Store, v T, by string, check Check) (appliance.ID, error) {
	if _, uuid := k.names(&v); uuid.IsZero() {
		*uuid = appliance.NewUUID() // so that no name decides what it is
	}
	return made(s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		if k.room != nil {
			if err := k.room(site); err != nil {
				return siteChange{}, err
			}
		}
		return k.only(check, v), nil
	}))
}

// update changes a noun; its ID and UUID stay. change sees it as it is now, and its error ends it all, as that of check does,
// unless that is nil. It fails with [appliance.ErrNotFound] or a [*Refused].
func (k changing[T]) update(ctx context.Context, s *Store, id appliance.ID, by string, change func(*T) error, check Check) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		v, err := k.find(site, id)
		if err == nil {
			err = k.apply(&v, change)
		}
		return k.only(check, v), err
	})
	return err
}

// remove retires a noun, unless check or what needs it refuses.
func (k changing[T]) remove(ctx context.Context, s *Store, id appliance.ID, by string, check func(T) error) error {
	_, err := s.changeSite(ctx, by, func(site appliance.Site) (siteChange, error) {
		v, err := k.find(site, id)
		if err == nil {
			err = check(v)
		}
		if err == nil && k.inUse != nil {
			err = k.inUse(site, v)
		}
		return siteChange{remove: map[Family][]appliance.ID{k.family: {id}}}, err
	})
	return err
}

// only is the change that makes some nouns so.
func (k changing[T]) only(check Check, all ...T) siteChange {
	c := siteChange{check: check}
	*k.list(&c.in) = all
	return c
}

// apply has change make of v what it wants; its ID and UUID stay.
func (k changing[T]) apply(v *T, change func(*T) error) error {
	id, uuid := k.names(v)
	was, itself := *id, *uuid
	if k.own != nil {
		k.own(v)
	}
	err := change(v)
	*id, *uuid = was, itself
	return err
}

func (k changing[T]) find(site appliance.Site, id appliance.ID) (T, error) {
	return find(*k.list(&site), id, string(k.family), func(v T) appliance.ID { has, _ := k.names(&v); return *has })
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
