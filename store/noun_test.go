package store

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// A note has lines, a bound, and outlives a restart.
func TestANoteStaysAtADevice(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	imports(t, s, demo(), ImportOptions{})
	note := "Left of the lift\nFuse F12"
	if err := s.UpdateNode(t.Context(), 1, "ana", func(n *appliance.Node) error { n.Note = note; return nil }, nil); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{strings.Repeat("ä", 501), "a\x00b", "a\u202eb", "a\xffb"} {
		var refused *Refused
		if err := s.UpdateNode(t.Context(), 1, "ana", func(n *appliance.Node) error { n.Note = bad; return nil }, nil); !errors.As(err, &refused) {
			t.Errorf("%.20q: %v, want it refused", bad, err)
		}
	}
	if err := s.UpdateNode(t.Context(), 2, "ana", func(n *appliance.Node) error { n.Note = strings.Repeat("ä", 500); return nil }, nil); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := load(t, open(t, dir)).Nodes[0].Note; got != note {
		t.Errorf("after a restart the note is %q", got)
	}
}

func TestNounsOneByOne(t *testing.T) {
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ground := load(t, s).Buses[0].UUID
	id, err := s.CreateNode(ctx, appliance.Node{Name: "Lobby", Bus: ground, Address: "9", Profile: "dimmer"}, "ana", nil)
	ok(err) // a name that another has decides nothing
	if id != 4 {
		t.Errorf("the new node has the ID %d, want 4", id)
	}
	ok(s.UpdateNode(ctx, id, "ana", func(n *appliance.Node) error { n.Name, n.ID, n.UUID = "Bar", 77, appliance.NewUUID(); return nil }, nil))
	ok(s.UpdateCluster(ctx, 1, "ana", func(c *appliance.Cluster) error { c.Nodes = append(c.Nodes, id); return nil }))
	site := load(t, s)
	if n := site.Nodes[3]; n.Name != "Bar" || n.ID != 4 || !reflect.DeepEqual(site.Clusters[0].Nodes, []appliance.ID{1, 2, 4}) {
		t.Errorf("got %+v, %+v", n, site.Clusters[0])
	}
	yes := func(appliance.Node) error { return nil }
	if err := s.RemoveNode(ctx, 3, "ana", yes); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("a node with shades: %v", err)
	}
	stale := errors.New("stale")
	if err := s.RemoveNode(ctx, 4, "ana", func(appliance.Node) error { return stale }); !errors.Is(err, stale) {
		t.Errorf("got %v", err)
	}
	ok(s.RemoveNode(ctx, 4, "ana", yes))
	site = load(t, s)
	if len(site.Nodes) != 3 || len(site.Clusters[0].Nodes) != 2 || len(site.Retired) != 1 || site.Retired[0].Node != 4 {
		t.Errorf("after the removal: %+v", site)
	}
	if id, err = s.CreateNode(ctx, appliance.Node{Name: "Unbound"}, "ana", nil); err != nil || id != 5 {
		t.Errorf("after a removal the ID is %d (%v), want 5: none is used again", id, err)
	}
	var refused *Refused
	if err := s.UpdateNode(ctx, id, "ana", func(n *appliance.Node) error { n.Bus = appliance.NewUUID(); return nil }, nil); !errors.As(err, &refused) {
		t.Errorf("a bus that is not there: %v", err)
	}
	if _, err := s.CreateBus(ctx, appliance.Bus{Name: "ground", Driver: "sdn", Port: "x"}, "ana", nil); !errors.Is(err, account.ErrExists) {
		t.Errorf("a bus of the same name: %v", err)
	}
	bus, err := s.CreateBus(ctx, appliance.Bus{Name: "attic", Driver: "sdn", Port: "x"}, "ana", nil)
	ok(err)
	ok(s.UpdateNode(ctx, id, "ana", func(n *appliance.Node) error { n.Bus, n.Address, n.Profile = bus, "1", "p"; return nil }, nil))
	if err := s.RemoveBus(ctx, bus, "ana", func(appliance.Bus) error { return nil }); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("a bus with nodes: %v", err)
	}
	ok(s.UpdateNode(ctx, id, "ana", func(n *appliance.Node) error { n.Bus = appliance.UUID{}; return nil }, nil))
	ok(s.RemoveBus(ctx, bus, "ana", func(appliance.Bus) error { return nil }))
	if _, err := s.CreateBus(ctx, appliance.Bus{Name: "attic", Driver: "sdn", Port: "x"}, "ana", nil); err != nil {
		t.Error(err)
	}
	if b := load(t, s).Buses; b[0].Number != 1 || b[1].Number != 3 {
		t.Errorf("buses have the numbers %d and %d, want 1 and 3", b[0].Number, b[1].Number)
	}
}

