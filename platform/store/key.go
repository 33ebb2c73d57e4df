package store

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"encoding/json"
	"fmt"

	"svc.internal/controller/platform"
)

const keyColumns = `k.id, k.account, k.name, k.prefix, k.permissions, k.rate_limit, k.expires_at, k.revoked_at, k.ended,
	k.created_at, k.last_used_at`

// apiKey is what a row with keyColumns is scanned into.
type apiKey struct {
	platform.Key
	permissions                         string
	expires, revoked, created, lastUsed int64
}

func (k *apiKey) columns() []any {
	return []any{&k.ID, &k.Owner, &k.Name, &k.Prefix, &k.permissions, &k.RateLimit, &k.expires, &k.revoked, &k.Ended,
		&k.created, &k.lastUsed}
}

func (k *apiKey) key() (platform.Key, error) {
	k.ExpiresAt, k.RevokedAt = Moment(k.expires), Moment(k.revoked)
	k.CreatedAt, k.LastUsedAt = Moment(k.created), Moment(k.lastUsed)
	if k.permissions == "{}" { // nearly all
		return k.Key, nil
	}
	if err := json.Unmarshal([]byte(k.permissions), &k.Permissions); err != nil {
		return platform.Key{}, fmt.Errorf("permissions of key %s: %w", k.ID, err)
	}
	return k.Key, nil
}

// AddKey keeps a new key of its owner; value is the hash of what its holder sends. It
// returns [platform.ErrConflict] for an owner who has as many as there may be, and
// [platform.ErrNotFound] if there is no such owner any more.
func (s *Store) AddKey(ctx context.Context, k platform.Key, value Hash) (platform.Key, error) {
	fail := func(err error) (platform.Key, error) {
		return platform.Key{}, fmt.Errorf("add key %q: %w", k.Name, err)
	}
	permissions, err := json.Marshal(k.Permissions)
	if err != nil {
		return fail(err)
	}
	k.ID, k.CreatedAt, k.ExpiresAt = newID(), Moment(Micros(s.now())), Moment(Micros(k.ExpiresAt))
	err = s.write(ctx, func(tx *sql.Tx) error {
		var count int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM api_key WHERE account = $1", k.Owner).Scan(&count); err != nil {
			return err
		}
		if count >= platform.MaxKeys {
			return platform.Conflict("there are %d keys already, revoked ones included; delete one permanently first", count)
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO api_key (id, account, hash, prefix, name, permissions, rate_limit, expires_at,
			revoked_at, ended, created_at, last_used_at)
			SELECT $1, id, $2, $3, $4, $5, $6, $7, 0, FALSE, $8, 0 FROM account WHERE id = $9`,
			k.ID, value[:], k.Prefix, k.Name, string(permissions), k.RateLimit, Micros(k.ExpiresAt), Micros(k.CreatedAt), k.Owner)
		return oneRow(res, err, platform.ErrNotFound)
	})
	if err != nil {
		return fail(err)
	}
	return k, nil
}

// Keys lists the keys of a user, newest first.
func (s *Store) Keys(ctx context.Context, owner string) ([]platform.Key, error) {
	keys := []platform.Key{}
	err := each(ctx, s.views, func(row scanner) error {
		var k apiKey
		if err := row.Scan(k.columns()...); err != nil {
			return err
		}
		key, err := k.key()
		keys = append(keys, key)
		return err
	}, "SELECT "+keyColumns+" FROM api_key k WHERE k.account = $1 ORDER BY k.created_at DESC, k.id DESC", owner)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return keys, nil
}

// Key returns one key of a user. That of another one is [platform.ErrNotFound] like
// one that there is not.
func (s *Store) Key(ctx context.Context, owner, id string) (platform.Key, error) {
	k, err := findKey(ctx, s.views, owner, id)
	if err != nil {
		return platform.Key{}, fmt.Errorf("key %q: %w", id, err)
	}
	return k, nil
}

// rowQuerier is a transaction or a pool.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func findKey(ctx context.Context, q rowQuerier, owner, id string) (platform.Key, error) {
	var k apiKey
	row := q.QueryRowContext(ctx, "SELECT "+keyColumns+" FROM api_key k WHERE k.id = $1 AND k.account = $2", id, owner)
	if err := found(row.Scan(k.columns()...)); err != nil {
		return platform.Key{}, err
	}
	return k.key()
}

// ChangeKey lets change work on a key of owner and keeps the outcome.
func (s *Store) ChangeKey(ctx context.Context, owner, id string, change func(*platform.Key) error) (platform.Key, error) {
	var k platform.Key
	err := s.write(ctx, func(tx *sql.Tx) (err error) {
		if k, err = findKey(ctx, tx, owner, id); err != nil {
			return err
		}
		if err := change(&k); err != nil {
			return err
		}
		k.ExpiresAt, k.RevokedAt = Moment(Micros(k.ExpiresAt)), Moment(Micros(k.RevokedAt))
		_, err = tx.ExecContext(ctx, "UPDATE api_key SET name = $2, rate_limit = $3, expires_at = $4, revoked_at = $5, ended = $6 WHERE id = $1",
			k.ID, k.Name, k.RateLimit, Micros(k.ExpiresAt), Micros(k.RevokedAt), k.Ended)
		return err
	})
	if err != nil {
		return platform.Key{}, fmt.Errorf("change key %q: %w", id, err)
	}
	return k, nil
}

// RemoveKey removes the record of a key of owner.
func (s *Store) RemoveKey(ctx context.Context, owner, id string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM api_key WHERE id = $1 AND account = $2", id, owner)
		return oneRow(res, err, platform.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("remove key %q: %w", id, err)
	}
	return nil
}

// KeyByValue finds the key whose value has this hash, and its owner, whatever state
// either is in.
func (s *Store) KeyByValue(ctx context.Context, value Hash) (platform.Key, platform.User, error) {
	if s.changes == nil {
		return s.readKey(ctx, value)
	}
	at, still := s.changes.now() // before it is read: what is committed meanwhile makes another version
	if seen, ok := s.keys.find(value, at); ok && still {
		return seen.key, seen.owner, nil
	}
	k, owner, err := s.readKey(ctx, value)
	if err == nil && still {
		s.keys.keep(value, seenKey{at, k, owner})
	}
	return k, owner, err
}

func (s *Store) readKey(ctx context.Context, value Hash) (platform.Key, platform.User, error) {
	var k apiKey
	var a account
	var hash []byte
	row := s.hot.key.QueryRowContext(ctx, value[:])
	err := found(row.Scan(append(append(k.columns(), a.columns()...), &hash)...))
	if err == nil && subtle.ConstantTimeCompare(hash, value[:]) != 1 {
		err = platform.ErrNotFound
	}
	if err != nil {
		return platform.Key{}, platform.User{}, fmt.Errorf("key: %w", err)
	}
	key, err := k.key()
	return key, a.user(), err
}
