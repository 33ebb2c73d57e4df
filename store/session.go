package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// The doors that a token may be made for. No door takes another's.
const (
	doorPublic  = "public"  // /svc/api: used again and again
	doorProgram = "program" // /api/v1: replaced at each use
	doorBrowser = "browser" // /api/v1: what a browser keeps as a cookie
)

// replacedGrace is how long a token that was replaced may be used once more: an
// answer can be lost on its way, and then the one who asked has only the old one.
const replacedGrace = 30 * time.Second

// NewSession makes the token that a browser keeps while somebody is logged in. It
// lives 30 days. It fails as [Store.NewRefreshToken] does.
func (s *Store) NewSession(ctx context.Context, user account.User) (string, error) {
	return s.newToken(ctx, user, doorBrowser, nil)
}

// UseSession returns whose session it is, or [account.ErrAuthFailed].
func (s *Store) UseSession(ctx context.Context, token string) (account.User, error) {
	return s.useToken(ctx, token, doorBrowser)
}

// NewRotatingToken makes a refresh token that is replaced at each use. It fails as
// [Store.NewRefreshToken] does.
func (s *Store) NewRotatingToken(ctx context.Context, user account.User) (string, error) {
	family := appliance.NewUUID()
	return s.newToken(ctx, user, doorProgram, family[:])
}

func (s *Store) newToken(ctx context.Context, user account.User, door string, family []byte) (string, error) {
	token, now := randomText(), s.now()
	err := s.passing(ctx, func(tx *sql.Tx) error {
		return insertToken(ctx, tx, token, user, door, family, now)
	})
	if err != nil {
		return "", fmt.Errorf("make a token for user %q: %w", user.Name, err)
	}
	return token, nil
}

func insertToken(ctx context.Context, tx *sql.Tx, token string, user account.User, door string, family []byte, now time.Time) error {
	if family == nil {
		family = []byte{}
	}
	hash := sha256.Sum256([]byte(token))
	res, err := tx.ExecContext(ctx, `INSERT INTO refresh_token (hash, user, created_at, door, family)
		SELECT ?, uuid, ?, ?, ? FROM user WHERE uuid = ? AND revision = ?`,
		hash[:], nanos(now), door, family, user.UUID[:], user.Revision)
	if err := oneRow(res, err, account.ErrAuthFailed); err != nil {
		return err
	}
	return pruneTokens(ctx, tx, user.UUID, door, now)
}

// Rotate takes a refresh token in exchange for another one. One that was replaced
// longer than a moment ago is refused, and with it ends every token that goes back to
// the same log-in: two parties have it, and one of them stole it.
func (s *Store) Rotate(ctx context.Context, token string) (user account.User, next string, err error) {
	if user, err = s.useToken(ctx, token, doorProgram); err != nil {
		return account.User{}, "", err
	}
	hash, now := sha256.Sum256([]byte(token)), s.now()
	next = randomText()
	stolen := false
	err = s.passing(ctx, func(tx *sql.Tx) error {
		var family []byte
		var used int64
		err := tx.QueryRowContext(ctx, "SELECT family, used_at FROM refresh_token WHERE hash = ?", hash[:]).Scan(&family, &used)
		if errors.Is(err, sql.ErrNoRows) {
			return account.ErrAuthFailed
		}
		if err != nil {
			return err
		}
		if since := now.Sub(moment(used)); used != 0 && (since > replacedGrace || since < 0) {
			stolen = true
			_, err := tx.ExecContext(ctx, "DELETE FROM refresh_token WHERE family = ?", family)
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE refresh_token SET used_at = ? WHERE hash = ? AND used_at = 0`, nanos(now), hash[:]); err != nil {
			return err
		}
		return insertToken(ctx, tx, next, user, doorProgram, family, now)
	})
	if err == nil && stolen {
		s.log.Warn("a refresh token was used twice: all tokens of that log-in are ended", "user", user.Name)
		err = account.ErrAuthFailed
	}
	if errors.Is(err, account.ErrAuthFailed) {
		return account.User{}, "", account.ErrAuthFailed
	}
	if err != nil {
		return account.User{}, "", fmt.Errorf("replace a refresh token: %w", err)
	}
	return user, next, nil
}

// EndSession ends a browser's session, or a rotating token with all that go back to
// the same log-in. Ending one that is not there is no error.
func (s *Store) EndSession(ctx context.Context, token string) error {
	hash := sha256.Sum256([]byte(token))
	err := s.passing(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM refresh_token WHERE hash = ?1 OR
			family <> x'' AND family = (SELECT family FROM refresh_token WHERE hash = ?1)`, hash[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}
