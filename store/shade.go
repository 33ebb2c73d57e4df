package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectShades = `SELECT id, uuid, name, node, output, travel_up, travel_down, inverted
	FROM shade ORDER BY id`

func scanShade(row scanner) (appliance.Shade, error) {
	var h appliance.Shade
	err := row.Scan(&h.ID, uuidColumn{&h.UUID}, &h.Name, &h.Node, &h.Output,
		&h.TravelUp, &h.TravelDown, &h.Inverted)
	return h, err
}

func saveShade(ctx context.Context, tx *sql.Tx, h appliance.Shade) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO shade
		(id, uuid, name, node, output, travel_up, travel_down, inverted)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, node = excluded.node,
		output = excluded.output, travel_up = excluded.travel_up,
		travel_down = excluded.travel_down, inverted = excluded.inverted`,
		h.ID, h.UUID[:], h.Name, h.Node, h.Output, int64(h.TravelUp), int64(h.TravelDown), h.Inverted)
	if err != nil {
		return fmt.Errorf("save shade %d (%s): %w", h.ID, h.Name, err)
	}
	return nil
}
