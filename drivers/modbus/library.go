package modbus

import (
	"embed"
	"sync"

	"go.yaml.in/yaml/v3"

	"svc.internal/controller/drivers/profile"
	"svc.internal/controller/site/schema"
)

//go:embed profiles/*.yaml
var builtinFiles embed.FS

var known = sync.OnceValue(func() profile.Set[*Profile] {
	return profile.Set[*Profile]{Kind: "device", Folder: "profiles", Read: readProfile}.ReadBuiltin(builtinFiles)
})

// builtin profiles by name; not to be changed.
func builtin() map[string]*Profile { return known().Builtin }

// Info says what the profile is and where its facts come from.
func (p *Profile) Info() profile.Info {
	info := profile.Info{Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats, Lights: len(p.lights)}
	for _, h := range p.shades {
		info.Shades = append(info.Shades, h.occupies)
	}
	return info
}

// Profiles lists the built-in profiles by name.
func Profiles() []profile.Info { return known().List() }

// IsProfile reports whether a YAML document is meant to be a device profile
// rather than something else: it has outputs, and no buses.
func IsProfile(data []byte) bool {
	var keys map[string]yaml.Node
	if !schema.Peek(data, &keys) {
		return false
	}
	_, outputs := keys["outputs"]
	_, buses := keys["buses"]
	return outputs && !buses
}

// CheckOwn reads the installer's own profiles; warn takes what is wrong with them.
func CheckOwn(dataDir string, warn func(error)) { known().ReadOwn(dataDir, warn) }
