package adminapi

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/web"
)

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
	// drillMost is the largest backup that is tried here: it is unpacked in memory. A building's has a few megabytes.
	drillMost = 32 << 20
	// drillTime is how long sending and trying one may take.
	drillTime = 5 * time.Minute
	// passphraseHeader carries the passphrase of an encrypted backup, as in a URL.
	passphraseHeader = "Backup-Passphrase"
)

// drillBackup restores the backup in the body in memory, tells what came of it and forgets it.
func (a *API) drillBackup(c echo.Context) error {
	if !a.drilling.TryLock() { // each takes several times its size of memory
		return &refusal{status: http.StatusServiceUnavailable, detail: "another backup is being tried; try again", wait: 5 * time.Second}
	}
	defer a.drilling.Unlock()
	until := time.Now().Add(drillTime)
	control := http.NewResponseController(c.Response().Writer)
	_ = errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until))
	var passphrase *string
	if text := c.Request().Header.Get(passphraseHeader); text != "" {
		plain, err := url.QueryUnescape(text)
		if err != nil {
			return malformed("", "the header "+passphraseHeader+" is not percent-encoded: "+err.Error())
		}
		passphrase = &plain
	}
	data, err := web.ReadBody(c, drillMost)
	if err != nil {
		return unread(err)
	}
	ctx := c.Request().Context()
	out, err := a.Drill(ctx, bytes.NewReader(data), passphrase)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // all that can be wrong is the file
		return &refusal{status: http.StatusUnprocessableEntity, detail: err.Error(), cause: err}
	}
	a.auditAccount(c, "backup.drill", "backup", nil)
	return answer(c, http.StatusOK, out)
}
