package modbus

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func TestBuiltinProfilesCanBeUsed(t *testing.T) {
	t.Parallel()
	names := []string{
		"arlight-dali-logic-lite", "dalion", "eastron-sdm120", "eastron-sdm220", "eastron-sdm230", "eastron-sdm630",
		"eastron-sdm72", "ecodim-dali-gw2", "intesis-ibmbsdal", "waveshare-relay-8ch", "wirenboard-wb-led-cct",
		"wirenboard-wb-led-rgbw", "wirenboard-wb-led-white", "wirenboard-wb-mao4", "wirenboard-wb-mdm3",
		"wirenboard-wb-mr6c", "wirenboard-wb-mrgbw-d-legacy",
	}
	got := Profiles()
	if len(got) != len(names) {
		t.Errorf("got %d profiles, want %d", len(got), len(names))
	}
	for i, p := range got {
		if i < len(names) && p.Name != names[i] {
			t.Errorf("profile %d is %s, want %s", i, p.Name, names[i])
		}
		if p.Source == "" || p.Title == "" {
			t.Errorf("%s names no source or title", p.Name)
		}
	}
}

// ownProfile puts a profile into a data directory and tells what checking it says.
func ownProfile(t *testing.T, name, body string) (dataDir string, err error) {
	t.Helper()
	dataDir = t.TempDir()
	text := []byte("name: " + name + "\ntitle: x\nsource: y\n" + body)
	if err := errors.Join(os.MkdirAll(filepath.Join(dataDir, "profiles"), 0o755),
		os.WriteFile(filepath.Join(dataDir, "profiles", name+".yaml"), text, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dataDir, CheckProfile(name+".yaml", text)
}

// What a profile cannot write would have to be written all the same: the planner
// crashed.
func TestProfilesThatCannotWriteAreRefused(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"level only read":           "outputs:\n  - kind: light\n    switches: [{table: coil, address: 0}]\n    level: {read: {table: holding, address: 0}, map: percent}\n",
		"level in an input":         "outputs:\n  - kind: light\n    level: {at: {table: input, address: 0}, map: percent}\n",
		"level only of a group":     "addressing: gear\noutputs:\n  - kind: light\n    level: {group: {table: holding, address: 0, perGroup: 1}, map: percent}\n",
		"kelvin of gear only read":  "addressing: gear\noutputs:\n  - kind: light\n    kelvinMin: 2700\n    kelvinMax: 6500\n    level: {at: {table: holding, address: 0, perGear: 1}, map: percent}\n    kelvin: {read: {table: holding, address: 100, perGear: 1}, map: kelvin}\n",
		"colour in inputs":          "outputs:\n  - kind: light\n    colour:\n      red: {at: {table: input, address: 0}, map: percent}\n      green: {at: {table: input, address: 1}, map: percent}\n      blue: {at: {table: input, address: 2}, map: percent}\n      white: {at: {table: input, address: 3}, map: percent}\n",
		"a range without an extent": "outputs:\n  - kind: light\n    level: {at: {table: holding, address: 0}, map: linear, min: 255, max: 255}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ownProfile(t, "own", body); err == nil {
				t.Error("taken")
			}
		})
	}
}

// Two entries of shades, each made of two relays.
func TestEveryEntryOfShadesTakesItsOwnRelays(t *testing.T) {
	t.Parallel()
	dir, err := ownProfile(t, "two-kinds", `outputs:
  - {kind: light, count: 4, switches: [{table: coil, address: 0, stride: 1}]}
  - {kind: shade, occupies: 2, open: {table: coil, address: 16}, close: {table: coil, address: 17}}
  - {kind: shade, occupies: 2, reverseDelay: 1s, open: {table: coil, address: 18}, close: {table: coil, address: 19}}
`)
	if err != nil {
		t.Fatal(err)
	}
	cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "x", Driver: "modbus", Port: "/dev/null0"}, DataDir: dir}
	cfg.Nodes = []appliance.Node{node(1, "5", "two-kinds")}
	cfg.Shades = []appliance.Shade{{ID: 1, Node: 1, Output: 1}, {ID: 2, Node: 1, Output: 2}}
	o, err := Open(cfg)
	if err != nil || len(o.BrokenShades) > 0 {
		t.Fatal(err, o.BrokenShades)
	}
	if n := len(o.Channels[1]); n != 0 {
		t.Errorf("%d relays that move a shade are lights; want 0", n)
	}
}

// How long a relay stays on at the end of the travel is the profile's to say.
func TestRelaysAreReleased(t *testing.T) {
	t.Parallel()
	const shade = `outputs: [{kind: shade, open: {table: coil, address: 16}, close: {table: coil, address: 17}`
	for says, want := range map[string]time.Duration{"": 0, ", release: 30s": 30 * time.Second, ", holds: true": -1} {
		dir, err := ownProfile(t, "stays", shade+says+"}]\n")
		if err != nil {
			t.Fatal(err)
		}
		cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "x", Driver: "modbus", Port: "/dev/null0"}, DataDir: dir}
		cfg.Nodes, cfg.Shades = []appliance.Node{node(1, "5", "stays")}, []appliance.Shade{{ID: 1, Node: 1, Output: 1}}
		o, err := Open(cfg)
		if err != nil || o.Shades[1].Release != want {
			t.Errorf("%q: %v, want %v; %v", says, o.Shades[1].Release, want, err)
		}
	}
	for _, bad := range []string{shade + ", holds: true, release: 5s}]\n", "outputs: [{kind: light, switches: [{table: coil, address: 16}], holds: true}]\n"} {
		if _, err := ownProfile(t, "stays", bad); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

func TestColourBetweenMinAndMax(t *testing.T) {
	t.Parallel()
	v := &valueSpec{Map: "linear", Min: 100, Max: 1100}
	if got := v.componentRaw(0, 100); got != 100 {
		t.Errorf("component 0 is %v, want 100", got)
	}
	if got := v.componentOf(100); got != 0 {
		t.Errorf("100 is component %v, want 0", got)
	}
	v.Invert = true
	if got := v.componentRaw(0, 100); got != 1100 {
		t.Errorf("inverted, component 0 is %v, want 1100", got)
	}
}
