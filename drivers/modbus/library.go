package modbus

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/schema"
)

//go:embed profiles/*.yaml
var builtinFiles embed.FS

// ProfileInfo says what a profile is and where its facts come from.
type ProfileInfo struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	Caveats []string `json:"caveats,omitempty"`
	File    string   `json:"file,omitempty"` // of an installer's own profile
}

// Profiles lists the built-in profiles by name.
func Profiles() []ProfileInfo {
	var list []ProfileInfo
	for _, p := range builtin() {
		list = append(list, ProfileInfo{Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats})
	}
	slices.SortFunc(list, func(a, b ProfileInfo) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// builtin profiles by name. They are part of the program: a broken one is a
// programmer's mistake, found by any test.
var builtin = sync.OnceValue(func() map[string]*Profile {
	profiles := make(map[string]*Profile)
	entries, err := builtinFiles.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := builtinFiles.ReadFile("profiles/" + entry.Name())
		if err != nil {
			panic(err)
		}
		p, err := readProfile(entry.Name(), data)
		if err != nil {
			panic(err)
		}
		if entry.Name() != p.Name+".yaml" {
			panic(fmt.Sprintf("%s holds profile %s", entry.Name(), p.Name))
		}
		profiles[p.Name] = p
	}
	return profiles
})

// library is the profiles that one bus can use.
type library struct {
	own    map[string]*Profile
	broken map[string]error // own profiles that cannot be used, by name
	files  []error          // own files not even a name could be read from
}

// Bounds of installers' own profiles.
const (
	maxOwnProfiles = 200
	maxProfileSize = 256 << 10
)

// openLibrary reads the installer's own profiles, dir/profiles/*.yaml. A broken
// file spoils the nodes that name its profile, nothing else.
func openLibrary(dir string) *library {
	l := &library{own: make(map[string]*Profile), broken: make(map[string]error)}
	if dir == "" {
		return l
	}
	files, err := filepath.Glob(filepath.Join(dir, "profiles", "*.yaml"))
	if err != nil {
		l.files = append(l.files, fmt.Errorf("look for profiles in %s: %w", dir, err))
		return l
	}
	if len(files) > maxOwnProfiles {
		l.files = append(l.files, fmt.Errorf("%d profiles in %s, only the first %d are read", len(files), dir, maxOwnProfiles))
		files = files[:maxOwnProfiles]
	}
	for _, file := range files {
		l.read(file)
	}
	return l
}

func (l *library) read(file string) {
	name := strings.TrimSuffix(filepath.Base(file), ".yaml")
	fail := func(err error) {
		l.broken[name] = err
		l.files = append(l.files, err)
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > maxProfileSize {
		err = fmt.Errorf("%s: has %d bytes, at most %d are allowed", file, info.Size(), maxProfileSize)
	}
	if err != nil {
		fail(err)
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		fail(err)
		return
	}
	p, err := readProfile(file, data)
	if err != nil {
		fail(err)
		return
	}
	if p.Name != name {
		fail(fmt.Errorf("%s: name: is %q, must be the file's name %q", file, p.Name, name))
		return
	}
	if builtin()[name] != nil {
		l.files = append(l.files, fmt.Errorf("%s: a profile named %s is built in and stays in use: give your own another name", file, name))
		return
	}
	l.own[name] = p
}

// profile finds a profile by name.
func (l *library) profile(name string) (*Profile, error) {
	if name == "" {
		return nil, errors.New("no profile is named: say which device it is")
	}
	if p := builtin()[name]; p != nil {
		return p, nil
	}
	if p := l.own[name]; p != nil {
		return p, nil
	}
	if err := l.broken[name]; err != nil {
		var problems schema.Problems
		if errors.As(err, &problems) {
			return nil, fmt.Errorf("profile %s is broken: %s", name, problems[0])
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("profile %s cannot be read: %w", name, err)
		}
		return nil, fmt.Errorf("profile %s is broken: %w", name, err)
	}
	return nil, fmt.Errorf("there is no profile %q; built in are %s; your own belong into the folder profiles of the data directory", name, strings.Join(builtinNames(), ", "))
}

func builtinNames() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// IsProfile reports whether a YAML document is meant to be a device profile
// rather than something else: it has outputs, and no buses.
func IsProfile(data []byte) bool {
	if len(data) > schema.MaxSize {
		return false
	}
	var keys map[string]yaml.Node
	if yaml.Unmarshal(data, &keys) != nil {
		return false
	}
	_, outputs := keys["outputs"]
	_, buses := keys["buses"]
	return outputs && !buses
}
