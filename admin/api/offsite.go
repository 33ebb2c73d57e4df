package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Offsite keeps copies of backups outside of the box.
type Offsite interface {
	// OffsiteNow tells how it stands.
	OffsiteNow() OffsiteBackups
	// SetOffsite takes other settings; errors with a method Unfit are about one field.
	SetOffsite(ctx context.Context, in OffsiteEdit) error
	// TryOffsite begins to make copies now. It fails with appliance.ErrInUse or appliance.ErrNotFound.
	TryOffsite() error
	// Overdue tells where the newest copy is too old.
	Overdue(now time.Time) []OffsiteOverdue
}

// OffsiteOverdue is a place without a new copy.
type OffsiteOverdue struct {
	To    string // stick or server
	Since time.Time
}

// unfit is an error about one field of what was sent.
type unfit interface {
	error
	Unfit() (field, why string)
}

// OffsiteBackups are the copies of backups that leave the box by themselves.
type OffsiteBackups struct {
	Series        string         `json:"series" doc:"Copies of this controller are called controller-, this, the time, and .backup.age; empty before anything was set."`
	Key           string         `json:"key" doc:"The owner's public key: only its secret key opens copies. Empty: no copies are made."`
	Keep          int            `json:"keep" doc:"So many of the newest stay in each place."`
	Stick         *OffsiteCopies `json:"stick" doc:"null: none are made on a stick."`
	Server        *OffsiteServer `json:"server" doc:"null: none are made on a server."`
	StickPossible bool           `json:"stickPossible" doc:"Whether the system below mounts sticks."`
	UnderWay      bool           `json:"underWay" doc:"A copy is being made now."`
}

// OffsiteCopies is how it stands with the copies in one place.
type OffsiteCopies struct {
	Last    *time.Time `json:"last" doc:"When the newest was made and read back; null: never."`
	File    string     `json:"file,omitempty" doc:"Its name."`
	Size    int64      `json:"size,omitempty" doc:"Its bytes."`
	Failed  *time.Time `json:"failed" doc:"When the last try failed; null: it did not. It is tried again after 10 minutes, and then ever more rarely."`
	Why     string     `json:"why,omitempty" doc:"Why it failed."`
	Note    string     `json:"note,omitempty" doc:"What went wrong besides when the newest was made, such as that older ones could not be removed."`
	Overdue bool       `json:"overdue" doc:"There is no copy of the last three days."`
}

// OffsiteServer is a folder of a server. Its password is never told.
type OffsiteServer struct {
	Kind        string        `json:"kind" enum:"webdav,s3"`
	URL         string        `json:"url"`
	User        string        `json:"user"`
	Region      string        `json:"region,omitempty"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	CA          string        `json:"ca,omitempty"`
	Copies      OffsiteCopies `json:"copies"`
}

// OffsiteEdit are other settings, in the place of all that were.
type OffsiteEdit struct {
	Key    string             `json:"key" doc:"The owner's public key, age1…, of age-keygen, the page or controllerd backup key. The secret key never comes here."`
	Keep   int                `json:"keep" doc:"1 to 400."`
	Stick  bool               `json:"stick,omitempty"`
	Server *OffsiteServerEdit `json:"server,omitempty" doc:"Left out: none."`
}

// OffsiteServerEdit is a folder of a server, and who may write there.
type OffsiteServerEdit struct {
	Kind        string `json:"kind" enum:"webdav,s3"`
	URL         string `json:"url" doc:"https:// and the folder; of S3 https://server/bucket or https://server/bucket/folder."`
	User        string `json:"user" doc:"Of S3 the access key."`
	Password    string `json:"password,omitempty" doc:"Of S3 the secret key. Left out it stays, if kind, address and user do."`
	Region      string `json:"region,omitempty" doc:"Of S3; us-east-1 if left out."`
	Fingerprint string `json:"fingerprint,omitempty" doc:"SHA-256 of the server's certificate, which then counts whatever signed it."`
	CA          string `json:"ca,omitempty" doc:"PEM: the authority that signed it, or itself. With neither, the authorities that the system trusts count."`
}

func (a *API) offsite(c echo.Context) error {
	return answer(c, http.StatusOK, a.Backups.OffsiteNow())
}

func (a *API) setOffsite(c echo.Context) error {
	var in OffsiteEdit
	if err := read(c, &in); err != nil {
		return err
	}
	err := a.Backups.SetOffsite(c.Request().Context(), in)
	var field unfit
	if errors.As(err, &field) {
		name, why := field.Unfit()
		return meaningless("/"+name, why)
	}
	if err != nil {
		return err
	}
	detail := map[string]any{"key": in.Key, "keep": in.Keep, "stick": in.Stick}
	if s := in.Server; s != nil {
		detail["server"] = s.URL
	}
	a.auditAccount(c, "backup.offsite", "backup", detail)
	return answer(c, http.StatusOK, a.Backups.OffsiteNow())
}

// tryOffsite begins to make a copy in each place; GET tells what became of it.
func (a *API) tryOffsite(c echo.Context) error {
	switch err := a.Backups.TryOffsite(); {
	case errors.Is(err, appliance.ErrNotFound):
		return refuse(http.StatusConflict, "no copies are wanted anywhere: say first where")
	case errors.Is(err, appliance.ErrInUse):
		return refuse(http.StatusConflict, "a copy is being made already")
	case err != nil:
		return err
	}
	return answer(c, http.StatusAccepted, a.Backups.OffsiteNow())
}

// overdueCopies are what needs somebody because backups do not leave the box. What failed is for admins: it names servers.
func overdueCopies(list []OffsiteOverdue) (out []Concern) {
	for _, o := range list {
		out = append(out, Concern{Key: "offsite " + o.To, Kind: "backup-overdue", What: "no backup has reached the " + o.To + " for three days", Since: stampOf(o.Since)})
	}
	return out
}
