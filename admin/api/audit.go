package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// Auditor keeps the audit log, and who has seen what needs somebody.
type Auditor interface {
	Asides
	Audit(ctx context.Context, a account.Audit) error
	Audits(ctx context.Context, limit int, before int64, accounts bool) ([]account.Audit, error)
}

// Audit is one change that somebody made.
type Audit struct {
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Who     string          `json:"who"`
	From    string          `json:"from" doc:"Address, or console."`
	What    string          `json:"what"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail,omitempty" doc:"What was set."`
}

func subjectOf(family string, id appliance.ID, name string) string {
	return fmt.Sprintf("%s %d (%s)", family, id, name)
}

func itoa64(id int64) string { return strconv.FormatInt(id, 10) }

func itoa(id appliance.ID) string { return strconv.Itoa(int(id)) }

// audit notes a change that was made. The change stands if it cannot be noted: the log
// says so.
func (a *API) audit(c echo.Context, what, subject string, detail any) {
	a.note(c, account.Audit{What: what, Subject: subject}, detail)
}

// auditAccount is audit for users, keys and backups.
func (a *API) auditAccount(c echo.Context, what, subject string, detail any) {
	a.note(c, account.Audit{What: what, Subject: subject, Accounts: true}, detail)
}

func (a *API) note(c echo.Context, e account.Audit, detail any) {
	who := callerOf(c)
	e.Who, e.From = who.name, who.from
	if detail != nil {
		if text, err := json.Marshal(detail); err == nil {
			e.Detail = string(text)
		}
	}
	a.Log.Info("changed", "what", e.What, "subject", e.Subject, "who", e.Who)
	if err := a.Auditor.Audit(context.WithoutCancel(c.Request().Context()), e); err != nil {
		a.Log.Error("a change is not in the audit log", "what", e.What, "subject", e.Subject, "who", e.Who, "why", err)
	}
}

// audits lists changes, newest first. What is about users, keys and backups is for
// admins.
func (a *API) audits(c echo.Context) error {
	limit, err := number(c, "limit", 100, 1000)
	if err != nil {
		return err
	}
	before, err := number(c, "before", 0, math.MaxInt)
	if err != nil {
		return err
	}
	list, err := a.Auditor.Audits(c.Request().Context(), limit, int64(before), callerOf(c).may(admin))
	if err != nil {
		return err
	}
	out := make([]Audit, len(list))
	for i, e := range list {
		out[i] = Audit{ID: e.ID, At: stamp(e.At), Who: e.Who, From: e.From, What: e.What, Subject: e.Subject}
		if json.Valid([]byte(e.Detail)) {
			out[i].Detail = json.RawMessage(e.Detail)
		}
	}
	return answer(c, http.StatusOK, out)
}

// instant is a time in the query; zero if it is left out.
func instant(c echo.Context, name string) (time.Time, error) {
	said := c.QueryParam(name)
	if said == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, said)
	if err != nil {
		return at, refuse(http.StatusBadRequest, name+"="+said+": want a time such as 2026-11-03T08:00:00Z")
	}
	return at, nil
}

// number is a number in the query, from 0 to most.
func number(c echo.Context, name string, usual, most int) (int, error) {
	said := c.QueryParam(name)
	if said == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < 0 || n > most {
		return 0, &refusal{status: http.StatusBadRequest, detail: fmt.Sprintf("%s=%s: want a number from 0 to %d", name, said, most)}
	}
	return n, nil
}
