package store

import (
	"errors"
	"fmt"

	"svc.internal/controller/appliance"
)

// endOfShades is the last ID that is kept free for shades: nodes that would run
// into 5001 go on behind it, so that the two families stay apart until a site
// has 5,000 of either. After that each still skips what the other ever used.
const endOfShades appliance.ID = 10_000

// origin says how an entry of an import came by its identity.
type origin uint8

const (
	refused  origin = iota // a problem was reported
	created                // new
	matched                // names something that lives
	returned               // names something retired, by its UUID
)

// identity is what an entry turned out to be.
type identity struct {
	noun
	origin origin
}

// resolver finds the identity of every entry of one family.
type resolver struct {
	family  Family
	ids     *ids
	entries []noun
	found   []identity
	claims  map[appliance.ID]int // ID → index of the entry that has it
	carried map[appliance.ID]int // ID or placeholder an entry carried → its index
	complain
}

// complain collects problems of entries.
type complain func(i int, key, format string, args ...any)

// resolve gives every entry but the new ones without ID their identity: by UUID,
// else by ID, else by name if exactly one living noun and one entry have it.
func (r *resolver) resolve() {
	r.found = make([]identity, len(r.entries))
	r.claims = map[appliance.ID]int{}
	r.checkDoubles()
	byUUID, retiredByUUID := index(r.ids.live), index(r.ids.retired)
	for i, e := range r.entries {
		r.found[i] = identity{noun: e}
		switch {
		case !e.UUID.IsZero():
			r.byUUID(i, byUUID, retiredByUUID)
		case e.ID > 0:
			r.byID(i)
		}
	}
	r.byName()
}

// checkDoubles refuses what would make entries the same thing.
func (r *resolver) checkDoubles() {
	r.carried = map[appliance.ID]int{}
	uuids := map[appliance.UUID]int{}
	for i, e := range r.entries {
		if e.ID > appliance.MaxID {
			r.complain(i, "id", "%d is out of range, want 1 to %d", e.ID, appliance.MaxID)
		}
		if first, ok := r.carried[e.ID]; ok && e.ID != 0 {
			r.complain(i, "id", "%d is already the ID of %ss[%d]", e.ID, r.family, first)
		}
		if first, ok := uuids[e.UUID]; ok && !e.UUID.IsZero() {
			r.complain(i, "uuid", "%s is already the UUID of %ss[%d]", e.UUID, r.family, first)
		}
		r.carried[e.ID], uuids[e.UUID] = i, i
	}
}

func (r *resolver) byUUID(i int, live, retired map[appliance.UUID]noun) {
	e := r.entries[i]
	if have, ok := live[e.UUID]; ok {
		if e.ID > 0 && e.ID != have.ID {
			r.complain(i, "id", "%s %s has the ID %d, which never changes; not %d", r.family, e.UUID, have.ID, e.ID)
			return
		}
		r.claim(i, have.ID, have.UUID, matched)
		return
	}
	if had, ok := retired[e.UUID]; ok {
		if e.ID > 0 && e.ID != had.ID {
			r.complain(i, "id", "%s %s had the ID %d, which never changes; not %d", r.family, e.UUID, had.ID, e.ID)
			return
		}
		r.claim(i, had.ID, had.UUID, returned)
		return
	}
	if e.ID <= 0 {
		r.found[i].origin = created
		return
	}
	if have, ok := r.ids.live[e.ID]; ok {
		r.complain(i, "id", "%d belongs to another %s (%s, UUID %s)", e.ID, r.family, have.Name, have.UUID)
		return
	}
	r.newWithID(i)
}

func (r *resolver) byID(i int) {
	if have, ok := r.ids.live[r.entries[i].ID]; ok {
		r.claim(i, have.ID, have.UUID, matched)
		return
	}
	r.newWithID(i)
}

// newWithID creates under an ID that nothing has now.
func (r *resolver) newWithID(i int) {
	e := r.entries[i]
	if e.ID > appliance.MaxID {
		return // reported
	}
	if had, ok := r.ids.retired[e.ID]; ok {
		r.complain(i, "id", "%d was the ID of %s %q, which is retired; IDs are not reused (give its UUID %s if this is the same one)",
			e.ID, r.family, had.Name, had.UUID)
		return
	}
	r.claim(i, e.ID, e.UUID, created)
}

func (r *resolver) claim(i int, id appliance.ID, uuid appliance.UUID, o origin) {
	if first, ok := r.claims[id]; ok {
		r.complain(i, "", "is the same %s as %ss[%d] (ID %d)", r.family, r.family, first, id)
		return
	}
	r.claims[id] = i
	f := &r.found[i]
	f.ID, f.UUID, f.origin = id, uuid, o
}

// byName matches entries with neither UUID nor ID.
func (r *resolver) byName() {
	living := map[string][]noun{}
	for _, n := range r.ids.live {
		if _, taken := r.claims[n.ID]; !taken {
			living[n.Name] = append(living[n.Name], n)
		}
	}
	nameless := map[string]int{}
	for i, e := range r.entries {
		if !e.UUID.IsZero() || e.ID > 0 {
			continue
		}
		if first, ok := nameless[e.Name]; ok {
			r.complain(i, "name", "%ss[%d] has the same name and neither has an ID or UUID; give them IDs", r.family, first)
			continue
		}
		nameless[e.Name] = i
		switch same := living[e.Name]; len(same) {
		case 0:
			r.found[i].origin = created
		case 1:
			r.claim(i, same[0].ID, same[0].UUID, matched)
		default:
			r.complain(i, "name", "%d %ss are called %q; say which by its ID", len(same), r.family, e.Name)
		}
	}
}

// number gives IDs and UUIDs to the new entries that have none. other is the
// family whose IDs are stepped over too, nil if there is none. It returns the
// new high-water mark.
func (r *resolver) number(other *resolver) (appliance.ID, error) {
	mark := max(r.ids.mark, r.family.first()-1)
	for i := range r.found {
		f := &r.found[i]
		if f.origin != created {
			continue
		}
		if f.UUID.IsZero() {
			f.UUID = appliance.NewUUID()
		}
		if f.ID > 0 {
			continue
		}
		next, err := r.next(mark, other)
		if err != nil {
			return 0, err
		}
		mark = next
		r.claim(i, next, f.UUID, created)
	}
	return mark, nil
}

func (r *resolver) next(mark appliance.ID, other *resolver) (appliance.ID, error) {
	for id := mark + 1; id <= appliance.MaxID; id++ {
		if r.family == Nodes && id >= appliance.FirstShadeID && id <= endOfShades {
			id = endOfShades + 1
		}
		if !r.has(id) && (other == nil || !other.has(id)) {
			return id, nil
		}
	}
	return 0, fmt.Errorf("no ID is left for another %s: %w", r.family, errIDsExhausted)
}

var errIDsExhausted = errors.New("all IDs were used")

// has reports whether id was ever used, or is in this import.
func (r *resolver) has(id appliance.ID) bool {
	_, claimed := r.claims[id]
	return claimed || r.ids.used(id)
}

func index(m map[appliance.ID]noun) map[appliance.UUID]noun {
	out := make(map[appliance.UUID]noun, len(m))
	for _, n := range m {
		out[n.UUID] = n
	}
	return out
}
