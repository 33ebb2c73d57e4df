package scripted_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// rig is one bus of the campaign: what its devices have, and how they are made ill. The
// first of its devices is never ill.
type rig struct {
	name     string
	n        int
	ills     []string // that its devices have
	ill      func(i int, what string)
	has      func(i int) float64 // in percent
	runs     func(i int) bool    // it is on its way; nil: it never is
	wrote    func() time.Time    // when it last took a value
	levels   []int               // that are given, and can be told apart exactly
	shades   bool
	together bool // an illness is the whole bus's
	first    appliance.ID

	mu    sync.Mutex
	state []health
}

// health of a device, as it really is.
type health struct {
	what  string // "": well
	since time.Time
	// It was on its way when it was told: that it runs on is all that its motor says.
	runs bool
}

func (r *rig) fall(i int, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.together {
		i = 0
	}
	if r.state[i].what != what {
		r.state[i] = health{what: what, since: time.Now()}
	}
	r.ill(i, what)
}

func (r *rig) health(i int) health {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.together {
		i = 0
	}
	return r.state[i]
}

// TestCampaignOnScriptedDevices gives commands to five buses of devices that share nothing
// with the simulator, of which some are silent, deaf, mute, late or stuck, while others, and
// the first of each bus always, are well: no success is false, nothing is written when
// nobody waits for it any more, who is well never fails, and who is dead is known within 10 s
// of its first silence. For five minutes, or with SOAK=1 for 100,000 commands.
func TestCampaignOnScriptedDevices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		soak := os.Getenv("SOAK") != ""
		rigs, site, nodes := campaignSite(t)
		h := start(t, site, nodes)
		h.wait(20*time.Second, "motors to be seen", func() bool { return h.standing() == 3 })
		began := time.Now()
		var commands atomic.Int64
		enough := func() bool {
			if soak {
				return commands.Load() >= 100_000
			}
			return time.Since(began) > 5*time.Minute
		}
		for _, r := range rigs {
			if !r.together {
				r.fall(r.n-1, "silent")
			}
		}
		var all sync.WaitGroup
		for i, r := range rigs {
			all.Go(func() { r.command(h, rand.New(rand.NewPCG(18, uint64(i))), enough, &commands) })
			all.Go(func() { r.watch(h, enough) })
		}
		all.Wait()
		t.Logf("%d commands in %v", commands.Load(), time.Since(began).Round(time.Second))
	})
}

