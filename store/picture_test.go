package store

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// withPlan is a house with a plan on which each of its things stands.
func withPlan() appliance.Site {
	site := appliance.Site{Name: "House", Nodes: []appliance.Node{{ID: 1, Name: "Lamp"}, {ID: 2, Name: "Other lamp"}}, Shades: []appliance.Shade{{ID: 5001, Name: "South", Output: 1}},
		Clusters: []appliance.Cluster{{ID: 3, Name: "Lobby", Nodes: []appliance.ID{1}}}, Pictures: map[string][]byte{"one": []byte("drawing")}}
	site.Division.Floors = []appliance.Floor{{Name: "Ground", Clusters: []appliance.ID{3}, Plan: &appliance.Plan{Picture: "one", Type: "image/png", Width: 4, Height: 3,
		Spots: []appliance.Spot{{Cluster: 3, X: .5, Y: .5}, {Shade: 5001, X: 1}, {Node: 1, Y: 1}, {Node: 2, Y: 1}}}}, {Name: "Attic"}}
	return site
}

func planOf(t *testing.T, s *Store, floor int) *appliance.Plan {
	t.Helper()
	site, faults, err := s.Site(t.Context())
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	return site.Division.Floors[floor].Plan
}

// A plan is kept with its picture; what goes leaves it; a file that says nothing of it leaves it, as one of before there were
// plans does; and it is in the backup.
func TestPlansAreKept(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.Import(t.Context(), withPlan(), ImportOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	want := withPlan().Division.Floors[0].Plan
	if got := planOf(t, s, 0); !reflect.DeepEqual(got, want) {
		t.Fatalf("kept is %+v", got)
	}
	old := withPlan()
	old.Division.Floors[0].Plan, old.Pictures = nil, nil
	if report, err := s.Import(t.Context(), old, ImportOptions{By: "test"}); err != nil || report.Writes() {
		t.Errorf("a file without plans changes %+v, %v", report, err)
	}
	if err := s.RemoveNode(t.Context(), 2, "test", func(appliance.Node) error { return nil }); err != nil {
		t.Fatal(err)
	}
	want.Spots = want.Spots[:3]
	if got := planOf(t, s, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("without a lamp it is %+v", got)
	}

	file, to := filepath.Join(t.TempDir(), "backup"), t.TempDir()
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	restored := open(t, to)
	if got := planOf(t, restored, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("restored is %+v", got)
	}
	if data, err := restored.Picture(t.Context(), "one"); err != nil || string(data) != "drawing" {
		t.Errorf("its picture is %q, %v", data, err)
	}

	// Another picture takes the place of the first, which is forgotten; to replace all takes the plans, too.
	err := s.UpdatePlans(t.Context(), "test", func(d *appliance.Division) (string, []byte, error) {
		plan := *d.Floors[0].Plan
		plan.Picture = "two"
		d.Floors = []appliance.Floor{{Name: "Ground", Plan: &plan}, {Name: "Attic"}}
		return "two", []byte("another"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Picture(t.Context(), "one"); !errors.Is(err, appliance.ErrNotFound) {
		t.Errorf("the picture that nobody shows: %v", err)
	}
	site, _, _ := s.Site(t.Context())
	if faults := s.Pictures(t.Context(), &site); len(faults) > 0 || string(site.Pictures["two"]) != "another" {
		t.Errorf("for an export there are %v, %v", site.Pictures, faults)
	}
	old.Nodes = old.Nodes[:1]
	if _, err := s.Import(t.Context(), old, ImportOptions{By: "test", Replace: true}); err != nil {
		t.Fatal(err)
	}
	if got := planOf(t, s, 0); got != nil {
		t.Errorf("when all was replaced there is %+v", got)
	}
}

func TestPlansThatCannotBeAreRefused(t *testing.T) {
	s := open(t, t.TempDir())
	for name, c := range map[string]struct {
		change func(*appliance.Site)
		want   string
	}{
		"a picture that is not there": {func(s *appliance.Site) { s.Pictures = nil }, "is not there"},
		"too many pictures": {func(s *appliance.Site) {
			s.Pictures["one"] = make([]byte, 2<<20)
			s.Pictures["two"] = make([]byte, 2<<20)
			s.Division.Floors[1].Plan = &appliance.Plan{Picture: "two"}
		}, "together"},
		"a thing on two plans": {func(s *appliance.Site) {
			s.Division.Floors[1].Plan = &appliance.Plan{Picture: "one", Spots: []appliance.Spot{{Node: 1}}}
		}, "stands on the plan of Ground already"},
		"a thing that is not there": {func(s *appliance.Site) { s.Division.Floors[0].Plan.Spots[0].Cluster = 9 }, "there is no cluster 9"},
		"two floors of one name":    {func(s *appliance.Site) { s.Division.Floors[1].Name = "Ground" }, "another floor has this name"},
	} {
		site := withPlan()
		c.change(&site)
		if _, err := s.Import(t.Context(), site, ImportOptions{By: "test"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsPutAsideIsKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	a := appliance.Aside{Key: "silent x", By: "ana", At: s.now().UTC()}
	if err := errors.Join(s.PutAside(t.Context(), appliance.Aside{Key: "silent x", By: "bob"}), s.PutAside(t.Context(), a), s.EndAside(t.Context(), "nothing")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir)
	if got, err := s.Asides(t.Context()); err != nil || len(got) != 1 || got[0].Key != a.Key || got[0].By != "ana" || !got[0].At.Equal(a.At) {
		t.Errorf("kept is %+v, %v", got, err)
	}
	if err := s.EndAside(t.Context(), "silent x"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Asides(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("kept is %+v, %v", got, err)
	}
}

// The first floor of a building that nobody has named is made all the same.
func TestABuildingWithoutANameHasFloors(t *testing.T) {
	s := open(t, t.TempDir())
	for _, name := range []string{"Ground", "Attic"} {
		if err := s.UpdatePlans(t.Context(), "test", func(d *appliance.Division) (string, []byte, error) {
			d.Floors = append(d.Floors, appliance.Floor{Name: name})
			return "", nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	site, _, err := s.Site(t.Context())
	if err != nil || site.Name != Nameless || len(site.Division.Floors) != 2 {
		t.Errorf("%+v, %v", site, err)
	}
}
