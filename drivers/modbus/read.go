package modbus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// need is some neighbouring addresses that say something about a thing.
type need struct {
	at    point
	n     int
	thing *thing
	has   appliance.Ability // the aspect they belong to
}

// read is one read frame and what it is for.
type read struct {
	unit  *unit
	at    point
	n     int
	needs []need
}

func (r read) request() request {
	return request{unit: r.unit.number, fn: r.at.table.reads(), addr: r.at.addr, qty: uint16(r.n)}
}

// refs that a read tells something about.
func (r read) refs() []appliance.Ref {
	var refs []appliance.Ref
	for _, n := range r.needs {
		if !slices.Contains(refs, n.thing.ref) {
			refs = append(refs, n.thing.ref)
		}
	}
	return refs
}

// covers reports whether the read is of this place.
func (r read) covers(p point) bool {
	return p.table == r.at.table && p.addr >= r.at.addr && int(p.addr) < int(r.at.addr)+r.n
}

// needs of one aspect of a thing.
func (t *thing) needs(a aspect) []need {
	var list []need
	for _, c := range a.cells {
		list = append(list, need{at: t.place(c), n: c.spec.words(), thing: t, has: a.has})
	}
	return list
}

// coalesce makes as few reads of the needs of one unit as its limits and the
// line's allow. A hole of addresses that nobody needs is read over where that is
// cheaper than another frame and bridge allows it.
func (d *Driver) coalesce(u *unit, needs []need, bridge func(from point, n int) bool) []read {
	slices.SortStableFunc(needs, func(a, b need) int {
		return cmp.Or(cmp.Compare(a.at.table, b.at.table), cmp.Compare(a.at.addr, b.at.addr), cmp.Compare(a.n, b.n))
	})
	var reads []read
	for _, n := range needs {
		if i := len(reads) - 1; i >= 0 && d.joins(reads[i], n, bridge) {
			end := int(n.at.addr) + n.n - int(reads[i].at.addr)
			reads[i].n = max(reads[i].n, end)
			reads[i].needs = append(reads[i].needs, n)
			continue
		}
		reads = append(reads, read{unit: u, at: n.at, n: n.n, needs: []need{n}})
	}
	return reads
}

// joins reports whether a need fits into a read before it.
func (d *Driver) joins(r read, n need, bridge func(point, int) bool) bool {
	if r.at.table != n.at.table {
		return false
	}
	p := r.unit.profile
	end := int(r.at.addr) + r.n
	hole := int(n.at.addr) - end
	most, mostHole := d.readLimit(p, r.at.table)
	joined := r
	joined.n = max(r.n, int(n.at.addr)+n.n-int(r.at.addr))
	switch {
	case joined.n == r.n:
		return true
	case joined.n > most || hole > mostHole:
		return false
	case d.planned(joined.request(), r.unit) > d.options.maxExchange:
		return false
	case hole <= 0:
		return true
	}
	for _, f := range p.Limits.Forbidden {
		if f.Table == r.at.table && f.From < int(n.at.addr) && f.To >= end {
			return false
		}
	}
	alone := read{unit: r.unit, at: n.at, n: n.n}
	cheaper := d.planned(joined.request(), r.unit) < d.planned(r.request(), r.unit)+d.planned(alone.request(), r.unit)
	return cheaper && bridge(point{r.at.table, uint16(end)}, hole)
}

// readLimit is how many addresses one read may span, and how many of them in a
// row may be of no use.
func (d *Driver) readLimit(p *Profile, t table) (most, hole int) {
	if t.bits() {
		return lowest(p.Limits.ReadBits, d.options.maxReadBits), p.Limits.HoleBits
	}
	return lowest(p.Limits.ReadRegisters, d.options.maxReadRegisters), p.Limits.HoleRegisters
}

// lowest bound, where 0 means none.
func lowest(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// planned is the airtime that reads are cut to. Behind a serial server of unknown
// speed 9600 baud are assumed.
func (d *Driver) planned(r request, u *unit) time.Duration {
	if d.codec.tcp {
		return tcpAirtime
	}
	if t := d.characters(1); t > 0 {
		return d.airtime(r, u.guard)
	}
	const assumed = 11 * time.Second / 9600
	return time.Duration(r.requestLen()+r.answerLen()+6)*assumed + 2*d.silence
}

// always bridges holes; proven only those that were read before without being
// refused.
func always(point, int) bool { return true }

func (u *unit) proven(from point, n int) bool {
	for i := range n {
		if _, ok := u.cache[point{from.table, from.addr + uint16(i)}]; !ok {
			return false
		}
	}
	return true
}

// readExchange reads and tells what was learned.
func (d *Driver) readExchange(r read) appliance.Exchange {
	q := r.request()
	e := d.exchange(r.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		a, reply, err := d.ask(ctx, y, q, timing{timeout: r.unit.timeout, guard: r.unit.guard})
		if err != nil {
			return appliance.Result{Sent: reply.Sent}, err
		}
		r.unit.store(r.at, a, reply.Done)
		readings, err := r.readings()
		if err != nil {
			return appliance.Result{Sent: reply.Sent}, fmt.Errorf("bus %s: %w", d.name, err)
		}
		return appliance.Result{Sent: reply.Sent, Readings: readings}, nil
	})
	e.Refs = r.refs()
	e.Split = func() []appliance.Exchange {
		var parts []appliance.Exchange
		for _, part := range d.halves(r) {
			parts = append(parts, d.readExchange(part))
		}
		return parts
	}
	return e
}

