package dmx

import (
	"embed"
	"errors"
	"path/filepath"
	"sync"

	"svc.internal/controller/drivers/profile"
)

//go:embed profiles/*.yaml
var builtinFiles embed.FS

// known is the profiles of fixtures. Installers' own lie in a folder below those of
// other protocols, which look different.
var known = sync.OnceValue(func() profile.Set[*Profile] {
	return profile.Set[*Profile]{Folder: filepath.Join("profiles", "dmx"), Read: readProfile}.ReadBuiltin(builtinFiles)
})

// Info says what the profile is and where its facts come from.
func (p *Profile) Info() profile.Info {
	return profile.Info{Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats}
}

// Profiles lists the built-in profiles by name.
func Profiles() []profile.Info { return known().List() }

// library is the profiles that one bus can use besides the built-in ones.
type library struct {
	own    map[string]*Profile
	broken map[string]error // own profiles that cannot be used, by name
}

// openLibrary reads the installer's own profiles; warn takes what is wrong with them.
func openLibrary(dir string, warn func(error)) *library {
	own, broken := known().ReadOwn(dir, warn)
	return &library{own, broken}
}

// profile finds a profile by name.
func (l *library) profile(name string) (*Profile, error) {
	if name == "" {
		return nil, errors.New("no profile is named: say which fixture it is")
	}
	return known().Find(name, l.own, l.broken)
}
