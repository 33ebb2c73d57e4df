package store

import (
	"errors"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
)

// A token is good at the door that it was made for, and nowhere else.
func TestTokenIsGoodAtItsOwnDoorOnly(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, t.TempDir()), t.Context()
	anna := addUser(t, s, "anna", account.RoleAdmin)
	public, err := s.NewRefreshToken(ctx, anna)
	if err != nil {
		t.Fatal(err)
	}
	browser, err := s.NewSession(ctx, anna)
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(string) (account.User, error){
		public:  func(token string) (account.User, error) { return s.UseRefreshToken(ctx, token) },
		browser: func(token string) (account.User, error) { return s.UseSession(ctx, token) },
	} {
		for _, token := range []string{public, browser} {
			if _, err := use(token); (err == nil) != (token == name) {
				t.Errorf("made for this door: %v, and: %v", token == name, err)
			}
		}
	}
}

// Who logged in with a password that was changed while the answer was on its way gets no token: it would outlive all that the change
// has ended.
func TestPasswordThatWasChangedMeanwhileGivesNoToken(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, t.TempDir()), t.Context()
	before := addUser(t, s, "anna", account.RoleAdmin)
	if err := s.SetPassword(ctx, "anna", "another password for tests"); err != nil {
		t.Fatal(err)
	}
	now, _ := s.User("anna")
	for door, make := range map[string]func(account.User) (string, error){
		doorPublic:  func(u account.User) (string, error) { return s.NewRefreshToken(ctx, u) },
		doorProgram: func(u account.User) (string, error) { return s.NewRotatingToken(ctx, u) },
		doorBrowser: func(u account.User) (string, error) { return s.NewSession(ctx, u) },
	} {
		if _, err := make(before); !errors.Is(err, account.ErrAuthFailed) {
			t.Errorf("%s, with the old password: %v", door, err)
		}
		if _, err := make(now); err != nil {
			t.Errorf("%s, with the new one: %v", door, err)
		}
	}
}

// A token that was replaced may come once more within a moment: the answer was lost. Later it
// was stolen, by whoever came first or last: all that go back to the same log-in end.
func TestReplacedTokenComesOnceMoreOrEndsTheLogIn(t *testing.T) {
	t.Parallel()
	for after, stolen := range map[time.Duration]bool{replacedGrace / 2: false, replacedGrace + time.Second: true} {
		s, ctx := open(t, t.TempDir()), t.Context()
		now := time.Now()
		s.now = func() time.Time { return now }
		first, err := s.NewRotatingToken(ctx, addUser(t, s, "anna", account.RoleAdmin))
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := s.Rotate(ctx, first)
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(after)
		if _, _, err := s.Rotate(ctx, first); (err != nil) != stolen {
			t.Errorf("the first once more after %v: %v", after, err)
		}
		if _, _, err := s.Rotate(ctx, second); (err != nil) != stolen {
			t.Errorf("the second after that: %v, want refused: %v", err, stolen)
		}
	}
}

// A name that people take for another's is that of nobody new.
func TestNobodyIsNamedLikeAnother(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	addUser(t, s, "anna", account.RoleAdmin)
	for _, like := range []string{"Anna", "ANNA"} {
		_, err := s.AddUser(t.Context(), like, "correct horse battery", account.RoleAdmin)
		wantErr(t, like, err, account.ErrExists)
	}
}
