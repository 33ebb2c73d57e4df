package main

import (
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/store"
)

// noun is something with an ID.
type noun struct {
	family store.Family
	id     appliance.ID
}

// books remember every ID ever seen.
type books struct {
	t        *testing.T
	ids      map[noun]appliance.UUID // ever
	uuids    map[appliance.UUID]noun // ever
	named    map[noun]string
	promised map[noun]bool // reported by an import, and not retired since
	gone     map[noun]bool // retired
	highest  map[store.Family]appliance.ID
	marks    map[string]int64

	// Imports that were killed before their report, and are there; those that were
	// seen only later.
	tookEffect, surfaced int
}

func newBooks(t *testing.T) *books {
	return &books{t: t, ids: map[noun]appliance.UUID{}, uuids: map[appliance.UUID]noun{}, named: map[noun]string{},
		promised: map[noun]bool{}, gone: map[noun]bool{}, highest: map[store.Family]appliance.ID{}, marks: map[string]int64{}}
}

// see enters one noun. It must be the same that had its ID before, if any had.
func (b *books) see(n noun, u appliance.UUID, name string) {
	b.t.Helper()
	if had, ok := b.ids[n]; ok && had != u {
		b.t.Errorf("%s %d was given to two: %s (%s) and %s (%s)", n.family, n.id, had, b.named[n], u, name)
	}
	if had, ok := b.uuids[u]; ok && had != n {
		b.t.Errorf("%s (%s) had the ID %d, and has %d now", u, name, had.id, n.id)
	}
	if was, ok := b.named[n]; ok && was != name {
		b.t.Errorf("%s %d was called %q, and is called %q now", n.family, n.id, was, name)
	}
	other := map[store.Family]store.Family{store.Nodes: store.Shades, store.Shades: store.Nodes}[n.family]
	if _, ok := b.ids[noun{other, n.id}]; ok {
		b.t.Errorf("%d is the ID of a %s and of a %s", n.id, n.family, other)
	}
	if b.gone[n] {
		b.t.Errorf("%s %d (%s) was retired, and is back though nobody asked for it", n.family, n.id, name)
	}
	b.ids[n], b.uuids[u], b.named[n] = u, n, name
	b.highest[n.family] = max(b.highest[n.family], n.id)
}

// look enters what is in a site.
func (b *books) look(site appliance.Site) {
	b.t.Helper()
	for _, n := range site.Nodes {
		b.see(noun{store.Nodes, n.ID}, n.UUID, n.Name)
	}
	for _, s := range site.Shades {
		b.see(noun{store.Shades, s.ID}, s.UUID, s.Name)
	}
	for _, c := range site.Clusters {
		b.see(noun{store.Clusters, c.ID}, c.UUID, c.Name)
	}
}

// promise enters what an import reported.
func (b *books) promise(r api.SiteReport) {
	b.t.Helper()
	for _, it := range r.Created {
		if it.Family == string(store.Buses) {
			continue
		}
		n, id := b.noun(it)
		if n.id <= b.highest[n.family] {
			b.t.Errorf("%s %d (%s) is new, though %d was given before", n.family, n.id, it.Name, b.highest[n.family])
		}
		b.see(n, id, it.Name)
		b.promised[n] = true
	}
	for _, it := range r.Retired {
		if it.Family == string(store.Buses) {
			continue
		}
		n, id := b.noun(it)
		if b.ids[n] != id {
			b.t.Errorf("%s %d (%s) is reported as retired, it was known as %s", n.family, n.id, id, b.ids[n])
		}
		delete(b.promised, n)
		b.gone[n] = true
	}
}

func (b *books) noun(it api.SiteItem) (noun, appliance.UUID) {
	b.t.Helper()
	id, err := appliance.ParseUUID(it.UUID)
	if err != nil {
		b.t.Errorf("%+v: %v", it, err)
	}
	return noun{store.Family(it.Family), appliance.ID(it.ID)}, id
}

// retire enters that a --replace took away what it did not mention.
func (b *books) retire(mention map[string]bool) {
	for n := range b.ids {
		if !mention[string(n.family)+" "+b.named[n]] {
			delete(b.promised, n)
			b.gone[n] = true
		}
	}
}

// check wants everything that was promised in the site, and nothing that is gone.
func (b *books) check(site appliance.Site) {
	b.t.Helper()
	have := names(site)
	for n := range b.promised {
		if id, ok := have[string(n.family)+" "+b.named[n]]; !ok || id != n.id {
			b.t.Errorf("%s %d (%s) was reported, and is lost", n.family, n.id, b.named[n])
		}
	}
	b.look(site)
}

// names are the IDs of all nouns by family and name, which are unique here.
func names(site appliance.Site) map[string]appliance.ID {
	out := map[string]appliance.ID{}
	for _, n := range site.Nodes {
		out[string(store.Nodes)+" "+n.Name] = n.ID
	}
	for _, s := range site.Shades {
		out[string(store.Shades)+" "+s.Name] = s.ID
	}
	for _, c := range site.Clusters {
		out[string(store.Clusters)+" "+c.Name] = c.ID
	}
	return out
}
