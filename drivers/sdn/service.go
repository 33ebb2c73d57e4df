package sdn

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// What follows is for commissioning: exchanges with one motor, given by its address
// whether it is configured or not. Whoever runs the bus performs them; results are
// written where the caller said when an exchange succeeds.

// motorAt finds a motor, or makes one that nothing is kept of.
func (d *Driver) motorAt(a Address) *motor {
	if m := d.motor(a); m != nil {
		return m
	}
	return &motor{driver: d, address: a, key: a.String(), course: course{goal: -1}}
}

func (d *Driver) command(a Address, id MessageID, data []byte, what string) appliance.Exchange {
	m := d.motorAt(a)
	q := question{motor: m, id: id, data: data, want: ack, most: minFrame + 1, what: what}
	if id.moves() {
		q.before = func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			m.sent(aim{goal: -1}, time.Now())
		}
	}
	return d.exchange(q)
}

// Identify makes a motor wink: it jogs a little, so that somebody watching knows
// which one it is. It ends where it was.
func (d *Driver) Identify(address string) (appliance.Exchange, error) {
	a, err := ParseAddress(address)
	if err != nil || a == Nobody || a == Everybody || a.IsGroup() {
		return appliance.Exchange{}, fmt.Errorf("bus %s: address %q: want that of one motor as printed on its label, such as 06.1A.2B", d.name, address)
	}
	return d.command(a, ctrlWink, nil, "telling it to wink"), nil
}

// Jog moves a motor a little, or to its next intermediate position: value is in
// pulses or 10 ms, and ignored for intermediate positions. It must not be repeated
// when it is not acknowledged, since the motor would go twice as far.
func (d *Driver) Jog(a Address, by MoveOf, value uint16) appliance.Exchange {
	if by <= NextPositionUp {
		value = unused
	}
	return d.command(a, ctrlMoveOf, moveOfData(by, value), "telling it to jog")
}

// GoToIntermediate sends a motor to its intermediate position n, 1 to 16.
func (d *Driver) GoToIntermediate(a Address, n int) (appliance.Exchange, error) {
	if n < 1 || n > 16 {
		return appliance.Exchange{}, fmt.Errorf("intermediate position %d: %w, want 1 to 16", n, appliance.ErrOutOfRange)
	}
	return d.command(a, ctrlMoveTo, moveToData(toIP, uint16(n)), fmt.Sprintf("telling it to go to intermediate position %d", n)), nil
}

// SetLock locks a motor, or unlocks it. Orders of a lower priority than its lock it
// refuses. value is the intermediate position or percent, where the lock has one.
func (d *Driver) SetLock(a Address, how Lock, value uint16, priority uint8) appliance.Exchange {
	return d.command(a, ctrlLock, lockData(how, value, priority), "locking or unlocking it")
}

// SetLabel gives a motor a label of up to 16 printable ASCII characters.
func (d *Driver) SetLabel(a Address, label string) (appliance.Exchange, error) {
	for _, c := range []byte(label) {
		if c < ' ' || c > '~' || len(label) > labelLen {
			return appliance.Exchange{}, fmt.Errorf("label %q: %w, want up to %d plain characters", label, appliance.ErrOutOfRange, labelLen)
		}
	}
	return d.command(a, setNodeLabel, labelData(label), "writing its label"), nil
}

// SetGroup writes entry index, 0 to 15, of a motor's group table; [Nobody] empties
// it.
func (d *Driver) SetGroup(a Address, index int, g Address) (appliance.Exchange, error) {
	if index < 0 || index >= maxGroups || g != Nobody && (!g.IsGroup() || g[2] == 0xFF) {
		return appliance.Exchange{}, fmt.Errorf("entry %d with group %v: %w, want entry 0 to 15 with 01.01.00 to 01.01.FE", index, g, appliance.ErrOutOfRange)
	}
	return d.exchange(d.writeGroup(d.motorAt(a), index, g)), nil
}

// ReadGroup reads entry index, 0 to 15, of a motor's group table. Empty entries
// are [Nobody].
func (d *Driver) ReadGroup(a Address, index int, to *Address) appliance.Exchange {
	m := d.motorAt(a)
	var entry Address
	q := d.readGroup(m, index, &entry)
	take := q.then
	q.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		readings, err := take(f, at)
		if err == nil {
			if *to = entry; unusedEntry(entry) {
				*to = Nobody
			} else if d.motor(a) == nil {
				d.mu.Lock()
				d.noteGroup(entry, true, false)
				d.mu.Unlock()
			}
		}
		return readings, err
	}
	return d.exchange(q)
}

// ReadLabel reads a motor's label.
func (d *Driver) ReadLabel(a Address, to *string) appliance.Exchange {
	return d.readOf(a, getNodeLabel, postNodeLabel, labelLen, "asking for its label", func(data []byte) { *to = labelText(data) })
}

// ReadVersion reads the version of a motor's program, in hexadecimal.
func (d *Driver) ReadVersion(a Address, to *string) appliance.Exchange {
	return d.readOf(a, getAppVersion, postAppVersion, 6, "asking for its version", func(data []byte) { *to = hex.EncodeToString(data[:6]) })
}

// Limits of a motor.
type Limits struct {
	Down int // pulses from the up limit to the down limit
	Set  bool
}

// ReadLimits reads a motor's limits.
func (d *Driver) ReadLimits(a Address, to *Limits) appliance.Exchange {
	return d.readOf(a, getMotorLimits, postMotorLimits, 4, "asking for its limits", func(data []byte) {
		down := int(binary.LittleEndian.Uint16(data[2:]))
		*to = Limits{Down: down, Set: down != unused && down != 0}
	})
}

// readOf asks for something that a motor tells in at least least bytes.
func (d *Driver) readOf(a Address, id, want MessageID, least int, what string, take func(data []byte)) appliance.Exchange {
	return d.exchange(tellOf(d.motorAt(a), id, want, least, what, take))
}

func tellOf(m *motor, id, want MessageID, least int, what string, take func(data []byte)) question {
	return question{
		motor: m, id: id, want: want, most: minFrame + least, what: what,
		then: func(f Frame, _ time.Time) ([]appliance.Reading, error) {
			if len(f.Data) < least {
				return nil, tooShort(f)
			}
			take(f.Data)
			return nil, nil
		},
	}
}
