package modbus

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```\n")

// TestProfilesOfTheManual puts the examples of the documents into a data
// directory, as an installer would, and opens a bus with a device of each.
func TestProfilesOfTheManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range []string{"profiles.md", "modbus.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllSubmatch(text, -1) {
			p, err := readProfile(name, block[1])
			if err != nil {
				t.Errorf("an example of %s cannot be used: %v", name, err)
				continue
			}
			found[p.Name] = true
			if err := os.WriteFile(filepath.Join(dir, "profiles", p.Name+".yaml"), block[1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, tc := range []struct {
		profile string
		shade   bool
		want    []appliance.Channel // of the node
	}{
		{profile: "acme-tw2", want: []appliance.Channel{
			{Abilities: appliance.CanDim | appliance.CanTune | appliance.CanMeasure, KelvinMin: 2700, KelvinMax: 6500, MinLevel: 3, Fade: 700 * time.Millisecond},
			{Abilities: appliance.CanDim | appliance.CanTune | appliance.CanMeasure, KelvinMin: 2700, KelvinMax: 6500, MinLevel: 3, Fade: 700 * time.Millisecond},
		}},
		{profile: "acme-shade-2", shade: true},
		{profile: "acme-dimmer-4", want: []appliance.Channel{
			{Abilities: appliance.CanDim}, {Abilities: appliance.CanDim}, {Abilities: appliance.CanDim}, {Abilities: appliance.CanDim},
		}},
	} {
		if !found[tc.profile] {
			t.Errorf("no document shows profile %s", tc.profile)
			continue
		}
		id := appliance.ID(i + 1)
		cfg := serialBus(node(id, fmt.Sprint(id), tc.profile))
		cfg.DataDir = dir
		if tc.shade {
			cfg.Shades = []appliance.Shade{{ID: 5001, Node: id, Output: 2}}
		}
		opened, err := Open(cfg)
		if err != nil {
			t.Errorf("%s: %v", tc.profile, err)
			continue
		}
		if err := opened.BrokenNodes[id]; err != nil {
			t.Errorf("%s: %v", tc.profile, err)
		}
		got := opened.Channels[id]
		if len(got) != len(tc.want) {
			t.Errorf("%s: got %d channels, want %d", tc.profile, len(got), len(tc.want))
			continue
		}
		for k := range got {
			if got[k] != tc.want[k] {
				t.Errorf("%s channel %d: got %+v, want %+v", tc.profile, k+1, got[k], tc.want[k])
			}
		}
		want := appliance.Channel{Abilities: appliance.CanMove, ReverseDelay: 500 * time.Millisecond}
		if tc.shade && opened.Shades[5001] != want {
			t.Errorf("%s: got shade %+v, want %+v", tc.profile, opened.Shades[5001], want)
		}
	}
}
