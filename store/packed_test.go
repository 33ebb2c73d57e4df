package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/site/backup"
)

// packed writes a database file as a backup.
func packed(t *testing.T, database string) string {
	t.Helper()
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[18:20], []byte{1, 1}) // without a log
	var out bytes.Buffer
	if err := backup.Write(&out, backup.Seal{}, morning, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "packed")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEncryptedBackupWithProfilesAndCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	imports(t, s, demo(), ImportOptions{})
	put := func(path, text string) string {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put(filepath.Join(dir, "profiles", "lamp.yaml"), "outputs: []\n")
	elsewhere := t.TempDir()
	if err := s.KeepCertificate(t.Context(), put(filepath.Join(elsewhere, "c.pem"), "CERT"), put(filepath.Join(elsewhere, "k.pem"), "KEY")); err != nil {
		t.Fatal(err)
	}
	file, phrase := filepath.Join(t.TempDir(), "house.age"), new("correct horse")
	if err := s.Backup(t.Context(), file, BackupOptions{Seal: backup.Seal{Passphrase: phrase}}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || !backup.Encrypted(data) {
		t.Errorf("the backup is not encrypted: %v", err)
	}
	if _, err := Drill(t.Context(), file, nil); !errors.Is(err, backup.ErrEncrypted) {
		t.Errorf("drill without the passphrase: %v", err)
	}
	d, err := Drill(t.Context(), file, phrase)
	site := load(t, s)
	if err != nil || d.Nodes != len(site.Nodes) || d.Shades != len(site.Shades) || d.Profiles != 1 || !d.Certificate || len(d.Unreadable) > 0 {
		t.Errorf("drill: got %+v, %v", d, err)
	}
	blank := filepath.Join(t.TempDir(), "blank")
	if _, err := Restore(t.Context(), file, blank, new("wrong")); err == nil {
		t.Error("restored with a wrong passphrase")
	}
	if _, err := os.Stat(blank); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused restore made the data directory: %v", err)
	}
	if _, err := Restore(t.Context(), file, blank, phrase); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(blank, "profiles", "lamp.yaml")); err != nil || string(got) != "outputs: []\n" {
		t.Errorf("the profile is %q, %v", got, err)
	}
	other := open(t, blank)
	both, err := other.Secret(t.Context(), "tls-certificate", func() ([]byte, error) { return nil, errors.New("none") })
	if err != nil || string(both) != "CERT\nKEY\n" {
		t.Errorf("the certificate is %q, %v", both, err)
	}
	if got := load(t, other); !reflect.DeepEqual(got, site) {
		t.Errorf("restored %+v, want %+v", got, site)
	}
}

// What a restore brings back are people, not who was logged in.
func TestRestoreEndsAllLogins(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	token, err := s.NewRefreshToken(t.Context(), addUser(t, s, "anna", account.RoleAdmin))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := s.Secret(t.Context(), "token-secret", func() ([]byte, error) { return []byte("old"), nil })
	if err != nil {
		t.Fatal(err)
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
	if _, err := other.UseRefreshToken(t.Context(), token); !errors.Is(err, account.ErrAuthFailed) {
		t.Errorf("a refresh token of before: %v", err)
	}
	if now, err := other.Secret(t.Context(), "token-secret", func() ([]byte, error) { return []byte("new"), nil }); err != nil || bytes.Equal(now, secret) {
		t.Errorf("the secret is %q, as before: %v", now, err)
	}
}

// TestKilledBackupsAndRestoresLeaveNothing ends processes that do nothing but back up and
// restore, at any moment.
func TestKilledBackupsAndRestoresLeaveNothing(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	tries := 12
	if os.Getenv("SOAK") != "" {
		tries = 300
	}
	dir, out := t.TempDir(), t.TempDir()
	s := open(t, dir)
	random := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		if _, err := addSome(t.Context(), s, random); err != nil {
			t.Fatal(err)
		}
	}
	site := load(t, s)
	file := filepath.Join(t.TempDir(), "good")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range tries {
		verb, to := "backup", filepath.Join(out, fmt.Sprint(i))
		if i%2 == 1 {
			verb, to = "restore", file
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), killedVerb+"="+verb, killedDir+"="+dir, killedFile+"="+to)
		ready, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		if err := open(t, dir).Close(); err != nil { // the next start
			t.Fatal(err)
		}

		made, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range made {
			if _, err := Drill(t.Context(), filepath.Join(out, f.Name()), nil); err != nil {
				t.Errorf("%s of %s is no whole backup: %v", verb, f.Name(), err)
			}
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			if n := f.Name(); n != lockFile && !strings.HasPrefix(n, databaseFile) || strings.Contains(n, "restoring") || strings.HasSuffix(n, ".part") {
				t.Errorf("%s left %s behind", verb, n)
			}
		}
		if t.Failed() {
			return
		}
	}
	if got := load(t, open(t, dir)); !reflect.DeepEqual(got.Nodes, site.Nodes) {
		t.Errorf("%d nodes, want %d as they were", len(got.Nodes), len(site.Nodes))
	}
}

