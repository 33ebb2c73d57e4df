package engine

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// tables is a rig whose devices hold groups, of which there is one.
type tables struct {
	*rig
	held  map[string][]string
	talk  Converse
	asked bool // the one exchange of the talk was done
	views []appliance.Grouping
}

func (g *tables) GroupSpace() appliance.GroupSpace {
	return appliance.GroupSpace{Mode: appliance.GroupsKept, Names: []string{"a"}, PerDevice: 4}
}
func (g *tables) ReadGroups(string, func([]string)) iter.Seq[appliance.Exchange] { return nil }
func (g *tables) ChangeGroups(string, []string, []string, func([]string)) iter.Seq[appliance.Exchange] {
	return nil
}
func (g *tables) SurveyGroups() iter.Seq[appliance.Exchange] { return nil }
func (g *tables) StrangeGroups() (held, used []string)       { return nil, nil }
func (g *tables) UseGroups(appliance.GroupUse)               {}

// carry carries out what is wanted for groups: a talk about a table is one exchange.
func (g *tables) carry(a Action) {
	switch a := a.(type) {
	case Converse:
		g.talk, g.asked = a, false
		g.after(0, func() { g.take(Next{Exchange: g.question()}) })
	case Continue:
		g.after(0, func() { g.take(Next{Whole: true, Held: g.held[g.talk.Device]}) })
	case Save:
		g.after(0, func() { g.take(Saved{}) })
	case GroupsShown:
		g.views = append(g.views, a.View)
	}
}

func (g *tables) question() *appliance.Exchange {
	device := g.talk.Device
	return &appliance.Exchange{Device: device, Airtime: g.airtime, Worst: g.airtime + g.timeout, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
		g.now = g.now.Add(g.airtime)
		if g.talk.Kind == Changing {
			g.held[device] = slices.Sorted(slices.Values(append(slices.Clone(g.held[device]), g.talk.Join...)))
		}
		return appliance.Result{Sent: g.now}, nil
	}}
}

// A cluster that gets no group is said to have none from when that is known, and not to wait
// for tables again whenever one was written.
func TestClaimsAreNeverShownOutOfStep(t *testing.T) {
	g := &tables{rig: newRig(t, 4, 0), held: map[string][]string{}}
	g.rig.carry = g.carry
	w := g.wiring()
	w.Opened.Driver = struct {
		appliance.Driver
		appliance.Grouper
	}{g.rig, g}
	g.take(Configure{Wiring: w, Afresh: true})
	g.take(Recall{})
	g.take(Clusters{[]appliance.Cluster{{ID: 1, Nodes: []appliance.ID{1, 2, 3, 4}}, {ID: 2, Nodes: []appliance.ID{1, 2}}}})
	g.run(2 * time.Minute)
	last := g.views[len(g.views)-1]
	if c := last.Clusters; !c[0].Ready || c[0].Group != "a" || !strings.Contains(c[1].Why, "no group is left") {
		t.Fatalf("in the end: %+v", last.Clusters)
	}
	known := false
	for _, v := range g.views {
		if len(v.Clusters) < 2 {
			continue
		}
		none := strings.Contains(v.Clusters[1].Why, "no group is left")
		if known && !none {
			t.Errorf("shown again: %q", v.Clusters[1].Why)
		}
		known = known || none
	}
}
