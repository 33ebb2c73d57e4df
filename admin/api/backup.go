package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/memory"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/site/backup"
)

// Backups makes the one file that a controller can be restored from, and takes it.
type Backups interface {
	// Write writes everything.
	Write(ctx context.Context, to io.Writer) error
	// Drill restores such a file in memory; a passphrase is for one that is encrypted. Its errors are about the file.
	Drill(ctx context.Context, file []byte, passphrase *string) (Drilled, error)
	// Restore does what Drill does, and returns what begins the restore, which ends the present run of the
	// controller. It fails with account.ErrNotKept where the disk takes nothing; its other errors are about the file.
	Restore(ctx context.Context, file []byte, passphrase *string, by account.Audit) (found Drilled, begin func(), err error)
	// Nightly tells of those that are made by themselves.
	Nightly() NightlyBackups
	Offsite
}

// NightlyBackups are those that the controller makes by itself.
type NightlyBackups struct {
	Folder string     `json:"folder" doc:"Where they are kept, on the controller."`
	Last   *time.Time `json:"last" doc:"When the newest was made; null: there is none."`
	Kept   int        `json:"kept" doc:"How many there are."`
	Failed string     `json:"failed,omitempty" doc:"Why the last try failed; it is tried again every ten minutes."`
}

// Drilled is what a backup would restore.
type Drilled struct {
	Made           *time.Time `json:"made"`
	Buses          int        `json:"buses"`
	Nodes          int        `json:"nodes"`
	Shades         int        `json:"shades"`
	Clusters       int        `json:"clusters"`
	Users          int        `json:"users"`
	Keys           int        `json:"keys" doc:"API keys."`
	Profiles       int        `json:"profiles"`
	OwnCertificate bool       `json:"ownCertificate"`
	Unreadable     []string   `json:"unreadable" doc:"Entries that can be restored and not read."`
}

const (
	// backupTime is how long a backup may take to be sent, or to arrive and be tried.
	backupTime = 5 * time.Minute
	// backupMost is the largest that is taken here: it is unpacked in memory. A building's has a few megabytes.
	backupMost = 32 << 20
	// passphraseHeader carries the passphrase or the secret key of an encrypted backup, as in a URL.
	passphraseHeader = "Backup-Passphrase"
	// claimHeader carries the claim code beside a backup.
	claimHeader = "Claim-Code"
)

