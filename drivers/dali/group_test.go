package dali

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/sim/dalisim"
)

// writes returns the frames since a mark that change light: not queries, DTRs and
// the like.
func (r *rig) writes(mark uint64) []string {
	var out []string
	for _, f := range r.sim.Frames(mark) {
		address, data := byte(f.Frame>>8), byte(f.Frame)
		switch _, command, ok := addressOf(address); {
		case !ok:
		case !command, data < 0x20, data == OpColourActivate:
			out = append(out, fmt.Sprintf("%04X", f.Frame))
		}
	}
	return out
}

func (r *rig) mark() uint64 { return r.sim.Counters().Forward }

func TestAllOffIsOneFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(40, func(_ int, g *dalisim.GearConfig) { g.Level = 200 }), Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(40, "dali-dt6"))
		allOnline(t, ctl)
		mark := r.mark()
		e := mustDo(t, ctl, appliance.Command{Kind: appliance.LightOff, Target: everything})
		if got := r.writes(mark); len(got) != 1 || got[0] != "FE00" {
			t.Errorf("frames %v, want one broadcast FE00", got)
		}
		for _, m := range e.Members {
			if m.Stage != appliance.StageObserved {
				t.Errorf("member %+v: want every gear read back", m)
			}
		}
	})
}

// grouped is a line of six gears, of which 0 to 3 are in group 5, with a cluster 2
// of these.
func grouped(t *testing.T, r *rig, change func(site *appliance.Site)) *control.Controller {
	t.Helper()
	bus := r.bus("atx", nil)
	site := appliance.Site{Buses: []appliance.Bus{bus}}
	for _, n := range nodesOf(6, "dali-dt6") {
		n.Bus = bus.UUID
		if n.ID <= 4 {
			n.Groups = []string{"5"}
		}
		site.Nodes = append(site.Nodes, n)
	}
	site.Clusters = []appliance.Cluster{{ID: 2, Name: "group 5", Nodes: []appliance.ID{1, 2, 3, 4}}, {ID: 3, Name: "more", Nodes: []appliance.ID{1, 2, 3, 4, 5}}}
	if change != nil {
		change(&site)
	}
	return r.run(site)
}

func cluster(id appliance.ID) appliance.Target {
	return appliance.Target{Scope: appliance.InCluster, ID: id}
}

func sixGears(i int, g *dalisim.GearConfig) {
	if i < 4 {
		g.Groups = 1 << 5
	}
}

func TestClusterThatIsAGroupMovesAsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(6, sixGears), Speed: 20, Seed: 1})
		ctl := grouped(t, r, nil)
		allOnline(t, ctl)
		ready(t, ctl, 2)
		mark := r.mark()
		mustDo(t, ctl, levelTo(cluster(2), 50))
		if got := r.writes(mark); len(got) != 1 || got[0] != "8AE5" {
			t.Errorf("frames %v, want one group frame 8AE5", got)
		}
		mark = r.mark()
		mustDo(t, ctl, levelTo(cluster(3), 75))
		if got := strings.Join(r.writes(mark), " "); got != "8AF3 08F3" {
			t.Errorf("frames %s, want the group and one gear", got)
		}
		mark = r.mark()
		mustDo(t, ctl, levelTo(one(2), 20))
		if got := r.writes(mark); len(got) != 1 || got[0][:2] != "02" {
			t.Errorf("frames %v, want one to gear 1 alone", got)
		}
		if d := r.sim.Devices()[5]; d.Level != 0 {
			t.Errorf("gear 5 was never meant and is at %d", d.Level)
		}
	})
}

func TestGearOutsideItsGroupIsRepaired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(6, sixGears)
		gears[2].Groups = 0 // whatever the site says
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 20, Seed: 1})
		ctl := grouped(t, r, nil)
		allOnline(t, ctl)
		mark := r.mark()
		mustDo(t, ctl, levelTo(cluster(2), 50))
		got := strings.Join(r.writes(mark), " ")
		if got != "8AE5 04E5" && got != "00E5 02E5 04E5 06E5" {
			t.Errorf("frames %s, want the group's and one for gear 2 (or one each, once the gear told its groups)", got)
		}
		if dev := r.sim.Devices()[2]; dev.Level != 229 {
			t.Errorf("gear 2 is at %d, want 229", dev.Level)
		}
	})
}

