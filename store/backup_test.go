package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/site/backup"
)

func TestBackupToAStreamCanBeRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	imports(t, s, demo(), ImportOptions{})
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.BackupTo(t.Context(), &out, backup.Seal{}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no room")
	if err := s.BackupTo(t.Context(), writeTo(func([]byte) (int, error) { return 0, full }), backup.Seal{}); !errors.Is(err, full) {
		t.Errorf("a stream that takes nothing: %v, want %v", err, full)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("files in the data directory: %v (%v), want no more than %v", after, err, before)
	}
	file := filepath.Join(t.TempDir(), "received")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	blank := t.TempDir()
	if _, err := Restore(t.Context(), file, blank, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := load(t, open(t, blank)), load(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("restored site %+v, want %+v", got, want)
	}
	if err := os.WriteFile(file, out.Bytes()[:out.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, t.TempDir(), nil); err == nil {
		t.Error("a backup that was cut off is restored")
	}
}

// writeTo is a writer made of a function.
type writeTo func([]byte) (int, error)

func (w writeTo) Write(b []byte) (int, error) { return w(b) }

func TestBackupAndRestoreOnBlankHardware(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	if _, err := s.AddUser(t.Context(), "anna", "long enough", account.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.AddKey(t.Context(), "dashboard", false)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "site.backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup has mode %v (%v), want 0600", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), file, BackupOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second backup to the same file: %v, want ErrExist", err)
	}
	if err := s.Backup(t.Context(), file, BackupOptions{Overwrite: true}); err != nil {
		t.Errorf("overwriting backup: %v", err)
	}
	if err := s.Backup(t.Context(), s.path, BackupOptions{Overwrite: true}); err == nil {
		t.Error("a backup replaced the database itself")
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("files beside the backup: %v (%v), want only it", left, err)
	}

	blank := t.TempDir()
	r, err := Restore(t.Context(), file, blank, nil)
	if err != nil || r != (Restored{}) {
		t.Fatalf("restore on blank hardware: %+v, %v", r, err)
	}
	other := open(t, blank)
	if got, want := load(t, other), load(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("restored site %+v, want %+v", got, want)
	}
	if _, err := other.CheckPassword(t.Context(), "anna", "long enough"); err != nil {
		t.Errorf("password after restore: %v", err)
	}
	if _, ok := other.KeyOf(secret); !ok {
		t.Error("key is unknown after restore")
	}
}

func TestRestoreNeverHandsOutAnIDAgain(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	bus := load(t, s).Buses
	node := func(name, address string, id appliance.ID) appliance.Site {
		return appliance.Site{Buses: bus, Nodes: []appliance.Node{{Name: name, ID: id, Bus: bus[0].UUID, Address: address}}}
	}
	imports(t, s, node("After the backup", "50", 0), ImportOptions{})
	imports(t, s, node("Far away", "51", 90_000), ImportOptions{})
	later := load(t, s)

	s.Close()
	r, err := Restore(t.Context(), file, filepath.Dir(s.path), nil)
	if err != nil || r.Warning != "" || r.Replaced == "" {
		t.Fatalf("restore: %+v, %v", r, err)
	}
	s = open(t, filepath.Dir(s.path))
	if n := len(load(t, s).Nodes); n != 3 {
		t.Errorf("%d nodes after restore, want the 3 of the backup", n)
	}
	imports(t, s, node("New", "52", 0), ImportOptions{})
	if got := load(t, s).Nodes[3].ID; got != 5 {
		t.Errorf("new node has ID %d, want 5: 4 was handed out after the backup", got)
	}
	refuses(t, s, node("Thief", "53", 90_000), ImportOptions{}, `90000 was the ID of node "Far away"`)
	imports(t, s, later, ImportOptions{}) // with its UUID it comes back
	if got := load(t, s); got.Nodes[len(got.Nodes)-1].UUID != later.Nodes[4].UUID {
		t.Errorf("node 90000 did not come back: %+v", got.Nodes)
	}

	kept, err := fileAt(r.Replaced).Reader(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	var n int
	if err := kept.QueryRow("SELECT count(*) FROM node").Scan(&n); err != nil || n != 5 {
		t.Errorf("the replaced database holds %d nodes (%v), want 5", n, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if err := s.Backup(t.Context(), good, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	torn := append([]byte(nil), data...)
	clear(torn[4096*3 : 4096*6])
	archive, err := backup.Read(t.Context(), bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	archive.Database[63] = 99 // user_version, file format §1.3
	before := load(t, s)

	if _, err := Restore(t.Context(), good, filepath.Dir(s.path), nil); !errors.Is(err, ErrLocked) {
		t.Errorf("restore while the store is open: %v, want ErrLocked", err)
	}
	s.Close()
	daemon, err := Lock(filepath.Dir(s.path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), good, filepath.Dir(s.path), nil); !errors.Is(err, ErrLocked) {
		t.Errorf("restore while a daemon runs: %v, want ErrLocked", err)
	}
	daemon.Release()
	for file, want := range map[string]string{
		filepath.Join(dir, "missing"):               "no such file",
		write("empty", nil):                         "not a backup",
		write("text", []byte("buses: []")):          "not a backup of a controller",
		write("torn", torn):                         "",
		write("cut", data[:len(data)/2]):            "",
		packed(t, write("newer", archive.Database)): "version 99",
	} {
		if _, err := Restore(t.Context(), file, filepath.Dir(s.path), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("restore of %s: %v, want an error with %q", filepath.Base(file), err, want)
		}
	}
	s = open(t, filepath.Dir(s.path))
	if after := load(t, s); !reflect.DeepEqual(before, after) {
		t.Error("a refused restore changed the site")
	}
}

func TestRestoreOverADamagedDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	file := filepath.Join(t.TempDir(), "backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(s.path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Restore(t.Context(), file, filepath.Dir(s.path), nil)
	if err != nil || r.Warning == "" || r.Replaced == "" {
		t.Fatalf("restore over a damaged database: %+v, %v; want a warning and the old file kept", r, err)
	}
	if n := len(load(t, open(t, filepath.Dir(s.path))).Nodes); n != 3 {
		t.Errorf("%d nodes, want 3", n)
	}
}

// A sealed backup is read from its beginning, and leaves nothing behind.
func TestSealedBackupHasNoName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	imports(t, s, demo(), ImportOptions{})
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.SealedBackup(t.Context(), backup.Seal{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(sealed)
	if err := errors.Join(err, sealed.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := sealed.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after it was closed: %v", err)
	}
	file := filepath.Join(t.TempDir(), "sealed")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, t.TempDir(), nil); err != nil {
		t.Error(err)
	}
	if _, err := s.SealedBackup(t.Context(), backup.Seal{Key: "no key"}); err == nil {
		t.Error("it is sealed for a key that is none")
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("files in the data directory: %v (%v), want no more than %v", after, err, before)
	}
}

// A file that had to have a name, as on a stick, is not given that of another unless it is to replace it, and is gone if it is
// given up.
func TestFileThatIsNamedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := filepath.Join(dir, "backup")
	content := func(file string) string { b, _ := os.ReadFile(file); return string(b) }
	write := func(text string) *anonymous {
		f, err := os.Create(to + ".part")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		return &anonymous{File: f, dir: dir, named: f.Name()}
	}
	for _, step := range []struct {
		text    string
		replace bool
		want    string
	}{{"one", false, "one"}, {"two", false, "one"}, {"three", true, "three"}} {
		a := write(step.text)
		err := a.become(to, step.replace)
		a.discard()
		if _, err := a.WriteString("more"); !errors.Is(err, os.ErrClosed) {
			t.Errorf("written to after all: %v", err)
		}
		if refused := step.want != step.text; errors.Is(err, fs.ErrExist) != refused || !refused && err != nil || content(to) != step.want {
			t.Errorf("%+v: %v, there is %q", step, err, content(to))
		}
		if _, err := os.Lstat(to + ".part"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: what it was meanwhile: %v", step, err)
		}
	}
	a := write("four")
	if err := os.Remove(a.named); err != nil {
		t.Fatal(err)
	}
	if err := a.become(to, true); err == nil {
		t.Error("what is gone has become a file")
	}
	a.discard()
	if _, err := newAnonymous(filepath.Join(dir, "missing", "file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
}

// A copy is whole or not there, and takes nobody's place.
func TestCopyIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(from, to); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != 4 || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(from, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if b, err := os.ReadFile(to); string(b) != "text" {
		t.Errorf("over another: %q, %v", b, err)
	}
	for what, from := range map[string]string{"what is missing": filepath.Join(dir, "missing"), "a directory": dir} {
		to := filepath.Join(t.TempDir(), "to")
		if err := copyFile(from, to); err == nil {
			t.Errorf("%s was copied", what)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is left: %v", what, err)
		}
	}
}
