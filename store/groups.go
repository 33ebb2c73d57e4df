package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

var _ appliance.GroupBook = (*Store)(nil)

// SaveGroups stores which group of a bus belongs to which cluster, and what its
// devices hold. It is on the flash when SaveGroups returns, since it goes before a
// write to a device. A bus that was removed meanwhile is no error.
func (s *Store) SaveGroups(ctx context.Context, bus appliance.UUID, groups appliance.BusGroups) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO bus_groups (bus, memory)
			SELECT uuid, ? FROM bus WHERE uuid = ?
			ON CONFLICT (bus) DO UPDATE SET memory = excluded.memory`, jsonText(groups), bus[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("save groups of bus %v: %w", bus, err)
	}
	return nil
}

// LoadGroups returns what was saved of every bus. What cannot be read is logged and
// left out: its tables are read again, and its clusters get other groups.
func (s *Store) LoadGroups(ctx context.Context) (map[appliance.UUID]appliance.BusGroups, error) {
	out := make(map[appliance.UUID]appliance.BusGroups)
	err := s.view(ctx, func(tx *sql.Tx) error {
		broken := func(key any, err error) {
			s.log.Error("groups of a bus cannot be read and are forgotten", "bus", key, "why", err)
		}
		return each(ctx, tx, broken, func(row scanner) error {
			var bus appliance.UUID
			var groups appliance.BusGroups
			if err := row.Scan(uuidColumn{&bus}, jsonColumn[appliance.BusGroups]{&groups}); err != nil {
				return err
			}
			out[bus] = groups
			return nil
		}, "SELECT bus, memory FROM bus_groups")
	})
	if err != nil {
		return nil, fmt.Errorf("load groups: %w", err)
	}
	return out, nil
}
