package sdn

import (
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// groupTable is what is known of the groups that a motor itself holds.
type groupTable struct {
	entries [maxGroups]Address
	read    int // entries read so far
	refused bool
}

// tidyGroups gives the next frame that brings a motor's group table in step with
// the site; false when there is nothing to do. Entries of groups that the site does
// not know stay: a wall keypad may need them.
func (d *Driver) tidyGroups(m *motor) (question, bool) {
	if !d.options.writeGroups || m.table.refused {
		return question{}, false
	}
	t := &m.table
	if t.read < maxGroups {
		return d.readGroup(m, t.read), true
	}
	for _, g := range m.groups {
		if slices.Contains(t.entries[:], g) {
			continue
		}
		if free := slices.IndexFunc(t.entries[:], unusedEntry); free >= 0 {
			return d.writeGroup(m, free, g), true
		}
		d.log.Warn("the group table of a shade motor is full", "motor", m.key, "group", g)
		t.entries[maxGroups-1] = g // told once is enough
	}
	return question{}, false
}

// unusedEntry: 01.01.FF is seen in empty entries, too.
func unusedEntry(a Address) bool {
	return a == Nobody || a == Everybody || a == Address{0x01, 0x01, 0xFF}
}

func (d *Driver) readGroup(m *motor, index int) question {
	return question{
		motor: m, id: getGroup, data: []byte{byte(index)}, want: postGroup, most: minFrame + 4,
		what: fmt.Sprintf("asking for entry %d of its group table", index),
		then: func(f Frame, _ time.Time) ([]appliance.Reading, error) {
			if len(f.Data) < 4 || int(f.Data[0]) != index {
				return nil, fmt.Errorf("%w: entry %d of the group table was asked for, % X came", appliance.ErrDamaged, index, f.Data)
			}
			m.table.entries[index] = address(f.Data[1:])
			m.table.read = max(m.table.read, index+1)
			return nil, nil
		},
	}
}

func (d *Driver) writeGroup(m *motor, index int, g Address) question {
	return question{
		motor: m, id: setGroup, data: groupData(byte(index), g), want: ack, most: minFrame + 1,
		what: fmt.Sprintf("writing group %v to entry %d of its group table", g, index),
		then: func(Frame, time.Time) ([]appliance.Reading, error) {
			m.table.entries[index] = g
			d.log.Info("group written to a shade motor", "motor", m.key, "group", g, "entry", index)
			return nil, nil
		},
	}
}
