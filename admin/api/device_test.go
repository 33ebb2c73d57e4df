package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// divided works a division out and puts it in force, as the store would: nodes that are new get the next ID, and those whose UUID
// was there before the one they had.
type divided struct {
	t    *testing.T
	site appliance.Site
	ids  map[appliance.UUID]appliance.ID
}

func (d *divided) divide(edit DeviceEdit) string {
	d.t.Helper()
	v := division{have: d.site, bus: d.site.Buses[0].UUID, edit: edit}
	if err := v.work(); err != nil {
		d.t.Fatal(err)
	}
	gone := func(list []appliance.ID, id appliance.ID) bool {
		return strings.Contains(fmt.Sprint(list), fmt.Sprint(id))
	}
	var nodes []appliance.Node
	placed := map[appliance.ID]appliance.ID{}
	id := func(id appliance.ID, u appliance.UUID, first appliance.ID) appliance.ID {
		if d.ids[u] == 0 {
			d.ids[u] = id
			if id < 0 {
				d.ids[u] = first - 1 + appliance.ID(len(d.ids))
			}
		}
		placed[id] = d.ids[u]
		return d.ids[u]
	}
	for _, n := range d.site.Nodes {
		if !gone(v.goneNodes, n.ID) && n.Address != edit.Address {
			nodes = append(nodes, n)
		}
	}
	for _, n := range v.then.Nodes {
		n.ID = id(n.ID, n.UUID, 1)
		nodes = append(nodes, n)
	}
	d.site.Nodes, d.site.Shades = nodes, nil
	for _, h := range v.then.Shades {
		h.Node = placed[h.Node]
		h.ID = id(h.ID, h.UUID, 5001)
		d.site.Shades = append(d.site.Shades, h)
	}
	var words []string
	for _, n := range d.site.Nodes {
		words = append(words, fmt.Sprintf("%d %s%v", n.ID, n.Name, n.Outputs))
	}
	for _, h := range d.site.Shades {
		words = append(words, fmt.Sprintf("%d %s/%d on %d", h.ID, h.Name, h.Output, h.Node))
	}
	return strings.Join(words, ", ")
}

// Two installers who name one device do not overwrite each other, and whoever names it again as it is changes nothing.
func TestADeviceIsNotNamedTwiceSilently(t *testing.T) {
	t.Parallel()
	d := &divided{t: t, ids: map[appliance.UUID]appliance.ID{}, site: appliance.Site{Buses: []appliance.Bus{{UUID: appliance.NewUUID(), Name: "ground"}}}}
	first := DeviceEdit{Address: "0A.01.02", Profile: "relays", New: true, Lights: []DeviceLight{{Name: "A", Outputs: []int{1}}}, Shades: []DeviceShade{{Name: "South", Output: 2}}}
	d.divide(first)
	try := func(change func(e *DeviceEdit)) error {
		edit := first
		edit.Lights, edit.Shades = slices.Clone(first.Lights), slices.Clone(first.Shades)
		change(&edit)
		return (&division{have: d.site, bus: d.site.Buses[0].UUID, edit: edit}).work()
	}
	if err := try(func(*DeviceEdit) {}); !errors.Is(err, errAsAsked) {
		t.Errorf("the same again: %v, want errAsAsked", err)
	}
	for name, change := range map[string]func(e *DeviceEdit){
		"another name":            func(e *DeviceEdit) { e.Lights[0].Name = "B" },
		"another name of a shade": func(e *DeviceEdit) { e.Shades[0].Name = "North" },
		"another output":          func(e *DeviceEdit) { e.Lights[0].Outputs = []int{3} },
		"a light more":            func(e *DeviceEdit) { e.Lights = append(e.Lights, DeviceLight{Name: "B", Outputs: []int{3}}) },
		"no shade":                func(e *DeviceEdit) { e.Shades = nil },
		"a small letter":          func(e *DeviceEdit) { e.Address = "0a.01.02"; e.Lights[0].Name = "B" },
		"another profile":         func(e *DeviceEdit) { e.Profile = "dimmers" },
	} {
		err := try(change)
		var r *refusal
		if !errors.As(err, &r) || r.status != http.StatusConflict || !strings.Contains(r.detail, "South") {
			t.Errorf("%s: %v, want 409 that tells who is there", name, err)
		}
	}
	if err := try(func(e *DeviceEdit) { e.New = false; e.Lights[0].Name = "B" }); err != nil {
		t.Errorf("a change that says so: %v", err)
	}
	if err := try(func(e *DeviceEdit) { e.Address = "0A.01.03" }); err != nil {
		t.Errorf("another device: %v", err)
	}
}