// watch looks whether the dead are known to be.
func (r *rig) watch(h *house, enough func() bool) {
	for !r.together && !enough() && !h.t.Failed() {
		s := h.Snapshot()
		for i := range r.n {
			is := r.health(i)
			// It is asked first within two seconds; one more for a machine that is busy.
			if is.what == "silent" && time.Since(is.since) > 13*time.Second && s.Node(r.first+appliance.ID(i)).Online && r.health(i) == is {
				h.t.Errorf("%s: device %d has been silent for %v, and counts as online", r.name, i, time.Since(is.since))
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// command gives commands, one after the other.
func (r *rig) command(h *house, dice *rand.Rand, enough func() bool, commands *atomic.Int64) {
	var over time.Time
	for !enough() && !h.t.Failed() {
		if dice.IntN(6) == 0 {
			i := 1 + dice.IntN(r.n-1)
			what := ""
			if dice.IntN(2) == 0 {
				what = r.ills[dice.IntN(len(r.ills))]
			}
			if i < r.n-1 || time.Since(r.health(i).since) > 15*time.Second {
				r.fall(i, what)
			}
		}
		if wrote := r.wrote(); !over.IsZero() && wrote.Sub(over) > time.Second {
			h.t.Errorf("%s: something was written %v after the command was over", r.name, wrote.Sub(over))
		}
		before := make([]health, r.n)
		for i := range before {
			before[i] = r.health(i)
			before[i].runs = r.runs != nil && r.runs(i)
		}
		want := r.levels[dice.IntN(len(r.levels))]
		c := appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.InCluster, ID: r.first}, Level: appliance.Level(want)}
		if r.shades {
			c.Kind, c.Position = appliance.ShadeMoveTo, appliance.Position(want)
		}
		if dice.IntN(2) == 0 {
			c.Target = appliance.Target{Scope: appliance.One, ID: r.first + appliance.ID(dice.IntN(r.n))}
			if r.shades {
				c.Target.ID += shadesFrom
			}
		}
		began := time.Now()
		e := h.do(c)
		over = time.Now()
		commands.Add(1)
		if took := over.Sub(began); took > 11*time.Second {
			h.t.Errorf("%s: %v until the answer", r.name, took)
		}
		for _, m := range e.Members {
			i := int(m.Ref.Node - r.first)
			if r.shades {
				i = int(m.Ref.Shade - shadesFrom - r.first)
			}
			r.judge(h, i, before[i], m, want, began)
		}
		if dice.IntN(8) == 0 {
			time.Sleep(1500 * time.Millisecond)
		}
	}
}

// judge a member against what its device has.
func (r *rig) judge(h *house, i int, before health, m appliance.Member, want int, began time.Time) {
	has := r.has(i)
	offline := m.Offline || strings.HasPrefix(m.Err, "offline:") // left out of a cluster, or refused alone
	switch ok := m.Err == "" && !m.Offline; {
	case ok && before.runs:
	case ok && math.Abs(has-float64(want)) > 1:
		h.t.Errorf("%s: false success: device %d (%+v) has %.0f instead of %d: %+v", r.name, i, before, has, want, m)
	case offline && i > 0 && began.Sub(before.since) < 2*time.Minute: // with many dead the share of their probes wins
	case !ok && before.what == "" && r.health(i).since.Equal(before.since) && began.Sub(before.since) > 20*time.Second:
		h.t.Errorf("%s: device %d is well, and failed: %+v", r.name, i, m)
	}
}

// shadesFrom is added to the number of a node for that of its shade.
const shadesFrom = 5000

// campaignSite is a site of five buses, with their devices.
func campaignSite(t *testing.T) (rigs []*rig, site appliance.Site, nodes int) {
	site.Settings.Freshness = appliance.Freshness{Light: time.Second, MovingShade: time.Second, IdleShade: 2 * time.Second, Power: 5 * time.Second}
	add := func(r *rig, bus appliance.Site) {
		k := len(rigs) + 1
		r.first = appliance.ID(100 * k)
		r.state = make([]health, r.n)
		long := time.Now().Add(-time.Hour)
		cluster := appliance.Cluster{ID: r.first, Name: r.name}
		b := bus.Buses[0]
		b.UUID, b.Name = appliance.UUID{1, byte(k)}, r.name
		site.Buses = append(site.Buses, b)
		for i, n := range bus.Nodes {
			r.state[i].since = long
			n.ID, n.UUID, n.Bus, n.Name = r.first+appliance.ID(i), appliance.UUID{2, byte(k), byte(i)}, b.UUID, fmt.Sprint(r.name, " ", i)
			site.Nodes, cluster.Nodes = append(site.Nodes, n), append(cluster.Nodes, n.ID)
			if r.shades {
				s := appliance.Shade{ID: shadesFrom + n.ID, Node: n.ID, Output: 1}
				site.Shades, cluster.Shades = append(site.Shades, s), append(cluster.Shades, s.ID)
			}
		}
		site.Clusters, rigs, nodes = append(site.Clusters, cluster), append(rigs, r), nodes+r.n
	}
	any := []int{0, 1, 20, 40, 55, 80, 99, 100}
	for _, tcp := range []bool{true, false} {
		name, u := "rtu", newUnits(4)
		bus := appliance.Bus{Driver: "modbus"}
		if tcp {
			name, bus.Port = "tcp", u.listenTCP(t)
		} else {
			bus.Port = u.listenRTU(t, false)
		}
		add(&rig{name: name, n: 4, levels: any, ills: []string{"silent", "deaf", "mute", "late"}, wrote: u.wroteAt,
			has: func(i int) float64 { return float64(u.holds(byte(i+1), 3)) },
			ill: func(i int, what string) {
				u.set(func(of map[byte]*unit) {
					x := of[byte(i+1)]
					x.silent, x.deaf, x.mute, x.lag = what == "silent", what == "deaf", what == "mute", 0
					if what == "late" {
						x.lag = 150 * time.Millisecond
					}
				})
			}}, oneBus(bus, 4, "lamp"))
	}
	ms := &motors{}
	moves := oneBus(appliance.Bus{Driver: "sdn", Port: ms.listen(t)}, 3, "somfy-sdn-30dc")
	for i := range moves.Nodes {
		ms.all = append(ms.all, &motor{address: [3]byte{6, 0x1A, byte(i)}})
		moves.Nodes[i].Address = fmt.Sprintf("06.1A.%02X", i)
	}
	with := func(i int, do func(m *motor)) {
		ms.mu.Lock()
		defer ms.mu.Unlock()
		do(ms.all[i])
	}
	add(&rig{name: "sdn", n: 3, shades: true, levels: []int{0, 15, 40, 60, 85, 100}, ills: []string{"silent", "stuck", "mute"},
		wrote: func() time.Time { ms.mu.Lock(); defer ms.mu.Unlock(); return ms.wrote },
		has:   func(i int) (open float64) { with(i, func(m *motor) { open = 100 - m.goal }); return open },
		runs:  func(i int) (on bool) { with(i, func(m *motor) { _, on = m.at(time.Now()) }); return on },
		ill: func(i int, what string) {
			with(i, func(m *motor) { m.silent, m.stuck, m.mute = what == "silent", what == "stuck", what == "mute" })
		}}, moves)
	g := &gear{}
	line := oneBus(appliance.Bus{Driver: "dali", Port: g.listen(t), Options: map[string]string{"gateway": "atx"}}, 4, "dali-dt6")
	for i := range line.Nodes {
		line.Nodes[i].Address = fmt.Sprint(i)
	}
	add(&rig{name: "dali", n: 4, levels: []int{0, 100}, ills: []string{"silent", "deaf", "failed"},
		wrote: func() time.Time { g.mu.Lock(); defer g.mu.Unlock(); return g.wrote },
		has:   func(i int) float64 { g.mu.Lock(); defer g.mu.Unlock(); return float64(g.level[i]) / 2.54 },
		ill: func(i int, what string) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.silent[i], g.deaf[i], g.failed[i] = what == "silent", what == "deaf", what == "failed"
		}}, line)
	w := &widget{}
	add(&rig{name: "dmx", n: 3, together: true, levels: any, ills: []string{"silent"},
		wrote: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.wrote },
		has:   func(i int) float64 { w.mu.Lock(); defer w.mu.Unlock(); return float64(w.slots[i]) / 2.55 },
		ill:   func(_ int, what string) { w.mu.Lock(); defer w.mu.Unlock(); w.silent = what != "" },
	}, dmxSite(w.listen(t), 3))
	return rigs, site, nodes
}
