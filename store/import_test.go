package store

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func nodeIDs(s appliance.Site) (ids []appliance.ID) {
	for _, n := range s.Nodes {
		ids = append(ids, n.ID)
	}
	return ids
}

func TestImportGivesDefaultRanges(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	before := time.Now()
	r := imports(t, s, demo(), ImportOptions{By: "anna"})
	if len(r.Created) != 8 || !r.Settings {
		t.Errorf("report %+v, want 8 created and settings", r)
	}
	got := load(t, s)
	if !slices.Equal(nodeIDs(got), []appliance.ID{1, 2, 3}) {
		t.Errorf("node IDs %v, want 1 2 3", nodeIDs(got))
	}
	if got.Shades[0].ID != 5001 || got.Shades[1].ID != 5002 || got.Shades[0].Node != 3 {
		t.Errorf("shades %+v, want 5001 and 5002 on node 3", got.Shades)
	}
	c := got.Clusters[0]
	if c.ID != 1 || !slices.Equal(c.Nodes, []appliance.ID{1, 2}) || !slices.Equal(c.Shades, []appliance.ID{5001}) {
		t.Errorf("cluster %+v, want ID 1 with nodes 1 2 and shade 5001", c)
	}
	if c.CreatedBy != "anna" || c.CreatedOn.Before(before.Add(-time.Second)) {
		t.Errorf("cluster made by %q on %v", c.CreatedBy, c.CreatedOn)
	}
	want := demo()
	if got.Name != want.Name || got.Settings != want.Settings || got.Nodes[1].Options["min"] != "10" ||
		got.Buses[0].Line != want.Buses[0].Line || got.Shades[0].TravelUp != want.Shades[0].TravelUp {
		t.Errorf("site %+v does not hold what was imported", got)
	}
}

func TestImportAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s)
	for name, in := range map[string]appliance.Site{"by name": demo(), "by UUID and ID": before} {
		for _, replace := range []bool{false, true} {
			r := imports(t, s, in, ImportOptions{Replace: replace})
			if r.Writes() || len(r.Unchanged) != 8 {
				t.Errorf("%s, replace %v: report %+v, want 8 unchanged", name, replace, r)
			}
		}
	}
	if after := load(t, s); !reflect.DeepEqual(before, after) {
		t.Errorf("site changed\nbefore %+v\nafter  %+v", before, after)
	}
}

func TestSiteSurvivesRestart(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s)
	if after := load(t, reopen(t, s)); !reflect.DeepEqual(before, after) {
		t.Errorf("site changed\nbefore %+v\nafter  %+v", before, after)
	}
}

func TestRetiredIDsAreNeverReused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	old := load(t, s)
	short := demo()
	short.Nodes, short.Shades, short.Clusters = short.Nodes[:2], nil, nil
	r := imports(t, s, short, ImportOptions{Replace: true})
	if len(r.Retired) != 5 { // node 3, both shades, both clusters
		t.Errorf("retired %+v, want 5", r.Retired)
	}
	s = reopen(t, s)

	fresh := demo()
	fresh.Nodes[2].Name, fresh.Shades[0].Name, fresh.Clusters[0].Name = "Other", "Other", "Other"
	imports(t, s, fresh, ImportOptions{Replace: true})
	got := load(t, s)
	if got.Nodes[2].ID != 4 || got.Shades[0].ID != 5003 || got.Clusters[0].ID != 3 {
		t.Errorf("new things got node %d, shade %d, cluster %d; want 4, 5003, 3", got.Nodes[2].ID, got.Shades[0].ID, got.Clusters[0].ID)
	}

	again := appliance.Site{Buses: old.Buses, Nodes: []appliance.Node{old.Nodes[2]}}
	again.Nodes[0].UUID = appliance.UUID{}
	again.Nodes[0].Address = "99"
	refuses(t, s, again, ImportOptions{}, "3 was the ID of node \"Relays\", which is retired")
	again.Nodes[0].UUID = appliance.NewUUID()
	refuses(t, s, again, ImportOptions{}, "3 was the ID of node \"Relays\", which is retired")
}

