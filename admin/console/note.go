package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"time"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/store"
)

// note writes into the audit log what a command changed in the database, for whoever of the system called it. The change
// stands if it cannot be noted.
func note(ctx context.Context, s *store.Store, e account.Audit) {
	e.Who, e.From = "controllerd", "console"
	if u, err := user.Current(); err == nil {
		e.Who = u.Username
	}
	if err := s.Audit(ctx, e); err != nil {
		fmt.Fprintln(os.Stderr, "controllerd: "+err.Error())
	}
}

// takeOverTime bounds the wait for the daemon.
const takeOverTime = 5 * time.Second

// changeAccounts changes users or keys in the database, and returns when the daemon knows,
// if one runs. The change stands where it cannot be told, which a word on standard error says.
func (a *App) changeAccounts(ctx context.Context, with func(context.Context, func(*store.Store) error) error, change func(*store.Store) error) error {
	if err := with(ctx, change); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, takeOverTime)
	defer cancel()
	err := a.local().call(ctx, http.MethodPost, "/auth/takeover", nil, nil)
	switch {
	case errors.Is(err, errNotRunning):
		fmt.Fprintln(os.Stderr, "controllerd: no daemon is running; one will know when it starts")
	case err != nil:
		fmt.Fprintf(os.Stderr, "controllerd: the change is made, but the daemon could not be told, and looks for it every second: %v\n", err)
	}
	return nil
}

// noteAccount is note for users and keys.
func noteAccount(ctx context.Context, s *store.Store, what, subject string) {
	note(ctx, s, account.Audit{What: what, Subject: subject, Accounts: true})
}
