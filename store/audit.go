package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"svc.internal/controller/shelf/account"
)

// maxAudit entries of the audit log are kept.
const maxAudit = 10_000

// maxAuditDetail bounds one entry, in bytes.
const maxAuditDetail = 4096

// Audit notes a change that somebody made, durably.
func (s *Store) Audit(ctx context.Context, a account.Audit) error {
	err := s.write(ctx, func(tx *sql.Tx) error { return noteAudit(ctx, tx, s.now(), a) })
	if err != nil {
		return fmt.Errorf("note %s in the audit log: %w", a.What, err)
	}
	return nil
}

func noteAudit(ctx context.Context, tx *sql.Tx, at time.Time, a account.Audit) error {
	if len(a.Detail) > maxAuditDetail {
		a.Detail = a.Detail[:maxAuditDetail] + "…"
	}
	scope := "site"
	if a.Accounts {
		scope = "account"
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO audit (at, who, origin, what, subject, detail, scope) VALUES (?, ?, ?, ?, ?, ?, ?)",
		nanos(at), a.Who, a.From, a.What, a.Subject, a.Detail, scope)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", maxAudit)
	return err
}

// Audits returns up to limit entries of the audit log, newest first: those before the
// given ID, or all if it is 0. Those about accounts are left out unless asked for.
func (s *Store) Audits(ctx context.Context, limit int, before int64, accounts bool) ([]account.Audit, error) {
	var out []account.Audit
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, at, who, origin, what, subject, detail, scope FROM audit
			WHERE (?1 = 0 OR id < ?1) AND (?2 OR scope = 'site') ORDER BY id DESC LIMIT ?3`, before, accounts, min(max(limit, 0), maxAudit))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a account.Audit
			var at int64
			var scope string
			if err := rows.Scan(&a.ID, &at, &a.Who, &a.From, &a.What, &a.Subject, &a.Detail, &scope); err != nil {
				return err
			}
			a.At, a.Accounts = moment(at), scope == "account"
			out = append(out, a)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return out, nil
}
