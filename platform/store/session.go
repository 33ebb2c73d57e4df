package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/platform"
)

const (
	// SessionLife is how long a login lasts that is refreshed; then the password is
	// asked for again.
	SessionLife = 30 * 24 * time.Hour
	// ProviderSessionLife is how long somebody is believed whom an identity provider vouched
	// for: it may know better by then.
	ProviderSessionLife = 12 * time.Hour
	// maxSessions of one user live at a time; the oldest give way.
	maxSessions = 64
)

// Hash is the SHA-256 of a secret. The secrets themselves are not kept.
type Hash = [32]byte

// StartSession begins the session of a login, whose first refresh token has this
// hash. It returns [platform.ErrUnauthorized] if the user was changed since user was
// looked up.
func (s *Store) StartSession(ctx context.Context, user platform.User, token Hash) (session string, err error) {
	session, now, life := newID(), s.now(), SessionLife
	if user.Issuer != "" {
		life = ProviderSessionLife
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO session (id, account, created_at, expires_at)
			SELECT $1, id, $2, $3 FROM account WHERE id = $4 AND revision = $5 AND NOT disabled`,
			session, Micros(now), Micros(now.Add(life)), user.ID, user.Revision)
		if err := oneRow(res, err, platform.ErrUnauthorized); err != nil {
			return err
		}
		if err := addToken(ctx, tx, session, token, now); err != nil {
			return err
		}
		return pruneSessions(ctx, tx, user.ID, now)
	})
	if err != nil {
		return "", fmt.Errorf("start a session of user %q: %w", user.Name, err)
	}
	return session, nil
}

func addToken(ctx context.Context, tx *sql.Tx, session string, token Hash, now time.Time) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO refresh_token (hash, session, used, created_at) VALUES ($1, $2, FALSE, $3)",
		token[:], session, Micros(now))
	return err
}

// pruneSessions removes what is over, and of one user all but the newest.
func pruneSessions(ctx context.Context, tx *sql.Tx, user string, now time.Time) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM session WHERE expires_at <= $1", Micros(now)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM session WHERE account = $1 AND id NOT IN
		(SELECT id FROM session WHERE account = $1 ORDER BY created_at DESC, id DESC LIMIT $2)`, user, maxSessions)
	return err
}

// Rotate exchanges a refresh token for the next one of its session. Each is good
// once: a second use means that it was stolen from one of the two who had it, so
// it ends the session. [platform.ErrUnauthorized] covers this and every other token
// that is not good.
func (s *Store) Rotate(ctx context.Context, old, next Hash) (user platform.User, session string, err error) {
	var stolen bool
	err = s.write(ctx, func(tx *sql.Tx) error {
		stolen = false
		now := s.now()
		var a account
		var used bool
		row := tx.QueryRowContext(ctx, `SELECT `+accountColumns+`, s.id, t.used FROM refresh_token t
			JOIN session s ON s.id = t.session JOIN account a ON a.id = s.account
			WHERE t.hash = $1 AND s.expires_at > $2 AND NOT a.disabled`, old[:], Micros(now))
		err := row.Scan(append(a.columns(), &session, &used)...)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return platform.ErrUnauthorized
		case err != nil:
			return err
		case used:
			stolen = true
			_, err := tx.ExecContext(ctx, "DELETE FROM session WHERE id = $1", session)
			return err
		}
		user = a.user()
		if _, err := tx.ExecContext(ctx, "UPDATE refresh_token SET used = TRUE WHERE hash = $1", old[:]); err != nil {
			return err
		}
		return addToken(ctx, tx, session, next, now)
	})
	if err == nil && stolen {
		s.log.Warn("a refresh token was used twice; its session was ended", "session", session)
		err = platform.ErrUnauthorized
	}
	if err != nil {
		return platform.User{}, "", fmt.Errorf("use a refresh token: %w", err)
	}
	return user, session, nil
}

// TokenUser returns whose session a refresh token belongs to, used or not, or
// [platform.ErrUnauthorized].
func (s *Store) TokenUser(ctx context.Context, token Hash) (platform.User, error) {
	var a account
	err := s.views.QueryRowContext(ctx, `SELECT `+accountColumns+` FROM refresh_token t
		JOIN session s ON s.id = t.session JOIN account a ON a.id = s.account WHERE t.hash = $1`, token[:]).Scan(a.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = platform.ErrUnauthorized
	}
	if err != nil {
		return platform.User{}, fmt.Errorf("look up a refresh token: %w", err)
	}
	return a.user(), nil
}

// EndSession ends the session that a refresh token belongs to. An unknown one is no
// error: whoever logs out has what they want.
func (s *Store) EndSession(ctx context.Context, token Hash) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM session WHERE id = (SELECT session FROM refresh_token WHERE hash = $1)", token[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// SessionUser returns whose session this is, disabled or not, or
// [platform.ErrNotFound] if it is over.
func (s *Store) SessionUser(ctx context.Context, session string) (platform.User, error) {
	var a account
	if err := found(s.hot.session.QueryRowContext(ctx, session, Micros(s.now())).Scan(a.columns()...)); err != nil {
		return platform.User{}, fmt.Errorf("session: %w", err)
	}
	return a.user(), nil
}

// BrowserUser returns who logged in with a browser that has this token, disabled or not, or [platform.ErrUnauthorized].
func (s *Store) BrowserUser(ctx context.Context, token Hash) (platform.User, error) {
	var a account
	err := s.views.QueryRowContext(ctx, `SELECT `+accountColumns+` FROM refresh_token t JOIN session s ON s.id = t.session
		JOIN account a ON a.id = s.account WHERE t.hash = $1 AND NOT t.used AND s.expires_at > $2`, token[:], Micros(s.now())).Scan(a.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = platform.ErrUnauthorized
	}
	if err != nil {
		return platform.User{}, fmt.Errorf("look up a browser's session: %w", err)
	}
	return a.user(), nil
}
