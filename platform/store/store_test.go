package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

func addUser(t *testing.T, s *store.Store, name string) platform.User {
	t.Helper()
	u, err := s.AddUser(t.Context(), name, platform.RoleUser, "stored form")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUsersAreKeptAndSeenByEveryInstance(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		u := addUser(t, one, "Ada")
		if _, err := two.AddUser(t.Context(), "Ada", platform.RoleUser, "x"); !errors.Is(err, platform.ErrExists) {
			t.Errorf("a second Ada: %v", err)
		}
		got, password, err := two.UserByName(t.Context(), "Ada")
		if err != nil || got != u || password != "stored form" {
			t.Errorf("got %+v %q %v, want %+v", got, password, err, u)
		}
		if err := one.SetPassword(t.Context(), "Ada", "other"); err != nil {
			t.Fatal(err)
		}
		if got, password, _ = two.UserByName(t.Context(), "Ada"); password != "other" || got.Revision == u.Revision {
			t.Errorf("after the change: %q, revision %d as before", password, got.Revision)
		}
		if err := two.RemoveUser(t.Context(), "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := one.UserByName(t.Context(), "Ada"); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("a removed user: %v", err)
		}
		if err := one.SetDisabled(t.Context(), "Ada", true); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("disable a removed user: %v", err)
		}
	})
}

func TestARefreshTokenIsGoodOnceAndItsReuseEndsTheSession(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		one, two := db.Open(t), db.Open(t)
		u := addUser(t, one, "Ada")
		first, second, third := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2")), sha256.Sum256([]byte("3"))
		session, err := one.StartSession(t.Context(), u, first)
		if err != nil {
			t.Fatal(err)
		}
		if _, s, err := two.Rotate(t.Context(), first, second); err != nil || s != session {
			t.Fatalf("rotate: session %s %v, want %s", s, err, session)
		}
		if got, err := two.SessionUser(t.Context(), session); err != nil || got.ID != u.ID {
			t.Errorf("user of the session: %v %v", got, err)
		}
		if _, _, err := one.Rotate(t.Context(), first, third); !errors.Is(err, platform.ErrUnauthorized) {
			t.Errorf("second use: %v", err)
		}
		if _, _, err := one.Rotate(t.Context(), second, third); !errors.Is(err, platform.ErrUnauthorized) {
			t.Errorf("the newest token after reuse of an old one: %v", err)
		}
		if _, err := two.SessionUser(t.Context(), session); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("the session after reuse: %v", err)
		}
	})
}

func TestOneOfManyConcurrentRefreshesGetsThrough(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		instances := []*store.Store{db.Open(t), db.Open(t)}
		u := addUser(t, instances[0], "Ada")
		old := sha256.Sum256([]byte("old"))
		if _, err := instances[0].StartSession(t.Context(), u, old); err != nil {
			t.Fatal(err)
		}
		var won, refused atomic.Int32
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				_, _, err := instances[i%2].Rotate(t.Context(), old, sha256.Sum256(fmt.Append(nil, i)))
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, platform.ErrUnauthorized):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || refused.Load() != 15 {
			t.Errorf("%d got through and %d were refused, want 1 and 15", won.Load(), refused.Load())
		}
	})
}