func TestRetiredNounComesBackWithItsUUID(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	old := load(t, s)
	imports(t, s, appliance.Site{}, ImportOptions{Replace: true})
	if got := load(t, s); len(got.Buses)+len(got.Nodes)+len(got.Shades)+len(got.Clusters) != 0 {
		t.Fatalf("after replacing by nothing: %+v", got)
	}
	r := imports(t, s, old, ImportOptions{Replace: true})
	if len(r.Returned) != 7 { // the bus is new
		t.Errorf("returned %+v, want 7", r.Returned)
	}
	if got := load(t, s); !reflect.DeepEqual(got, old) {
		t.Errorf("site is not what it was\nbefore %+v\nafter  %+v", old, got)
	}
}

func TestPartialImportLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s)
	r := imports(t, s, appliance.Site{Clusters: []appliance.Cluster{{Name: "New", Nodes: []appliance.ID{2}}}}, ImportOptions{})
	if len(r.Created) != 1 || r.Settings || len(r.Changed)+len(r.Retired) > 0 {
		t.Errorf("report %+v, want one created cluster", r)
	}
	after := load(t, s)
	after.Clusters = after.Clusters[:2]
	after.Highest.Cluster = before.Highest.Cluster
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the rest changed\nbefore %+v\nafter  %+v", before, after)
	}
}

func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	r := imports(t, s, demo(), ImportOptions{Preview: true})
	if len(r.Created) != 8 || !r.Preview || r.Created[1].ID != 1 {
		t.Errorf("preview %+v, want 8 created, the first node with ID 1", r)
	}
	if got := load(t, s); got.Name != "" || len(got.Nodes) != 0 {
		t.Errorf("preview changed the site: %+v", got)
	}
}

func TestExplicitIDsAreKept(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Nodes[0].ID, in.Clusters[0].Nodes = 5001, []appliance.ID{5001, -2}
	in.Nodes[2].ID = appliance.MaxID
	in.Shades[0].Node, in.Shades[1].Node = appliance.MaxID, appliance.MaxID
	imports(t, s, in, ImportOptions{})
	got := load(t, s)
	if want := []appliance.ID{1, 5001, appliance.MaxID}; !slices.Equal(nodeIDs(got), want) {
		t.Errorf("node IDs %v, want %v", nodeIDs(got), want)
	}
	if got.Shades[0].ID != 5002 {
		t.Errorf("first shade has ID %d; want 5002, as a node has 5001", got.Shades[0].ID)
	}
}

