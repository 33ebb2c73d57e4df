package dmx

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
}

// Bounds of installers' own profiles.
const (
	maxOwnProfiles = 200
	maxProfileSize = 256 << 10
)

// ownProfiles is the folder of installers' own DMX profiles below the data
// directory. Those of other protocols lie beside it and look different.
var ownProfiles = filepath.Join("profiles", "dmx")

// openLibrary reads the installer's own profiles, dir/profiles/dmx/*.yaml. A
// broken file spoils the nodes that name its profile, nothing else; warn takes
// what is wrong with the files.
func openLibrary(dir string, warn func(error)) *library {
	l := &library{own: make(map[string]*Profile), broken: make(map[string]error)}
	if dir == "" {
		return l
	}
	files, err := filepath.Glob(filepath.Join(dir, ownProfiles, "*.yaml"))
	if err != nil {
		warn(fmt.Errorf("look for profiles in %s: %w", dir, err))
		return l
	}
	if len(files) > maxOwnProfiles {
		warn(fmt.Errorf("%d profiles in %s, only the first %d are read", len(files), dir, maxOwnProfiles))
		files = files[:maxOwnProfiles]
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		p, err := readOwn(file, name)
		switch {
		case builtin()[name] != nil:
			warn(fmt.Errorf("%s: a profile named %s is built in and stays in use: give your own another name", file, name))
		case err != nil:
			l.broken[name] = err
			warn(err)
		default:
			l.own[name] = p
		}
	}
	return l
}

func readOwn(file, name string) (*Profile, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxProfileSize {
		return nil, fmt.Errorf("%s: has %d bytes, at most %d are allowed", file, info.Size(), maxProfileSize)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := readProfile(file, data)
	if err != nil {
		return nil, err
	}
	if p.Name != name {
		return nil, fmt.Errorf("%s: name: is %q, must be the file's name %q", file, p.Name, name)
	}
	return p, nil
}

// profile finds a profile by name.
func (l *library) profile(name string) (*Profile, error) {
	if name == "" {
		return nil, errors.New("no profile is named: say which fixture it is")
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
		return nil, fmt.Errorf("profile %s is broken: %w", name, err)
	}
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("there is no profile %q; built in are %s; your own belong into the folder %s of the data directory", name, strings.Join(names, ", "), ownProfiles)
}
