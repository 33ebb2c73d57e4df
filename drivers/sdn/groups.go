package sdn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// groupTable is what a motor told of the groups that it holds. Guarded by
// Driver.mu.
type groupTable struct {
	entries [maxGroups]Address
	size    int // entries that the motor has; 0: not read
}

// holds reports whether the motor is in a group; before its table was read, whether
// the site says so. Called with the driver's lock held.
func (m *motor) holds(g Address) bool {
	if m.table.size == 0 {
		return slices.Contains(m.groups, g)
	}
	return slices.Contains(m.table.entries[:], g)
}

// unusedEntry: 01.01.FF is seen in empty entries, too.
func unusedEntry(a Address) bool {
	return a == Nobody || a == Everybody || a == Address{0x01, 0x01, 0xFF}
}

// GroupSpace: groups are 01.01.00 to 01.01.FE. Installers count from the bottom, so
// clusters are given them from the top.
func (d *Driver) GroupSpace() appliance.GroupSpace {
	s := appliance.GroupSpace{
		Mode: d.options.groups, PerDevice: maxGroups, Shades: true, Closed: d.options.broadcast && !d.site.broken,
		Declared: make(map[string][]string),
	}
	for n := 0xFE; n > 0; n-- {
		s.Names = append(s.Names, Address{0x01, 0x01, byte(n)}.String())
	}
	for _, m := range d.site.all {
		for _, g := range m.groups {
			s.Declared[m.key] = append(s.Declared[m.key], g.String())
		}
		slices.Sort(s.Declared[m.key])
	}
	return s
}

// SurveyGroups yields nothing: motors outside the site are found by a scan only,
// which takes minutes.
func (d *Driver) SurveyGroups() iter.Seq[appliance.Exchange] {
	return func(func(appliance.Exchange) bool) {}
}

// StrangeGroups tells the groups of motors outside the site, as far as scans read
// them, and those that other masters were heard to use.
func (d *Driver) StrangeGroups() (held, used []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for g, how := range d.strangers.groups {
		if how.held {
			held = append(held, g.String())
		}
		if how.used {
			used = append(used, g.String())
		}
	}
	return held, used
}

// strangeGroup is how a group is known that somebody else has.
type strangeGroup struct {
	held bool // by a motor outside the site
	used bool // by another master
}

// noteGroup remembers a group of somebody else. There are 256, so that the memory
// is bounded. Called with the driver's lock held.
func (d *Driver) noteGroup(g Address, held, used bool) {
	if g.IsGroup() {
		how := d.strangers.groups[g]
		d.strangers.groups[g] = strangeGroup{how.held || held, how.used || used}
	}
}

// UseGroups says which groups may be used for commands.
func (d *Driver) UseGroups(use appliance.GroupUse) {
	d.groups, d.unsure = nil, nil
	for _, g := range use.Groups {
		address, err := ParseAddress(g.Name)
		if err != nil || !address.IsGroup() || d.site.spoilt[address] {
			continue // an entry that is no group, or one that moves a motor set aside
		}
		one := group{address: address}
		for _, key := range g.Members {
			one.members = append(one.members, d.keyed(key))
		}
		d.groups = append(d.groups, one)
	}
	for _, key := range use.Unsure {
		d.unsure = append(d.unsure, d.keyed(key))
	}
}

// keyed is the motor of a device key that Open gave out.
func (d *Driver) keyed(key string) *motor {
	address, _ := ParseAddress(key)
	return d.site.motors[address]
}

// ReadGroups yields the reads of all entries of a motor's table. A motor that
// refuses an entry which is not the first has a smaller table.
func (d *Driver) ReadGroups(device string, told func(held []string)) iter.Seq[appliance.Exchange] {
	m := d.keyed(device)
	return func(yield func(appliance.Exchange) bool) {
		var t groupTable
		for full := false; !full && t.size < maxGroups; {
			e := d.exchange(d.readGroup(m, t.size, &t.entries[t.size]))
			read := e.Do
			e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				res, err := read(ctx, y)
				if full = t.size > 0 && errors.Is(err, appliance.ErrRefused); full {
					return res, nil
				}
				return res, err
			}
			if !yield(e) {
				return
			}
			if !full {
				t.size++
			}
		}
		d.tellTable(m, t, told)
	}
}

// tellTable takes over a table that was read.
func (d *Driver) tellTable(m *motor, t groupTable, told func([]string)) {
	d.mu.Lock()
	m.table = t
	d.mu.Unlock()
	var held []string
	for _, g := range t.entries[:t.size] {
		if name := g.String(); !unusedEntry(g) && !slices.Contains(held, name) {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	told(held)
}

// ChangeGroups yields the writes of the entries that change and, after each, its
// reading back. An entry that is given up is used again at once. Groups for which
// the table has no room are left out.
func (d *Driver) ChangeGroups(device string, join, leave []string, told func(held []string)) iter.Seq[appliance.Exchange] {
	m := d.keyed(device)
	return func(yield func(appliance.Exchange) bool) {
		d.mu.Lock()
		t := m.table
		d.mu.Unlock()
		for _, c := range t.changes(join, leave) {
			e := d.exchange(d.writeGroup(m, c.entry, c.group))
			if !yield(e) || !yield(d.exchange(d.readGroup(m, c.entry, &t.entries[c.entry]))) {
				return
			}
		}
		d.tellTable(m, t, told)
	}
}

// groupChange is one entry to be written.
type groupChange struct {
	entry int
	group Address // [Nobody]: emptied
}

// changes are the fewest writes that bring a table in step.
func (t groupTable) changes(join, leave []string) []groupChange {
	var list []groupChange
	var free []int // those that are emptied anyhow first
	for i, g := range t.entries[:t.size] {
		if slices.Contains(leave, g.String()) {
			free = append(free, i)
		}
	}
	emptied := len(free)
	for i, g := range t.entries[:t.size] {
		if unusedEntry(g) {
			free = append(free, i)
		}
	}
	for _, name := range join {
		g, err := ParseAddress(name)
		if err != nil || len(free) == 0 {
			continue
		}
		list = append(list, groupChange{free[0], g})
		free, emptied = free[1:], max(0, emptied-1)
	}
	for _, i := range free[:emptied] {
		list = append(list, groupChange{i, Nobody})
	}
	return list
}

// readGroup asks for one entry of a motor's table.
func (d *Driver) readGroup(m *motor, index int, to *Address) question {
	return question{
		motor: m, id: getGroup, data: []byte{byte(index)}, want: postGroup, most: minFrame + 4,
		what: fmt.Sprintf("asking for entry %d of its group table", index),
		then: func(f Frame, _ time.Time) ([]appliance.Reading, error) {
			if len(f.Data) < 4 || int(f.Data[0]) != index {
				return nil, fmt.Errorf("%w: entry %d of the group table was asked for, % X came", appliance.ErrDamaged, index, f.Data)
			}
			*to = address(f.Data[1:])
			return nil, nil
		},
	}
}

// writeGroup writes one entry of a motor's table.
func (d *Driver) writeGroup(m *motor, index int, g Address) question {
	return question{
		motor: m, id: setGroup, data: groupData(byte(index), g), want: ack, most: minFrame + 1,
		what: fmt.Sprintf("writing group %v to entry %d of its group table", g, index),
	}
}