// A shade with the ID of a node would let a node's ID move it.
func TestNodesAndShadesShareNoID(t *testing.T) {
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	if err := s.RemoveNode(t.Context(), 2, "", func(appliance.Node) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for id, why := range map[appliance.ID]string{1: "is the ID of a node; nodes and shades share no ID", 2: "which is retired; nodes and shades share no ID"} {
		_, err := s.CreateShade(t.Context(), appliance.Shade{ID: id, Name: "X", Node: 3, Output: 9}, "", nil)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("shade with the ID %d of a node: %v", id, err)
		}
	}
	if _, err := s.CreateNode(t.Context(), appliance.Node{ID: 5001, Name: "X"}, "", nil); err == nil {
		t.Error("a node with the ID of a shade was taken")
	}
}

// An export that is imported on a blank controller brings no retired ID back.
func TestRetiredIDsTravelWithTheSite(t *testing.T) {
	old := open(t, t.TempDir())
	imports(t, old, demo(), ImportOptions{})
	if err := old.RemoveShade(t.Context(), 5002, "", func(appliance.Shade) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := old.CreateNode(t.Context(), appliance.Node{ID: 900, Name: "Far"}, "", nil); err != nil {
		t.Fatal(err)
	}
	if id, err := old.CreateNode(t.Context(), appliance.Node{Name: "Next"}, "", nil); err != nil || id != 4 {
		t.Fatalf("%d %v", id, err)
	}
	if err := old.RemoveNode(t.Context(), 4, "", func(appliance.Node) error { return nil }); err != nil {
		t.Fatal(err)
	}
	site := load(t, old)
	blank := open(t, t.TempDir())
	imports(t, blank, site, ImportOptions{})
	if got := load(t, blank); !reflect.DeepEqual(got.Retired, site.Retired) || got.Highest != site.Highest {
		t.Errorf("got %+v %+v, want %+v %+v", got.Retired, got.Highest, site.Retired, site.Highest)
	}
	if id, err := blank.CreateNode(t.Context(), appliance.Node{Name: "New"}, "", nil); err != nil || id != 5 {
		t.Errorf("the next node has the ID %d (%v), want 5", id, err)
	}
	if id, err := blank.CreateShade(t.Context(), appliance.Shade{Name: "New", Node: 3, Output: 7}, "", nil); err != nil || id != 5003 {
		t.Errorf("the next shade has the ID %d (%v), want 5003", id, err)
	}
	if r := imports(t, blank, load(t, blank), ImportOptions{}); r.Writes() {
		t.Errorf("the same site again writes: %+v", r)
	}
}

// Whatever is done, in whatever order, an ID stays with what it was given to.
func TestRandomChangesNeverReuseAnID(t *testing.T) {
	const seed = 18
	rng := rand.New(rand.NewPCG(seed, seed))
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	was := map[appliance.ID]appliance.UUID{}
	for range 150 {
		site := load(t, s)
		for _, n := range site.Nodes {
			if u, ok := was[n.ID]; ok && u != n.UUID {
				t.Fatalf("node %d was %s and is %s", n.ID, u, n.UUID)
			}
			was[n.ID] = n.UUID
		}
		pick := site.Nodes[rng.IntN(len(site.Nodes))].ID
		var err error
		switch rng.IntN(4) {
		case 0, 1:
			_, err = s.CreateNode(t.Context(), appliance.Node{Name: "N"}, "", nil)
		case 2:
			err = s.UpdateNode(t.Context(), pick, "", func(n *appliance.Node) error { n.Name += "x"; return nil }, nil)
		case 3:
			err = s.RemoveNode(t.Context(), pick, "", func(appliance.Node) error { return nil })
		}
		if err != nil && !errors.Is(err, appliance.ErrInUse) {
			t.Fatal(err)
		}
	}
}
