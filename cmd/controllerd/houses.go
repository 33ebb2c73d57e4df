package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"svc.internal/controller/adminapi"
	"svc.internal/controller/migration"
	"svc.internal/controller/migration/reader"
	"svc.internal/controller/store"
	"svc.internal/controller/trust"
)

// houses are those of other controllers, for the door /api/v1. The command line takes them
// over in the same way.
type houses struct {
	*store.Store
	dataDir string
}

// Shown tells which controller is at an address, and what its certificate is known by.
func (houses) Shown(ctx context.Context, address string) (source, fingerprint string, err error) {
	return reader.Shown(ctx, address)
}

// ReadHouse reads what another controller runs, which is known by its fingerprint alone.
func (houses) ReadHouse(ctx context.Context, from adminapi.MigrationSource) (migration.House, error) {
	source, err := reader.Source(from.URL)
	if err != nil {
		return migration.House{}, err
	}
	return readHouse(ctx, reader.Config{URL: from.URL, Username: from.Username, Password: from.Password}, trust.Trust{Fingerprint: from.Fingerprint, Only: true}, source)
}

// readHouse reads what another controller runs. host is what errors call it.
func readHouse(ctx context.Context, cfg reader.Config, by trust.Trust, host string) (house migration.House, err error) {
	if cfg.TLS, err = by.Config(host); err != nil {
		return migration.House{}, err
	}
	house, _, err = reader.Read(ctx, cfg)
	return house, err
}

// TakeOver makes a backup and takes a house over.
func (h houses) TakeOver(ctx context.Context, house migration.House, how adminapi.MigrationStart, by string) (adminapi.Migrated, migration.Plan, error) {
	id, plan, kept, err := takeOver(ctx, h.Store, h.dataDir, store.Takeover{House: house, Skip: how.OnConflict == "skip", InvertShades: how.InvertShades, By: by})
	if errors.Is(err, store.ErrConflicts) {
		err = nil // the plan tells of them
	}
	return adminapi.Migrated{ID: id, Source: house.Source, Backup: kept}, plan, err
}

// takeOver takes a house over, all of it or nothing, after a backup, whose file it returns.
func takeOver(ctx context.Context, s *store.Store, dataDir string, t store.Takeover) (id int64, plan migration.Plan, kept string, err error) {
	if kept, err = s.BackupBeforeMigration(ctx, filepath.Join(dataDir, backupFolder)); err != nil {
		return 0, migration.Plan{}, "", err
	}
	id, plan, err = s.Migrate(ctx, t)
	return id, plan, kept, err
}

// Undo takes a migration back.
func (h houses) Undo(ctx context.Context, id int64, force bool, by string) (int64, error) {
	return h.UndoMigration(ctx, id, force, by)
}

// Migrations lists those that were made.
func (h houses) Migrations(ctx context.Context) ([]adminapi.Migration, error) {
	list, err := h.Store.Migrations(ctx)
	out := make([]adminapi.Migration, len(list))
	for i, m := range list {
		out[i] = adminapi.Migration{ID: m.ID, Source: m.Source, At: utc(m.At), By: m.By, UndoneAt: utc(m.UndoneAt), Clusters: m.Taken.Clusters, Nodes: m.Taken.Nodes, Shades: m.Taken.Shades}
	}
	return out, err
}

// utc is a time for JSON, nil if there is none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
