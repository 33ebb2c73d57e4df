package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/site/backup"
	"svc.internal/controller/store"
	"svc.internal/controller/systemd"
)

// backups are what /api/v1 makes and takes.
type backups struct {
	d *daemon
	*operations.Offsite
}

func (b backups) Write(ctx context.Context, to io.Writer) error {
	return b.d.db.BackupTo(ctx, to, backup.Seal{})
}

func (b backups) Drill(ctx context.Context, file []byte, passphrase *string) (api.Drilled, error) {
	_, found, err := tried(ctx, file, passphrase)
	return found, err
}

func (b backups) Restore(ctx context.Context, file []byte, passphrase *string, by account.Audit) (api.Drilled, func(), error) {
	if why := b.d.db.Kept(); why != nil {
		return api.Drilled{}, nil, fmt.Errorf("restore: %w (%w)", account.ErrNotKept, why)
	}
	archive, found, err := tried(ctx, file, passphrase)
	return found, func() { b.d.endFor(&restoration{archive: archive, by: by}) }, err
}

func (b backups) Nightly() api.NightlyBackups {
	made, err := store.NightlyBackups(b.d.nightly.folder)
	out := api.NightlyBackups{Folder: b.d.nightly.folder, Kept: len(made)}
	if len(made) > 0 {
		out.Last = &made[len(made)-1]
	}
	if err != nil {
		out.Failed = err.Error()
	} else if why := b.d.nightly.failed.Load(); why != nil {
		out.Failed = *why
	}
	return out
}

// tried is a backup that can be restored, and what it holds.
func tried(ctx context.Context, file []byte, passphrase *string) (backup.Archive, api.Drilled, error) {
	archive, err := backup.Open(ctx, file, passphrase)
	if err != nil {
		return archive, api.Drilled{}, err
	}
	d, err := store.DrillArchive(ctx, archive)
	if err != nil {
		return archive, api.Drilled{}, err
	}
	return archive, api.Drilled{
		Made: &d.Made, Buses: d.Buses, Nodes: d.Nodes, Shades: d.Shades, Clusters: d.Clusters, Users: d.Users, Keys: d.Keys,
		Profiles: d.Profiles, OwnCertificate: d.Certificate, Unreadable: append([]string{}, d.Unreadable...),
	}, nil
}

// restoration is a backup that was tried and found good, to be restored between the end of one run of the daemon
// and the beginning of the next, in the same process.
type restoration struct {
	archive backup.Archive
	by      account.Audit
	left    handover
}

// handover is what one run leaves to the next.
type handover struct {
	https, http net.Listener // further handles of its listening sockets: whoever calls meanwhile waits, and is not refused
	failed      error        // why nothing was restored
	fed         context.CancelFunc
}

// restoreTime is how long the watchdog is kept quiet at most, from a run that ends to one that serves.
const restoreTime = time.Minute

// endFor ends the run of the daemon in an orderly way, as SIGTERM does, so that a backup can be restored.
func (d *daemon) endFor(r *restoration) {
	var err error
	if r.left.https, err = secondHandle(d.doors.https); err == nil && d.doors.http != nil {
		r.left.http, err = secondHandle(d.doors.http)
	}
	if err != nil { // the next run binds the addresses itself
		d.log.Warn("clients are refused while the backup is restored", "why", err)
	}
	if !d.next.CompareAndSwap(nil, r) {
		return // one is under way
	}
	fed, stop := context.WithTimeout(context.Background(), restoreTime)
	r.left.fed = stop
	go func() {
		_ = systemd.FeedWatchdog(fed, func(context.Context) error { return nil }, d.log) // its only error was told at the start
	}()
	d.end()
}

// secondHandle is another handle of a listening socket, which stays open when the first is closed.
func secondHandle(ln net.Listener) (net.Listener, error) {
	socket, ok := ln.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, errors.New("it is no socket")
	}
	f, err := socket.File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// restore puts what a run left in the place of everything. If that cannot be done all is as it was; the next run
// tells in the pages why.
func (a *app) restore(ctx context.Context, r *restoration, log *slog.Logger) handover {
	done, err := store.RestoreArchive(context.WithoutCancel(ctx), r.archive, a.DataDir, r.by)
	if err != nil {
		log.Error("the backup was not restored; the controller goes on with what it had", "why", err)
		r.left.failed = err
		return r.left
	}
	log.Info("a backup was restored", "made", r.archive.Made, "who", r.by.Who, "replaced", done.Replaced)
	if done.Warning != "" {
		log.Warn(done.Warning)
	}
	return r.left
}

// taken ends what was done for the time between two runs.
func (h handover) taken() {
	if h.fed != nil {
		h.fed()
	}
}

// fault is told in the pages if a restore failed.
func (h handover) fault() (appliance.Fault, bool) {
	if h.failed == nil {
		return appliance.Fault{}, false
	}
	return appliance.Fault{Where: "restore", What: "the backup was not restored, and all is as it was before: " + h.failed.Error()}, true
}