func TestAutomaticNodeIDsStepOverTheShades(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if _, err := s.db.Load().conf.Exec("UPDATE mark SET high = 4999 WHERE family = 'node'"); err != nil {
		t.Fatal(err)
	}
	in := demo()
	in.Shades[1].ID = 10_001
	imports(t, s, in, ImportOptions{})
	got := load(t, s)
	if want := []appliance.ID{5000, 10_002, 10_003}; !slices.Equal(nodeIDs(got), want) {
		t.Errorf("node IDs %v, want %v", nodeIDs(got), want)
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	have := load(t, s)
	tests := map[string]struct {
		edit func(*appliance.Site)
		want string
	}{
		"same ID twice":             {func(x *appliance.Site) { x.Nodes[0].ID, x.Nodes[1].ID = 8, 8 }, ""},
		"ID out of range":           {func(x *appliance.Site) { x.Nodes[2].ID = appliance.MaxID + 1; x.Shades, x.Clusters = nil, nil }, "200000001 is out of range"},
		"another ID for a UUID":     {func(x *appliance.Site) { x.Nodes[0].UUID = have.Nodes[0].UUID; x.Nodes[0].ID = 9; x.Clusters = nil }, "which never changes; not 9"},
		"an ID that is another's":   {func(x *appliance.Site) { x.Clusters[1].UUID = appliance.NewUUID(); x.Clusters[1].ID = 1 }, "1 belongs to another cluster"},
		"unknown bus":               {func(x *appliance.Site) { x.Nodes[1].Bus = appliance.NewUUID() }, "nodes[1] (Hall): bus: there is no bus"},
		"unknown node of a shade":   {func(x *appliance.Site) { x.Shades[1].Node = 77 }, "shades[1] (North): node: there is no node 77"},
		"unknown placeholder":       {func(x *appliance.Site) { x.Clusters[0].Shades = []appliance.ID{-9} }, "clusters[0] (Ground floor): shades: there is no shade -9"},
		"a name turned round":       {func(x *appliance.Site) { x.Clusters[0].Name = "a\u202Eb" }, "turn the order of others round"},
		"unknown member":            {func(x *appliance.Site) { x.Clusters[0].Nodes = []appliance.ID{5001} }, "there is no node 5001"},
		"two of a name without IDs": {func(x *appliance.Site) { x.Nodes[1].Name = "Lobby" }, "has the same name and neither has an ID"},
		"duplicate bus name": {func(x *appliance.Site) {
			x.Buses = append(x.Buses, appliance.Bus{UUID: appliance.UUID{15: 2}, Name: "ground", Driver: "modbus"})
		}, "buses[1] (ground): name: buses[0] has the same name"},
		"bus without a name":      {func(x *appliance.Site) { x.Buses[0].Name = "" }, "buses[0] (): name: is missing"},
		"a bus name turned round": {func(x *appliance.Site) { x.Buses[0].Name = "a\u202Eb" }, "turn the order of others round"},
		"two buses of one UUID": {func(x *appliance.Site) {
			x.Buses = append(x.Buses, appliance.Bus{UUID: x.Buses[0].UUID, Name: "attic", Driver: "modbus"})
		}, "buses[1] (attic): uuid: 00000000-0000-0000-0000-000000000001 is the UUID of another bus of this import"},
		"the same bus twice, by its UUID and by its name": {func(x *appliance.Site) {
			x.Buses = append(x.Buses, appliance.Bus{UUID: have.Buses[0].UUID, Name: "attic", Driver: "modbus"})
		}, "buses[1] (attic): is the same bus as buses[0]"},
		"two nodes of one UUID": {func(x *appliance.Site) {
			x.Nodes[0].UUID, x.Nodes[1].UUID = appliance.UUID{7}, appliance.UUID{7}
			x.Nodes[0].ID, x.Nodes[1].ID, x.Clusters = 8, 9, nil
		}, "07000000-0000-0000-0000-000000000000 is already the UUID of nodes[0]"},
		"more holidays than are kept": {func(x *appliance.Site) { x.Division.Holidays = make([]appliance.Holiday, 201) }, "201 entries, at most 200 are possible"},
		"outputs of a node with all": {func(x *appliance.Site) {
			x.Nodes[0].Outputs, x.Nodes[1].Outputs, x.Nodes[1].Address = nil, []int{7}, "5"
		}, "drives the same outputs"},
		"all outputs beside some": {func(x *appliance.Site) {
			x.Nodes[0].Outputs, x.Nodes[1].Outputs, x.Nodes[1].Address = []int{7}, nil, "5"
		}, "drives the same outputs"},
		"overlapping outputs": {func(x *appliance.Site) { x.Nodes[1].Address = "5" }, "drives the same outputs"},
		"same shade output":   {func(x *appliance.Site) { x.Shades[1].Output = 1 }, "hangs off the same output 1 of node 3"},
		"output 0":            {func(x *appliance.Site) { x.Shades[1].Output = 0 }, "outputs count from 1"},
		"no name":             {func(x *appliance.Site) { x.Clusters[1].Name = "" }, "name: is missing"},
		"bad UTF-8":           {func(x *appliance.Site) { x.Clusters[1].Name = "\xff" }, "not valid UTF-8"},
		"unknown tag":         {func(x *appliance.Site) { x.Nodes[0].Tag = "LAMP" }, "want NODE or PERIPHERAL"},
		"negative travel":     {func(x *appliance.Site) { x.Shades[0].TravelUp = -1 }, "cannot be negative"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := demo()
			test.edit(&in)
			if name == "same ID twice" {
				in.Clusters = nil
				refuses(t, s, in, ImportOptions{}, "8 is already the ID of nodes[0]", "is the same node as nodes[0]")
				return
			}
			refuses(t, s, in, ImportOptions{}, test.want)
		})
	}
}

func TestAllProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Nodes[0].Bus = appliance.NewUUID()
	in.Shades[0].Node = 12
	in.Clusters[0].Shades = []appliance.ID{4}
	in.Clusters[1].Name = ""
	refuses(t, s, in, ImportOptions{}, "nodes[0] (Lobby): bus", "shades[0] (South): node", "clusters[0] (Ground floor): shades", "clusters[1] (): name")
}

func TestAmbiguousNameIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Nodes[0].ID, in.Nodes[1].ID, in.Nodes[1].Name = 1, 2, "Lobby"
	in.Clusters = nil
	imports(t, s, in, ImportOptions{})
	refuses(t, s, appliance.Site{Buses: in.Buses, Nodes: []appliance.Node{{Name: "Lobby", Bus: in.Buses[0].UUID, Address: "50"}}},
		ImportOptions{}, `2 nodes are called "Lobby"; say which by its ID`)
}

func TestNamesMaySwap(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Buses = append(in.Buses, appliance.Bus{UUID: appliance.UUID{15: 2}, Name: "upper", Driver: "modbus"})
	imports(t, s, in, ImportOptions{})
	got := load(t, s)
	got.Buses[0].Name, got.Buses[1].Name = "upper", "ground"
	got.Nodes[0].Name, got.Nodes[1].Name = "Hall", "Lobby"
	imports(t, s, got, ImportOptions{})
	if after := load(t, s); !reflect.DeepEqual(after, got) {
		t.Errorf("after swapping names\ngot  %+v\nwant %+v", after, got)
	}
}

func TestReplacedBusOrderIsKept(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Buses = append(in.Buses, appliance.Bus{UUID: appliance.UUID{15: 2}, Name: "a", Driver: "modbus"})
	imports(t, s, in, ImportOptions{})
	slices.Reverse(in.Buses)
	imports(t, s, in, ImportOptions{Replace: true})
	if got := load(t, s); got.Buses[0].Name != "a" {
		t.Errorf("first bus is %s, want a", got.Buses[0].Name)
	}
}

func TestBrokenRowsAreFaultsAndTheRestLoads(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s)
	if _, err := s.db.Load().conf.Exec("UPDATE node SET options = '{' WHERE id = 3; UPDATE cluster SET created_on = 'x' WHERE id = 2"); err == nil {
		t.Fatal("a strict table took text for an integer")
	}
	if _, err := s.db.Load().conf.Exec("UPDATE node SET options = '{' WHERE id = 3"); err != nil {
		t.Fatal(err)
	}
	site, faults, err := s.Site(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(site.Nodes) != 2 || len(site.Shades) != 0 || len(site.Clusters) != 2 || len(site.Clusters[0].Shades) != 0 {
		t.Errorf("loaded %+v, want 2 nodes, no shade, 2 clusters", site)
	}
	if len(faults) != 3 || faults[0].Where != "node 3" {
		t.Errorf("faults %+v, want node 3 and its two shades", faults)
	}
	// Importing the entry again repairs it under its ID.
	imports(t, s, demo(), ImportOptions{})
	if after := load(t, s); !reflect.DeepEqual(before, after) {
		t.Errorf("not repaired\nbefore %+v\nafter  %+v", before, after)
	}
}

