package automation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// sceneHouse has two rooms, each with a light and a shade, and scenes.
func sceneHouse(slow time.Duration, scenes ...appliance.Scene) *house {
	h := newHouse(slow)
	site := appliance.Site{
		Clusters: []appliance.Cluster{
			{ID: 1, Nodes: []appliance.ID{1, 2}, Shades: []appliance.ID{5001}},
			{ID: 2, Nodes: []appliance.ID{3}, Shades: []appliance.ID{5002}},
		},
		Scenes: scenes,
	}
	h.site.Apply(site, nil)
	return h
}

func dimTo(level appliance.Level, scope appliance.Scope, id appliance.ID) appliance.Action {
	return appliance.Action{Kind: appliance.LightLevel, Level: level, Target: appliance.Target{Scope: scope, ID: id}}
}

func moveTo(p appliance.Position, scope appliance.Scope, id appliance.ID) appliance.Action {
	return appliance.Action{Kind: appliance.ShadeMoveTo, Position: p, Target: appliance.Target{Scope: scope, ID: id}}
}

// talk is a scene of room 1 with lights and shades.
var talk = appliance.Scene{ID: 7, Name: "Talk", Cluster: 1, Actions: []appliance.Action{
	dimTo(40, appliance.InCluster, 1), dimTo(80, appliance.One, 2), moveTo(0, appliance.One, 5001),
}}

// A room has the scenes that set its own lights and shades and no others, and are not offered elsewhere.
func TestARoomHasItsOwnScenes(t *testing.T) {
	scene := func(id, cluster appliance.ID, name string, actions ...appliance.Action) appliance.Scene {
		return appliance.Scene{ID: id, Cluster: cluster, Name: name, Actions: actions}
	}
	off := appliance.Action{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.All}}
	h := sceneHouse(0,
		scene(1, 0, "Of one light", dimTo(40, appliance.One, 1)),
		scene(2, 1, "Of the shades", moveTo(50, appliance.InCluster, 1)),
		talk,
		scene(8, 0, "Of the other room too", dimTo(40, appliance.InCluster, 1), dimTo(40, appliance.One, 3)),
		scene(9, 0, "Of the house", off),
		scene(10, 2, "Offered in the other room", dimTo(40, appliance.One, 1)),
		scene(11, 0, "Of a light that is gone", dimTo(40, appliance.One, 99)),
		scene(12, 0, "Of a shade by the number of a light", moveTo(40, appliance.One, 1)),
		scene(13, 0, "Of nothing"),
		scene(14, 0, strings.Repeat("ä", wire.SceneName+1), dimTo(40, appliance.One, 1)),
	)
	want := []wire.Scene{
		{ID: 1, Name: "Of one light", Lights: true}, {ID: 2, Name: "Of the shades", Shades: true}, {ID: 7, Name: "Talk", Lights: true, Shades: true},
		{ID: 14, Name: strings.Repeat("ä", wire.SceneName-1) + "…", Lights: true},
	}
	if got := offered(h.Snapshot(), []appliance.ID{1}); !slices.Equal(got, want) {
		t.Errorf("the room has %+v, want %+v", got, want)
	}
	if got := offered(h.Snapshot(), []appliance.ID{1, 2}); len(got) != 6 {
		t.Errorf("both rooms have %+v", got)
	}
	var many []appliance.Scene
	for i := range wire.ScenesMost + 1 {
		many = append(many, scene(appliance.ID(i+1), 0, fmt.Sprint("Scene ", i), dimTo(1, appliance.One, 1)))
	}
	if got := offered(sceneHouse(0, many...).Snapshot(), []appliance.ID{1}); len(got) != wire.ScenesMost {
		t.Errorf("%d scenes are offered", len(got))
	}
}

func (r *room) recall(value string) string {
	return r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
		a.WidgetID, a.Action, a.Value, a.WorkspaceName, a.Accept = wire.SceneRecall, wire.Clicked, value, "Lobby", true
	})
}

