package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectShades = `SELECT id, uuid, name, ifnull(node, 0), output, travel_up, travel_down, inverted
	FROM shade ORDER BY id`

func scanShade(row scanner) (appliance.Shade, error) {
	var h appliance.Shade
	err := row.Scan(&h.ID, uuidColumn{&h.UUID}, &h.Name, &h.Node, &h.Output,
		&h.TravelUp, &h.TravelDown, &h.Inverted)
	return h, err
}

// saveShade writes a shade. Its last position is forgotten if that turns it round or
// hangs it off another output.
func saveShade(ctx context.Context, tx *sql.Tx, h appliance.Shade) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM state WHERE shade = ?1
		AND EXISTS (SELECT 1 FROM shade WHERE id = ?1 AND (ifnull(node, 0), output) <> (?2, ?3))`, h.ID, h.Node, h.Output)
	if err == nil {
		err = forgetTurned(ctx, tx, h.ID, h.Inverted)
	}
	if err != nil {
		return fmt.Errorf("save shade %d (%s): %w", h.ID, h.Name, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO shade
		(id, uuid, name, node, output, travel_up, travel_down, inverted)
		VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, node = excluded.node,
		output = excluded.output, travel_up = excluded.travel_up,
		travel_down = excluded.travel_down, inverted = excluded.inverted`,
		h.ID, h.UUID[:], h.Name, h.Node, h.Output, int64(h.TravelUp), int64(h.TravelDown), h.Inverted)
	if err != nil {
		return fmt.Errorf("save shade %d (%s): %w", h.ID, h.Name, err)
	}
	return nil
}

// SetShade saves what commissioning found out about a shade, durably, and tells
// those who watch. Its last position is forgotten when the shade is turned round:
// it counts from the other end. It fails with ErrNotFound.
func (s *Store) SetShade(ctx context.Context, id appliance.ID, to appliance.ShadeSettings) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := forgetTurned(ctx, tx, id, to.Inverted); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "UPDATE shade SET travel_up = ?, travel_down = ?, inverted = ? WHERE id = ?",
			int64(to.TravelUp), int64(to.TravelDown), to.Inverted, id)
		if err := oneRow(res, err, appliance.ErrNotFound); err != nil {
			return err
		}
		return bump(ctx, tx, subjectSite)
	})
	if err != nil {
		return fmt.Errorf("save settings of shade %d: %w", id, err)
	}
	s.committed(ctx)
	return nil
}

// forgetTurned drops the last position of a shade that is about to be turned
// round: it was counted from the other end.
func forgetTurned(ctx context.Context, tx *sql.Tx, id appliance.ID, inverted bool) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM state WHERE shade = ?1
		AND EXISTS (SELECT 1 FROM shade WHERE id = ?1 AND inverted <> ?2)`, id, inverted)
	return err
}
