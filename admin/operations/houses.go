// Package operations holds what the door /api/v1 and the command line do alike: taking over
// the houses of other controllers, and site files that come in and go out.
package operations

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/site/migration"
	"svc.internal/controller/site/migration/reader"
	"svc.internal/controller/store"
)

// BackupFolder of the data directory holds the backups that are made by themselves.
const BackupFolder = "backups"

// Houses are those of other controllers, for the door /api/v1. The command line takes them
// over in the same way.
type Houses struct {
	*store.Store
	DataDir string
}

// otherHouse is one that was read.
type otherHouse struct {
	Houses
	house migration.House
	again store.Watch // how it is read again
}

// Shown tells which controller is at an address, and what its certificate is known by.
func (Houses) Shown(ctx context.Context, address string) (source, fingerprint string, err error) {
	return reader.Shown(ctx, address)
}

// ReadHouse reads what another controller runs, which is known by its fingerprint alone.
func (h Houses) ReadHouse(ctx context.Context, from api.MigrationSource) (api.House, error) {
	source, err := reader.Source(from.URL)
	if err != nil {
		return nil, err
	}
	house, again, err := ReadHouse(ctx, reader.Config{URL: from.URL, Username: from.Username, Password: from.Password}, trust.Trust{Fingerprint: from.Fingerprint, Only: true}, source)
	return otherHouse{h, house, again}, err
}

// ReadHouse reads what another controller runs, and tells how it is read again. host is what errors call it.
func ReadHouse(ctx context.Context, cfg reader.Config, by trust.Trust, host string) (house migration.House, again store.Watch, err error) {
	if cfg.TLS, err = by.Config(host); err != nil {
		return migration.House{}, again, err
	}
	house, refresh, err := reader.Read(ctx, cfg)
	return house, store.Watch{Source: house.Source, URL: cfg.URL, Refresh: refresh, CA: by.CA, Fingerprint: by.Fingerprint}, err
}

// Source is the host and port of the controller whose house it is.
func (h otherHouse) Source() string { return h.house.Source }

// Plan tells what it means here now.
func (h otherHouse) Plan(ctx context.Context) (migration.Plan, error) {
	return h.PlanMigration(ctx, h.house)
}

// TakeOver makes a backup and takes it over.
func (h otherHouse) TakeOver(ctx context.Context, how api.MigrationStart, by string) (api.Migrated, migration.Plan, error) {
	t := store.Takeover{House: h.house, Skip: how.OnConflict == "skip", InvertShades: how.InvertShades, By: by}
	if how.Watch {
		t.Watch = &h.again
	}
	id, plan, kept, err := TakeOver(ctx, h.Store, h.DataDir, t)
	if errors.Is(err, store.ErrConflicts) {
		err = nil // the plan tells of them
	}
	return api.Migrated{ID: id, Source: h.house.Source, Backup: kept}, plan, err
}

// TakeOver takes a house over, all of it or nothing, after a backup, whose file it returns.
func TakeOver(ctx context.Context, s *store.Store, dataDir string, t store.Takeover) (id int64, plan migration.Plan, kept string, err error) {
	if kept, err = s.BackupBeforeMigration(ctx, filepath.Join(dataDir, BackupFolder)); err != nil {
		return 0, migration.Plan{}, "", err
	}
	id, plan, err = s.Migrate(ctx, t)
	return id, plan, kept, err
}

// Undo takes a migration back.
func (h Houses) Undo(ctx context.Context, id int64, force bool, by string) (int64, error) {
	return h.UndoMigration(ctx, id, force, by)
}

// Migrations lists those that were made.
func (h Houses) Migrations(ctx context.Context) ([]api.Migration, error) {
	list, err := h.Store.Migrations(ctx)
	out := make([]api.Migration, len(list))
	for i, m := range list {
		out[i] = api.Migration{ID: m.ID, Source: m.Source, At: utc(m.At), By: m.By, UndoneAt: utc(m.UndoneAt), Clusters: m.Taken.Clusters, Nodes: m.Taken.Nodes, Shades: m.Taken.Shades}
		if w := m.Watch; w != nil {
			out[i].Watch = &api.MigrationWatch{LookedAt: utc(w.LookedAt), Differences: w.Differences, Trouble: w.Trouble}
		}
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

// LookAgain looks at a house for what differs from when it was taken over. What is as it was the night before
// is not told again. That it looks is noted first: where that cannot be, it would look again and again.
func LookAgain(ctx context.Context, db *store.Store, log *slog.Logger, w store.Watch) error {
	if err := db.Looked(ctx, w); err != nil {
		return err
	}
	plan, refresh, err := drift(ctx, db, w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := w
	w.Trouble = ""
	if err != nil {
		w.Trouble = err.Error()
	} else {
		w.Refresh, w.Differences = refresh, len(plan.Changes)+len(plan.Conflicts)
	}
	switch {
	case w.Trouble != "" && before.Trouble == "":
		log.Warn("a house that is watched could not be looked at; controllerd migrate apply --watch logs in again", "house", w.Source, "why", err)
	case w.Trouble == "" && w.Differences != before.Differences:
		log.Warn("a house differs from when it was taken over; controllerd migrate drift tells how", "house", w.Source, "differences", w.Differences)
	}
	if err := db.Looked(ctx, w); !errors.Is(err, appliance.ErrNotFound) { // it may have been ended meanwhile
		return err
	}
	return nil
}

func drift(ctx context.Context, db *store.Store, w store.Watch) (plan migration.Plan, refresh string, err error) {
	house, again, err := ReadHouse(ctx, reader.Config{URL: w.URL, Refresh: w.Refresh}, trust.Trust{CA: w.CA, Fingerprint: w.Fingerprint, Only: true}, w.Source)
	if err != nil {
		return plan, "", err
	}
	plan, err = db.PlanMigration(ctx, house)
	return plan, again.Refresh, err
}
