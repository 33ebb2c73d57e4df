package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/migration"
)

// blank is an empty database, made once: to make one takes most of the time of a test that needs little else.
var blank = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := Open(context.Background(), dir, quiet())
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(s.path)
})

// openBlank opens a store in which there is nothing yet.
func openBlank(t testing.TB) *Store {
	t.Helper()
	data, err := blank()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, databaseFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// What is changed of a device is changed of all its nodes, and of no others: those at its bus and address, where it has one.
func TestADeviceIsChangedWhole(t *testing.T) {
	t.Parallel()
	bus, attic := appliance.UUID{15: 1}, appliance.UUID{15: 2}
	node := func(bus appliance.UUID, address, name string, outputs ...int) appliance.Node {
		return appliance.Node{Bus: bus, Address: address, Name: name, Profile: "p", Outputs: outputs}
	}
	s := openBlank(t)
	imports(t, s, appliance.Site{Name: "House", Buses: []appliance.Bus{{UUID: bus, Name: "ground", Driver: "modbus"}, {UUID: attic, Name: "attic", Driver: "modbus"}}, Nodes: []appliance.Node{
		node(bus, "5", "a", 1), node(bus, "5", "b", 2), node(bus, "6", "c"), node(attic, "5", "d"), {Name: "e"}, {Name: "f"},
	}}, ImportOptions{})
	for of, want := range map[appliance.ID]string{1: "ab", 2: "ba", 3: "c", 4: "d", 5: "e", 6: "f"} {
		var names string
		note := "of " + want
		err := s.UpdateDevice(t.Context(), of, "ana", func(n *appliance.Node) error { names += n.Name; n.Note = note; return nil }, nil)
		if err != nil || names != want {
			t.Errorf("node %d: changed %q, want %q; %v", of, names, want, err)
		}
		for _, n := range load(t, s).Nodes {
			if (n.Note == note) != strings.Contains(want, n.Name) {
				t.Errorf("node %d: the note of %s is %q", of, n.Name, n.Note)
			}
		}
	}
	unwanted := errors.New("unwanted")
	if err := s.UpdateDevice(t.Context(), 1, "ana", func(n *appliance.Node) error {
		n.Note = "half"
		if n.Name == "b" {
			return unwanted
		}
		return nil
	}, nil); !errors.Is(err, unwanted) || slices.ContainsFunc(load(t, s).Nodes, func(n appliance.Node) bool { return n.Note == "half" }) {
		t.Errorf("one of two is not wanted: %v", err)
	}
	if err := s.UpdateDevice(t.Context(), 99, "ana", func(*appliance.Node) error { return nil }, nil); !errors.Is(err, appliance.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

// A bus keeps its UUID and its number, whatever a change makes of them.
func TestABusStaysTheSame(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	imports(t, s, demo(), ImportOptions{})
	before := load(t, s).Buses[0]
	err := s.UpdateBus(t.Context(), before.UUID, "ana", func(b *appliance.Bus) error { b.UUID, b.Number, b.Name = appliance.UUID{9}, 77, "attic"; return nil }, nil)
	if after := load(t, s).Buses; err != nil || len(after) != 1 || after[0].UUID != before.UUID || after[0].Number != before.Number || after[0].Name != "attic" {
		t.Errorf("%v: %+v", err, after)
	}
}

// IDs that another controller retired are never given, of whatever they were; those that are used here, or were, are known already.
func TestRetiredIDsOfEveryFamilyAreTakenOver(t *testing.T) {
	t.Parallel()
	gone := []appliance.Retired{
		{Node: 4, UUID: appliance.UUID{1}, Name: "n"}, {Shade: 5003, UUID: appliance.UUID{2}, Name: "h"}, {Cluster: 3, UUID: appliance.UUID{3}, Name: "c"},
		{Scene: 1, UUID: appliance.UUID{4}, Name: "s"}, {Rule: 1, UUID: appliance.UUID{5}, Name: "r"},
	}
	s := openBlank(t)
	imports(t, s, demo(), ImportOptions{})
	in := load(t, s)
	live := in.Nodes[0]
	in.Retired = append(slices.Clone(gone),
		appliance.Retired{Node: 1, UUID: appliance.UUID{6}}, // it lives here
		appliance.Retired{Node: 9, UUID: live.UUID},         // so does its UUID
		appliance.Retired{Node: 0, UUID: appliance.UUID{7}}, appliance.Retired{Node: appliance.MaxID + 1, UUID: appliance.UUID{8}}, appliance.Retired{Node: 10})
	if r := imports(t, s, in, ImportOptions{}); !r.Writes() {
		t.Errorf("nothing is taken over: %+v", r)
	}
	want := func(list []appliance.Retired) (out []appliance.Retired) {
		for _, r := range list {
			r.Name = ""
			out = append(out, r)
		}
		slices.SortFunc(out, func(a, b appliance.Retired) int { return int(a.UUID[0]) - int(b.UUID[0]) })
		return out
	}
	if got := want(load(t, s).Retired); !reflect.DeepEqual(got, want(gone)) {
		t.Errorf("retired are %+v, want %+v", got, want(gone))
	}
	for i := range gone { // the same UUIDs again, under other IDs
		if gone[i].Node != 0 {
			gone[i].Node = 11
		}
	}
	in.Retired = gone
	if r := imports(t, s, in, ImportOptions{}); r.Writes() {
		t.Errorf("known already, and written: %+v", r)
	}
	ctx := t.Context()
	next := map[string]func() (appliance.ID, error){
		"node 5": func() (appliance.ID, error) { return s.CreateNode(ctx, appliance.Node{Name: "x"}, "", nil) },
		"shade 5004": func() (appliance.ID, error) {
			return s.CreateShade(ctx, appliance.Shade{Name: "x", Output: 1}, "", nil)
		},
		"cluster 4": func() (appliance.ID, error) { return s.CreateCluster(ctx, appliance.Cluster{Name: "x"}, "") },
		"scene 2": func() (appliance.ID, error) {
			return s.CreateScene(ctx, appliance.Scene{Name: "x", Actions: []appliance.Action{{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.All}}}}, "")
		},
	}
	for what, create := range next {
		if id, err := create(); err != nil || !strings.HasSuffix(what, " "+strconv.Itoa(int(id))) {
			t.Errorf("the next is %d (%v), want %s", id, err, what)
		}
	}
}

// An action on one shade follows it to the ID that it is given here.
func TestAnActionOnAShadeFollowsIt(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	in := ruled()
	in.Shades = []appliance.Shade{{ID: -1, Name: "South", Node: -1, Output: 1}}
	in.Scenes[0].Actions = append(in.Scenes[0].Actions, appliance.Action{Kind: appliance.ShadeClose, Target: appliance.Target{Scope: appliance.One, ID: -1}})
	imports(t, s, in, ImportOptions{})
	got := load(t, s)
	if a := got.Scenes[0].Actions; len(a) != 3 || a[2].Target.ID != got.Shades[0].ID || a[1].Target.ID != got.Nodes[0].ID {
		t.Errorf("actions %+v; the shade is %d", a, got.Shades[0].ID)
	}
	in.Scenes[0].Actions[2].Target.ID = -9
	refuses(t, openBlank(t), in, ImportOptions{}, "there is no shade -9")
}

// A cluster knows who made it and when: who is told, else who imports it, and as it was where a house is taken over.
func TestWhoMadeACluster(t *testing.T) {
	t.Parallel()
	made := time.Date(2020, 3, 1, 12, 0, 0, 0, time.FixedZone("somewhere", 7200))
	s := openBlank(t)
	for name, tc := range map[string]struct {
		in     appliance.Cluster
		asItIs bool
		by     string
		on     time.Time // zero: now
	}{
		"nothing is told":            {appliance.Cluster{}, false, "ana", time.Time{}},
		"by whom is told":            {appliance.Cluster{CreatedBy: "ben"}, false, "ben", time.Time{}},
		"when is told":               {appliance.Cluster{CreatedOn: made}, false, "", made},
		"when is told, as it was":    {appliance.Cluster{CreatedOn: made}, true, "", made},
		"both are told":              {appliance.Cluster{CreatedOn: made, CreatedBy: "ben"}, true, "ben", made},
		"nothing is told, as it was": {appliance.Cluster{}, true, "ana", time.Time{}},
	} {
		tc.in.Name = name
		imports(t, s, appliance.Site{Name: "House", Clusters: []appliance.Cluster{tc.in}}, ImportOptions{By: "ana", asItWas: tc.asItIs})
		for range 2 { // once more, and nobody else made it
			all := load(t, s).Clusters
			c := all[slices.IndexFunc(all, func(c appliance.Cluster) bool { return c.Name == name })]
			if c.CreatedBy != tc.by || !tc.on.IsZero() && !c.CreatedOn.Equal(tc.on) || tc.on.IsZero() && time.Since(c.CreatedOn) > time.Hour || c.CreatedOn.Location() != time.UTC {
				t.Errorf("%s: made by %q on %v", name, c.CreatedBy, c.CreatedOn)
			}
			imports(t, s, appliance.Site{Name: "House", Clusters: []appliance.Cluster{{Name: name, CreatedBy: "eve", CreatedOn: made.Add(time.Hour)}}}, ImportOptions{By: "eve", asItWas: tc.asItIs})
		}
	}
}

// What migrations took over is counted by what it is.
func TestMigrationsAreCounted(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	house := migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 1, Name: "Lamp"}, {ID: 2, Name: "Other lamp"}}, Shades: []migration.Shade{{ID: 5001, Name: "Blind"}},
		Clusters: []migration.Cluster{{ID: 9001, Name: "Room"}, {ID: 9002, Name: "Hall"}, {ID: 9003, Name: "Attic"}}}
	id, _, err := s.Migrate(t.Context(), Takeover{House: house, By: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Migrations(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if m := list[0]; m.ID != id || m.Taken.Nodes != 2 || m.Taken.Shades != 1 || m.Taken.Clusters != 3 || m.By != "ana" || !m.UndoneAt.IsZero() {
		t.Errorf("%+v", m)
	}
}

// What conflicts with what is here is told, and taken over where that is wanted.
func TestAHouseThatConflicts(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	imports(t, s, demo(), ImportOptions{})
	house := migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 1, Name: "Lamp"}, {ID: 77, Name: "Other lamp"}}}
	id, plan, err := s.Migrate(t.Context(), Takeover{House: house, By: "ana"})
	if len(plan.Conflicts) == 0 {
		t.Fatalf("no conflict: this test shows nothing; %+v", plan)
	}
	if !errors.Is(err, ErrConflicts) || id != 0 || len(load(t, s).Nodes) != 3 {
		t.Errorf("%d, %v: %d nodes", id, err, len(load(t, s).Nodes))
	}
	if id, _, err := s.Migrate(t.Context(), Takeover{House: house, By: "ana", Skip: true}); err != nil || id == 0 || len(load(t, s).Nodes) != 4 {
		t.Errorf("all the same: %d, %v: %d nodes", id, err, len(load(t, s).Nodes))
	}
}

