package store

import (
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/password"
)

// A password change ends all logins; bringing back a backup from before must not revive
// them, nor the secret that old access tokens are signed with.
func TestRestoreRevivesNoLogin(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	anna, err := s.AddUser(t.Context(), "anna", goodPassword, account.RoleOperator)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.NewRefreshToken(t.Context(), anna)
	if err != nil {
		t.Fatal(err)
	}
	make := func(text string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(text), nil } }
	for _, name := range []string{"token-secret", "tls-certificate"} {
		if _, err := s.Secret(t.Context(), name, make("old")); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	blank := t.TempDir()
	if _, err := Restore(t.Context(), file, blank, nil); err != nil {
		t.Fatal(err)
	}
	other := open(t, blank)
	if _, err := other.UseRefreshToken(t.Context(), token); err == nil {
		t.Error("a refresh token from before the backup is good again")
	}
	for name, want := range map[string]string{"token-secret": "new", "tls-certificate": "old"} {
		if got, err := other.Secret(t.Context(), name, make("new")); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if _, err := other.CheckPassword(t.Context(), "anna", goodPassword); err != nil {
		t.Errorf("the password itself: %v", err)
	}
}

func TestDataDirectoryThatEverybodyMayWriteIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := Lock(dir)
	if err == nil || !strings.Contains(err.Error(), "chmod o-w "+dir) {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	g.Release()
}

// Not parallel: it looks at the memory of the whole process.
func TestManyLoginsAtOnceTakeTheMemoryOfFew(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.AddUser(t.Context(), "anna", goodPassword, account.RoleOperator); err != nil {
		t.Fatal(err)
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	inUse := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before := inUse()
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := s.CheckPassword(t.Context(), "anna", goodPassword); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { defer close(done); wg.Wait() }()
	most := uint64(0)
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(time.Millisecond):
		}
		most = max(most, inUse())
	}
	if grown := int64(most) - int64(before); grown > 2*password.Memory<<10 {
		t.Errorf("30 logins at once took %d MB, want at most that of two hashes", grown>>20)
	}
}