// store keeps what was read.
func (u *unit) store(at point, a answer, when time.Time) {
	for i, on := range a.bits {
		w := uint16(0)
		if on {
			w = 1
		}
		u.cache[point{at.table, at.addr + uint16(i)}] = cached{word: w, at: when, valid: true}
	}
	for i, w := range a.words {
		u.cache[point{at.table, at.addr + uint16(i)}] = cached{word: w, at: when, valid: true}
	}
}

// forget makes unknown what a write to the thing may change. That the addresses
// can be read stays known.
func (t *thing) forget() {
	for _, c := range t.readCells(^appliance.Ability(0)) {
		p := t.place(c)
		for i := range c.spec.words() {
			at := point{p.table, p.addr + uint16(i)}
			if known, ok := t.unit.cache[at]; ok {
				known.valid = false
				t.unit.cache[at] = known
			}
		}
	}
}

// readings of all things that the read says something about.
func (r read) readings() ([]appliance.Reading, error) {
	var list []appliance.Reading
	var bad error
	for _, ref := range r.refs() {
		var of appliance.Ability
		var t *thing
		for _, n := range r.needs {
			if n.thing.ref == ref {
				t, of = n.thing, of|n.has
			}
		}
		if c := t.noNumber(of, r); c != nil {
			what := "a value"
			if power := t.out.power; power != nil && c == power.read {
				what = "power"
			}
			bad = cmp.Or(bad, fmt.Errorf("%w: unit %d: %v: %s is no number", appliance.ErrDamaged, r.unit.number, r.request(), what))
		}
		if reading, ok := t.reading(of); ok {
			list = append(list, reading)
		}
	}
	if len(list) > 0 {
		return list, nil // one that has no number does not make the others worth nothing
	}
	return nil, bad
}

// noNumber gives what was read and is no number; nil if all are.
func (t *thing) noNumber(of appliance.Ability, r read) *cell {
	for _, c := range t.readCells(of) {
		if x, _, ok := t.anyNumber(c); ok && !finite(x) && r.covers(t.place(c)) {
			return c
		}
	}
	return nil
}

// Polls lists the reads that keep everything fresh.
func (d *Driver) Polls() []appliance.Poll {
	var polls []appliance.Poll
	for _, u := range d.order {
		within := u.profile.Watchdog / 2 // one poll of a device is enough
		for _, class := range []appliance.Class{appliance.ClassLight, appliance.ClassShade, appliance.ClassPower} {
			var needs []need
			for _, t := range u.things {
				for _, a := range t.aspects() {
					if a.class == class {
						needs = append(needs, t.needs(a)...)
					}
				}
			}
			for _, r := range d.coalesce(u, needs, always) {
				polls = append(polls, appliance.Poll{Exchange: d.readExchange(r), Class: class, Within: within})
				within = 0
			}
		}
	}
	return polls
}

// halves cuts a refused read at its widest hole, else in the middle; none if it cannot
// be cut.
func (d *Driver) halves(r read) []read {
	cut, widest := 0, -1
	end := int(r.at.addr)
	for i, n := range r.needs {
		if hole := int(n.at.addr) - end; i > 0 && hole >= 0 && (hole > widest || hole == widest && abs(2*i-len(r.needs)) < abs(2*cut-len(r.needs))) {
			cut, widest = i, hole
		}
		end = max(end, int(n.at.addr)+n.n)
	}
	if cut == 0 {
		return nil
	}
	none := func(point, int) bool { return false }
	var parts []read
	for _, needs := range [][]need{r.needs[:cut], r.needs[cut:]} {
		if widest > 0 {
			parts = append(parts, d.coalesce(r.unit, slices.Clone(needs), none)...)
			continue
		}
		part := read{unit: r.unit, at: needs[0].at, needs: needs}
		for _, n := range needs {
			part.n = max(part.n, int(n.at.addr)+n.n-int(part.at.addr))
		}
		parts = append(parts, part)
	}
	return parts
}

func abs(n int) int { return max(n, -n) }
