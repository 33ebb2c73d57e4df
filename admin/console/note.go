package console

import (
	"context"
	"fmt"
	"os"
	"os/user"

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

// noteAccount is note for users and keys.
func noteAccount(ctx context.Context, s *store.Store, what, subject string) {
	note(ctx, s, account.Audit{What: what, Subject: subject, Accounts: true})
}
