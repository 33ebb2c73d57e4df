package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

const goodPassword = "correct horse"

func addUser(t testing.TB, s *Store, name string, role account.Role) account.User {
	t.Helper()
	u, err := s.AddUser(context.Background(), name, goodPassword, role)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestUsersSurviveARestart(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	want := addUser(t, s, "anna", account.RoleOperator)
	s = reopen(t, s)
	got, ok := s.User("anna")
	if !ok || got != want {
		t.Errorf("user %+v, want %+v", got, want)
	}
	if all := s.Users(); len(all) != 1 || all[0] != want {
		t.Errorf("users %+v, want only anna", all)
	}
	if u, err := s.CheckPassword(t.Context(), "anna", goodPassword); err != nil || u != want {
		t.Errorf("login: %+v, %v", u, err)
	}
}

func TestThereIsNoDefaultUser(t *testing.T) {
	t.Parallel()
	if users := open(t, t.TempDir()).Users(); len(users) != 0 {
		t.Errorf("a new database has users %+v", users)
	}
}

func TestLoginFailsAlike(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	addUser(t, s, "anna", account.RoleViewer)
	addUser(t, s, "former", account.RoleNone)
	for name, password := range map[string]string{"anna": "correct hors", "nobody": goodPassword, "former": goodPassword, "": "", "Anna": goodPassword} {
		_, err := s.CheckPassword(t.Context(), name, password)
		if err != account.ErrAuthFailed {
			t.Errorf("login as %q: %v, want exactly ErrAuthFailed", name, err)
		}
	}
	_, err := s.CheckPassword(t.Context(), "anna", goodPassword+strings.Repeat("x", 1<<20))
	wantErr(t, "login with a huge password", err, account.ErrAuthFailed)
}

func TestAccountsRefuse(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	addUser(t, s, "anna", account.RoleAdmin)
	add := func(name, password string, role account.Role) error {
		_, err := s.AddUser(t.Context(), name, password, role)
		return err
	}
	wantErr(t, "taken name", add("anna", goodPassword, account.RoleViewer), account.ErrExists)
	wantErr(t, "short password", add("ben", "ninechars", account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "short password in many bytes", add("ben", "äöüäöüäöü", account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "long password", add("ben", strings.Repeat("x", 1025), account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "password in Latin-1", add("ben", "Schl\xfcsselbund", account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "changed to a password in Latin-1", s.SetPassword(t.Context(), "anna", "Schl\xfcsselbund"), appliance.ErrOutOfRange)
	wantErr(t, "unknown role", add("ben", goodPassword, "root"), appliance.ErrOutOfRange)
	wantErr(t, "no name", add("", goodPassword, account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "name with a line break", add("a\nb", goodPassword, account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "long name", add(strings.Repeat("n", 65), goodPassword, account.RoleViewer), appliance.ErrOutOfRange)
	wantErr(t, "password of nobody", s.SetPassword(t.Context(), "ben", goodPassword), appliance.ErrNotFound)
	wantErr(t, "role of nobody", s.SetRole(t.Context(), "ben", account.RoleAdmin), appliance.ErrNotFound)
	wantErr(t, "removing nobody", s.RemoveUser(t.Context(), "ben"), appliance.ErrNotFound)
	wantErr(t, "removing no key", s.RemoveKey(t.Context(), "none"), appliance.ErrNotFound)
	if n := len(s.Users()); n != 1 {
		t.Errorf("%d users, want 1", n)
	}
}

func TestPasswordChangeEndsAllTokens(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna, ben := addUser(t, s, "anna", account.RoleAdmin), addUser(t, s, "ben", account.RoleAdmin)
	token, err := s.NewRefreshToken(t.Context(), anna)
	if err != nil {
		t.Fatal(err)
	}
	others, err := s.NewRefreshToken(t.Context(), ben)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // old clients use one again and again
		if u, err := s.UseRefreshToken(t.Context(), token); err != nil || u != anna {
			t.Fatalf("use a token: %+v, %v", u, err)
		}
	}
	s = reopen(t, s)
	if _, err := s.UseRefreshToken(t.Context(), token); err != nil {
		t.Errorf("use a token after a restart: %v", err)
	}
	if err := s.SetPassword(t.Context(), "anna", "another password"); err != nil {
		t.Fatal(err)
	}
	_, err = s.UseRefreshToken(t.Context(), token)
	wantErr(t, "token after a password change", err, account.ErrAuthFailed)
	if u, _ := s.User("anna"); u.Revision <= anna.Revision {
		t.Errorf("revision %d after a password change, want more than %d", u.Revision, anna.Revision)
	}
	if _, err := s.UseRefreshToken(t.Context(), others); err != nil {
		t.Errorf("another user's token: %v", err)
	}
	_, err = s.NewRefreshToken(t.Context(), anna)
	wantErr(t, "token for a user as he was before", err, account.ErrAuthFailed)
	_, err = s.CheckPassword(t.Context(), "anna", goodPassword)
	wantErr(t, "old password", err, account.ErrAuthFailed)
}

func TestRemovedUsersNameMayBeUsedAgain(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	old := addUser(t, s, "anna", account.RoleAdmin)
	token, err := s.NewRefreshToken(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveUser(t.Context(), "anna"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.User("anna"); ok {
		t.Error("a removed user is still there")
	}
	other := addUser(t, s, "anna", account.RoleViewer)
	if other.UUID == old.UUID || other.Revision <= old.Revision {
		t.Errorf("new user %+v looks like the old one %+v", other, old)
	}
	_, err = s.UseRefreshToken(t.Context(), token)
	wantErr(t, "token of the removed user", err, account.ErrAuthFailed)
}

func TestRoleChangeVoidsAccessTokensOnly(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna := addUser(t, s, "anna", account.RoleAdmin)
	token, err := s.NewRefreshToken(t.Context(), anna)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetRole(t.Context(), "anna", account.RoleViewer); err != nil {
		t.Fatal(err)
	}
	if u, err := s.UseRefreshToken(t.Context(), token); err != nil || u.Role != account.RoleViewer || u.Revision <= anna.Revision {
		t.Errorf("refreshed user %+v (%v), want a viewer of a later revision", u, err)
	}
	if err := s.SetRole(t.Context(), "anna", account.RoleNone); err != nil {
		t.Fatal(err)
	}
	_, err = s.UseRefreshToken(t.Context(), token)
	wantErr(t, "token of a user without a role", err, account.ErrAuthFailed)
}

// A commit may come after the token was looked up and before its user is.
func TestRefreshTokenOfAUserWhoChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(ctx context.Context, s *Store) error
		want   error
	}{
		{"password", func(ctx context.Context, s *Store) error { return s.SetPassword(ctx, "anna", "another password") }, account.ErrAuthFailed},
		{"another user of the name", func(ctx context.Context, s *Store) error {
			if err := s.RemoveUser(ctx, "anna"); err != nil {
				return err
			}
			_, err := s.AddUser(ctx, "anna", goodPassword, account.RoleAdmin)
			return err
		}, account.ErrAuthFailed},
		{"removed", func(ctx context.Context, s *Store) error { return s.RemoveUser(ctx, "anna") }, account.ErrAuthFailed},
		{"locked out", func(ctx context.Context, s *Store) error { return s.SetRole(ctx, "anna", account.RoleNone) }, account.ErrAuthFailed},
		{"role", func(ctx context.Context, s *Store) error { return s.SetRole(ctx, "anna", account.RoleViewer) }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			token, err := s.NewRefreshToken(t.Context(), addUser(t, s, "anna", account.RoleAdmin))
			if err != nil {
				t.Fatal(err)
			}
			s.now = func() time.Time { // asked for between the two
				s.now = time.Now
				if err := tc.change(t.Context(), s); err != nil {
					t.Error(err)
				}
				return time.Now()
			}
			u, err := s.UseRefreshToken(t.Context(), token)
			if now, _ := s.User("anna"); !errors.Is(err, tc.want) || err == nil && u != now {
				t.Errorf("got %+v (%v), want %v and never more than %+v", u, err, tc.want, now)
			}
		})
	}
}

// An access token is judged by the directory. One that was made for a user whom the
// directory does not know yet would be refused until it does.
func TestRefreshTokenOfAUserChangedByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	daemon, command := open(t, dir), open(t, dir)
	token, err := daemon.NewRefreshToken(t.Context(), addUser(t, daemon, "anna", account.RoleAdmin))
	if err != nil {
		t.Fatal(err)
	}
	if err := command.SetRole(t.Context(), "anna", account.RoleViewer); err != nil {
		t.Fatal(err)
	}
	u, err := daemon.UseRefreshToken(t.Context(), token)
	if known, _ := daemon.User("anna"); err != nil || u.Role != account.RoleViewer || u != known {
		t.Errorf("got %+v (%v), want a viewer; the directory has %+v", u, err, known)
	}
	if err := command.RemoveUser(t.Context(), "anna"); err != nil {
		t.Fatal(err)
	}
	_, err = daemon.UseRefreshToken(t.Context(), token)
	wantErr(t, "token of a user removed by another process", err, account.ErrAuthFailed)
}

func countTokens(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.db.Load().read.QueryRow("SELECT count(*) FROM refresh_token").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRefreshTokensAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna := addUser(t, s, "anna", account.RoleAPIService)
	var tokens []string
	for range maxRefresh + 10 {
		token, err := s.NewRefreshToken(t.Context(), anna)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if n := countTokens(t, s); n != maxRefresh {
		t.Errorf("%d tokens are kept, want %d", n, maxRefresh)
	}
	_, err := s.UseRefreshToken(t.Context(), tokens[9])
	wantErr(t, "a token older than the newest 64", err, account.ErrAuthFailed)
	if _, err := s.UseRefreshToken(t.Context(), tokens[10]); err != nil {
		t.Errorf("the oldest of the newest 64: %v", err)
	}
	if err := s.EndSession(t.Context(), tokens[20]); err != nil {
		t.Fatal(err)
	}
	_, err = s.UseRefreshToken(t.Context(), tokens[20])
	wantErr(t, "a token that was ended", err, account.ErrAuthFailed)
	if n := countTokens(t, s); n != maxRefresh-1 {
		t.Errorf("%d tokens after one was ended, want %d", n, maxRefresh-1)
	}
	if err := s.SetPassword(t.Context(), "anna", "another password of hers"); err != nil {
		t.Fatal(err)
	}
	if n := countTokens(t, s); n != 0 {
		t.Errorf("%d tokens after another password", n)
	}
}

func TestRefreshTokensLiveThirtyDays(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna := addUser(t, s, "anna", account.RoleAPIService)
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(clock time.Time) { s.now = func() time.Time { return clock } }
	at(made)
	token, err := s.NewRefreshToken(t.Context(), anna)
	if err != nil {
		t.Fatal(err)
	}
	at(made.Add(refreshLife - time.Second))
	if _, err := s.UseRefreshToken(t.Context(), token); err != nil {
		t.Errorf("just before 30 days: %v", err)
	}
	at(made.Add(refreshLife + time.Second))
	_, err = s.UseRefreshToken(t.Context(), token)
	wantErr(t, "after 30 days", err, account.ErrAuthFailed)
	if _, err := s.NewRefreshToken(t.Context(), anna); err != nil {
		t.Fatal(err)
	}
	if n := countTokens(t, s); n != 1 {
		t.Errorf("%d tokens, want the expired one gone", n)
	}

	at(time.Unix(100, 0)) // a board without a battery, before its clock is set
	if token, err = s.NewRefreshToken(t.Context(), anna); err != nil {
		t.Fatal(err)
	}
	at(made)
	if _, err := s.UseRefreshToken(t.Context(), token); err != nil {
		t.Errorf("a token made before the clock was set: %v", err)
	}
	at(made.Add(refreshLife + time.Second))
	_, err = s.UseRefreshToken(t.Context(), token)
	wantErr(t, "30 days after the clock was set", err, account.ErrAuthFailed)
}

func TestStoredTokensAndKeysAreHashes(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	token, err := s.NewRefreshToken(t.Context(), addUser(t, s, "anna", account.RoleAdmin))
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.AddKey(t.Context(), "k", true)
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/dump"
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	dump := readFile(t, file)
	for what, text := range map[string]string{"password": goodPassword, "refresh token": token, "key": secret[4:]} {
		if strings.Contains(dump, text) {
			t.Errorf("the %s is in the database in clear", what)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	secret, key, err := s.AddKey(t.Context(), "dashboard", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(secret) != 4+64 || !strings.HasPrefix(secret, "ctl_"+key.Prefix) || len(key.Prefix) != 8 || key.Write {
		t.Errorf("secret of %d characters, key %+v", len(secret), key)
	}
	_, _, err = s.AddKey(t.Context(), "dashboard", true)
	wantErr(t, "a second key of the name", err, account.ErrExists)
	if got := s.Keys()[0]; !got.LastUsed.IsZero() {
		t.Errorf("a new key was last used %v", got.LastUsed)
	}
	for _, wrong := range []string{"", "ctl_", secret[:67], secret + "0", "svc" + secret[3:], "ctl_" + strings.Repeat("0", 64), strings.ToUpper(secret)} {
		if _, ok := s.KeyOf(wrong); ok {
			t.Errorf("%q is taken for a key", wrong)
		}
	}
	if got, ok := s.KeyOf(secret); !ok || got.UUID != key.UUID {
		t.Errorf("key %+v, want %+v", got, key)
	}
	used := s.Keys()[0].LastUsed
	if d := time.Since(used); d < 0 || d > 5*time.Second {
		t.Errorf("last used %v, want now", used)
	}
	s = reopen(t, s)
	if got := s.Keys()[0].LastUsed; !got.Equal(used) {
		t.Errorf("last used %v after a restart, want %v", got, used)
	}
	if err := s.RemoveKey(t.Context(), "dashboard"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.KeyOf(secret); ok {
		t.Error("a removed key is still good")
	}
}

func TestStrongerHashAtLogin(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna := addUser(t, s, "anna", account.RoleAdmin)
	salt, b64 := []byte("0123456789abcdef"), base64.RawStdEncoding.EncodeToString
	weak := fmt.Sprintf("$argon2id$v=19$m=8,t=1,p=1$%s$%s", b64(salt), b64(argon2.IDKey([]byte(goodPassword), salt, 1, 8, 1, 32)))
	if err := s.replaceHash(t.Context(), s.accounts.Load().users["anna"], weak); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if u, err := s.CheckPassword(t.Context(), "anna", goodPassword); err != nil || u != anna {
			t.Fatalf("login: %+v, %v", u, err)
		}
	}
	if stored := s.accounts.Load().users["anna"].password; !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("stored hash %s is still the weak one", stored)
	}
	// A password that was changed while another hash of the old one was made stays.
	before := s.accounts.Load().users["anna"]
	if err := s.SetPassword(t.Context(), "anna", "another good one"); err != nil {
		t.Fatal(err)
	}
	s.rehash(t.Context(), before, goodPassword)
	if _, err := s.CheckPassword(t.Context(), "anna", goodPassword); !errors.Is(err, account.ErrAuthFailed) {
		t.Errorf("a password that was changed is good again: %v", err)
	}
	if _, err := s.CheckPassword(t.Context(), "anna", "another good one"); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

func TestAtMostTwoHashingsAtATime(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	running, release := make(chan struct{}, maxWaiting), make(chan struct{})
	var done sync.WaitGroup
	for range maxWaiting {
		done.Go(func() {
			s.hash(t.Context(), func() { running <- struct{}{}; <-release })
		})
	}
	eventually(t, "64 wait and two run", func() bool { return s.waiting.Load() == maxWaiting && len(running) == maxHashings })
	_, err := s.CheckPassword(t.Context(), "anna", goodPassword)
	wantErr(t, "one more login", err, appliance.ErrOverloaded)
	if n := len(running); n != maxHashings {
		t.Errorf("%d hashings at a time, want %d", n, maxHashings)
	}
	close(release)
	done.Wait()
}

func TestSecretsAreMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	var mu sync.Mutex
	made := 0
	create := func() ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		made++
		return fmt.Append(nil, "secret ", made), nil
	}
	var wg sync.WaitGroup
	values := make([]string, 8)
	for i := range values {
		wg.Go(func() {
			v, err := []*Store{a, b}[i%2].Secret(t.Context(), "jwt", create)
			if err != nil {
				t.Error(err)
			}
			values[i] = string(v)
		})
	}
	wg.Wait()
	for _, v := range values {
		if v != "secret 1" {
			t.Errorf("secrets %q, want all the first", values)
			break
		}
	}
	broken := errors.New("no entropy")
	_, err := a.Secret(t.Context(), "tls", func() ([]byte, error) { return nil, broken })
	wantErr(t, "a secret that cannot be made", err, broken)
}
