package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

const (
	keyPrefix = "ctl_"
	keyBytes  = 32
	maxKeys   = 1000
)

var errTooManyKeys = errors.New("too many keys; remove one that is no longer used")

func loadKeys(ctx context.Context, tx *sql.Tx, broken func(key any, err error)) (keys []keyEntry, err error) {
	err = each(ctx, tx, broken, func(row scanner) error {
		var k keyEntry
		var hash []byte
		var created, used int64
		if err := row.Scan(&k.Name, &k.ID, uuidColumn{&k.UUID}, &k.Prefix, &hash, &k.Write, &created, &used); err != nil {
			return err
		}
		if copy(k.hash[:], hash) != len(k.hash) {
			return fmt.Errorf("its hash has %d bytes", len(hash))
		}
		k.CreatedAt, k.LastUsed = moment(created), moment(used)
		keys = append(keys, k)
		return nil
	}, "SELECT name, number, uuid, prefix, hash, may_write, created_at, last_used FROM api_key")
	return keys, err
}

// AddKey makes a key; write lets it command, otherwise it only reads. The secret
// is returned this once and not stored. It returns [account.ErrExists] if the
// name is taken.
func (s *Store) AddKey(ctx context.Context, name string, write bool) (string, account.Key, error) {
	random := make([]byte, keyBytes)
	rand.Read(random) // never fails, see crypto/rand
	digits := hex.EncodeToString(random)
	secret := keyPrefix + digits
	hash := sha256.Sum256([]byte(secret))
	key := account.Key{UUID: appliance.NewUUID(), Name: name, Prefix: digits[:8], Write: write, CreatedAt: moment(s.now().UnixNano())}
	err := checkAccountName(name)
	if err == nil {
		err = s.changeAccounts(ctx, func(tx *sql.Tx) error {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM api_key").Scan(&n); err != nil {
				return err
			}
			if n >= maxKeys {
				return errTooManyKeys
			}
			number, err := nextNumber(ctx, tx, "api_key", "key", key.UUID)
			if err != nil {
				return err
			}
			key.ID = int64(number)
			res, err := tx.ExecContext(ctx, `INSERT INTO api_key (uuid, number, name, prefix, hash, may_write, created_at, last_used)
				VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT (name) DO NOTHING`,
				key.UUID[:], key.ID, name, key.Prefix, hash[:], write, nanos(key.CreatedAt))
			return oneRow(res, err, account.ErrExists)
		})
	}
	if err != nil {
		return "", account.Key{}, fmt.Errorf("add key %q: %w", name, err)
	}
	return secret, key, nil
}

// Keys lists all keys by name.
func (s *Store) Keys() []account.Key {
	var keys []account.Key
	for k := range maps.Values(s.accounts.Load().keys) {
		keys = append(keys, k.current())
	}
	slices.SortFunc(keys, func(a, b account.Key) int { return cmp.Compare(a.Name, b.Name) })
	return keys
}

// RemoveKey removes a key; it is refused from the next request on.
func (s *Store) RemoveKey(ctx context.Context, name string) error {
	err := s.changeAccounts(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM api_key WHERE name = ?", name)
		return oneRow(res, err, appliance.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("remove key %q: %w", name, err)
	}
	return nil
}
