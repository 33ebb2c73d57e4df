// Package profile finds device profiles: files that say what one kind of device
// understands. Some are part of the program, others are installers' own.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc.internal/controller/site/schema"
)

// Info says what a profile is and where its facts come from.
type Info struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	Caveats []string `json:"caveats,omitempty"`
	// Lights counts the outputs that can be lights; Shades has, of each output that can be a shade, the
	// light outputs that it is made of.
	Lights int     `json:"lights"`
	Shades [][]int `json:"shades,omitempty"`
}

// Profile is what a driver makes of a profile file.
type Profile interface{ Info() Info }

// Set is the profiles of one driver.
type Set[P Profile] struct {
	// Builtin profiles by name; not to be changed.
	Builtin map[string]P
	// Kind of device that they are for, in a word.
	Kind string
	// Folder of installers' own, below the data directory.
	Folder string
	// Read makes a profile of a file. What is wrong with it is told as
	// [schema.Problems].
	Read func(file string, data []byte) (P, error)
}

// Bounds of installers' own profiles.
const (
	maxOwn  = 200
	maxSize = 256 << 10 // bytes
)

// ReadBuiltin fills in Builtin from the files profiles/*.yaml. They are part of the
// program: a broken one is a programmer's mistake and panics, in any test.
func (s Set[P]) ReadBuiltin(files fs.FS) Set[P] {
	s.Builtin = make(map[string]P)
	paths, err := fs.Glob(files, "profiles/*.yaml")
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		data, err := fs.ReadFile(files, path)
		if err != nil {
			panic(err)
		}
		p, err := s.Read(path, data)
		if err != nil {
			panic(err)
		}
		name := p.Info().Name
		if path != "profiles/"+name+".yaml" {
			panic(fmt.Sprintf("%s holds profile %s", path, name))
		}
		s.Builtin[name] = p
	}
	return s
}

// List tells of the built-in profiles, by name.
func (s Set[P]) List() []Info {
	list := make([]Info, 0, len(s.Builtin))
	for _, p := range s.Builtin {
		list = append(list, p.Info())
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// ReadOwn reads the installer's own profiles, *.yaml in the set's folder below
// dataDir, which may be empty: none. A broken file spoils the nodes that name its
// profile, nothing else; warn takes what is wrong with the files.
func (s Set[P]) ReadOwn(dataDir string, warn func(error)) *Library[P] {
	l := &Library[P]{set: s, Own: make(map[string]P), broken: make(map[string]error)}
	if dataDir == "" {
		return l
	}
	dir := filepath.Join(dataDir, s.Folder)
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		warn(fmt.Errorf("look for profiles in %s: %w", dir, err))
	}
	if len(files) > maxOwn {
		warn(fmt.Errorf("%d profiles in %s, only the first %d are read", len(files), dir, maxOwn))
		files = files[:maxOwn]
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		p, err := s.readFile(file, name)
		_, taken := s.Builtin[name]
		other := new(misnamedError)
		switch {
		case err != nil:
			l.broken[name] = err
			if errors.As(err, &other) {
				l.broken[other.is] = err // whoever asks for it by its name is told as well
			}
			warn(err)
		case taken:
			warn(fmt.Errorf("%s: a profile named %s is built in and stays in use: give your own another name", file, name))
		default:
			l.Own[name] = p
		}
	}
	return l
}

func (s Set[P]) readFile(file, name string) (none P, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return none, err
	}
	if !info.Mode().IsRegular() {
		return none, fmt.Errorf("%s: is no plain file", file)
	}
	if info.Size() > maxSize {
		return none, fmt.Errorf("%s: has %d bytes, at most %d are allowed", file, info.Size(), maxSize)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return none, err
	}
	p, err := s.Read(file, data)
	if err != nil {
		return none, err
	}
	if is := p.Info().Name; is != name {
		return none, &misnamedError{file, is, name}
	}
	return p, nil
}

// misnamedError is a profile in a file of another name.
type misnamedError struct{ file, is, name string }

func (e *misnamedError) Error() string {
	return fmt.Sprintf("%s: name: is %q, must be the file's name %q", e.file, e.is, e.name)
}

// Library is the profiles that one bus can use: the built-in ones and the installer's.
type Library[P Profile] struct {
	Own    map[string]P     // the installer's, by name
	broken map[string]error // those of them that cannot be used
	set    Set[P]
}

// Find finds a profile by its name.
func (l *Library[P]) Find(name string) (none P, err error) {
	s := l.set
	if name == "" {
		return none, fmt.Errorf("no profile is named: say which %s it is", s.Kind)
	}
	if p, ok := s.Builtin[name]; ok {
		return p, nil
	}
	if p, ok := l.Own[name]; ok {
		return p, nil
	}
	if err := l.broken[name]; err != nil {
		var problems schema.Problems
		switch {
		case errors.As(err, &problems):
			return none, fmt.Errorf("profile %s is broken: %s", name, problems[0])
		case errors.Is(err, fs.ErrPermission):
			return none, fmt.Errorf("profile %s cannot be read: %w", name, err)
		}
		return none, fmt.Errorf("profile %s is broken: %w", name, err)
	}
	var names []string
	for _, p := range s.List() {
		names = append(names, p.Name)
	}
	return none, fmt.Errorf("there is no profile %q; built in are %s; your own belong into the folder %s of the data directory", name, strings.Join(names, ", "), s.Folder)
}
