package sitefile

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/appliance"
)

// family collects the IDs and names of one kind of entry.
type family struct {
	names
	first    map[appliance.ID]int // ID → entry that has it
	nameless map[string]int       // name → entry with neither ID nor UUID
}

func newFamily(word string) family {
	return family{
		names:    names{word: word, ids: map[appliance.ID]bool{}, of: map[string][]appliance.ID{}},
		first:    map[appliance.ID]int{},
		nameless: map[string]int{},
	}
}

// id returns the ID of an entry, a placeholder if it has none.
func (r *reader) id(f *family, key string, i int, id int32, uuid, name string) appliance.ID {
	given := appliance.ID(id)
	switch {
	case id == 0:
		given = appliance.ID(-1 - i)
		if first, ok := f.nameless[name]; ok && uuid == "" {
			r.problem(key+".name", "%ss[%d] is called %q too; give them IDs to tell them apart", f.word, first, name)
		} else if uuid == "" {
			f.nameless[name] = i
		}
	default:
		if first, ok := f.first[given]; ok {
			r.problem(key+".id", "%d is the ID of %ss[%d] already", id, f.word, first)
		}
		f.first[given] = i
	}
	f.ids[given] = true
	f.of[name] = append(f.of[name], given)
	return given
}

// uuid reads the UUID of an entry; zero if it has none.
func (r *reader) uuid(key, text string, seen map[appliance.UUID]int, i int) appliance.UUID {
	if text == "" {
		return appliance.UUID{}
	}
	u, err := appliance.ParseUUID(text)
	if err != nil || binary.BigEndian.Uint64(u[:8]) == 0 && binary.BigEndian.Uint32(u[8:]) == 0 {
		r.problem(key+".uuid", "%s is not the UUID of anything; leave it out", text)
		return appliance.UUID{}
	}
	if _, ok := seen[u]; ok {
		r.problem(key+".uuid", "%s is there already, in entry %d", text, seen[u])
	}
	seen[u] = i
	return u
}

// overridesOrder reports whether r has what follows shown in another order than it is
// written in (Unicode TR 9, 2.1 to 2.3).
func overridesOrder(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// name refuses names that people cannot read or tell apart. What has a UUID already may have the spaces around its name that
// another controller gave it: whatever was exported can be imported.
func (r *reader) name(key, s, uuid string) {
	if uuid != "" {
		s = strings.TrimSpace(s)
	}
	switch {
	case !utf8.ValidString(s):
		r.problem(key, "is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		r.problem(key, "holds control characters")
	case strings.ContainsFunc(s, overridesOrder):
		r.problem(key, "holds characters that turn the order of others round")
	case strings.TrimSpace(s) != s:
		r.problem(key, "begins or ends with a space")
	}
}

// ownsPort reports whether a bus has its port for itself: every serial line has, only a
// server of Modbus TCP takes several connections. Port 0 is a new one each time.
func ownsPort(b fileBus) bool {
	modbusTCP := b.Driver == "modbus" && strings.HasPrefix(b.Port, "tcp://")
	return !b.Disabled && !modbusTCP && !strings.HasSuffix(b.Port, ":0")
}

// outputs refuses two nodes that drive the same output of one device. Profiles
// number their outputs each in their own way, so that only nodes of one profile
// can be compared here.
func (r *reader) outputs(key string, i int) {
	n := r.out.Nodes[i]
	if n.Bus.IsZero() || n.Address == "" {
		return // it waits for binding, as others may
	}
	at := place{n.Bus, n.Address, n.Profile}
	if r.at == nil {
		r.at = map[place][]int{}
	}
	for _, j := range r.at[at] {
		if o := r.out.Nodes[j]; overlap(n.Outputs, o.Outputs) {
			where := key + ".outputs"
			if len(n.Outputs) == 0 {
				where = key + ".address"
			}
			r.problem(where, "nodes[%d] (%s) drives the same outputs at this address", j, o.Name)
			break // a file with one address throughout has as many pairs as it has nodes squared
		}
	}
	r.at[at] = append(r.at[at], i)
}

// place of a device, seen through a profile.
type place struct {
	bus              appliance.UUID
	address, profile string
}

func overlap(a, b []int) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(o int) bool { return slices.Contains(b, o) })
}

func nilIfEmpty(o options) map[string]string {
	if len(o) == 0 {
		return nil
	}
	return o
}