func TestGroupThatSomebodyElseIsInIsNotUsed(t *testing.T) {
	t.Parallel()
	g := []*gear{
		{short: 0, key: "0", profile: profiles["dali-dt6"], curve: curves["standard"], ref: appliance.Ref{Node: 1, Channel: 1}},
		{short: 1, key: "1", profile: profiles["dali-dt6"], curve: curves["standard"], ref: appliance.Ref{Node: 2, Channel: 1}},
		{short: 2, key: "2", profile: profiles["dali-dt6"], curve: curves["standard"], ref: appliance.Ref{Node: 3, Channel: 1}},
	}
	o, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "x", Port: "/dev/ttyNone", Options: map[string]string{"gateway": "atx"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := o.Driver.(*Driver)
	d.gears, d.byRef = g, map[appliance.Ref]*gear{}
	var wants []appliance.Want
	for i, one := range g {
		d.byRef[one.ref] = one
		if i < 2 {
			wants = append(wants, appliance.Want{Ref: one.ref, Values: appliance.Values{Has: appliance.CanDim, Level: 30}})
		}
	}
	use := appliance.GroupUse{Groups: []appliance.Group{{Name: "5", Members: []string{"0", "1"}}}}
	for _, c := range []struct {
		what   string
		change func()
		chains int
	}{
		{"nothing is known", func() {}, 2},
		{"exactly these hold it", func() { d.UseGroups(use) }, 1},
		{"gear 2 may hold it", func() { use.Unsure = []string{"2"}; d.UseGroups(use) }, 2},
		{"one of these may hold more", func() { use.Unsure = []string{"1"}; d.UseGroups(use) }, 1},
		{"gear 2 holds it", func() {
			d.UseGroups(appliance.GroupUse{Groups: []appliance.Group{{Name: "5", Members: []string{"0", "1", "2"}}}})
		}, 2},
		{"it does not any more", func() { use.Unsure = nil; d.UseGroups(use) }, 1},
	} {
		c.change()
		if n := len(d.Plan(wants)); n != c.chains {
			t.Errorf("%s: %d chains, want %d", c.what, n, c.chains)
		}
	}
	if n := len(d.Repair(wants)); n != 2 {
		t.Errorf("Repair gives %d chains, want one each", n)
	}
}

func TestColourOfAWholeLineIsOneSequence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(5, func(i int, g *dalisim.GearConfig) {
			if i < 4 {
				g.Type, g.Colour = 8, "tc"
			}
		})
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gears, Speed: 20, Seed: 1})
		nodes := nodesOf(5, "dali-dt8-tc")
		nodes[4].Profile = "dali-dt6" // ignores colour
		ctl := r.core("luba", nil, nodes)
		allOnline(t, ctl)
		mark := r.mark()
		mustDo(t, ctl, appliance.Command{Kind: appliance.LightKelvin, Target: everything, Kelvin: 4000})
		if got := strings.Join(r.writes(mark), " "); got != "FFE2" {
			t.Errorf("frames %s, want one broadcast ACTIVATE", got)
		}
		for _, d := range r.sim.Devices()[:4] {
			if d.Mirek != 250 {
				t.Errorf("gear %d is at %d mirek, want 250", d.Index, d.Mirek)
			}
		}
	})
}

// The sequence of frames of a colour is on the line without anything between,
// while everything is being polled and commanded.
func TestNothingComesBetweenTheFramesOfAColour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(8, func(_ int, g *dalisim.GearConfig) { g.Type, g.Colour = 8, "tc" })
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(8, "dali-dt8-tc"))
		allOnline(t, ctl)
		mark := r.mark()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 20 {
				do(t, ctl, levelTo(one(appliance.ID(i%8+1)), appliance.Level(10+i)))
			}
		}()
		for i := range 20 {
			mustDo(t, ctl, appliance.Command{Kind: appliance.LightKelvin, Target: one(appliance.ID(i%8 + 1)), Kelvin: appliance.Kelvin(3000 + 50*i)})
		}
		<-done
		frames := r.sim.Frames(mark)
		sequences := 0
		for i, f := range frames {
			if byte(f.Frame) == OpColourSetTc && byte(f.Frame>>8)&1 == 1 {
				sequences++
				for k, want := range []byte{OpDTR0, OpDTR1, OpEnableType} {
					if got := byte(frames[i-3+k].Frame >> 8); got != want {
						t.Fatalf("frame %d before SET TEMPORARY is %04X", 3-k, frames[i-3+k].Frame)
					}
				}
				if frames[i+1].Frame != 0xC108 || frames[i+2].Frame != f.Frame&0xFF00|OpColourActivate {
					t.Fatalf("SET TEMPORARY is followed by %04X %04X", frames[i+1].Frame, frames[i+2].Frame)
				}
			}
		}
		if sequences < 20 {
			t.Errorf("%d sequences seen, want 20", sequences)
		}
	})
}

func TestFadeIsWaitedForAndNotShownInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(1, func(_ int, g *dalisim.GearConfig) { g.FadeTime, g.Level = 4, 254 }) // 2 s
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 1, Seed: 1})
		nodes := nodesOf(1, "dali-dt6")
		nodes[0].Options = map[string]string{"fade": "2s"}
		ctl := r.core("atx", nil, nodes)
		allOnline(t, ctl)
		began := time.Now()
		mustDo(t, ctl, levelTo(one(1), 20))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the answer took %v: a gear that fades towards the target has acknowledged", took)
		}
		dev := r.sim.Devices()[0]
		if dev.Target != int(curves["standard"].arcOf(20)) || dev.Level == dev.Target {
			t.Errorf("gear %+v: want it on its way to 20 %%", dev)
		}
		for time.Since(began) < 2500*time.Millisecond {
			if l := ctl.Snapshot().Node(1).Level; l.Value != 20 {
				t.Fatalf("after %v the snapshot shows %d %%, want the target", time.Since(began), l.Value)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if dev := r.sim.Devices()[0]; dev.Level != dev.Target {
			t.Errorf("gear %+v: want it to have arrived", dev)
		}
	})
}

func TestGearThatHoldsLevelsToItsLimitsHasObeyed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(1, func(_ int, g *dalisim.GearConfig) { g.Min, g.PhysicalMin, g.Max = 170, 170, 250 })
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(1, "dali-dt6"))
		allOnline(t, ctl)
		for _, p := range []appliance.Level{1, 100, 40} {
			mustDo(t, ctl, levelTo(one(1), p))
		}
		mustDo(t, ctl, levelTo(one(1), 1))
		waitFor(t, "the level that the lamp really has is shown", func() bool { return ctl.Snapshot().Node(1).Level.Value == 10 })
	})
}
