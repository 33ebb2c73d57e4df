package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/database"
)

// A bit of a row of the last state flips: nothing but that row may be lost.
func TestOneBadStateRowKeepsTheOthers(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	b := someBatch(4)
	if err := s.SaveBatch(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Load().conf.Exec("UPDATE state SET rgbw = -1 WHERE (shade, node, channel) = (SELECT shade, node, channel FROM state LIMIT 1)"); err != nil {
		t.Fatal(err)
	}
	got, err := s.LoadStates(t.Context())
	if err != nil || len(got) != len(b.States)-1 {
		t.Errorf("one bad row of %d: %d states, %v", len(b.States), len(got), err)
	}
}

// The same for a key: others must still get in, and above all the daemon must start.
func TestOneBadKeyOrUserDoesNotStopTheDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	addUser(t, s, "anna", account.RoleAdmin)
	if _, _, err := s.AddKey(t.Context(), "dashboard", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Load().conf.Exec("PRAGMA ignore_check_constraints = 1; UPDATE api_key SET uuid = x'00'"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s, err := Open(t.Context(), dir, quiet())
	if err != nil {
		t.Fatalf("one key that cannot be read: %v", err)
	}
	s.Close()
}

// A restore that fails leaves nothing behind, least of all on a full disk.
func TestFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	s.Close()
	if _, err := Restore(t.Context(), t.TempDir(), dir, nil); err == nil { // a folder is opened, and cannot be read
		t.Fatal("a folder was restored")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range left {
		if strings.Contains(f, "restoring") {
			t.Errorf("%s is left", filepath.Base(f))
		}
	}
}

func TestRestoreOfAnOlderVersionLeavesNoCopy(t *testing.T) {
	t.Parallel()
	steps, err := database.Steps(migrations)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "old.db")
	db, err := fileAt(file).Writer(database.Full)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), db, file, steps[:1]); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := Restore(t.Context(), packed(t, file), dir, nil); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	for _, f := range left {
		if strings.Contains(f.Name(), "restoring") {
			t.Errorf("%s is left", f.Name())
		}
	}
}

// docs/site-file.md: "site: May be left out; then name and settings stay as they are."
func TestReplaceWithoutSiteKeepsSettings(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s)
	in := before
	in.Name, in.Settings = "", appliance.Settings{}
	imports(t, s, in, ImportOptions{Replace: true})
	if got := load(t, s); got.Settings != before.Settings || got.Name != before.Name {
		t.Errorf("settings are %q %+v, want %q %+v", got.Name, got.Settings, before.Name, before.Settings)
	}
}

// A clock that ran ahead when a token was made must not make it live for years.
func TestRefreshTokenFromTheFuture(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.synced = func() bool { return true } // when it is asked
	user := addUser(t, s, "anna", account.RoleAdmin)
	right := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return right.AddDate(10, 0, 0) } // before NTP had its say
	token, err := s.NewRefreshToken(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{0, 29, 62, 3650} {
		s.now = func() time.Time { return right.AddDate(0, 0, days) }
		_, err := s.UseRefreshToken(t.Context(), token)
		t.Logf("day %d: %v", days, err)
		if days > 31 && err == nil {
			t.Errorf("a token made %d days ago is good", days)
		}
	}
}

func TestCreatedOnOutOfRange(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for i, on := range []string{"9999-12-31T00:00:00Z", "1600-01-01T00:00:00Z", "1970-01-01T00:00:00Z"} {
		want, _ := time.Parse(time.RFC3339, on)
		r, err := s.Import(t.Context(), appliance.Site{Clusters: []appliance.Cluster{{ID: appliance.ID(i + 1), Name: on, CreatedOn: want}}}, ImportOptions{})
		if err != nil {
			t.Logf("%s: refused: %v", on, err)
			continue
		}
		_ = r
		if got := load(t, s).Clusters[i].CreatedOn; !got.Equal(want) {
			t.Errorf("%s: created on %v", on, got)
		}
	}
}

