package control

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// lamps is what is known of a site of lamps, fifty in a cluster and each in one more, and a
// shade for every tenth.
func lamps(n int) *state {
	site := &appliance.Site{}
	var nodes []*appliance.NodeState
	var shades []*appliance.ShadeState
	for i := range n {
		site.Nodes = append(site.Nodes, appliance.Node{ID: appliance.ID(i + 1), Name: fmt.Sprint("lamp ", i+1), Tag: appliance.TagNode})
		if i%10 == 0 {
			site.Shades = append(site.Shades, appliance.Shade{ID: appliance.ID(i + 1), Node: appliance.ID(i + 1)})
		}
		if i%50 == 0 {
			site.Clusters = append(site.Clusters, appliance.Cluster{ID: appliance.ID(i/50 + 1)})
		}
	}
	for i := range site.Nodes {
		for _, c := range []int{i / 50, i % len(site.Clusters)} {
			cl := &site.Clusters[c]
			if k := len(cl.Nodes); k == 0 || cl.Nodes[k-1] != appliance.ID(i+1) {
				cl.Nodes = append(cl.Nodes, appliance.ID(i+1))
				if i%10 == 0 {
					cl.Shades = append(cl.Shades, appliance.ID(i+1))
				}
			}
		}
		nodes = append(nodes, &appliance.NodeState{Node: &site.Nodes[i], Tag: appliance.TagNode, Channels: []appliance.ChannelState{{Channel: appliance.Channel{Abilities: appliance.CanDim | appliance.CanTune | appliance.CanColour}}}})
	}
	for i := range site.Shades {
		shades = append(shades, &appliance.ShadeState{Shade: &site.Shades[i]})
	}
	s := newState()
	s.replace(site, nodes, shades, nil)
	return s
}

// The aggregates of a snapshot are those of its members, although only clusters are
// computed anew in which something was learned.
func TestClustersFollowTheirMembers(t *testing.T) {
	s := lamps(200)
	dice := rand.New(rand.NewPCG(1, 2))
	differ := 0
	for round := range 2000 {
		for range dice.IntN(4) {
			id := appliance.ID(dice.IntN(200) + 1)
			ref := appliance.Ref{Node: id, Channel: 1}
			v := appliance.Values{Has: []appliance.Ability{appliance.CanDim, appliance.CanTune, appliance.CanColour}[dice.IntN(3)], Level: appliance.Level(dice.IntN(101)), Kelvin: 3000, RGBW: appliance.RGBW{R: uint8(round)}}
			switch dice.IntN(6) {
			case 0:
				s.setOnline([]appliance.ID{id}, dice.IntN(3) > 0, time.Now())
			case 1:
				s.expect(ref, v.Level, time.Hour)
			case 2:
				s.asRead(ref)
			case 3:
				s.learnShade(id, false, func(sh *appliance.ShadeState) {
					sh.Motion, sh.Position = appliance.Motion(dice.IntN(9)), appliance.Known[appliance.Position]{Value: appliance.Position(dice.IntN(101)), At: time.Now(), Source: appliance.Measured}
				})
			default:
				s.learn([]appliance.Reading{{Ref: ref, Values: v, At: time.Now()}}, appliance.Measured)
			}
		}
		before := s.current.Load()
		s.publish()
		snap := s.current.Load()
		for i, got := range snap.Clusters {
			if want := clusterState(snap, &snap.Site.Clusters[i]); !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: %+v, want %+v", round, got, want)
			}
			if !reflect.DeepEqual(got, before.Clusters[i]) {
				differ++
			}
		}
	}
	if differ < 500 {
		t.Errorf("only %d aggregates changed: this test shows nothing", differ)
	}
}

// BenchmarkPublish is what making the outcome of one command visible costs, by size of the
// site.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := lamps(n)
			for i := range appliance.ID(n) {
				s.setOnline([]appliance.ID{i + 1}, true, time.Now())
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.learn([]appliance.Reading{{Ref: appliance.Ref{Node: appliance.ID(i%n + 1), Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: appliance.Level(i % 100)}, At: time.Now()}}, appliance.Measured)
				s.publish()
			}
		})
	}
}