// backup sends everything as one file. It holds secrets: users, keys, certificates.
func (a *API) backup(c echo.Context) error {
	_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Now().Add(backupTime))
	h := c.Response().Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="controller-`+time.Now().UTC().Format("20060102-150405")+`.backup"`)
	h.Set("Cache-Control", "no-store")
	a.auditAccount(c, "backup.download", "backup", nil)
	return a.Backups.Write(c.Request().Context(), c.Response())
}

func (a *API) nightlyBackups(c echo.Context) error {
	return answer(c, http.StatusOK, a.Backups.Nightly())
}

// drillBackup restores the backup in the body in memory, tells what came of it and forgets it. Who sends
// "Prefer: respond-async" (RFC 7240, 4.1) gets a job, which goes on when they have left.
func (a *API) drillBackup(c echo.Context) error {
	return a.withBackup(c, func(ctx context.Context, data []byte, passphrase *string) error {
		if c.Request().Header.Get("Prefer") == "respond-async" {
			return a.drillLater(c, data, passphrase)
		}
		found, err := a.Backups.Drill(ctx, data, passphrase)
		if err != nil {
			return err
		}
		a.auditAccount(c, "backup.drill", "backup", nil)
		return answer(c, http.StatusOK, found)
	})
}

func (a *API) drillLater(c echo.Context, data []byte, passphrase *string) error {
	j, err := a.Jobs.Jobs().Start(appliance.Job{Kind: appliance.JobDrill, Subject: "a backup", By: callerOf(c).origin("")}, func(ctx context.Context, on *control.JobHand) (any, error) {
		on.Progress(appliance.JobProgress{Text: "restores the backup in memory"})
		done, err := a.unpack(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		found, err := a.Backups.Drill(ctx, data, passphrase)
		if err == nil {
			on.Item(found, nil)
		}
		return nil, err
	})
	if err == nil {
		a.auditAccount(c, "backup.drill", "backup", nil)
	}
	return accepted(c, j, err)
}

// restoreBackup takes the place of everything by the backup in the body. It is answered before that begins; then the
// controller begins anew with what the backup holds, and all have to log in again.
func (a *API) restoreBackup(c echo.Context) error {
	return a.withBackup(c, func(ctx context.Context, data []byte, passphrase *string) error {
		who := callerOf(c)
		found, begin, err := a.Backups.Restore(ctx, data, passphrase, account.Audit{Who: who.name, From: who.from})
		if err != nil {
			return err
		}
		a.auditAccount(c, "backup.restore", "backup", nil) // in the database that is kept, too
		defer begin()
		return answer(c, http.StatusAccepted, found)
	})
}

// restoreUnclaimed is restoreBackup on a controller that nobody has claimed, such as one that takes the place of another: whoever
// has the code could become its first admin, too.
func (a *API) restoreUnclaimed(c echo.Context) error {
	if err := sameOrigin(c.Request()); err != nil {
		return err
	}
	if err := a.knowsClaimCode(c); err != nil {
		return err
	}
	return a.withBackup(c, func(ctx context.Context, data []byte, passphrase *string) error {
		found, begin, err := a.Backups.Restore(ctx, data, passphrase, account.Audit{Who: "claim code", From: c.RealIP()})
		if err != nil {
			return err
		}
		if !a.Claim.open() || len(a.Accounts.Users()) > 0 { // somebody was faster
			return errClaimed
		}
		a.Log.Info("a backup is restored by the claim code", "peer", web.Peer(c.Request()).String())
		defer begin()
		return answer(c, http.StatusAccepted, found)
	})
}

// knowsClaimCode refuses who does not have the code, before anything that they send is read.
func (a *API) knowsClaimCode(c echo.Context) error {
	if !a.Claim.open() || len(a.Accounts.Users()) > 0 {
		return errClaimed
	}
	attempt, wait := a.Brake.Begin("claim code", web.Peer(c.Request()))
	if wait > 0 {
		return tooMany(wait)
	}
	if err := attempt.Delay(c.Request().Context()); err != nil {
		return err
	}
	if !a.Claim.is(c.Request().Header.Get(claimHeader)) {
		a.Log.Warn("claim failed: wrong code", "peer", web.Peer(c.Request()).String())
		return errNotTheCode
	}
	attempt.Succeeded()
	return nil
}

// aloneWithin is how long whoever brings a file waits for another to be through.
const aloneWithin = 5 * time.Second

// alone lets one file that is brought be read and worked out at a time.
func (a *API) alone(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, aloneWithin)
	defer cancel()
	if done, err = a.unpack(ctx); err != nil {
		return nil, &refusal{status: http.StatusServiceUnavailable, detail: "another backup or site file is being read; try again", wait: aloneWithin}
	}
	return done, nil
}

// unpackRoom is what reading and working out the largest of files needs of memory besides what the daemon has.
const unpackRoom = 48 << 20

const (
	// restFactor is how many times as long as a file took nobody's is read after it.
	restFactor = 10
	// restMost bounds that.
	restMost = 2 * time.Second
)

// unpack waits until nobody else reads a file that was brought, or ctx ends. Files get a small part of the time, however many come:
// after each there is a rest, so that commands never wait behind a row of them.
func (a *API) unpack(ctx context.Context) (done func(), err error) {
	select {
	case a.unpacking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rest := time.NewTimer(time.Until(a.rested))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
		<-a.unpacking
		return nil, ctx.Err()
	}
	began, giveBack := time.Now(), memory.Borrow(unpackRoom)
	return func() {
		giveBack()
		now := time.Now()
		a.rested = now.Add(min(restFactor*now.Sub(began), restMost))
		<-a.unpacking
	}, nil
}

// private reports whether nobody on the way can read a request: it came over TLS, or through the socket in the data directory.
func private(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return r.TLS != nil || at != nil && at.Network() == "unix"
}

// withBackup calls do with the backup in the body.
func (a *API) withBackup(c echo.Context, do func(ctx context.Context, data []byte, passphrase *string) error) error {
	done, err := a.alone(c.Request().Context())
	if err != nil {
		return err
	}
	defer done()
	until := time.Now().Add(backupTime)
	control := http.NewResponseController(c.Response().Writer)
	_ = errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until))
	var passphrase *string
	if text := c.Request().Header.Get(passphraseHeader); text != "" {
		plain, err := url.QueryUnescape(text)
		if err != nil {
			return malformed("", "the header "+passphraseHeader+" is not percent-encoded: "+err.Error())
		}
		passphrase = &plain
		if backup.IsSecretKey(plain) && !private(c.Request()) {
			return refuse(http.StatusForbidden, "a secret key is taken over HTTPS only")
		}
	}
	data, err := web.ReadBody(c, backupMost)
	if err != nil {
		return unread(err)
	}
	ctx := c.Request().Context()
	err = do(ctx, data, passphrase)
	switch {
	case err == nil, c.Response().Committed, errors.Is(err, account.ErrNotKept), errors.As(err, new(*refusal)):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	} // all else that can be wrong is the file
	return &refusal{status: http.StatusUnprocessableEntity, detail: err.Error(), fields: []FieldError{{"", err.Error()}}, cause: err}
}
