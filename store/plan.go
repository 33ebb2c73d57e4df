package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// ImportOptions of one import.
type ImportOptions struct {
	// Replace retires everything that the import does not mention. Otherwise it
	// stays as it is.
	Replace bool
	// Preview changes nothing; the report says what would happen.
	Preview bool
	// By says who imports, for clusters and tombstones.
	By string
	// Check, if any, refuses the import by the site that it would change.
	Check func(have appliance.Site) error

	// asItWas takes names with spaces at their ends and clusters that nobody made, and a
	// node and a shade of one ID: another controller had them, and clients know them so.
	asItWas bool
}

// plan is one import worked out against what the database holds, before
// anything is written.
type plan struct {
	in   appliance.Site
	have appliance.Site // what can be read of the living site
	opts ImportOptions
	now  time.Time

	called   map[appliance.UUID]string // UUID → name of what is living
	buses    map[appliance.UUID]string // UUID → name, unreadable rows included
	pictures map[string]int            // name → bytes
	// keepsPlans: floors that say nothing of their plan keep it.
	keepsPlans bool
	busOf      map[appliance.UUID]appliance.UUID
	byFamily   map[Family]*resolver
	marks      map[Family]appliance.ID

	remove   map[Family]map[appliance.ID]bool // retired by name, whatever the rest does
	scrap    map[appliance.UUID]bool          // buses that are removed by name
	buried   []grave                          // IDs retired elsewhere, taken over
	final    appliance.Site                   // the site afterwards
	touched  map[Family]map[appliance.ID]bool
	report   Report
	problems []Problem
}

// newPlan reads what an import is worked out against.
func newPlan(ctx context.Context, tx *sql.Tx, in appliance.Site, opts ImportOptions, now time.Time) (*plan, error) {
	have, err := wholeSite(ctx, tx)
	if err != nil {
		return nil, err
	}
	if opts.Check != nil {
		if err := opts.Check(have); err != nil {
			return nil, err
		}
	}
	p := &plan{
		in: in, have: have, opts: opts, now: now, called: calledNow(have),
		byFamily: map[Family]*resolver{},
		marks:    map[Family]appliance.ID{},
		touched:  map[Family]map[appliance.ID]bool{Nodes: {}, Shades: {}, Clusters: {}, Scenes: {}, Rules: {}},
		report:   Report{Preview: opts.Preview},
	}
	if p.buses, err = loadBusNames(ctx, tx); err != nil {
		return nil, err
	}
	if p.pictures, err = loadPictureSizes(ctx, tx); err != nil {
		return nil, err
	}
	for _, f := range families {
		known, err := loadIDs(ctx, tx, f)
		if err != nil {
			return nil, err
		}
		p.byFamily[f] = &resolver{family: f, ids: known, entries: entriesOf(in, f), complain: p.complain(f, in)}
	}
	return p, nil
}

func loadBusNames(ctx context.Context, tx *sql.Tx) (map[appliance.UUID]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT uuid, name FROM bus")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := map[appliance.UUID]string{}
	for rows.Next() {
		var uuid appliance.UUID
		var name string
		if err := rows.Scan(uuidColumn{&uuid}, &name); err != nil {
			return nil, err
		}
		names[uuid] = name
	}
	return names, rows.Err()
}

func entriesOf(s appliance.Site, f Family) []noun {
	var out []noun
	switch f {
	case Nodes:
		for _, n := range s.Nodes {
			out = append(out, noun{n.ID, n.UUID, n.Name})
		}
	case Shades:
		for _, h := range s.Shades {
			out = append(out, noun{h.ID, h.UUID, h.Name})
		}
	case Clusters:
		for _, c := range s.Clusters {
			out = append(out, noun{c.ID, c.UUID, c.Name})
		}
	case Scenes:
		for _, sc := range s.Scenes {
			out = append(out, noun{sc.ID, sc.UUID, sc.Name})
		}
	case Rules:
		for _, r := range s.Rules {
			out = append(out, noun{r.ID, r.UUID, r.Name})
		}
	}
	return out
}

// complain returns how problems of entries of f are noted.
func (p *plan) complain(f Family, in appliance.Site) complain {
	names := entriesOf(in, f)
	return func(i int, key, format string, args ...any) {
		p.problem(fmt.Sprintf("%s[%d] (%s)", f.key(), i, names[i].Name), key, format, args...)
	}
}

func (p *plan) problem(entry, key, format string, args ...any) {
	p.problems = append(p.problems, Problem{Entry: entry, Key: key, Message: fmt.Sprintf(format, args...)})
}

// work fills in final, marks and report, or returns why the import is refused.
func (p *plan) work() error {
	p.checkText()
	p.resolveBuses()
	for _, f := range families {
		p.byFamily[f].resolve()
	}
	if err := p.number(); err != nil {
		return err
	}
	p.checkFamilies()
	p.takeRetired()
	p.settings()
	p.buildBuses()
	p.buildNodes()
	p.buildShades()
	p.buildClusters()
	p.buildScenes()
	p.buildRules()
	if p.keepsPlans {
		p.keepPlans()
	}
	p.buildDivision()
	p.checkPictures()
	if len(p.problems) == 0 {
		p.checkOverlaps() // between entries whose identity is clear
	}
	if len(p.problems) > 0 {
		return &Refused{p.problems}
	}
	p.reportRetired()
	return nil
}

// number gives IDs to new entries: explicit ones are all claimed by now, so no
// automatic one can take them.
func (p *plan) number() (err error) {
	nodes, shades := p.byFamily[Nodes], p.byFamily[Shades]
	if p.marks[Nodes], err = nodes.number(shades); err != nil {
		return err
	}
	if p.marks[Shades], err = shades.number(nodes); err != nil {
		return err
	}
	for _, f := range []Family{Clusters, Scenes, Rules} {
		if p.marks[f], err = p.byFamily[f].number(nil); err != nil {
			return err
		}
	}
	return nil
}