// After a restore the tables of devices and the positions of shades are those of
// the day of the backup; nobody may take them for those of today.
func TestRestoreDoesNotBelieveWhatTheBackupSaysOfDevices(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "facade", Driver: "sdn", Port: "/dev/ttyUSB0"}
	imports(t, s, appliance.Site{Name: "House", Buses: []appliance.Bus{bus},
		Nodes:  []appliance.Node{{ID: 1, Name: "m", Bus: bus.UUID, Address: "1"}},
		Shades: []appliance.Shade{{ID: 5001, Name: "s", Node: 1, Output: 1}}}, ImportOptions{})
	save := func(group string, p appliance.Position, at time.Time) {
		t.Helper()
		if err := s.SaveGroups(t.Context(), bus.UUID, appliance.BusGroups{
			Tables: []appliance.GroupTable{{Device: "06.1A.2B", Held: []string{group}, Known: true}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveBatch(t.Context(), appliance.Batch{States: []appliance.Saved{{
			Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanPosition, Position: p}, At: at}}}); err != nil {
			t.Fatal(err)
		}
	}
	save("01.01.FE", 100, morning)
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	save("01.01.FD", 0, morning.AddDate(0, 1, 0)) // a month later, all is otherwise
	s.Close()
	if _, err := Restore(t.Context(), file, filepath.Dir(s.path), nil); err != nil {
		t.Fatal(err)
	}
	s = open(t, filepath.Dir(s.path))
	states, err := s.LoadStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range states {
		if v.Shade == 5001 && v.Has.Has(appliance.CanPosition) && v.Position == 100 {
			t.Errorf("the shade is believed at 100 as on the day of the backup; it was last at 0: %+v", v)
		}
	}
	groups, err := s.LoadGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range groups[bus.UUID].Tables {
		if table.Known && table.Held[0] == "01.01.FE" {
			t.Errorf("device %s is believed to hold %v as on the day of the backup; it holds 01.01.FD", table.Device, table.Held)
		}
	}
}

// The daemon writes behind; its last batch may come after an import retired the shade.
func TestReturnedShadeHasNoOldPosition(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	site := load(t, s)
	shade := site.Shades[0].ID
	imports(t, s, appliance.Site{}, ImportOptions{Replace: true})
	if err := s.SaveBatch(t.Context(), appliance.Batch{States: []appliance.Saved{{
		Ref: appliance.Ref{Shade: shade}, Values: appliance.Values{Has: appliance.CanPosition, Position: 100}, At: morning}}}); err != nil {
		t.Fatal(err)
	}
	imports(t, s, site, ImportOptions{}) // a year later
	states, err := s.LoadStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range states {
		t.Errorf("state of before its removal: %+v", v)
	}
}

// A board without RTC boots with the date of its image, a client refreshes, NTP sets the clock.
func TestTokenUsedBeforeTheClockWasSet(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.synced = func() bool { return s.now().After(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) }
	user := addUser(t, s, "anna", account.RoleAdmin)
	right := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return right }
	token, err := s.NewRefreshToken(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return time.Date(2026, 5, 1, 0, 0, 10, 0, time.UTC) } // date of the image
	if _, err := s.UseRefreshToken(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return right.Add(5 * time.Minute) } // NTP
	if _, err := s.UseRefreshToken(t.Context(), token); err != nil {
		t.Errorf("a refresh token of 5 minutes is refused: %v", err)
	}
}

// A DMX fixture is sent what the last state says, and shown as such, with no device to read it from.
func TestRestoreGivesDMXTheLightOfTheDayOfTheBackup(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "stage", Driver: "dmx", Port: "/dev/ttyUSB0"}
	imports(t, s, appliance.Site{Name: "House", Buses: []appliance.Bus{bus},
		Nodes: []appliance.Node{{ID: 1, Name: "m", Bus: bus.UUID, Address: "1"}}}, ImportOptions{})
	save := func(l appliance.Level, at time.Time) {
		t.Helper()
		if err := s.SaveBatch(t.Context(), appliance.Batch{States: []appliance.Saved{{
			Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanSwitch | appliance.CanDim, Level: l}, At: at}}}); err != nil {
			t.Fatal(err)
		}
	}
	save(100, morning)
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	save(0, morning.AddDate(0, 1, 0)) // a month later it is off
	s.Close()
	if _, err := Restore(t.Context(), file, filepath.Dir(s.path), nil); err != nil {
		t.Fatal(err)
	}
	s = open(t, filepath.Dir(s.path))
	states, err := s.LoadStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range states {
		if v.Node == 1 && v.Has != 0 && v.Level == 100 {
			t.Errorf("the fixture is believed at %d as on the day of the backup, and is sent that when the daemon starts", v.Level)
		}
	}
}
