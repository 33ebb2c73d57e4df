package store

import (
	"maps"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// standingShades gives s two shades, 5001 and 5002, that stand at known positions.
func standingShades(t *testing.T, s *Store) appliance.Site {
	t.Helper()
	in := appliance.Site{
		Name:   "Test",
		Buses:  []appliance.Bus{{UUID: appliance.NewUUID(), Name: "a", Driver: "modbus", Port: "tcp://127.0.0.1:502"}},
		Nodes:  []appliance.Node{{ID: 1, Name: "relays", Address: "1", Profile: "wirenboard-wb-mr6c"}},
		Shades: []appliance.Shade{{ID: 5001, Name: "south", Node: 1, Output: 1}, {ID: 5002, Name: "west", Node: 1, Output: 2}},
	}
	in.Nodes[0].Bus = in.Buses[0].UUID
	imports(t, s, in, ImportOptions{By: "test"})
	at := []appliance.Saved{
		{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanPosition, Position: 70}, At: time.Now()},
		{Ref: appliance.Ref{Shade: 5002}, Values: appliance.Values{Has: appliance.CanPosition, Position: 30}, At: time.Now()},
	}
	if err := s.SaveBatch(t.Context(), appliance.Batch{States: at}); err != nil {
		t.Fatal(err)
	}
	return in
}

// positions are the last ones saved, by shade.
func positions(t *testing.T, s *Store) map[appliance.ID]appliance.Position {
	t.Helper()
	states, err := s.LoadStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := map[appliance.ID]appliance.Position{}
	for _, v := range states {
		at[v.Shade] = v.Position
	}
	return at
}

func TestImportThatTurnsAShadeForgetsItsPosition(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := standingShades(t, s)
	both, other := map[appliance.ID]appliance.Position{5001: 70, 5002: 30}, map[appliance.ID]appliance.Position{5002: 30}
	for _, step := range []struct {
		name   string
		change func(*appliance.Shade)
		want   map[appliance.ID]appliance.Position
	}{
		{"another name and travel time", func(h *appliance.Shade) { h.Name, h.TravelUp = "south-east", time.Minute }, both},
		{"turned round", func(h *appliance.Shade) { h.Inverted = true }, other},
		{"imported again", func(*appliance.Shade) {}, other},
	} {
		step.change(&in.Shades[0])
		imports(t, s, in, ImportOptions{By: "test"})
		if got := positions(t, s); !maps.Equal(got, step.want) {
			t.Errorf("%s: positions %v, want %v", step.name, got, step.want)
		}
	}
}

// What was known is that of another motor.
func TestImportThatHangsAShadeOffAnotherOutputForgetsItsPosition(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	in := standingShades(t, s)
	in.Shades[0].Output = 3
	imports(t, s, in, ImportOptions{By: "test"})
	if got := positions(t, s); !maps.Equal(got, map[appliance.ID]appliance.Position{5002: 30}) {
		t.Errorf("positions %v, want that of 5002 only", got)
	}
}

func TestShadeSettingsAreSavedAndTold(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	standingShades(t, s)
	before, _, err := s.Site(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []appliance.ShadeSettings{
		{TravelUp: 12340 * time.Millisecond, TravelDown: 11 * time.Second},
		{TravelUp: 11 * time.Second, TravelDown: 12340 * time.Millisecond, Inverted: true},
	} {
		if err := s.SetShade(t.Context(), 5001, to); err != nil {
			t.Fatal(err)
		}
		s = reopen(t, s)
		after, faults, err := s.Site(t.Context())
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		want := before.Shades[0]
		want.TravelUp, want.TravelDown, want.Inverted = to.TravelUp, to.TravelDown, to.Inverted
		if after.Shades[0] != want || after.Shades[1] != before.Shades[1] {
			t.Errorf("got %+v, want %+v", after.Shades, want)
		}
		// Turned round, its last position would count from the wrong end.
		if got, want := len(positions(t, s)), map[bool]int{false: 2, true: 1}[to.Inverted]; got != want {
			t.Errorf("inverted %v: %d positions are kept, want %d", to.Inverted, got, want)
		}
	}
	wantErr(t, "no such shade", s.SetShade(t.Context(), 7, appliance.ShadeSettings{}), appliance.ErrNotFound)
}