// settings are taken from an import that names the site; another says nothing about
// them, even if it replaces all entries.
func (p *plan) settings() {
	p.final.Name, p.final.Settings = p.have.Name, p.have.Settings
	if p.in.Name != "" {
		p.final.Name, p.final.Settings = p.in.Name, p.in.Settings
	}
	p.report.ofSite("name", p.final.Name != p.have.Name)
	p.report.ofSite("settings", p.final.Settings != p.have.Settings)
}

// isPlaceholder reports whether u only links nodes to buses inside one import:
// its first twelve bytes are zero.
func isPlaceholder(u appliance.UUID) bool { return bytes.Count(u[:12], []byte{0}) == 12 }

// resolveBuses finds the bus each imported one is: by UUID, else by name.
func (p *plan) resolveBuses() {
	p.busOf = map[appliance.UUID]appliance.UUID{}
	byName := map[string]appliance.UUID{}
	for uuid, name := range p.buses {
		byName[name] = uuid
	}
	claimed := map[appliance.UUID]int{}
	names := map[string]int{}
	for i, b := range p.in.Buses {
		entry := fmt.Sprintf("buses[%d] (%s)", i, b.Name)
		if first, ok := names[b.Name]; ok {
			p.problem(entry, "name", "buses[%d] has the same name", first)
			continue
		}
		names[b.Name] = i
		if _, ok := p.busOf[b.UUID]; ok {
			p.problem(entry, "uuid", "%s is the UUID of another bus of this import", b.UUID)
			continue
		}
		uuid := b.UUID
		if _, known := p.buses[uuid]; !known {
			if same, ok := byName[b.Name]; ok {
				uuid = same
			} else if isPlaceholder(uuid) {
				uuid = appliance.NewUUID()
			}
		}
		if first, ok := claimed[uuid]; ok {
			p.problem(entry, "", "is the same bus as buses[%d]", first)
			continue
		}
		claimed[uuid] = i
		p.busOf[b.UUID] = uuid
	}
	if p.opts.Replace {
		return
	}
	for uuid, name := range p.buses {
		if i, ok := names[name]; ok {
			if _, mentioned := claimed[uuid]; !mentioned {
				p.problem(fmt.Sprintf("buses[%d] (%s)", i, name), "name", "another bus has this name")
			}
		}
	}
}

// buildBuses keeps the order of the site; new buses come last. With Replace the
// order is that of the import.
func (p *plan) buildBuses() {
	mentioned := map[appliance.UUID]appliance.Bus{}
	for _, b := range p.in.Buses {
		b.UUID = p.busOf[b.UUID]
		b.Options = emptyAsNil(b.Options)
		mentioned[b.UUID] = b
	}
	before := map[appliance.UUID]appliance.Bus{}
	for _, b := range p.have.Buses {
		before[b.UUID] = b
		if p.opts.Replace || p.scrap[b.UUID] {
			continue
		}
		if now, ok := mentioned[b.UUID]; ok {
			b = now
		}
		p.final.Buses = append(p.final.Buses, b)
	}
	for _, b := range p.in.Buses {
		now := mentioned[p.busOf[b.UUID]]
		was, readable := before[now.UUID]
		if p.opts.Replace || !readable {
			p.final.Buses = append(p.final.Buses, now)
		}
		item := Item{Family: Buses, UUID: now.UUID, Name: now.Name}
		if _, known := p.buses[now.UUID]; !known {
			p.report.Created = append(p.report.Created, item)
			continue
		}
		p.same(item, busChanges(was, now))
	}
	p.report.ofSite("order of the buses", !slices.Equal(common(p.have.Buses, p.final.Buses), common(p.final.Buses, p.have.Buses)))
}

// common are the buses of a list that are in another one too, in their order.
func common(of, with []appliance.Bus) (list []appliance.UUID) {
	for _, b := range of {
		if slices.ContainsFunc(with, func(o appliance.Bus) bool { return o.UUID == b.UUID }) {
			list = append(list, b.UUID)
		}
	}
	return list
}

// same notes a mentioned thing as changed or unchanged.
func (p *plan) same(item Item, changed []KeyChange) {
	item.Changes = changed
	if len(changed) > 0 {
		p.report.Changed = append(p.report.Changed, item)
	} else {
		p.report.Unchanged = append(p.report.Unchanged, item)
	}
}

// note notes an identified entry in the report.
func (p *plan) note(f Family, id identity, name string, changed []KeyChange) {
	p.touched[f][id.ID] = true
	item := Item{Family: f, ID: id.ID, UUID: id.UUID, Name: name}
	switch id.origin {
	case created:
		p.report.Created = append(p.report.Created, item)
	case returned:
		p.report.Returned = append(p.report.Returned, item)
	default:
		p.same(item, changed)
	}
}

// reportRetired names what Replace removes.
func (p *plan) reportRetired() {
	if !p.opts.Replace {
		p.reportRemoved()
		return
	}
	kept := map[appliance.UUID]bool{}
	for _, b := range p.final.Buses {
		kept[b.UUID] = true
	}
	for uuid, name := range p.buses {
		if !kept[uuid] {
			p.report.Retired = append(p.report.Retired, Item{Family: Buses, UUID: uuid, Name: name})
		}
	}
	slices.SortFunc(p.report.Retired, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range families {
		for _, n := range sortedNouns(p.byFamily[f].ids.live) {
			if !p.touched[f][n.ID] {
				p.report.Retired = append(p.report.Retired, Item{Family: f, ID: n.ID, UUID: n.UUID, Name: n.Name})
			}
		}
	}
}
