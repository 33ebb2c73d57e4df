package dali

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

// group is what commands may use: the gear that was read to hold it.
type group struct {
	n       int
	members []*gear
}

// GroupSpace: groups are 0 to 15. Installers count from the bottom, so clusters are
// given them from the top.
func (d *Driver) GroupSpace() appliance.GroupSpace {
	s := appliance.GroupSpace{Mode: d.options.groups, PerDevice: Groups, Closed: d.options.broadcast, Declared: make(map[string][]string)}
	for n := Groups - 1; n >= 0; n-- {
		s.Names = append(s.Names, strconv.Itoa(n))
	}
	for _, g := range d.gears {
		if g.groups != 0 {
			s.Declared[g.key] = groupNames(g.groups)
		}
	}
	return s
}

// groupNames lists the groups of a set, ascending as text.
func groupNames(set uint16) (names []string) {
	for ; set != 0; set &= set - 1 {
		names = append(names, strconv.Itoa(bits.TrailingZeros16(set)))
	}
	slices.Sort(names)
	return names
}

// UseGroups says which groups may be used for commands.
func (d *Driver) UseGroups(use appliance.GroupUse) {
	d.groups, d.unsure = nil, nil
	for _, u := range use.Groups {
		n, err := strconv.Atoi(u.Name)
		if err != nil || n < 0 || n >= Groups || d.spoilt>>n&1 != 0 {
			continue // no name of ours, or it lights gear that was set aside
		}
		one := group{n: n}
		for _, key := range u.Members {
			one.members = append(one.members, d.keyed(key))
		}
		d.groups = append(d.groups, one)
	}
	for _, key := range use.Unsure {
		d.unsure = append(d.unsure, d.keyed(key))
	}
}

// keyed is the gear of a device key that Open gave out.
func (d *Driver) keyed(key string) *gear {
	return d.gears[slices.IndexFunc(d.gears, func(g *gear) bool { return g.key == key })]
}

// ReadGroups yields the queries for a gear's groups. Where answers carry no
// checksum they are asked for twice, since what is read decides what is written.
func (d *Driver) ReadGroups(device string, told func(held []string)) iter.Seq[appliance.Exchange] {
	g := d.keyed(device)
	return func(yield func(appliance.Exchange) bool) {
		var set uint16
		for i, op := range []byte{OpQueryGroupsLow, OpQueryGroupsHigh} {
			var v byte
			if !yield(d.groupQuery(g, op, &v, false)) || d.wire.gw.traits().has(unchecked) && !yield(d.groupQuery(g, op, &v, true)) {
				return
			}
			set |= uint16(v) << (8 * i)
		}
		g.inGroups = set
		told(groupNames(set))
	}
}

// groupQuery asks for half of a gear's groups. Asked again, the answer must be the
// same as before.
func (d *Driver) groupQuery(g *gear, op byte, to *byte, again bool) appliance.Exchange {
	ask := Command(Short(g.short), op)
	return appliance.Exchange{
		Device: g.key, Airtime: d.wire.airtime(ask), Worst: d.wire.worst(ask),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			v, at, err := d.askByte(ctx, y, g, op)
			if err != nil {
				return appliance.Result{Sent: at}, err
			}
			if again && v != *to {
				err = fmt.Errorf("bus %s: %s: %w: its groups read %02X, then %02X", d.name, g, appliance.ErrDamaged, *to, v)
			}
			*to = v
			return appliance.Result{Sent: at}, err
		},
	}
}

// ChangeGroups yields a frame for each group that a gear joins or leaves, and the
// queries that read all back.
func (d *Driver) ChangeGroups(device string, join, leave []string, told func(held []string)) iter.Seq[appliance.Exchange] {
	g := d.keyed(device)
	return func(yield func(appliance.Exchange) bool) {
		for i, names := range [][]string{leave, join} {
			op := []int{OpRemoveGroup, OpAddGroup}[i]
			for _, name := range names {
				n, err := strconv.Atoi(name)
				if err == nil && !yield(d.telling([]Send{Command(Short(g.short), byte(op+n))}, func(time.Time) {})) {
					return
				}
			}
		}
		d.ReadGroups(device, told)(yield)
	}
}

// SurveyGroups yields a look at every short address that the site does not use, and
// whether gear without a short address holds a group that no gear of the site holds.
func (d *Driver) SurveyGroups() iter.Seq[appliance.Exchange] {
	return func(yield func(appliance.Exchange) bool) {
		var strange, ours uint16
		for _, g := range d.gears {
			ours |= g.inGroups
		}
		for n := range Shorts {
			if slices.ContainsFunc(d.gears, func(g *gear) bool { return g.short == n }) {
				continue
			}
			there, set, ok := d.stranger(n, yield)
			if !ok {
				return
			}
			if there {
				strange |= set
			}
		}
		for n := range Groups {
			var got []Answer
			if (ours|strange)>>n&1 != 0 {
				continue
			}
			if !yield(d.probe([]Send{Command(Group(n), OpQueryPresent)}, &got)) {
				return
			}
			if len(got) == 1 && got[0].Yes() {
				strange |= 1 << n
			}
		}
		d.strange = strange
	}
}

// stranger asks who is at an address outside the site, and for its groups. Where no
// clear answer comes it may hold any. ok is false when nobody wants to know any more.
func (d *Driver) stranger(n int, yield func(appliance.Exchange) bool) (there bool, set uint16, ok bool) {
	var got []Answer
	if !yield(d.probe([]Send{Command(Short(n), OpQueryPresent)}, &got)) {
		return false, 0, false
	}
	if len(got) == 0 || !got[0].Yes() {
		return false, 0, true
	}
	for i, op := range []byte{OpQueryGroupsLow, OpQueryGroupsHigh} {
		half := byte(0xFF)
		for range sendTries {
			got = nil
			if !yield(d.probe([]Send{Command(Short(n), op)}, &got)) {
				return false, 0, false
			}
			if len(got) == 1 && got[0].Kind == AnswerValue {
				half = got[0].Value
				break
			}
		}
		set |= uint16(half) << (8 * i)
	}
	return true, set, true
}

// StrangeGroups tells the groups of gear outside the site, and those that other
// masters were heard to use, as far as the gateway reports that.
func (d *Driver) StrangeGroups() (held, used []string) {
	return groupNames(d.strange), groupNames(uint16(d.wire.heardGroups.Load()))
}

// groupSet is a set of groups that any goroutine may add to.
type groupSet struct{ atomic.Uint32 }

// note adds the group that a message of another master is for, if it is for one.
func (s *groupSet) note(m message) {
	if m.said != saidHeard || m.bits != 16 {
		return
	}
	if a, _, ok := addressOf(m.frame.AddressByte()); ok && a.kind == kindGroup {
		s.Or(1 << a.n)
	}
}
