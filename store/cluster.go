package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

const selectClusters = `SELECT id, uuid, name, created_by, created_on FROM cluster ORDER BY id`

func scanCluster(row scanner) (appliance.Cluster, error) {
	var c appliance.Cluster
	var on int64
	err := row.Scan(&c.ID, uuidColumn{&c.UUID}, &c.Name, &c.CreatedBy, &on)
	c.CreatedOn = moment(on)
	return c, err
}

func saveCluster(ctx context.Context, tx *sql.Tx, c appliance.Cluster) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO cluster (id, uuid, name, created_by, created_on)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
		c.ID, c.UUID[:], c.Name, c.CreatedBy, nanos(c.CreatedOn))
	if err != nil {
		return fmt.Errorf("save cluster %d (%s): %w", c.ID, c.Name, err)
	}
	if err := saveMembers(ctx, tx, "cluster_node", "node", c.ID, c.Nodes); err != nil {
		return fmt.Errorf("save nodes of cluster %d (%s): %w", c.ID, c.Name, err)
	}
	if err := saveMembers(ctx, tx, "cluster_shade", "shade", c.ID, c.Shades); err != nil {
		return fmt.Errorf("save shades of cluster %d (%s): %w", c.ID, c.Name, err)
	}
	return nil
}

func saveMembers(ctx context.Context, tx *sql.Tx, table, column string, cluster appliance.ID, members []appliance.ID) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE cluster = ?", cluster); err != nil {
		return err
	}
	for _, id := range members {
		if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" (cluster, "+column+") VALUES (?, ?)", cluster, id); err != nil {
			return err
		}
	}
	return nil
}
