package sim

import (
	"slices"
	"testing"

	"svc.internal/controller/site/sitefile"
)

func TestGroupTablesAreShownAndRewritten(t *testing.T) {
	t.Parallel()
	site, err := sitefile.Parse("site", []byte(`
site: {name: Groups}
buses:
  - {name: shades, driver: sdn, port: "rtu+tcp://127.0.0.1:0"}
  - {name: line, driver: dali, port: "tcp://127.0.0.1:0", options: {gateway: atx}}
  - {name: relays, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Motor, bus: shades, address: 06.1A.2B, profile: somfy-sdn, groups: [01.01.05]}
  - {id: 2, name: Gear, bus: line, address: 3, profile: dali-dt6, groups: [4, 15]}
  - {id: 3, name: Relays, bus: relays, address: 1, profile: waveshare-relay-8ch}
`))
	if err != nil {
		t.Fatal(err)
	}
	bd, err := New(site, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bus, address string
		first, then  []string
	}{{"shades", "06.1A.2B", []string{"01.01.05"}, []string{"01.01.06", "01.01.07"}}, {"line", "3", []string{"15", "4"}, nil}} {
		if got, err := bd.Groups(c.bus, c.address); err != nil || !slices.Equal(got, c.first) {
			t.Errorf("%s: %v, %v; want %v", c.bus, got, err, c.first)
		}
		if err := bd.SetGroups(c.bus, c.address, c.then); err != nil {
			t.Error(err)
		}
		if got, err := bd.Groups(c.bus, c.address); err != nil || !slices.Equal(got, c.then) {
			t.Errorf("%s: %v, %v; want %v", c.bus, got, err, c.then)
		}
	}
	for what, err := range map[string]error{
		"a motor that is not there": bd.SetGroups("shades", "06.1A.2C", nil),
		"a bus without tables":      bd.SetGroups("relays", "1", nil),
		"group 16":                  bd.SetGroups("line", "3", []string{"16"}),
		"a word":                    bd.SetGroups("shades", "06.1A.2B", []string{"lobby"}),
	} {
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}
