package store

import (
	"reflect"
	"testing"

	"svc.internal/controller/appliance"
)

func TestGroupsSurviveARestart(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "facade", Driver: "sdn", Port: "/dev/ttyUSB0"}
	site := appliance.Site{Name: "House", Buses: []appliance.Bus{bus}}
	if _, err := s.Import(t.Context(), site, ImportOptions{By: "tests"}); err != nil {
		t.Fatal(err)
	}
	want := appliance.BusGroups{
		Claims:  []appliance.GroupClaim{{Cluster: 7, Group: "01.01.FE"}},
		Leaving: []string{"01.01.FD"},
		Tables: []appliance.GroupTable{
			{Device: "06.1A.2B", Held: []string{"01.01.FE"}, Known: true},
			{Device: "06.1A.2C", Writes: 3, Since: morning},
		},
	}
	for _, groups := range []appliance.BusGroups{{}, want} {
		if err := s.SaveGroups(t.Context(), bus.UUID, groups); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveGroups(t.Context(), appliance.NewUUID(), want); err != nil {
		t.Errorf("a bus that is gone: %v", err)
	}
	s = reopen(t, s)
	got, err := s.LoadGroups(t.Context())
	if err != nil || !reflect.DeepEqual(got, map[appliance.UUID]appliance.BusGroups{bus.UUID: want}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := s.db.Load().conf.Exec("UPDATE bus_groups SET memory = '{'"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.LoadGroups(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("a broken row gave %+v, %v; want it left out", got, err)
	}
	site.Buses = nil
	if _, err := s.Import(t.Context(), site, ImportOptions{By: "tests", Replace: true}); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := s.db.Load().conf.QueryRow("SELECT count(*) FROM bus_groups").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows of a removed bus are left, %v", rows, err)
	}
}