// What hangs off what a migration made stays when that is undone; a shade that was there before hangs where it hung.
func TestShadesThatHungOffWhatGoes(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	migrate := func(h migration.House) int64 {
		t.Helper()
		h.Source = "old:443"
		id, _, err := s.Migrate(t.Context(), Takeover{House: h, By: "test"})
		if err != nil || id == 0 {
			t.Fatal(id, err)
		}
		return id
	}
	shades := []migration.Shade{{ID: 5001, Name: "Blind"}}
	migrate(migration.House{Shades: shades})
	second := migrate(migration.House{Shades: []migration.Shade{{ID: 5001, Name: "Blind of the hall"}}, Nodes: []migration.Node{{ID: 1, Name: "Lamp"}}})
	if err := s.UpdateShade(t.Context(), 5001, "ana", func(h *appliance.Shade) error { h.Node, h.Output = 1, 1; return nil }, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UndoMigration(t.Context(), second, true, "test"); err != nil {
		t.Fatal(err)
	}
	if site := load(t, s); len(site.Nodes) != 0 || len(site.Shades) != 1 || site.Shades[0].Node != 0 || site.Shades[0].Name != "Blind" {
		t.Errorf("after it was undone: %+v", site.Shades)
	}
}

// Fields of a refusal are in the order of its problems.
func TestFieldsOfARefusal(t *testing.T) {
	keys, messages := (&Refused{[]Problem{{Entry: "e", Key: "name", Message: "is missing"}, {Key: "port", Message: "is taken"}}}).Fields()
	if !slices.Equal(keys, []string{"name", "port"}) || !slices.Equal(messages, []string{"is missing", "is taken"}) {
		t.Errorf("%q, %q", keys, messages)
	}
}

// Where nothing can be kept a secret is made anew, and there is none where that fails, too.
func TestASecretThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	var log strings.Builder
	mem := &Store{path: s.path, log: slog.New(slog.NewTextHandler(&log, nil)), now: s.now, synced: s.synced, hashing: make(chan struct{}, 1)}
	h, err := mem.openCopy(t.Context(), unix.EROFS)
	if err != nil {
		t.Fatal(err)
	}
	mem.db.Store(h)
	defer h.close()
	if err := mem.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := mem.Secret(t.Context(), "jwt", func() ([]byte, error) { return []byte("made"), nil }); err != nil || string(v) != "made" || !strings.Contains(log.String(), "made anew at the next start") {
		t.Errorf("%q, %v; told %q", v, err, log.String())
	}
	log.Reset()
	broken := errors.New("no entropy")
	if v, err := mem.Secret(t.Context(), "tls", func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) || v != nil || log.Len() > 0 {
		t.Errorf("%q, %v; told %q", v, err, log.String())
	}
}