// Whoever changes his mind, and changes it back, finds every ID where it was.
func TestIDsOutliveAChangeOfMind(t *testing.T) {
	t.Parallel()
	d := &divided{t: t, ids: map[appliance.UUID]appliance.ID{}, site: appliance.Site{Buses: []appliance.Bus{{UUID: appliance.NewUUID(), Name: "ground"}}}}
	light := func(name string, outputs ...int) DeviceLight { return DeviceLight{Name: name, Outputs: outputs} }
	relays := DeviceEdit{Address: "5", Profile: "relays"}
	lights, shade, one := relays, relays, relays
	lights.Lights = []DeviceLight{light("A", 1), light("B", 2), light("C", 3)}
	shade.Shades = []DeviceShade{{Name: "South", Output: 1}}
	shade.Lights = []DeviceLight{light("", 3)}
	one.Lights = []DeviceLight{light("All")}
	const asLights = "1 A[1], 2 B[2], 3 C[3]"
	if got := d.divide(lights); got != asLights {
		t.Fatalf("three lights: %s", got)
	}
	const asShade = "3 C[3], 5004 South/1 on 3"
	if got := d.divide(shade); got != asShade {
		t.Errorf("a pair and a light: %s", got)
	}
	if got := d.divide(lights); got != asLights {
		t.Errorf("lights again: %s", got)
	}
	if got := d.divide(shade); got != asShade {
		t.Errorf("the shade again: %s", got)
	}
	d.divide(lights)
	if got := d.divide(one); got != "1 All[]" {
		t.Errorf("one light: %s", got)
	}
	lights.Lights[0].Name = ""
	if got := d.divide(lights); got != "1 All[1], 2 B[2], 3 C[3]" {
		t.Errorf("three lights once more: %s", got)
	}
	moved := d.site.Nodes[1]
	moved.Address = "6" // it was moved to another device, and lives
	d.site.Nodes[1] = moved
	if got := d.divide(lights); !strings.HasPrefix(got, "2 B[2], 1 All[1]") || strings.Contains(got, "1 All[1], 2 B") {
		t.Errorf("with the second moved elsewhere: %s", got)
	}
}

func TestDivisionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	bus := appliance.NewUUID()
	have := appliance.Site{Buses: []appliance.Bus{{UUID: bus}}, Nodes: []appliance.Node{{ID: 1, Bus: bus, Address: "5", Profile: "relays", Name: "A"}}}
	for want, edit := range map[string]DeviceEdit{
		"/address":       {Profile: "relays", Lights: []DeviceLight{{Name: "A"}}},
		"/profile":       {Address: "5", Lights: []DeviceLight{{Name: "A"}}},
		"/lights":        {Address: "5", Profile: "relays"},
		"/lights/0/name": {Address: "6", Profile: "relays", Lights: []DeviceLight{{}}},
		"/lights/0/id":   {Address: "6", Profile: "relays", Lights: []DeviceLight{{ID: 1}}},
		"/shades/0/name": {Address: "5", Profile: "relays", Shades: []DeviceShade{{Output: 1}}},
		"/shades/0/id":   {Address: "5", Profile: "relays", Shades: []DeviceShade{{ID: 5001, Output: 1}}},
		"/cluster":       {Address: "5", Profile: "relays", Lights: []DeviceLight{{}}, Cluster: 7},
		"/newCluster":    {Address: "5", Profile: "relays", Lights: []DeviceLight{{}}, Cluster: 7, NewCluster: "x"},
	} {
		d := division{have: have, bus: bus, edit: edit}
		err := d.work()
		refused, ok := err.(*refusal)
		if !ok || len(refused.fields) != 1 || refused.fields[0].Pointer != want {
			t.Errorf("want it to point at %s, got %+v", want, err)
		}
	}
}
