package dali

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/sim/dalisim"
)

func (r *rig) fault(f dalisim.Fault) {
	r.t.Helper()
	if err := r.sim.AddFault(f); err != nil {
		r.t.Fatal(err)
	}
}

func TestDeafGearIsNamed(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(4, nil), Speed: 20, Seed: 1})
				ctl := r.core(gw, nil, nodesOf(4, "dali-dt6"))
				allOnline(t, ctl)
				r.fault(dalisim.Fault{Kind: dalisim.FaultDeaf, Gear: 2})
				e := do(t, ctl, levelTo(everything, 60))
				if e.OK() || !strings.Contains(e.Err, "lamp 2") || !strings.Contains(e.Err, appliance.ErrSilent.Error()) {
					t.Errorf("outcome %q, want lamp 2 named as silent", e.Err)
				}
				for _, d := range r.sim.Devices() {
					if want := map[bool]int{true: 0, false: int(curves["standard"].arcOf(60))}[d.Index == 2]; d.Level != want {
						t.Errorf("gear %d is at %d, want %d", d.Index, d.Level, want)
					}
				}
			})
		})
	}
}

// A gear that stays on its level has not obeyed, although it answers.
func TestGearThatMissedItsFramesIsRepaired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(3, nil), Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(3, "dali-dt6"))
		allOnline(t, ctl)
		r.fault(dalisim.Fault{Kind: dalisim.FaultDeaf, Gear: -1, Rate: 0.2})
		lies := 0
		for i := range 60 {
			p := appliance.Level(10 + i)
			e := do(t, ctl, levelTo(everything, p))
			for k, d := range r.sim.Devices() {
				if e.Members[k].Stage >= appliance.StageAcknowledged && e.Members[k].Stage <= appliance.StageObserved && d.Level != int(curves["standard"].arcOf(p)) {
					lies++
					t.Errorf("%d %%: gear %d is said to have it and is at %d", p, k, d.Level)
				}
			}
		}
	})
}

func TestDamagedMessagesNeverBecomeWrongValues(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(3, func(i int, g *dalisim.GearConfig) { g.Level = byte(100 + 40*i) }), Speed: 20, Seed: 5})
				ctl := r.core(gw, map[string]string{"gatewayTimeout": "60ms"}, nodesOf(3, "dali-dt6"))
				allOnline(t, ctl)
				want := map[appliance.ID]appliance.Level{}
				for _, n := range ctl.Snapshot().Nodes {
					want[n.Node.ID] = n.Level.Value
				}
				r.fault(dalisim.Fault{Kind: dalisim.FaultDamage, Rate: 0.2})
				r.fault(dalisim.Fault{Kind: dalisim.FaultNoise, Rate: 0.1})
				deadline := time.Now().Add(1500 * time.Millisecond)
				for time.Now().Before(deadline) {
					s := ctl.Snapshot()
					for _, n := range s.Nodes {
						if n.Level.Value != want[n.Node.ID] {
							t.Fatalf("node %d shows %d %%, the gear never left %d %%", n.Node.ID, n.Level.Value, want[n.Node.ID])
						}
					}
					select {
					case <-s.Superseded():
					case <-time.After(100 * time.Millisecond):
					}
				}
				commands, lies := 0, 0
				for i := range 8 {
					p := appliance.Level(20 + i)
					if e := do(t, ctl, levelTo(one(1), p)); e.OK() {
						commands++
						if d := r.sim.Devices()[0]; d.Level != int(curves["standard"].arcOf(p)) {
							lies++
						}
					}
				}
				if lies > 0 || commands == 0 {
					t.Errorf("%d of %d commands that counted as done were not", lies, commands)
				}
			})
		})
	}
}