// What an import changes is told with what it was, and who made a cluster elsewhere is
// not made up: nobody in particular stays nobody.
func TestImportTellsOldAndNew(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := demo()
	in.Clusters[0].CreatedBy, in.Clusters[0].CreatedOn = "", time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	imports(t, s, in, ImportOptions{By: "anna"})
	now := load(t, s)
	if c := now.Clusters[0]; c.CreatedBy != "" || c.CreatedOn.Year() != 2024 {
		t.Errorf("made by %q on %v", c.CreatedBy, c.CreatedOn)
	}
	now.Nodes[0].Name, now.Nodes[0].Address = "Foyer", "77"
	now.Nodes[1].Options = map[string]string{"min": "20"}
	now.Shades[0].TravelUp = 0
	now.Clusters[0].Nodes = now.Clusters[0].Nodes[:1]
	old := load(t, s)
	r := imports(t, s, now, ImportOptions{Preview: true})
	got := map[string][]KeyChange{}
	for _, it := range r.Changed {
		got[it.Name] = it.Changes
	}
	for name, want := range map[string][]KeyChange{
		"Foyer":              {{"name", old.Nodes[0].Name, "Foyer"}, {"address", old.Nodes[0].Address, "77"}},
		now.Nodes[1].Name:    {{"options", "min=10", "min=20"}},
		now.Shades[0].Name:   {{"travelUp", old.Shades[0].TravelUp.String(), ""}},
		now.Clusters[0].Name: {{"nodes", "1, 2", "1"}},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if !r.Preview || len(r.Changed) != 4 {
		t.Errorf("report %+v", r)
	}
}

// TestReportOfTheSiteItself says only what really changed: a bus more is no other order.
func TestReportOfTheSiteItself(t *testing.T) {
	bus := func(n byte, name string) appliance.Bus {
		return appliance.Bus{UUID: appliance.UUID{0: n}, Name: name, Driver: "modbus", Port: "/dev/" + name}
	}
	a, b, c := bus(1, "a"), bus(2, "b"), bus(3, "c")
	for _, tc := range []struct {
		name    string
		in      appliance.Site
		replace bool
		want    []string
	}{
		{"another bus", appliance.Site{Buses: []appliance.Bus{c}}, false, nil},
		{"another bus in front", appliance.Site{Buses: []appliance.Bus{c, a, b}}, true, nil},
		{"a bus less", appliance.Site{Buses: []appliance.Bus{b}}, true, nil},
		{"another order that an addition does not take over", appliance.Site{Buses: []appliance.Bus{b, a}}, false, nil},
		{"another order", appliance.Site{Buses: []appliance.Bus{b, c, a}}, true, []string{"order of the buses"}},
		{"another name", appliance.Site{Name: "Annex", Buses: []appliance.Bus{c}}, false, []string{"name"}},
		{"other settings", appliance.Site{Name: "House", Settings: appliance.Settings{InvertShades: true}}, false, []string{"settings"}},
	} {
		s := open(t, t.TempDir())
		imports(t, s, appliance.Site{Name: "House", Buses: []appliance.Bus{a, b}}, ImportOptions{})
		r := imports(t, s, tc.in, ImportOptions{Replace: tc.replace})
		if !slices.Equal(r.Site, tc.want) || r.Settings != (len(tc.want) > 0) {
			t.Errorf("%s: changed of the site itself: %q (%v), want %q", tc.name, r.Site, r.Settings, tc.want)
		}
		if tc.replace {
			got := load(t, s)
			if !slices.EqualFunc(got.Buses, tc.in.Buses, func(a, b appliance.Bus) bool { return a.Name == b.Name }) {
				t.Errorf("%s: buses %+v", tc.name, got.Buses)
			}
		}
	}
}