func TestDisablingAndANewPasswordEndSessions(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		u := addUser(t, s, "Ada")
		for name, end := range map[string]func() error{
			"disable":      func() error { return s.SetDisabled(t.Context(), "Ada", true) },
			"set password": func() error { return s.SetPassword(t.Context(), "Ada", "new") },
		} {
			u, _, _ = s.UserByName(t.Context(), u.Name)
			token := sha256.Sum256([]byte(name))
			session, err := s.StartSession(t.Context(), u, token)
			if err != nil {
				t.Fatal(err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SessionUser(t.Context(), session); !errors.Is(err, platform.ErrNotFound) {
				t.Errorf("%s: the session lives on: %v", name, err)
			}
			if _, err := s.StartSession(t.Context(), u, token); !errors.Is(err, platform.ErrUnauthorized) {
				t.Errorf("%s: a login that was under way got in: %v", name, err)
			}
			if err := s.SetDisabled(t.Context(), "Ada", false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whom an identity provider vouched for is asked about again after half a day; a password is
// good for thirty.
func TestASessionOfAProvidersUserIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), t.TempDir(), "", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		own := addUser(t, s, "ada")
		guest, err := s.AddUserOfProvider(t.Context(), "https://id.example", "7", "bob", platform.RoleUser)
		if err != nil {
			t.Fatal(err)
		}
		first, second := sha256.Sum256([]byte("own")), sha256.Sum256([]byte("guest"))
		if _, err := s.StartSession(t.Context(), own, first); err != nil {
			t.Fatal(err)
		}
		if _, err := s.StartSession(t.Context(), guest, second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(12*time.Hour - time.Minute)
		if _, err := s.BrowserUser(t.Context(), second); err != nil {
			t.Errorf("shortly before: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.BrowserUser(t.Context(), second); !errors.Is(err, platform.ErrUnauthorized) {
			t.Errorf("after half a day: %v", err)
		}
		time.Sleep(29 * 24 * time.Hour)
		if _, err := s.BrowserUser(t.Context(), first); err != nil {
			t.Errorf("a password after 29 days: %v", err)
		}
	})
}

func TestSessionsOfOneUserAreBounded(t *testing.T) {
	s := peertest.Database{DataDir: t.TempDir()}.Open(t)
	u := addUser(t, s, "Ada")
	var sessions []string
	for i := range 70 {
		id, err := s.StartSession(t.Context(), u, sha256.Sum256(fmt.Append(nil, i)))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, id)
	}
	for i, want := range map[int]bool{0: false, 5: false, 6: true, 69: true} {
		if _, err := s.SessionUser(t.Context(), sessions[i]); (err == nil) != want {
			t.Errorf("session %d of 70: %v", i+1, err)
		}
	}
}

func TestAHundredKeysAUserEvenIfMadeAtOnce(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		instances := []*store.Store{db.Open(t), db.Open(t)}
		u := addUser(t, instances[0], "Ada")
		add := func(i int) error {
			_, err := instances[i%2].AddKey(t.Context(), platform.Key{Owner: u.ID, Name: "k", RateLimit: 1}, sha256.Sum256(fmt.Append(nil, i)))
			return err
		}
		for i := range platform.MaxKeys - 4 {
			if err := add(i); err != nil {
				t.Fatal(err)
			}
		}
		var made, refused atomic.Int32
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				switch err := add(1000 + i); {
				case err == nil:
					made.Add(1)
				case errors.Is(err, platform.ErrConflict):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		keys, err := instances[0].Keys(t.Context(), u.ID)
		if made.Load() != 4 || refused.Load() != 8 || len(keys) != platform.MaxKeys || err != nil {
			t.Errorf("%d made, %d refused, %d there are, %v; want 4, 8, %d", made.Load(), refused.Load(), len(keys), err, platform.MaxKeys)
		}
	})
}

func TestKeysAreTheirOwnersOnly(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s := db.Open(t)
		ada, bob := addUser(t, s, "Ada"), addUser(t, s, "Bob")
		value := store.Hash(sha256.Sum256([]byte("value")))
		made, err := s.AddKey(t.Context(), platform.Key{Owner: ada.ID, Name: "lobby", Prefix: "01234567", RateLimit: 7,
			Permissions: platform.Permissions{Control: true}, ExpiresAt: time.Now().Add(time.Hour)}, value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Key(t.Context(), ada.ID, made.ID); err != nil || got != made {
			t.Errorf("got %+v %v, want %+v", got, err, made)
		}
		if got, owner, err := s.KeyByValue(t.Context(), value); err != nil || got != made || owner != ada {
			t.Errorf("by value: %+v of %+v %v", got, owner, err)
		}
		if _, err := s.Key(t.Context(), bob.ID, made.ID); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("read by another: %v", err)
		}
		if _, err := s.ChangeKey(t.Context(), bob.ID, made.ID, func(*platform.Key) error { return nil }); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("changed by another: %v", err)
		}
		if err := s.RemoveKey(t.Context(), bob.ID, made.ID); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("removed by another: %v", err)
		}
		if err := s.RemoveUser(t.Context(), "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.KeyByValue(t.Context(), value); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("the key of a removed user: %v", err)
		}
	})
}

func TestLastUseIsWrittenBehind(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		s, err := store.Open(t.Context(), db.DataDir, db.URL, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		u := addUser(t, s, "Ada")
		k, err := s.AddKey(t.Context(), platform.Key{Owner: u.ID, Name: "k", RateLimit: 1}, store.Hash{1})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now().Truncate(time.Microsecond)
		s.KeyUsed(k.ID)
		if err := s.Close(); err != nil { // which writes it
			t.Fatal(err)
		}
		got, err := db.Open(t).Key(t.Context(), u.ID, k.ID)
		if err != nil || got.LastUsedAt.Before(before) {
			t.Errorf("last used %v %v, want %v or later", got.LastUsedAt, err, before)
		}
	})
}

func TestASecretIsMadeOnce(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		instances := []*store.Store{db.Open(t), db.Open(t)}
		var wg sync.WaitGroup
		values := make([]string, 8)
		for i := range values {
			wg.Go(func() {
				b, err := instances[i%2].Secret(t.Context(), "x", func() ([]byte, error) { return fmt.Append(nil, i), nil })
				if err != nil {
					t.Error(err)
				}
				values[i] = string(b)
			})
		}
		wg.Wait()
		for _, v := range values {
			if v != values[0] || v == "" {
				t.Fatalf("the instances disagree: %q", values)
			}
		}
	})
}

func TestOpen(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := store.OpenExisting(t.Context(), dir, "", log); !errors.Is(err, store.ErrNoDatabase) {
		t.Errorf("got %v, want ErrNoDatabase", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("asking for a database that there is not has made its directory")
	}
	if _, err := store.Open(context.Background(), "", "", log); err == nil {
		t.Error("no directory at all was taken for the current one")
	}
	s := peertest.Database{DataDir: dir}.Open(t)
	info, err := os.Stat(filepath.Join(dir, "platform.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database is readable by others: %v %v", info.Mode(), err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// Two instances that look for look-alikes at the same instant each find none: the database has to tell them of each other.
func TestOneOfManyUsersWhoLookAlikeIsAddedEvenAtOnce(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		instances := []*store.Store{db.Open(t), db.Open(t)}
		names := []string{"Jörg Weiß", "jörg weiß", "JÖRG WEISS", "Jo\u0308rg Weiß", "Jörg\u00a0Weiß", "jörg WEISS"}
		var added, refused atomic.Int32
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() {
				switch _, err := instances[i%2].AddUser(t.Context(), name, platform.RoleUser, "x"); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, platform.ErrExists):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if added.Load() != 1 || int(refused.Load()) != len(names)-1 {
			t.Errorf("%d were added and %d refused, want 1 and %d", added.Load(), refused.Load(), len(names)-1)
		}
	})
}
