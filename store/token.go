package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

const (
	refreshBytes = 32
	// refreshLife is how long a refresh token lives.
	refreshLife = 30 * 24 * time.Hour
	// maxRefresh tokens of one user live at a time at each door; the oldest give way. Clients
	// that log in anew each time therefore cannot fill the flash.
	maxRefresh = 64
)

// clockSet is the earliest time a clock that was set can show. A board without
// a battery boots in 1970.
var clockSet = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// randomText is 256 random bits in URL-safe base64.
func randomText() string {
	b := make([]byte, refreshBytes)
	rand.Read(b) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewRefreshToken makes a token that lives 30 days. It returns
// [account.ErrAuthFailed] if the user was removed or the password or role
// changed since user was looked up.
func (s *Store) NewRefreshToken(ctx context.Context, user account.User) (string, error) {
	token := randomText()
	hash := sha256.Sum256([]byte(token))
	now := s.now()
	err := s.passing(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO refresh_token (hash, user, created_at)
			SELECT ?, uuid, ? FROM user WHERE uuid = ? AND revision = ?`,
			hash[:], nanos(now), user.UUID[:], user.Revision)
		if err := oneRow(res, err, account.ErrAuthFailed); err != nil {
			return err
		}
		return pruneTokens(ctx, tx, user.UUID, doorPublic, now)
	})
	if err != nil {
		return "", fmt.Errorf("make a refresh token for user %q: %w", user.Name, err)
	}
	return token, nil
}

// pruneTokens removes what expired, and of one user at one door all but the newest.
func pruneTokens(ctx context.Context, tx *sql.Tx, user appliance.UUID, door string, now time.Time) error {
	if now.After(clockSet) {
		_, err := tx.ExecContext(ctx, "DELETE FROM refresh_token WHERE created_at BETWEEN ? AND ?",
			nanos(clockSet), nanos(now.Add(-refreshLife)))
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM refresh_token WHERE user = ?1 AND door = ?3 AND seq <=
		(SELECT seq FROM refresh_token WHERE user = ?1 AND door = ?3 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
		user[:], maxRefresh, door)
	return err
}

// UseRefreshToken returns the user a token was made for, with the role of now,
// or [account.ErrAuthFailed]. It does not end the token.
func (s *Store) UseRefreshToken(ctx context.Context, token string) (account.User, error) {
	return s.useToken(ctx, token, doorPublic)
}

// useToken returns the user of a token that was made for that door.
func (s *Store) useToken(ctx context.Context, token, door string) (account.User, error) {
	hash := sha256.Sum256([]byte(token))
	user, err := s.userOfToken(ctx, hash, door)
	if err == nil && !s.knows(user) {
		// Somebody changed the user, or gave the name to another one: a moment ago, so
		// that the token is to be judged anew, or in another process, so that the
		// directory would refuse what is made for the user as he is now.
		if err = s.refresh(ctx); err == nil {
			user, err = s.userOfToken(ctx, hash, door)
		}
	}
	if errors.Is(err, account.ErrAuthFailed) {
		return account.User{}, account.ErrAuthFailed
	}
	if err != nil {
		return account.User{}, fmt.Errorf("use a refresh token: %w", err)
	}
	return user, nil
}

// userOfToken tells whose token it is. The user comes from the same state of the
// database as the token: an access token for that revision is void as soon as a
// later commit ends this one.
func (s *Store) userOfToken(ctx context.Context, hash [sha256.Size]byte, door string) (account.User, error) {
	var user account.User
	var made, since int64
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT user.uuid, user.number, user.name, user.role, user.created_at, user.revision, refresh_token.created_at
			FROM refresh_token JOIN user ON user.uuid = refresh_token.user WHERE hash = ? AND door = ?`, hash[:], door).
			Scan(uuidColumn{&user.UUID}, &user.ID, &user.Name, &user.Role, &since, &user.Revision, &made)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return account.User{}, account.ErrAuthFailed
	}
	if err != nil {
		return account.User{}, err
	}
	user.CreatedAt = moment(since)
	now := s.now()
	switch made := moment(made); {
	case now.After(clockSet) && (made.Before(clockSet) || made.After(now.Add(time.Hour)) && s.synced()):
		// Made before the clock was set, or while it ran ahead, by
		// one that is right now: its 30 days begin now.
		if err := s.dateToken(ctx, hash, now); err != nil {
			return account.User{}, err
		}
	case made.After(clockSet) && now.Sub(made) > refreshLife:
		return account.User{}, account.ErrAuthFailed
	}
	if !user.Role.CanRead() {
		return account.User{}, account.ErrAuthFailed
	}
	return user, nil
}

// knows reports whether the directory has this user as he is here.
func (s *Store) knows(user account.User) bool {
	have, ok := s.User(user.Name)
	return ok && have.UUID == user.UUID && have.Revision == user.Revision
}

func (s *Store) dateToken(ctx context.Context, hash [sha256.Size]byte, now time.Time) error {
	return s.passing(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE refresh_token SET created_at = ? WHERE hash = ?", nanos(now), hash[:])
		return err
	})
}

func dropTokens(ctx context.Context, tx *sql.Tx, name string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM refresh_token WHERE user = (SELECT uuid FROM user WHERE name = ?)", name)
	return err
}

// clockSynced reports whether something, such as NTP, keeps the clock right.
func clockSynced() bool {
	const timeError = 5 // TIME_ERROR of adjtimex(2): not synchronised
	state, err := unix.Adjtimex(&unix.Timex{})
	return err == nil && state != timeError
}
