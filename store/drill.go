package store

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/site/backup"
)

// Drilled is what a backup would restore.
type Drilled struct {
	Made                                        time.Time
	Buses, Nodes, Shades, Clusters, Users, Keys int
	Profiles                                    int
	Certificate                                 bool // an own one
	Unreadable                                  []string
}

// Drill restores a backup in memory, looks at what came of it and forgets it. It fails
// as [Restore] would.
func Drill(ctx context.Context, file string, passphrase *string) (Drilled, error) {
	d, err := drill(ctx, file, passphrase)
	if err != nil {
		return Drilled{}, fmt.Errorf("drill with %s: %w", file, err)
	}
	return d, nil
}

func drill(ctx context.Context, file string, passphrase *string) (Drilled, error) {
	archive, err := readBackup(ctx, file, passphrase)
	if err != nil {
		return Drilled{}, err
	}
	return DrillArchive(ctx, archive)
}

// DrillArchive is [Drill] for a backup that was read already.
func DrillArchive(ctx context.Context, archive backup.Archive) (Drilled, error) {
	db, err := openBackup(ctx, archive)
	if err != nil {
		return Drilled{}, err
	}
	defer db.Close()
	d := Drilled{Made: archive.Made}
	for _, f := range archive.Files {
		if f.Name == "tls/certificate.pem" {
			d.Certificate = true
		} else if f.Name != "tls/key.pem" {
			d.Profiles++
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return d, err
	}
	defer tx.Rollback()
	site, faults, err := loadSite(ctx, tx)
	if err != nil {
		return d, err
	}
	d.Buses, d.Nodes, d.Shades, d.Clusters = len(site.Buses), len(site.Nodes), len(site.Shades), len(site.Clusters)
	for _, f := range faults {
		d.Unreadable = append(d.Unreadable, f.Where+": "+f.What)
	}
	err = tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM user), (SELECT count(*) FROM api_key)").Scan(&d.Users, &d.Keys)
	return d, err
}
