package drivers_test

import (
	"slices"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
)

// addresses and options that make a bus and a node of each driver good, whatever its
// profile.
var example = map[string]struct {
	addresses []string
	options   map[string]string
}{
	"dali":   {[]string{"5"}, map[string]string{"gateway": "atx"}},
	"dmx":    {[]string{"5"}, nil},
	"modbus": {[]string{"5", "5/1", "5/1.1"}, nil},
	"sdn":    {[]string{"06.1A.2B"}, nil},
}

func TestEveryListedProfileIsOneThatItsDriverTakes(t *testing.T) {
	listed := map[string]int{}
	for _, p := range drivers.Profiles() {
		listed[p.Driver]++
		if p.Title == "" || p.Source == "" {
			t.Errorf("%+v: no title or source", p)
		}
		var why error
		taken := slices.ContainsFunc(example[p.Driver].addresses, func(address string) bool {
			o, err := drivers.All[p.Driver](appliance.BusConfig{
				Bus:   appliance.Bus{Name: "bus", Driver: p.Driver, Port: "/dev/none", Options: example[p.Driver].options},
				Nodes: []appliance.Node{{ID: 1, Name: "Node", Address: address, Profile: p.Name}},
			})
			if why = err; err == nil {
				why = o.BrokenNodes[1]
			}
			return why == nil
		})
		if !taken {
			t.Errorf("%s, listed for %s: %v", p.Name, p.Driver, why)
		}
	}
	for driver := range drivers.All {
		if listed[driver] < 4 {
			t.Errorf("%d profiles of driver %s are listed", listed[driver], driver)
		}
	}
}
