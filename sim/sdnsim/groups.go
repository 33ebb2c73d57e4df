package sdnsim

import (
	"fmt"
	"time"
)

// SetGroups replaces the group table of a motor, as a commissioning tool would.
func (b *Bus) SetGroups(address string, groups []string) error {
	var table [16]uint32
	if len(groups) > len(table) {
		return fmt.Errorf("%d groups: a motor holds %d", len(groups), len(table))
	}
	for i, text := range groups {
		g, err := number(text)
		if err != nil {
			return err
		}
		table[i] = g
	}
	return b.each(address, func(m *motor, _ time.Time) { m.groups = table })
}
