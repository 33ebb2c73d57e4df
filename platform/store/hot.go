package store

import (
	"context"
	"database/sql"
	"errors"
)

// statements are prepared once, as every request needs one of them.
type statements struct {
	key     *sql.Stmt // by the hash of its value, with its owner
	session *sql.Stmt // by its ID, its user

	controllers *sql.Stmt // all of them
}

func (h *statements) prepare(ctx context.Context, db *sql.DB) (err error) {
	if h.key, err = db.PrepareContext(ctx, "SELECT "+keyColumns+", "+accountColumns+
		", k.hash FROM api_key k JOIN account a ON a.id = k.account WHERE k.hash = $1"); err != nil {
		return err
	}
	if h.session, err = db.PrepareContext(ctx, "SELECT "+accountColumns+
		" FROM session s JOIN account a ON a.id = s.account WHERE s.id = $1 AND s.expires_at > $2"); err != nil {
		return err
	}
	h.controllers, err = db.PrepareContext(ctx, "SELECT "+enrolmentColumns+" FROM controller ORDER BY id")
	return err
}

func (h *statements) close() error {
	var errs []error
	for _, st := range []*sql.Stmt{h.key, h.session, h.controllers} {
		if st != nil {
			errs = append(errs, st.Close())
		}
	}
	return errors.Join(errs...)
}
