package dali

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

func TestPollingUsesTheLine(t *testing.T) {
	t.Parallel()
	for gw, theory := range map[string]time.Duration{
		// Mean gap before the frame, frame, mean gap before the answer, answer.
		"atx":  15500*time.Microsecond + 15830*time.Microsecond + 8*time.Millisecond + 9170*time.Microsecond,
		"luba": 20300*time.Microsecond + 15830*time.Microsecond + 8*time.Millisecond + 9170*time.Microsecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(64, nil), Speed: 1, Seed: 1})
			bus := r.bus(gw, nil)
			site := appliance.Site{Buses: []appliance.Bus{bus}, Settings: appliance.Settings{Freshness: appliance.Freshness{Light: time.Second}}}
			for _, n := range nodesOf(64, "dali-dt6") {
				n.Bus = bus.UUID
				site.Nodes = append(site.Nodes, n)
			}
			ctl := r.run(site)
			waitFor(t, "polling has begun", func() bool { return ctl.Snapshot().Nodes[3].Online })
			mark := r.mark()
			time.Sleep(2 * time.Second)
			frames := r.sim.Frames(mark)
			span := frames[len(frames)-1].At.Sub(frames[0].At)
			best, rate := 1/theory.Seconds(), float64(len(frames)-1)/span.Seconds()
			t.Logf("%s: %.1f queries/s of %.1f possible: %.1f %%", gw, rate, best, 100*rate/best)
			if rate < 0.9*best {
				t.Errorf("%s: %.1f queries/s, want 90 %% of %.1f", gw, rate, best)
			}
		})
	}
}

func TestWholeLineGoesDarkAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, gw := range []string{"atx", "luba"} {
			r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(40, func(_ int, g *dalisim.GearConfig) { g.Level = 254 }), Speed: 1, Seed: 1})
			ctl := r.core(gw, nil, nodesOf(40, "dali-dt6"))
			allOnline(t, ctl)
			mark, asked := r.mark(), time.Now()
			e := mustDo(t, ctl, appliance.Command{Kind: appliance.LightOff, Target: everything})
			answered := time.Since(asked)
			first, last := time.Now(), time.Time{}
			for _, d := range r.sim.Devices() {
				if d.Level != 0 {
					t.Errorf("gear %d is at %d", d.Index, d.Level)
				}
				if d.Changed.Before(first) {
					first = d.Changed
				}
				last = later(last, d.Changed)
			}
			t.Logf("%s: last lamp dark after %v, %v after the first; answer after %v; %d frames that change light", gw,
				last.Sub(asked).Round(100*time.Microsecond), last.Sub(first), answered.Round(time.Millisecond), len(r.writes(mark)))
			if n := len(r.writes(mark)); n != 1 {
				t.Errorf("%d frames, want 1", n)
			}
			// The longest exchange in flight, the gap, and the frame itself.
			if bound := ctl.Snapshot().Buses[0].Bound + 60*time.Millisecond; last.Sub(asked) > bound {
				t.Errorf("dark after %v, want at most %v", last.Sub(asked), bound)
			}
			if e.Members[39].Stage != appliance.StageObserved {
				t.Errorf("member 40: %+v", e.Members[39])
			}
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