// A HAT does not say to which frame its answer belongs: one that comes after its
// time must not become another gear's level.
func TestLateAnswersAreNobodyElses(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(5, func(i int, g *dalisim.GearConfig) { g.Level = byte(120 + 25*i) }), Speed: 20, Seed: 5})
				ctl := r.core(gw, map[string]string{"gatewayTimeout": "60ms"}, nodesOf(5, "dali-dt6"))
				allOnline(t, ctl)
				want := map[appliance.ID]appliance.Level{}
				for _, n := range ctl.Snapshot().Nodes {
					want[n.Node.ID] = n.Level.Value
				}
				r.fault(dalisim.Fault{Kind: dalisim.FaultSlow, DelayMs: 20 * 100, Rate: 0.1}) // 100 ms in the world
				deadline := time.Now().Add(2 * time.Second)
				for time.Now().Before(deadline) {
					s := ctl.Snapshot()
					for _, n := range s.Nodes {
						if n.Level.Value != want[n.Node.ID] {
							t.Fatalf("node %d shows %d %%, the gear never left %d %%", n.Node.ID, n.Level.Value, want[n.Node.ID])
						}
					}
					select {
					case <-s.Superseded():
					case <-time.After(100 * time.Millisecond):
					}
				}
				if ctl.Snapshot().Buses[0].Stats.Silent+ctl.Snapshot().Buses[0].Stats.Damaged == 0 {
					t.Error("no answer was late: the test shows nothing")
				}
			})
		})
	}
}

func TestLampFailureIsToldAndNoLevelIsMadeUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, func(_ int, g *dalisim.GearConfig) { g.Level = 254 }), Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(2, "dali-dt6"))
		allOnline(t, ctl)
		r.sim.SetLampFailure(1, true)
		e := do(t, ctl, levelTo(everything, 30))
		if e.OK() || !strings.Contains(e.Err, "lamp failure") || !strings.Contains(e.Err, "lamp 1") {
			t.Errorf("outcome %q, want the lamp failure of lamp 1", e.Err)
		}
		n := ctl.Snapshot().Node(2)
		if !n.Online || n.Level.Value != 100 {
			t.Errorf("node 2: %+v, want it online at the last level known", n.Level)
		}
		r.sim.SetLampFailure(1, false)
		mustDo(t, ctl, levelTo(everything, 31))
	})
}

// What is read of a gear that did not answer before, and that stays as it is, acknowledges nothing.
func TestGearThatIsBackAndStaysAsItIsHasNotObeyed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, nil), Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(2, "dali-dt6"))
		allOnline(t, ctl)
		r.fault(dalisim.Fault{Kind: dalisim.FaultSilent, Gear: 1})
		waitFor(t, "it is offline", func() bool { return !ctl.Snapshot().Node(2).Online })
		r.sim.ClearFaults()
		r.fault(dalisim.Fault{Kind: dalisim.FaultStuck, Gear: 1})
		e := do(t, ctl, levelTo(one(2), 60))
		if m := e.Members[0]; e.OK() || !m.AcknowledgedAt.IsZero() {
			t.Errorf("%q, acknowledged at %v", e.Err, m.AcknowledgedAt)
		}
	})
}

// Told and asked in one, it acknowledges only if it has what it was told: else the core would believe that even if
// reading it afterwards failed.
func TestToldAndAskedOnlyWhatItHasAcknowledges(t *testing.T) {
	t.Parallel()
	for _, stuck := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(1, nil), Speed: 20, Seed: 1})
			d := r.driver("atx", nodesOf(1, "dali-dt6")...)
			d.gears[0].silent = 1 // when it was last asked
			if stuck {
				r.fault(dalisim.Fault{Kind: dalisim.FaultStuck})
			}
			want := appliance.Want{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim | appliance.CanSwitch, Level: 60}}
			_, err := d.Plan([]appliance.Want{want})[0].Steps[0].Do(t.Context(), appliance.Yield{})
			if damaged := errors.Is(err, appliance.ErrDamaged); damaged != stuck || !stuck && err != nil {
				t.Errorf("stuck %t: %v", stuck, err)
			}
		})
	}
}

