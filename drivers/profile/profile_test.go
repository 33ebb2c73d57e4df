package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"svc.internal/controller/site/schema"
)

// lamp is a profile whose file is its name.
type lamp string

func (l lamp) Info() Info { return Info{Name: string(l)} }

func readLamp(file string, data []byte) (lamp, error) {
	if text := strings.TrimSpace(string(data)); text != "broken" {
		return lamp(text), nil
	}
	return "", schema.Problems{{File: file, Line: 3, Column: 1, Key: "slots", Message: "is missing"}, {File: file, Message: "and more"}}
}

func lamps() Set[lamp] {
	return Set[lamp]{Folder: "profiles/lamps", Read: readLamp}.ReadBuiltin(fstest.MapFS{
		"profiles/round.yaml": {Data: []byte("round")}, "profiles/long.yaml": {Data: []byte("long\n")}, "profiles/README": {Data: []byte("broken")},
	})
}

func TestBuiltInProfilesAreListedByName(t *testing.T) {
	var names []string
	for _, p := range lamps().List() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"long", "round"}) {
		t.Errorf("%q", names)
	}
	for what, file := range map[string]string{"broken": "broken", "misnamed": "other"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a built-in profile that is %s was taken", what)
				}
			}()
			Set[lamp]{Read: readLamp}.ReadBuiltin(fstest.MapFS{"profiles/one.yaml": {Data: []byte(file)}})
		}()
	}
}

func TestOwnProfilesAreFoundAndBrokenOnesExplained(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, "profiles", "lamps")
	write := func(name, text string) string {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("mine", "mine")
	bad, other, huge, round := write("bad", "broken"), write("other", "another"), write("huge", strings.Repeat(" ", maxSize+1)), write("round", "round")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "gone.yaml")); err != nil {
		t.Fatal(err)
	}
	s := lamps()
	var warned []string
	l := s.ReadOwn(data, func(err error) { warned = append(warned, err.Error()) })
	for _, want := range []string{
		bad + ":3:1: slots: is missing\n" + bad + ": and more",
		other + `: name: is "another", must be the file's name "other"`,
		huge + ": has 262145 bytes, at most 262144 are allowed",
		round + ": a profile named round is built in and stays in use: give your own another name",
		"stat " + filepath.Join(dir, "gone.yaml") + ": no such file or directory",
	} {
		if !slices.Contains(warned, want) {
			t.Errorf("%q is not in %q", want, warned)
		}
	}
	if len(warned) != 5 || len(l.Own) != 1 || len(l.broken) != 5 {
		t.Errorf("%d warnings, %d own, %d broken", len(warned), len(l.Own), len(l.broken))
	}
	for name, want := range map[string]string{
		"mine": "", "round": "", "long": "",
		"bad":     "profile bad is broken: " + bad + ":3:1: slots: is missing",
		"other":   `profile other is broken: ` + other + `: name: is "another"`,
		"another": `profile another is broken: ` + other + `: name: is "another", must be the file's name "other"`,
		"none":    `there is no profile "none"; built in are long, round; your own belong into the folder profiles/lamps of the data directory`,
	} {
		p, err := l.Find(name)
		if want == "" && (err != nil || p.Info().Name != name) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %q, %v, want %q", name, p, err, want)
		}
	}
	denied := &os.PathError{Op: "open", Path: bad, Err: os.ErrPermission}
	l.broken["bad"] = denied
	if _, err := l.Find("bad"); !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), "profile bad cannot be read: ") {
		t.Errorf("a file that may not be read: %v", err)
	}
}

func TestOwnProfilesAreBounded(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxOwn + 2 {
		name := fmt.Sprintf("p%03d", i)
		if err := os.WriteFile(filepath.Join(data, "own", name+".yaml"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var warned []error
	own := Set[lamp]{Folder: "own", Read: readLamp}.ReadOwn(data, func(err error) { warned = append(warned, err) }).Own
	if len(own) != maxOwn || len(warned) != 1 || !strings.Contains(warned[0].Error(), "202 profiles in ") {
		t.Errorf("%d profiles, %v", len(own), warned)
	}
	if l := lamps().ReadOwn("", func(err error) { t.Error(err) }); len(l.Own)+len(l.broken) != 0 {
		t.Error("profiles without a data directory")
	}
}
