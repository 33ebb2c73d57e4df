package drivers

import (
	"svc.internal/controller/drivers/dali"
	"svc.internal/controller/drivers/dmx"
	"svc.internal/controller/drivers/modbus"
	"svc.internal/controller/drivers/sdn"
)

// Profile tells what one kind of device is, as a node of the site names it.
type Profile struct {
	Driver  string   `json:"driver"`
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Source  string   `json:"source"` // where what is known of it comes from
	Caveats []string `json:"caveats,omitempty"`
	Lights  int      `json:"lights"`           // outputs that can be lights
	Shades  [][]int  `json:"shades,omitempty"` // of each output that can be a shade, the light outputs it is made of
}

// Profiles lists the built-in profiles, by driver and name.
func Profiles() (list []Profile) {
	for _, p := range dali.Profiles() {
		list = append(list, Profile{Driver: "dali", Name: p.Name, Title: p.Title, Source: p.Source, Lights: 1})
	}
	for _, p := range dmx.Profiles() {
		list = append(list, Profile{Driver: "dmx", Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats, Lights: p.Lights})
	}
	for _, p := range modbus.Profiles() {
		list = append(list, Profile{Driver: "modbus", Name: p.Name, Title: p.Title, Source: p.Source, Caveats: p.Caveats, Lights: p.Lights, Shades: p.Shades})
	}
	for _, p := range sdn.Profiles() {
		list = append(list, Profile{Driver: "sdn", Name: p.Name, Title: p.Title, Source: p.Source, Shades: [][]int{nil}})
	}
	return list
}

// CheckOwnProfiles tells warn what is wrong with the installer's own profiles in a data
// directory, with file, line and key, whether or not a site names them.
func CheckOwnProfiles(dataDir string, warn func(error)) {
	modbus.CheckOwn(dataDir, warn)
	dmx.CheckOwn(dataDir, warn)
}
