package sitefile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

const divided = `
site:
  name: House
  building: Main street 5
  timeZone: Europe/Zurich
  floors:
    - {name: Ground floor, areaM2: 420.5, clusters: [Lobby, 2]}
    - {name: Roof}
  meters:
    - {node: Meter, covers: "ground floor, lighting", clusters: [Lobby]}
buses:
  - {name: b, driver: modbus, port: /dev/x}
nodes:
  - {id: 7, name: Meter, bus: b, address: 1, profile: eastron-sdm120}
clusters:
  - {id: 1, name: Lobby}
  - {id: 2, name: Canteen}
`

func TestADivisionIsReadAndComesBack(t *testing.T) {
	site, err := Parse("x", []byte(divided))
	if err != nil {
		t.Fatal(err)
	}
	want := appliance.Division{
		Building: "Main street 5", TimeZone: "Europe/Zurich",
		Floors: []appliance.Floor{{Name: "Ground floor", AreaM2: 420.5, Clusters: []appliance.ID{1, 2}}, {Name: "Roof"}},
		Meters: []appliance.Meter{{Node: 7, Covers: "ground floor, lighting", Clusters: []appliance.ID{1}}},
	}
	if !reflect.DeepEqual(site.Division, want) {
		t.Errorf("got %+v", site.Division)
	}
	for i := range site.Buses {
		site.Buses[i].UUID = appliance.NewUUID()
	}
	for i := range site.Nodes {
		site.Nodes[i].Bus, site.Nodes[i].UUID = site.Buses[0].UUID, appliance.NewUUID()
	}
	for i := range site.Clusters {
		site.Clusters[i].UUID = appliance.NewUUID()
	}
	var file bytes.Buffer
	if err := Write(&file, site); err != nil {
		t.Fatal(err)
	}
	again, err := Parse("y", file.Bytes())
	if err != nil || !reflect.DeepEqual(again.Division, want) {
		t.Errorf("came back as %+v, %v\n%s", again.Division, err, file.String())
	}
}

func TestAWrongDivisionIsRefused(t *testing.T) {
	for name, c := range map[string][2]string{
		"time zone":             {"Europe/Zurich", "Europe/Atlantis"},
		"cluster that is none":  {"clusters: [Lobby, 2]", "clusters: [Cellar]"},
		"cluster on two floors": {"{name: Roof}", "{name: Roof, clusters: [1]}"},
		"two floors, one name":  {"name: Roof", "name: Ground floor"},
		"node that is none":     {"node: Meter", "node: 8"},
		"area below nothing":    {"420.5", "-1"},
		"unknown key":           {"areaM2", "area"},
	} {
		text := strings.Replace(divided, c[0], c[1], 1)
		if text == divided {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := Parse("x", []byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