func TestTwoGearsAtOneAddressAreNamedByAScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gears := gearsOf(4, func(i int, g *dalisim.GearConfig) {
			g.Level = byte(100 + i)
			switch i {
			case 2:
				g.Short, g.Type, g.Colour = 1, 8, "tc"
			case 3:
				g.Short = -1
			}
		})
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gears, Speed: 50, Seed: 1})
		ctl := r.core("luba", nil, nodesOf(1, "dali-dt6"))
		allOnline(t, ctl)
		var mu sync.Mutex
		found := map[string]appliance.Found{}
		err := ctl.Scan(context.Background(), "attic", appliance.ScanOptions{Last: 5}, func(string) {}, func(f appliance.Found) {
			mu.Lock()
			defer mu.Unlock()
			found[f.Address] = f
		})
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]appliance.Found{
			"0":    {Finding: appliance.FoundDevice, Kind: "dali-dt6", Detail: "device type 6"},
			"1":    {Finding: appliance.FoundCollision, Detail: "share this address"},
			"none": {Finding: appliance.FoundNoAddress, Detail: "without a short address"},
		} {
			if f := found[address]; f.Finding != want.Finding || f.Kind != want.Kind || !strings.Contains(f.Detail, want.Detail) {
				t.Errorf("address %s: %+v, want %+v", address, f, want)
			}
		}
		if len(found) != 3 {
			t.Errorf("found %+v", found)
		}
	})
}

func TestDeadGearDoesNotDelayTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(10, nil), Speed: 20, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(13, "dali-dt6")) // three are not there
		waitFor(t, "ten gears answer", func() bool {
			n := 0
			for _, s := range ctl.Snapshot().Nodes {
				if s.Online && s.Level.OK() {
					n++
				}
			}
			asked := 0
			for _, b := range ctl.Snapshot().Buses[0].Devices {
				if b.Stats.Exchanges > 0 {
					asked++
				}
			}
			return n == 10 && asked == 13
		})
		e := mustDo(t, ctl, levelTo(everything, 44))
		offline := 0
		for _, m := range e.Members {
			if m.Offline {
				offline++
			}
		}
		if offline != 3 {
			t.Errorf("%d members are told to be offline, want 3", offline)
		}
		one := do(t, ctl, levelTo(one(12), 44))
		if one.OK() || !strings.Contains(one.Err, "no answer") && !strings.Contains(one.Err, "offline") {
			t.Errorf("a gear that is not there: %q", one.Err)
		}
	})
}

func TestGatewayThatFallsSilentIsTheBusNotTheGear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(3, nil), Speed: 20, Seed: 1})
		ctl := r.core("luba", map[string]string{"gatewayTimeout": "100ms"}, nodesOf(3, "dali-dt6"))
		allOnline(t, ctl)
		r.fault(dalisim.Fault{Kind: dalisim.FaultMute})
		e := do(t, ctl, levelTo(everything, 10))
		if e.OK() || !strings.Contains(e.Err, "gateway") {
			t.Errorf("outcome %q, want the gateway to be named", e.Err)
		}
		waitFor(t, "the bus is down", func() bool { return !ctl.Snapshot().Buses[0].Up })
		if f := ctl.Snapshot().Buses[0].Fault; !strings.Contains(f, "gateway does not confirm") {
			t.Errorf("the bus says %q", f)
		}
		r.sim.ClearFaults()
		allOnline(t, ctl)
		mustDo(t, ctl, levelTo(everything, 11))
	})
}

func TestGatewayIsPulledAndPutBack(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	r := ptyRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(2, nil), Speed: 20, Seed: 1})
	ctl := r.core("luba", nil, nodesOf(2, "dali-dt6"))
	allOnline(t, ctl)
	for i := range 5 {
		r.stop()
		waitFor(t, "the bus is down", func() bool { return !ctl.Snapshot().Buses[0].Up })
		mark := r.mark()
		if e := do(t, ctl, levelTo(everything, 99)); e.OK() {
			t.Error("a command without a gateway succeeded")
		}
		r.plug()
		back := time.Now()
		waitFor(t, "the bus is back", func() bool { return ctl.Snapshot().Buses[0].Up })
		mustDo(t, ctl, levelTo(everything, appliance.Level(10+i)))
		if took := time.Since(back); took > 50*time.Second {
			t.Errorf("it took %v to be back", took)
		}
		for _, w := range r.writes(mark) {
			if w == fmt.Sprintf("FE%02X", curves["standard"].arcOf(99)) {
				t.Error("the command of the outage was sent afterwards")
			}
		}
	}
}

func TestNothingIsSentAfterItsExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(1, nil), Speed: 1, Seed: 1})
		ctl := r.core("atx", nil, nodesOf(1, "dali-dt6"))
		allOnline(t, ctl)
		mark := r.mark()
		cmd := levelTo(one(1), 77)
		cmd.Expiry = time.Now().Add(5 * time.Millisecond)
		if e := do(t, ctl, cmd); e.OK() {
			t.Error("a command with 5 ms to live succeeded on a line whose frames take 16")
		}
		mustDo(t, ctl, levelTo(one(1), 20))
		for _, w := range r.writes(mark) {
			if w == fmt.Sprintf("00%02X", curves["standard"].arcOf(77)) {
				t.Error("it was sent all the same")
			}
		}
	})
}

func TestCollisionsAreSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, nil), Speed: 20, Seed: 1})
		d := r.driver("atx")
		r.fault(dalisim.Fault{Kind: dalisim.FaultConflict, Count: 3})
		if _, err := d.Transmit(context.Background(), Arc(Short(1), 200)); err != nil {
			t.Errorf("three collisions: %v", err)
		}
		if got := r.sim.Devices()[1].Level; got != 200 {
			t.Errorf("gear is at %d, want 200", got)
		}
		r.fault(dalisim.Fault{Kind: dalisim.FaultConflict})
		if _, err := d.Transmit(context.Background(), Arc(Short(1), 100)); !errors.Is(err, appliance.ErrDamaged) {
			t.Errorf("collisions without end: %v, want ErrDamaged", err)
		}
	})
}

// A gateway that was unplugged need not have kept its settings: it is given them again when it is back, also where nobody asked
// meanwhile.
func TestGatewayThatIsBackIsSetUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(1, nil), Seed: 1})
		d := r.driver("luba")
		for round := 1; round <= 3; round++ {
			for range 2 {
				if _, err := d.Transmit(t.Context(), Arc(Short(0), byte(100+round))); err != nil {
					t.Fatal(err)
				}
			}
			setups := 0
			for _, f := range d.Recent() {
				if f.Direction == appliance.FrameSent && bytes.Equal(f.Bytes, luba{}.setup()) {
					setups++
				}
			}
			if setups != round {
				t.Errorf("plugged in %d times, it was set up %d times", round, setups)
			}
			r.stop()
			waitFor(t, "the gateway is gone", func() bool { return d.Link() != nil })
			r.plug()
			waitFor(t, "the gateway is back", func() bool { return d.Link() == nil })
		}
	})
}

// A question that collided does not keep the line for its pause when something more
// urgent is due.
func TestCollidedQuestionGivesWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, nil), Seed: 1})
		d := r.driver("atx")
		r.fault(dalisim.Fault{Kind: dalisim.FaultConflict, Count: 1})
		urgent := make(chan struct{})
		go func() {
			for r.sim.Counters().Conflicts == 0 {
				<-time.After(time.Millisecond)
			}
			close(urgent)
		}()
		_, sent, err := d.wire.transmit(t.Context(), appliance.Yield{Begin: urgent}, Command(Short(0), OpQueryActualLevel))
		if !errors.Is(err, appliance.ErrPreempted) || !sent.IsZero() {
			t.Fatalf("sent %v, %v; want it to give way", sent, err)
		}
		began := time.Now()
		if _, err := d.Transmit(t.Context(), Arc(Short(1), 200)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > conflictPause {
			t.Errorf("what was urgent took %v", took)
		}
		if got := r.sim.Devices()[1].Level; got != 200 {
			t.Errorf("gear is at %d, want 200", got)
		}
	})
}

func TestAnotherMasterIsHeardAndBelievedOnlyByReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(1, nil), Speed: 20, Seed: 1})
		ctl := r.core("luba", nil, nodesOf(1, "dali-dt6"))
		allOnline(t, ctl)
		r.sim.Inject(0x00CB) // somebody at a wall panel
		waitFor(t, "the level that the panel set is shown", func() bool { return ctl.Snapshot().Node(1).Level.Value == 25 })
		rec, err := ctl.Recorder("attic")
		if err != nil {
			t.Fatal(err)
		}
		heard := false
		for _, f := range rec.Recent() {
			if f.Direction == appliance.FrameDiscarded {
				t.Errorf("discarded % X (%s)", f.Bytes, f.Note)
			}
			if d, err := DecodeFrom("luba", f.Bytes); err == nil && d.Kind == "heard" && d.Command == "DAPC" {
				heard = true
			}
		}
		if !heard {
			t.Error("the recorder does not show the panel's frame")
		}
	})
}
