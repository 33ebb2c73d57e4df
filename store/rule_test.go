package store

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// ruled is a site with a scene and rules, as a file would have it.
func ruled() appliance.Site {
	bus := appliance.Bus{UUID: appliance.UUID{15: 1}, Name: "b", Driver: "modbus", Port: "/dev/x"}
	study := appliance.Target{Scope: appliance.InCluster, ID: -1}
	return appliance.Site{
		Name: "House", Buses: []appliance.Bus{bus},
		Nodes:    []appliance.Node{{ID: -1, Name: "Meter", Bus: bus.UUID, Address: "1", Profile: "p"}},
		Clusters: []appliance.Cluster{{ID: -1, Name: "Study", Nodes: []appliance.ID{-1}}},
		Scenes: []appliance.Scene{{ID: -1, Name: "Evening", Cluster: -1, Actions: []appliance.Action{
			{Kind: appliance.LightLevel, Level: 30, Target: study}, {Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.One, ID: -1}}}}},
		Rules: []appliance.Rule{
			{Name: "Dusk", When: appliance.Trigger{Kind: appliance.AtSunset, Minute: -15, Days: 31}, Actions: []appliance.Action{{Scene: -1}}, Yields: time.Hour},
			{Name: "Load", Disabled: true, When: appliance.Trigger{Kind: appliance.OnValue, Node: -1, Quantity: appliance.OfPower, Limit: 3000, For: time.Minute},
				Actions: []appliance.Action{{Kind: appliance.LightOff, Target: study}}},
		},
		Division: appliance.Division{TimeZone: "Europe/Zurich", Place: &appliance.Place{Latitude: 47.4, Longitude: 8.5}},
	}
}

func TestScenesAndRulesAreKeptLikeOtherNouns(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	if _, err := s.Import(ctx, ruled(), ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	got, faults, err := s.Site(ctx)
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	if sc := got.Scenes[0]; sc.ID != 1 || sc.Cluster != 1 || sc.Actions[0].Target.ID != 1 || sc.Actions[1].Target.ID != 1 || sc.UUID.IsZero() {
		t.Errorf("scene %+v", sc)
	}
	if r := got.Rules[0]; r.ID != 1 || r.Actions[0].Scene != 1 || r.When.Days != 31 || r.Yields != time.Hour {
		t.Errorf("rule %+v", r)
	}
	if r := got.Rules[1]; !r.Disabled || r.When.Node != 1 || r.When.For != time.Minute {
		t.Errorf("rule %+v", r)
	}
	if r, err := s.Import(ctx, got, ImportOptions{}); err != nil || r.Writes() {
		t.Errorf("again: %+v %v", r, err)
	}
	// What a change of a setting does not want changes nothing.
	unwanted := errors.New("unwanted")
	if err := s.UpdateSettings(ctx, "ana", func(name *string, _ *appliance.Settings, _ *appliance.Division) error {
		*name = "Castle"
		return unwanted
	}); !errors.Is(err, unwanted) || load(t, s).Name != "House" {
		t.Errorf("a setting that is not wanted: %v, it is called %q", err, load(t, s).Name)
	}
	// Changing a setting leaves the rest of the site alone.
	err = s.UpdateSettings(ctx, "ana", func(name *string, _ *appliance.Settings, _ *appliance.Division) error { *name = "Hut"; return nil })
	if now, _, _ := s.Site(ctx); err != nil || now.Name != "Hut" || !reflect.DeepEqual(now.Division, got.Division) || len(now.Rules) != 2 {
		t.Errorf("after a setting: %+v %v", now, err)
	}
	// A scene stays while a rule recalls it; afterwards its ID is never used again.
	any := func(appliance.Scene) error { return nil }
	if err := s.RemoveScene(ctx, 1, "ana", any); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("a scene in use: %v", err)
	}
	if err := s.RemoveRule(ctx, 1, "ana", func(appliance.Rule) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveScene(ctx, 1, "ana", any); err != nil {
		t.Fatal(err)
	}
	if id, err := s.CreateScene(ctx, appliance.Scene{Name: "Evening", Actions: []appliance.Action{{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.All}}}}, "ana"); err != nil || id != 2 {
		t.Errorf("the next scene: %d %v", id, err)
	}
	// What a rule acts on may go; it is still there to be mended.
	if err := s.RemoveCluster(ctx, 1, "ana", func(appliance.Cluster) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if now, _, err := s.Site(ctx); err != nil || len(now.Rules) != 1 || now.Rules[0].Actions[0].Target.ID != 1 {
		t.Errorf("after its cluster went: %+v %v", now.Rules, err)
	}
	if _, err := s.Import(ctx, appliance.Site{}, ImportOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	if now, _, err := s.Site(ctx); err != nil || len(now.Rules)+len(now.Scenes) != 0 {
		t.Errorf("replaced by nothing: %+v %v", now, err)
	}
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	s := open(t, t.TempDir())
	for want, spoil := range map[string]func(*appliance.Site){
		"there is no cluster 9":    func(x *appliance.Site) { x.Scenes[0].Actions[0].Target.ID = 9 },
		"recalls no other scene":   func(x *appliance.Site) { x.Scenes[0].Actions[0] = appliance.Action{Scene: -1} },
		"there is no scene 7":      func(x *appliance.Site) { x.Rules[0].Actions[0].Scene = 7 },
		"there is no such command": func(x *appliance.Site) { x.Rules[1].Actions[0].Kind = 99 },
		"want 0 to 100":            func(x *appliance.Site) { x.Scenes[0].Actions[0].Level = 101 },
		"want time, sunrise":       func(x *appliance.Site) { x.Rules[0].When.Kind = "moon" },
		"want -360 to 360":         func(x *appliance.Site) { x.Rules[0].When.Minute = 361 },
		"want level or power":      func(x *appliance.Site) { x.Rules[1].When.Quantity = "mood" },
		"want 0 to 24 hours":       func(x *appliance.Site) { x.Rules[0].Yields = 25 * time.Hour },
	} {
		site := ruled()
		spoil(&site)
		if _, err := s.Import(t.Context(), site, ImportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