// One entry or picture that cannot be read is told, and costs none of the others.
func TestOneThatCannotBeReadCostsNoOther(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	var log strings.Builder
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	if err := s.SaveBatch(t.Context(), appliance.Batch{Entries: []appliance.Entry{someEntry(1, 2), someEntry(2, 2), someEntry(3, 2)}}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Entries(t.Context(), 10, "")
	if err != nil || len(all) != 3 {
		t.Fatal(len(all), err)
	}
	if _, err := s.db.Load().conf.Exec("UPDATE entry SET body = x'FFFF' WHERE id = ?", all[1].ID); err != nil {
		t.Fatal(err)
	}
	rest, err := s.Entries(t.Context(), 10, "")
	if err != nil || len(rest) != 2 || rest[0].ID != all[0].ID || rest[1].ID != all[2].ID || !strings.Contains(log.String(), all[1].ID) {
		t.Errorf("%d entries, %v; told %q", len(rest), err, log.String())
	}
	in := withPlan()
	in.Pictures["two"] = []byte("another")
	in.Division.Floors[1].Plan = &appliance.Plan{Picture: "two", Type: "image/png", Width: 4, Height: 3}
	imports(t, s, in, ImportOptions{})
	if _, err := s.db.Load().conf.Exec("DELETE FROM picture WHERE name = 'one'"); err != nil {
		t.Fatal(err)
	}
	site := load(t, s)
	faults := s.Pictures(t.Context(), &site)
	if len(faults) != 1 || faults[0].Where != "plan of Ground" || len(site.Pictures) != 1 || string(site.Pictures["two"]) != "another" {
		t.Errorf("faults %+v, pictures %q", faults, site.Pictures)
	}
}

// When a key was used is written down while the daemon runs, not only at its end.
func TestUseOfAKeyIsWrittenDown(t *testing.T) {
	t.Parallel()
	s := openBlank(t)
	secret, key, err := s.AddKey(t.Context(), "panel", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.KeyOf(secret); !ok {
		t.Fatal("the key is not known")
	}
	used := func() (at int64) {
		if err := s.db.Load().read.QueryRow("SELECT last_used FROM api_key WHERE uuid = ?", key.UUID[:]).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	if used() != 0 {
		t.Fatal("it was used before")
	}
	s.saveUsed(t.Context())
	first := used()
	if first == 0 {
		t.Error("not written down")
	}
	if _, err := s.db.Load().conf.Exec("UPDATE api_key SET last_used = 1"); err != nil {
		t.Fatal(err)
	}
	if s.saveUsed(t.Context()); used() != 1 {
		t.Error("what is written down already is written again")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range s.accounts.Load().keys {
		k.used.now.Add(10)
	}
	if s.saveUsed(ctx); used() != 1 {
		t.Error("written by one who has gone")
	}
	if s.saveUsed(t.Context()); used() <= first {
		t.Error("what could not be written down is not tried again")
	}
}

// Where all IDs of a family were given, nothing is made of it any more, and nothing of what came along.
func TestWhereNoIDIsLeft(t *testing.T) {
	t.Parallel()
	everything := []appliance.Action{{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.All}}}
	s := openBlank(t)
	imports(t, s, demo(), ImportOptions{})
	for family, in := range map[string]appliance.Site{
		"node":    {Nodes: []appliance.Node{{Name: "New"}}},
		"shade":   {Shades: []appliance.Shade{{Name: "New", Output: 1}}},
		"cluster": {Clusters: []appliance.Cluster{{Name: "New"}}},
		"scene":   {Scenes: []appliance.Scene{{Name: "New", Actions: everything}}},
		"rule":    {Rules: []appliance.Rule{{Name: "New", When: appliance.Trigger{Kind: appliance.AtTime, Minute: 60, Days: 127}, Actions: everything}}},
	} {
		conf := s.db.Load().conf
		var was appliance.ID
		if err := conf.QueryRow("SELECT high FROM mark WHERE family = ?", family).Scan(&was); err != nil {
			t.Fatal(err)
		}
		mark := func(high appliance.ID) {
			if _, err := conf.Exec("UPDATE mark SET high = ? WHERE family = ?", high, family); err != nil {
				t.Fatal(err)
			}
		}
		mark(appliance.MaxID)
		before := load(t, s)
		in.Name = "Other"
		if _, err := s.Import(t.Context(), in, ImportOptions{}); !errors.Is(err, errIDsExhausted) {
			t.Errorf("%s: one more: %v", family, err)
		}
		if after := load(t, s); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: the site is now %+v", family, after)
		}
		if mark(was); family == "rule" || family == "scene" {
			continue
		}
		if _, err := s.Import(t.Context(), in, ImportOptions{Preview: true}); err != nil {
			t.Errorf("%s: one more where there are IDs: %v", family, err)
		}
	}
}
