package dmx

import (
	"embed"
	"path/filepath"
	"sync"

	"svc.internal/controller/drivers/profile"
)

//go:embed profiles/*.yaml
var builtinFiles embed.FS

// known is the profiles of fixtures. Installers' own lie in a folder below those of
// other protocols, which look different.
var known = sync.OnceValue(func() profile.Set[*Profile] {
	return profile.Set[*Profile]{Kind: "fixture", Folder: filepath.Join("profiles", "dmx"), Read: readProfile}.ReadBuiltin(builtinFiles)
})

// Info says what the profile is and where its facts come from.
func (p *Profile) Info() profile.Info {
	return profile.Info{Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats, Lights: len(p.lights)}
}

// Profiles lists the built-in profiles by name.
func Profiles() []profile.Info { return known().List() }

// CheckOwn reads the installer's own profiles; warn takes what is wrong with them.
func CheckOwn(dataDir string, warn func(error)) { known().ReadOwn(dataDir, warn) }
