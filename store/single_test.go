package store

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// What is not there is neither changed nor removed, and whoever changes it may refuse in the last moment.
func TestNounsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, ruled(), ImportOptions{})
	before := load(t, s)
	refusal := errors.New("not now")
	ctx := t.Context()
	for _, there := range []bool{false, true} {
		want, id := appliance.ErrNotFound, appliance.ID(77)
		if there {
			want, id = refusal, 1
		}
		bus := appliance.UUID{9}
		if there {
			bus = before.Buses[0].UUID
		}
		for name, err := range map[string]error{
			"node":           s.UpdateNode(ctx, id, "ana", func(*appliance.Node) error { return refusal }, nil),
			"device":         s.UpdateDevice(ctx, id, "ana", func(*appliance.Node) error { return refusal }, nil),
			"cluster":        s.UpdateCluster(ctx, id, "ana", func(*appliance.Cluster) error { return refusal }),
			"scene":          s.UpdateScene(ctx, id, "ana", func(*appliance.Scene) error { return refusal }),
			"rule":           s.UpdateRule(ctx, id, "ana", func(*appliance.Rule) error { return refusal }),
			"bus":            s.UpdateBus(ctx, bus, "ana", func(*appliance.Bus) error { return refusal }, nil),
			"node, away":     s.RemoveNode(ctx, id, "ana", func(appliance.Node) error { return refusal }),
			"cluster, away":  s.RemoveCluster(ctx, id, "ana", func(appliance.Cluster) error { return refusal }),
			"scene, away":    s.RemoveScene(ctx, id, "ana", func(appliance.Scene) error { return refusal }),
			"rule, away":     s.RemoveRule(ctx, id, "ana", func(appliance.Rule) error { return refusal }),
			"bus, away":      s.RemoveBus(ctx, bus, "ana", func(appliance.Bus) error { return refusal }),
			"checked at end": s.UpdateNode(ctx, id, "ana", func(n *appliance.Node) error { n.Name = "other"; return nil }, func(_, _ appliance.Site) error { return refusal }),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s %d: %v, want %v", name, id, err, want)
			}
		}
	}
	if _, err := s.CreateBus(ctx, appliance.Bus{Name: "b", Driver: "modbus"}, "ana", nil); err == nil {
		t.Error("two buses have one name")
	}
	if err := s.RemoveBus(ctx, before.Buses[0].UUID, "ana", func(appliance.Bus) error { return nil }); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("a bus with nodes: %v", err)
	}
	if err := s.RemoveScene(ctx, 1, "ana", func(appliance.Scene) error { return nil }); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("a scene that a rule recalls: %v", err)
	}
	if after := load(t, s); !reflect.DeepEqual(before, after) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

// Each key of an entry that an import changes is told, and no other.
func TestEachChangedKeyIsTold(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := ruled()
	in.Nodes = append(in.Nodes, appliance.Node{ID: -2, Name: "Lamp", Bus: in.Buses[0].UUID, Address: "2", Profile: "p"})
	in.Shades = []appliance.Shade{{ID: -1, Name: "South", Node: -2, Output: 1}}
	imports(t, s, in, ImportOptions{})
	changes := map[string]func(*appliance.Site){
		"driver":     func(x *appliance.Site) { x.Buses[0].Driver = "dmx" },
		"port":       func(x *appliance.Site) { x.Buses[0].Port = "/dev/y" },
		"line":       func(x *appliance.Site) { x.Buses[0].Line.BaudRate = 9600 },
		"options":    func(x *appliance.Site) { x.Buses[0].Options = map[string]string{"echo": "true"} },
		"disabled":   func(x *appliance.Site) { x.Buses[0].Disabled = true },
		"bus":        func(x *appliance.Site) { x.Nodes[0].Bus = appliance.UUID{} },
		"address":    func(x *appliance.Site) { x.Nodes[0].Address = "9" },
		"profile":    func(x *appliance.Site) { x.Nodes[0].Profile = "q" },
		"tag":        func(x *appliance.Site) { x.Nodes[0].Tag = appliance.TagPeripheral },
		"outputs":    func(x *appliance.Site) { x.Nodes[0].Outputs = []int{1} },
		"groups":     func(x *appliance.Site) { x.Nodes[0].Groups = []string{"1"} },
		"note":       func(x *appliance.Site) { x.Nodes[0].Note = "n" },
		"node":       func(x *appliance.Site) { x.Shades[0].Node = -1 },
		"output":     func(x *appliance.Site) { x.Shades[0].Output = 2 },
		"travelUp":   func(x *appliance.Site) { x.Shades[0].TravelUp = 1e9 },
		"travelDown": func(x *appliance.Site) { x.Shades[0].TravelDown = 1e9 },
		"inverted":   func(x *appliance.Site) { x.Shades[0].Inverted = true },
		"nodes":      func(x *appliance.Site) { x.Clusters[0].Nodes = nil },
		"shades":     func(x *appliance.Site) { x.Clusters[0].Shades = []appliance.ID{-1} },
		"cluster":    func(x *appliance.Site) { x.Scenes[0].Cluster = 0 },
		"actions":    func(x *appliance.Site) { x.Rules[0].Actions = x.Rules[1].Actions },
		"when":       func(x *appliance.Site) { x.Rules[0].When.Minute = 1 },
		"yields":     func(x *appliance.Site) { x.Rules[0].Yields = 0 },
		"disabled ":  func(x *appliance.Site) { x.Rules[0].Disabled = true },
		"actions ":   func(x *appliance.Site) { x.Scenes[0].Actions = x.Scenes[0].Actions[:1] },
	}
	next := ruled()
	next.Nodes, next.Shades = slices.Clone(in.Nodes), slices.Clone(in.Shades)
	var want, told []string
	for key, change := range changes {
		want = append(want, strings.TrimSpace(key))
		change(&next)
	}
	for _, item := range imports(t, s, next, ImportOptions{Preview: true}).Changed {
		told = append(told, keysOf(item.Changes)...)
	}
	slices.Sort(want)
	slices.Sort(told)
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// Where the certificate lies is written when it is said anew, and not at every start.
func TestTheCertificateIsNotedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	conn, err := other.db.Load().read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	version := func() (n int) {
		if err := conn.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, tc := range []struct {
		cert, key string
		writes    bool
	}{{"", "", false}, {"/c", "/k", true}, {"/c", "/k", false}, {"/c", "/other", true}, {"", "", true}, {"", "", false}} {
		before := version()
		if err := s.KeepCertificate(t.Context(), tc.cert, tc.key); err != nil || (version() != before) != tc.writes {
			t.Errorf("%d: %v, written %v", i, err, !tc.writes)
		}
	}
}