// What a process that is to be killed does.
const (
	killedVerb = "STORE_KILLED_VERB"
	killedDir  = "STORE_KILLED_DIR"
	killedFile = "STORE_KILLED_FILE"
)

// killedChild backs up, or restores, again and again until it is killed.
func killedChild() error {
	ctx, dir, file := context.Background(), os.Getenv(killedDir), os.Getenv(killedFile)
	fmt.Println("ready")
	if os.Getenv(killedVerb) == "restore" {
		for {
			if _, err := Restore(ctx, file, dir, nil); err != nil {
				return err
			}
		}
	}
	s, err := Open(ctx, dir, quiet())
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := s.Backup(ctx, fmt.Sprint(file, "-", n), BackupOptions{}); err != nil {
			return err
		}
	}
}

func TestNightlyBackupsAreSevenDeep(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	folder := filepath.Join(t.TempDir(), "mounted", "backups")
	night := time.Date(2026, 3, 1, 3, 5, 0, 0, time.Local)
	made := 0
	for hour := range 24 * 12 {
		s.now = func() time.Time { return night.Add(time.Duration(hour) * time.Hour) }
		file, err := s.Nightly(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		if file != "" {
			made++
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || made != 12 || len(left) != 7 {
		t.Errorf("in 12 days %d were made and %d kept (%v), want 12 and 7", made, len(left), err)
	}
	// A clock that went back, as that of a board without a battery, is no reason for one each time, nor for none until it is later
	// than it ever was.
	s.now = func() time.Time { return night.AddDate(-5, 0, 0) }
	made = 0
	for range 3 {
		file, err := s.Nightly(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		if file != "" {
			made++
		}
	}
	if left, err := os.ReadDir(folder); err != nil || made != 1 || len(left) != 7 {
		t.Errorf("with the clock set back %d were made and %d are kept (%v), want 1 and 7", made, len(left), err)
	}
}

func TestBackupsBeforeMigrationsAreSevenDeep(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	folder := t.TempDir()
	own := filepath.Join(folder, "before-migration-mine") // somebody's, not ours to remove
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var last string
	for day := range 9 {
		s.now = func() time.Time { return time.Date(2026, 3, 1+day, 9, 0, 0, 0, time.UTC) }
		file, err := s.BackupBeforeMigration(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		last = file
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 8 {
		t.Errorf("%d files are left (%v), want 7 and somebody's own", len(left), err)
	}
	for _, file := range []string{own, last} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// A restore that is killed between naming its database and putting it in its place leaves a copy behind, until the next start.
func TestWhatAKilledRestoreLeftBehindGoesWithTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part := filepath.Join(dir, databaseFile+partSuffix)
	if err := os.WriteFile(part, []byte("a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", part, err)
	}
}
