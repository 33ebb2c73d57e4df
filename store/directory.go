package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync/atomic"

	"svc.internal/controller/shelf/account"
)

// directory is all users and keys at one moment. It never changes; a commit to
// the accounts replaces it. Readers share it without locks.
type directory struct {
	users map[string]userEntry
	keys  map[[sha256.Size]byte]keyEntry
}

type userEntry struct {
	account.User
	password string // PHC string
}

type keyEntry struct {
	account.Key
	hash [sha256.Size]byte
	used *lastUse // shared by successive directories
}

// lastUse of a key, in Unix seconds.
type lastUse struct{ now, saved atomic.Int64 }

// loadDirectory reads all accounts. One that cannot be read is logged and left out:
// it keeps nobody else from getting in.
func loadDirectory(ctx context.Context, tx *sql.Tx, old *directory, log *slog.Logger) (*directory, error) {
	broken := func(key any, err error) {
		log.Error("a user or key cannot be read and is refused; remove it and make it anew", "name", key, "why", err)
	}
	d := &directory{users: map[string]userEntry{}, keys: map[[sha256.Size]byte]keyEntry{}}
	users, err := loadUsers(ctx, tx, broken)
	if err != nil {
		return nil, err
	}
	for _, a := range users {
		d.users[a.Name] = a
	}
	keys, err := loadKeys(ctx, tx, broken)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		k.used = new(lastUse)
		if old != nil && old.keys[k.hash].used != nil {
			k.used = old.keys[k.hash].used
		}
		d.keys[k.hash] = k
	}
	return d, nil
}

// User returns the user of this name. It touches no disk.
func (s *Store) User(name string) (account.User, bool) {
	a, ok := s.accounts.Load().users[name]
	return a.User, ok
}

// KeyOf returns the key that secret is, and notes its use. It touches no disk.
func (s *Store) KeyOf(secret string) (account.Key, bool) {
	digits, ok := strings.CutPrefix(secret, keyPrefix)
	if !ok || len(digits) != hex.EncodedLen(keyBytes) {
		return account.Key{}, false
	}
	hash := sha256.Sum256([]byte(secret))
	k, ok := s.accounts.Load().keys[hash]
	// The map has compared hashes already; comparing again in constant time costs
	// nothing and holds whatever a map does.
	if !ok || subtle.ConstantTimeCompare(hash[:], k.hash[:]) != 1 {
		return account.Key{}, false
	}
	// Once a second is enough, and keeps callers off each other's cache line.
	if now := s.now().Unix(); k.used.now.Load() != now {
		k.used.now.Store(now)
	}
	return k.current(), true
}

// current is the key with its newest last use.
func (k keyEntry) current() account.Key {
	key := k.Key
	if used := k.used.now.Load(); used*1e9 > nanos(key.LastUsed) {
		key.LastUsed = moment(used * 1e9)
	}
	return key
}

// saveUsed writes down when keys were used, if any was.
func (s *Store) saveUsed(ctx context.Context) {
	behind := s.db.Load().behind
	if behind == nil {
		return
	}
	for _, k := range s.accounts.Load().keys {
		used := k.used.now.Load()
		if used <= k.used.saved.Load() {
			continue
		}
		_, err := behind.ExecContext(ctx, "UPDATE api_key SET last_used = max(last_used, ?) WHERE uuid = ?", used*1e9, k.UUID[:])
		if err != nil {
			s.log.Warn("write down when a key was used", "key", k.Name, "error", err)
			return
		}
		k.used.saved.Store(used)
	}
}
