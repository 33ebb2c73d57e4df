package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Subjects whose commits others want to know of.
const (
	subjectSite     = "site"
	subjectAccounts = "accounts"
	subjectCloud    = "cloud"
)

// revisions count commits per subject, across all processes.
type revisions struct{ site, accounts, cloud int64 }

// bump is called inside every transaction that changes the subject.
func bump(ctx context.Context, tx *sql.Tx, subject string) error {
	_, err := tx.ExecContext(ctx, "UPDATE revision SET number = number + 1 WHERE subject = ?", subject)
	return err
}

func loadRevisions(ctx context.Context, tx *sql.Tx) (revisions, error) {
	var r revisions
	err := tx.QueryRowContext(ctx, `SELECT (SELECT number FROM revision WHERE subject = 'site'),
		(SELECT number FROM revision WHERE subject = 'accounts'),
		(SELECT number FROM revision WHERE subject = 'cloud')`).Scan(&r.site, &r.accounts, &r.cloud)
	return r, err
}

// TakeOver has what another process committed known here, users and keys first of all,
// and does not wait for the next look.
func (s *Store) TakeOver(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return fmt.Errorf("take over what was changed in the database: %w", err)
	}
	return nil
}

// refresh takes over what was committed since the last time, by whomever: a new
// directory if the accounts changed, and word to the watchers.
func (s *Store) refresh(ctx context.Context) error {
	s.refreshMu.Lock()
	defer s.refreshMu.Unlock()
	var now revisions
	var dir *directory
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		if now, err = loadRevisions(ctx, tx); err != nil {
			return err
		}
		old := s.accounts.Load()
		if old == nil || now.accounts != s.seen.accounts {
			dir, err = loadDirectory(ctx, tx, old, s.log)
		}
		return err
	})
	if err != nil {
		return err
	}
	if dir != nil {
		s.accounts.Store(dir)
	}
	change := Change{Site: now.site != s.seen.site, Accounts: now.accounts != s.seen.accounts, Cloud: now.cloud != s.seen.cloud}
	s.seen = now
	s.keeper.tell(change)
	return nil
}

// committed is called after every commit of our own. What was committed stays
// committed if reading it back fails; the keeper then tries again each second.
func (s *Store) committed(ctx context.Context) {
	if err := s.refresh(context.WithoutCancel(ctx)); err != nil {
		s.log.Error("accounts and site are durable but could not be read back, trying again", "error", err)
		s.keeper.again()
	}
}
