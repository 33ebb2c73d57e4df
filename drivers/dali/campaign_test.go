package dali

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/sim/dalisim"
)

// long lengthens a campaign when SOAK is set.
func long(short, soak int) int {
	if os.Getenv("SOAK") != "" {
		return soak
	}
	return short
}

// Gear that misses frames, answers that are lost, garbled or late, a gateway that
// collides: whatever is told to be done has been done.
func TestNothingIsToldThatIsNotSo(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gears := gearsOf(6, func(i int, g *dalisim.GearConfig) {
					g.Groups = 1 << (i / 3)
					if i%3 == 0 {
						g.Type, g.Colour = 8, "tc"
					}
				})
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gears, Speed: 40, Seed: 9})
				nodes := nodesOf(6, "dali-dt6")
				for i := range nodes {
					nodes[i].Groups = []string{map[bool]string{true: "0", false: "1"}[i < 3]}
					if i%3 == 0 {
						nodes[i].Profile = "dali-dt8-tc"
					}
				}
				ctl := r.core(gw, map[string]string{"gatewayTimeout": "100ms"}, nodes)
				allOnline(t, ctl)
				for _, k := range []dalisim.FaultKind{dalisim.FaultDeaf, dalisim.FaultSilent, dalisim.FaultGarble, dalisim.FaultLate} {
					r.fault(dalisim.Fault{Kind: k, Gear: -1, Rate: 0.04})
				}
				if gw == "atx" { // how the others report a collision is not known
					r.fault(dalisim.Fault{Kind: dalisim.FaultConflict, Rate: 0.01})
				}
				rng := rand.New(rand.NewPCG(1, 2))
				done, lies := 0, 0
				commands := long(600, 35000)
				for range commands {
					target, p := everything, appliance.Level(rng.IntN(101))
					if n := rng.IntN(8); n > 0 && n <= 6 {
						target = one(appliance.ID(n))
					}
					tune := rng.IntN(4) == 0 && (target == everything || target.ID%3 == 1)
					cmd := levelTo(target, p)
					k := appliance.Kelvin(2800 + 100*rng.IntN(30))
					if tune {
						cmd = appliance.Command{Kind: appliance.LightKelvin, Target: target, Kelvin: k}
					}
					e := do(t, ctl, cmd)
					devices := r.sim.Devices()
					for _, m := range e.Members {
						if m.Err != "" || m.Offline {
							continue
						}
						done++
						d := devices[m.Ref.Node-1]
						if !tune && d.Level != int(curves["standard"].arcOf(p)) || tune && d.Mirek != int(mirek(k)) {
							lies++
							t.Errorf("%+v: gear %d is said to have it and is at %d, %d mirek", cmd, d.Index, d.Level, d.Mirek)
						}
					}
				}
				t.Logf("%s: %d commands, %d members told to have it, %d had not", gw, commands, done, lies)
				if done < commands/2 {
					t.Errorf("only %d members in %d commands were reached", done, commands)
				}
			})
		})
	}
}

// latencies of commands to one healthy gear, sorted.
func latencies(t *testing.T, ctl *control.Controller, n int) []time.Duration {
	t.Helper()
	var list []time.Duration
	for i := range n {
		began := time.Now()
		mustDo(t, ctl, levelTo(one(1), appliance.Level(20+i%60)))
		list = append(list, time.Since(began))
	}
	slices.Sort(list)
	return list
}

func TestBadGearDoesNotSlowGoodGear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const speed = 4
		measure := func(bad bool) []time.Duration {
			gears := gearsOf(20, func(i int, g *dalisim.GearConfig) {
				g.Level = byte(100 + 2*i)
				if bad && i == 19 {
					g.Short = 18 // shares it and answers differently
				}
			})
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gears, Speed: speed, Seed: 3})
			bus := r.bus("atx", nil)
			site := appliance.Site{Buses: []appliance.Bus{bus}, Settings: quick}
			for _, n := range nodesOf(19, "dali-dt6") {
				n.Bus = bus.UUID
				site.Nodes = append(site.Nodes, n)
			}
			if bad {
				for i := range 6 {
					r.fault(dalisim.Fault{Kind: dalisim.FaultDeaf, Gear: 10 + i})
				}
			}
			ctl := r.run(site)
			waitFor(t, "the good gear was read", func() bool {
				for i, n := range ctl.Snapshot().Nodes {
					if i < 10 && !n.Level.OK() {
						return false
					}
				}
				return true
			})
			list := latencies(t, ctl, long(400, 10000))
			if n := ctl.Snapshot().Node(19); bad && n.Level.OK() {
				t.Errorf("two gears share address 18, and a level of %d %% is shown for it", n.Level.Value)
			}
			return list
		}
		good, bad := measure(false), measure(true)
		at := func(l []time.Duration, p float64) time.Duration { return l[int(p*float64(len(l)-1))] * speed }
		t.Logf("command to a healthy gear, in line time: p50 %v, p99 %v; with 6 of 20 deaf and 2 at one address: p50 %v, p99 %v",
			at(good, .5), at(good, .99), at(bad, .5), at(bad, .99))
		if at(bad, .5) > at(good, .5)*5/4 {
			t.Errorf("p50 rose from %v to %v", at(good, .5), at(bad, .5))
		}
	})
}