// A scene is recalled like any tap: once, by its room only, with its author in the ledger and one answer for all of it.
func TestASceneIsRecalledByATap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sceneHouse(time.Second, talk, appliance.Scene{ID: 8, Name: "Other", Actions: []appliance.Action{dimTo(1, appliance.InCluster, 2)}})
		r := enter(t, h)
		if got := r.Values(); len(got) != 1 || len(got[0].Scenes) != 1 || got[0].Scenes[0].Name != "Talk" {
			t.Errorf("the panel may recall %+v", got)
		}
		id := r.recall("7")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		var kinds []appliance.Kind
		for _, c := range h.commands() {
			kinds = append(kinds, c.Kind)
			if c.Origin != (appliance.Origin{Who: "panel Lobby", Via: "panel", Why: "scene Talk"}) || c.Expiry.IsZero() {
				t.Errorf("in the ledger: %+v", c)
			}
		}
		slices.Sort(kinds)
		if want := []appliance.Kind{appliance.LightLevel, appliance.LightLevel, appliance.ShadeMoveTo}; !slices.Equal(kinds, want) {
			t.Errorf("done: %v", kinds)
		}
		if got := r.outcomes(id); !slices.Equal(got, []wire.AckStatus{wire.Accepted, wire.Applied}) {
			t.Errorf("answers: %v", got)
		}
		if ack := r.acks[id][1]; ack.Command != "entry, entry, entry" || ack.Offline != 3 || ack.Within < fanOut.Milliseconds() {
			t.Errorf("got %+v", ack)
		}
		for _, value := range []string{"8", "99", "0", "-7", "7.0", "", "talk"} {
			if got := r.outcomes(r.recall(value)); !slices.Equal(got, []wire.AckStatus{wire.Rejected}) {
				t.Errorf("scene %q: %v", value, got)
			}
		}
		touched := r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
			a.WidgetID, a.Action, a.Value = wire.SceneRecall, wire.Pressed, "7"
		})
		if got := r.outcomes(touched); !slices.Equal(got, []wire.AckStatus{wire.Applied}) || len(h.commands()) != 3 {
			t.Errorf("a touch: %v; done %v", got, h.commands())
		}
	})
}

// What is asked of the lights or the shades after a scene is done after its part of them, and a part that something newer overtook is told.
func TestASceneKeepsItsPlaceAmongTaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sceneHouse(time.Second, talk)
		r := enter(t, h)
		preset := func(value string) string {
			return r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
				a.WidgetID, a.Action, a.Value = wire.ShadePreset, wire.Released, value
			})
		}
		preset(wire.PresetOneThird)
		synctest.Wait()
		id := r.recall("7") // its shades wait for the preset
		synctest.Wait()
		stop := r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
			a.WidgetID, a.Action, a.Value = wire.ShadeStop, wire.Clicked, ""
		})
		last := r.slide(255, wire.Released)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, c := range h.commands() {
			if c.Kind == appliance.ShadeMoveTo && c.Position == 0 {
				t.Error("the shades of the scene moved after they were stopped")
			}
		}
		ack := r.acks[id][len(r.acks[id])-1]
		if ack.Status != wire.Failed || ack.Detail != "something newer took the place of a part of it" {
			t.Errorf("of the scene is told %+v", ack)
		}
		for _, id := range []string{stop, last} {
			if got := r.outcomes(id); got[len(got)-1] != wire.Applied {
				t.Errorf("what came after it: %v", got)
			}
		}
		if c := h.commands()[len(h.done)-1]; c.Level != 100 {
			t.Errorf("the lights end at %+v", c)
		}
	})
}

// What of a scene is not begun when its time is over is never begun.
func TestASceneEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := appliance.Scene{ID: 7, Name: "Slow", Actions: []appliance.Action{
			dimTo(10, appliance.One, 1), dimTo(20, appliance.One, 1), dimTo(30, appliance.One, 1),
		}}
		h := sceneHouse(2*time.Second, one)
		r := enter(t, h)
		id := r.send(1, func(env *wire.Envelope, a *wire.WidgetAction) {
			exp := env.TS.Add(wire.TapLife)
			env.Exp, a.WidgetID, a.Action, a.Value = &exp, wire.SceneRecall, wire.Clicked, "7"
		})
		time.Sleep(20 * time.Second)
		if n := len(h.commands()); n != 2 {
			t.Errorf("%d of its actions were begun, want 2", n)
		}
		if got := r.outcomes(id); !slices.Equal(got, []wire.AckStatus{wire.Failed}) {
			t.Errorf("it was told %v", got)
		}
	})
}
