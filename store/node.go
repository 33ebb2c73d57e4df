package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectNodes = `SELECT id, uuid, name, bus, address, profile, tag, outputs, device_groups, options, note
	FROM node ORDER BY id`

func scanNode(row scanner) (appliance.Node, error) {
	var n appliance.Node
	err := row.Scan(&n.ID, uuidColumn{&n.UUID}, &n.Name, uuidOrNull{&n.Bus}, &n.Address,
		&n.Profile, &n.Tag, jsonColumn[[]int]{&n.Outputs}, jsonColumn[[]string]{&n.Groups},
		jsonColumn[map[string]string]{&n.Options}, &n.Note)
	return n, err
}

func saveNode(ctx context.Context, tx *sql.Tx, n appliance.Node) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO node
		(id, uuid, name, bus, address, profile, tag, outputs, device_groups, options, note)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, bus = excluded.bus,
		address = excluded.address, profile = excluded.profile, tag = excluded.tag,
		outputs = excluded.outputs, device_groups = excluded.device_groups, options = excluded.options,
		note = excluded.note`,
		n.ID, n.UUID[:], n.Name, orNull(n.Bus), n.Address, n.Profile, n.Tag,
		jsonText(n.Outputs), jsonText(n.Groups), jsonText(n.Options), n.Note)
	if err != nil {
		return fmt.Errorf("save node %d (%s): %w", n.ID, n.Name, err)
	}
	return nil
}
