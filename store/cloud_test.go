package store

import (
	"errors"
	"reflect"
	"testing"

	"svc.internal/controller/appliance"
)

func TestTheEnrolmentAtAPlatformIsKeptAndSessionsCountOn(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	if _, err := s.Cloud(ctx); !errors.Is(err, appliance.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	want := Cloud{Platform: "https://p", Controller: "house", Broker: "mqtts://p:8883", Username: "house", Password: "secret", CA: "pem"}
	for range 2 { // enrolling again replaces
		if err := s.SetCloud(ctx, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Cloud(ctx)
	got.EnrolledAt = want.EnrolledAt
	if err != nil || got != want {
		t.Errorf("got %+v %v", got, err)
	}
	for n := int64(1); n <= 3; n++ {
		if got, err := s.NextCloudSession(ctx); err != nil || got != n {
			t.Errorf("session %d %v, want %d", got, err, n)
		}
	}
	if err := s.LeaveCloud(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.LeaveCloud(ctx); !errors.Is(err, appliance.ErrNotFound) {
		t.Errorf("leaving twice: %v", err)
	}
	if got, _ := s.NextCloudSession(ctx); got != 4 {
		t.Errorf("session %d after leaving, want 4", got)
	}
}

func TestADivisionIsKeptAndLosesWhatIsRetired(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	bus := appliance.Bus{UUID: appliance.UUID{15: 1}, Name: "b", Driver: "modbus", Port: "/dev/x"}
	site := appliance.Site{
		Name: "House", Buses: []appliance.Bus{bus},
		Nodes:    []appliance.Node{{ID: -1, Name: "Meter", Bus: bus.UUID, Address: "1", Profile: "p"}},
		Clusters: []appliance.Cluster{{ID: -1, Name: "Lobby"}, {ID: -2, Name: "Canteen"}},
		Division: appliance.Division{
			TimeZone: "Europe/Zurich",
			Floors:   []appliance.Floor{{Name: "Ground", AreaM2: 12, Clusters: []appliance.ID{-2, -1}}},
			Meters:   []appliance.Meter{{Node: -1, Covers: "canteen", Clusters: []appliance.ID{-2}}, {Node: -1, Covers: "all"}},
		},
	}
	if _, err := s.Import(ctx, site, ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Site(ctx)
	want := appliance.Division{
		TimeZone: "Europe/Zurich",
		Floors:   []appliance.Floor{{Name: "Ground", AreaM2: 12, Clusters: []appliance.ID{1, 2}}},
		Meters:   []appliance.Meter{{Node: 1, Covers: "canteen", Clusters: []appliance.ID{2}}, {Node: 1, Covers: "all"}},
	}
	if err != nil || !reflect.DeepEqual(got.Division, want) {
		t.Fatalf("got %+v %v", got.Division, err)
	}
	// The same again changes nothing.
	if r, err := s.Import(ctx, got, ImportOptions{}); err != nil || r.Writes() {
		t.Errorf("again: %+v %v", r, err)
	}
	got.Name, got.Clusters = "", got.Clusters[:1] // says nothing about the site; the canteen is gone
	if _, err := s.Import(ctx, got, ImportOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	got, _, err = s.Site(ctx)
	want.Floors[0].Clusters, want.Meters = []appliance.ID{1}, want.Meters[1:]
	if err != nil || !reflect.DeepEqual(got.Division, want) {
		t.Errorf("after the canteen: %+v %v", got.Division, err)
	}
	wrong := site
	wrong.Division.Floors = []appliance.Floor{{Name: "x", Clusters: []appliance.ID{77}}}
	if _, err := s.Import(ctx, wrong, ImportOptions{}); err == nil {
		t.Error("a floor with a cluster that is none was taken")
	}
}
