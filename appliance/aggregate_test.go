package appliance

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// lamps is what is known of a site of lamps, fifty in a cluster and each in one more, and a
// shade for every tenth.
func lamps(n int) *state {
	site := &Site{}
	var nodes []*NodeState
	var shades []*ShadeState
	for i := range n {
		site.Nodes = append(site.Nodes, Node{ID: ID(i + 1), Name: fmt.Sprint("lamp ", i+1), Tag: TagNode})
		if i%10 == 0 {
			site.Shades = append(site.Shades, Shade{ID: ID(i + 1), Node: ID(i + 1)})
		}
		if i%50 == 0 {
			site.Clusters = append(site.Clusters, Cluster{ID: ID(i/50 + 1)})
		}
	}
	for i := range site.Nodes {
		for _, c := range []int{i / 50, i % len(site.Clusters)} {
			cl := &site.Clusters[c]
			if k := len(cl.Nodes); k == 0 || cl.Nodes[k-1] != ID(i+1) {
				cl.Nodes = append(cl.Nodes, ID(i+1))
				if i%10 == 0 {
					cl.Shades = append(cl.Shades, ID(i+1))
				}
			}
		}
		nodes = append(nodes, &NodeState{Node: &site.Nodes[i], Tag: TagNode, Channels: []ChannelState{{Channel: Channel{Abilities: CanDim | CanTune | CanColour}}}})
	}
	for i := range site.Shades {
		shades = append(shades, &ShadeState{Shade: &site.Shades[i]})
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
			id := ID(dice.IntN(200) + 1)
			ref := Ref{Node: id, Channel: 1}
			v := Values{Has: []Ability{CanDim, CanTune, CanColour}[dice.IntN(3)], Level: Level(dice.IntN(101)), Kelvin: 3000, RGBW: RGBW{R: uint8(round)}}
			switch dice.IntN(6) {
			case 0:
				s.setOnline([]ID{id}, dice.IntN(3) > 0, time.Now())
			case 1:
				s.expect(ref, v.Level, time.Hour)
			case 2:
				s.settled(ref)
			case 3:
				s.learnShade(id, func(sh *ShadeState) {
					sh.Motion, sh.Position = Motion(dice.IntN(9)), Known[Position]{Position(dice.IntN(101)), time.Now(), Measured}
				})
			default:
				s.learn([]Reading{{Ref: ref, Values: v, At: time.Now()}}, Measured)
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
			for i := range ID(n) {
				s.setOnline([]ID{i + 1}, true, time.Now())
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.learn([]Reading{{Ref: Ref{Node: ID(i%n + 1), Channel: 1}, Values: Values{Has: CanDim, Level: Level(i % 100)}, At: time.Now()}}, Measured)
				s.publish()
			}
		})
	}
}
