package dali

import (
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

// scan searches the addresses 0 to 5 with the real core, and returns what was told in
// the order in which it was told.
func (r *rig) scan(gateway string, nodes ...appliance.Node) (list []appliance.Found, err error) {
	r.t.Helper()
	return r.scanWatched(gateway, func(string) {}, nodes...)
}

// scanWatched calls step before every question.
func (r *rig) scanWatched(gateway string, step func(string), nodes ...appliance.Node) (list []appliance.Found, err error) {
	r.t.Helper()
	bus := r.bus(gateway, nil)
	site := appliance.Site{Buses: []appliance.Bus{bus}}
	for _, n := range nodes {
		n.Bus = bus.UUID
		site.Nodes = append(site.Nodes, n)
	}
	ctl := r.run(site)
	waitFor(r.t, "the bus is up", func() bool { return ctl.Snapshot().Buses[0].Up })
	err = ctl.Scan(r.t.Context(), bus.Name, appliance.ScanOptions{Last: 5}, step, func(f appliance.Found) { list = append(list, f) })
	return list, err
}

// last is what was told last of an address; nil: nothing.
func last(list []appliance.Found, address string, what ...appliance.Finding) (f *appliance.Found) {
	for i := range list {
		if list[i].Address != address {
			continue
		}
		for _, w := range what {
			if list[i].Finding == w {
				f = &list[i]
			}
		}
	}
	return f
}

// aboutGear are the findings of which an address has one.
var aboutGear = []appliance.Finding{appliance.FoundDevice, appliance.FoundCollision, appliance.FoundDamaged, appliance.FoundSilent, appliance.FoundProfile}

// TestScanTellsWhoTalksBeforeItTellsOfGear lets a device on the line talk for a fifth
// of the time. It has to be told first, gear must be told where there is some, and
// two gears at one address must be told from one whose answers are disturbed.
func TestScanTellsWhoTalksBeforeItTellsOfGear(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"atx", "luba"} {
		for _, twin := range []bool{false, true} {
			name := gateway
			if twin {
				name += " with two gears at one address"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, dalisim.Config{Gateway: gateway, Gears: gearsOf(3, nil)})
					if err := r.sim.Chatter(0.2); err != nil {
						t.Fatal(err)
					}
					if twin {
						if err := r.sim.Duplicate(1, true); err != nil {
							t.Fatal(err)
						}
					}
					list, err := r.scan(gateway, nodesOf(3, "dali-dt6")[0])
					if err != nil {
						t.Fatal(err)
					}
					babble := last(list, "", appliance.FoundBabble)
					if babble == nil || !strings.Contains(babble.Detail, "TALKS WITHOUT BEING ASKED") || !strings.Contains(babble.Advice, "one by one") {
						t.Errorf("the talker: %+v in %+v", babble, list)
					}
					// A gateway that does not tell what others say needs longer to be sure.
					if gateway != "atx" && (len(list) == 0 || list[0].Finding != appliance.FoundBabble) {
						t.Errorf("told first: %+v", list)
					}
					for n, address := range []string{"0", "1", "2", "3", "4", "5"} {
						want := appliance.FoundDevice
						if twin && n == 1 {
							want = appliance.FoundCollision
						}
						f := last(list, address, aboutGear...)
						switch {
						case n > 2 && f != nil:
							t.Errorf("address %s is empty: %+v", address, f)
						case n <= 2 && (f == nil || f.Finding != want):
							t.Errorf("address %s: %+v, want %s", address, f, want)
						}
					}
					if f := last(list, "none", appliance.FoundNoAddress); f != nil {
						t.Errorf("there is no gear without an address: %+v", f)
					}
				})
			})
		}
	}
}

// TestScanSaysWhatItCannotTell: behind a gateway that does not tell to which question
// an answer belongs, nothing may be said of gear while somebody else asks.
func TestScanSaysWhatItCannotTell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "sci", Gears: gearsOf(3, nil)})
		if err := r.sim.Chatter(0.25); err != nil {
			t.Fatal(err)
		}
		if err := r.sim.Duplicate(1, true); err != nil {
			t.Fatal(err)
		}
		list, err := r.scan("sci", nodesOf(3, "dali-dt6")...)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].Finding != appliance.FoundBabble || list[1].Finding != appliance.FoundHindered || !strings.Contains(list[1].Detail, "whose question") {
			t.Errorf("told %+v", list)
		}
	})
}

// TestScanOfALineThatIsNeverFree must name that, and not call gear silent.
func TestScanOfALineThatIsNeverFree(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"atx", "sci"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gateway, Gears: gearsOf(2, nil)})
				r.fault(dalisim.Fault{Kind: dalisim.FaultConflict})
				list, err := r.scan(gateway, nodesOf(2, "dali-dt6")...)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range list {
					if f.Finding != appliance.FoundBabble || f.Address != "" {
						t.Errorf("told %+v", f)
					}
				}
				// What is told later stands in place of what was told before.
				if f := last(list, "", appliance.FoundBabble); f == nil || !strings.Contains(f.Detail, "bus attic") || !strings.Contains(f.Advice, "one by one") {
					t.Errorf("told %+v", list)
				}
			})
		})
	}
}

// TestScanBehindAGatewayThatRefuses is hindered, and says by what.
func TestScanBehindAGatewayThatRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(2, nil)})
		r.fault(dalisim.Fault{Kind: dalisim.FaultRefuse})
		list, err := r.scan("luba", nodesOf(2, "dali-dt6")...)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || list[0].Finding != appliance.FoundHindered || !strings.Contains(list[0].Detail, "bus attic: the gateway reports") || !strings.Contains(list[0].Advice, "check the gateway") {
			t.Errorf("told %+v", list)
		}
	})
}

// TestScanBehindADeadGatewayEnds: with the gateway the bus goes down, and the scan
// must neither wait for ever nor call the gear silent.
func TestScanBehindADeadGatewayEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, nil)})
		r.fault(dalisim.Fault{Kind: dalisim.FaultMute})
		list, err := r.scan("atx")
		if err == nil || !strings.Contains(err.Error(), "bus attic: the scan was given up") || !strings.Contains(err.Error(), "check its power") {
			t.Errorf("error %v", err)
		}
		if len(list) != 0 {
			t.Errorf("told %+v", list)
		}
	})
}

// TestScanAmongAnotherMaster: a push button that is pressed now and then is worth a
// note, and spoils nothing.
func TestScanAmongAnotherMaster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba", Gears: gearsOf(2, nil)})
		presses := 0
		list, err := r.scanWatched("luba", func(string) {
			if presses++; presses <= 4 {
				r.sim.Inject(0x0105) // RECALL MAX LEVEL to gear 0
			}
		}, nodesOf(2, "dali-dt6")...)
		if err != nil {
			t.Fatal(err)
		}
		if f := last(list, "", appliance.FoundNote); f == nil || !strings.Contains(f.Detail, "another master") || !strings.Contains(f.Detail, "0105") {
			t.Errorf("the push button: %+v in %+v", f, list)
		}
		for _, address := range []string{"0", "1"} {
			if f := last(list, address, appliance.FoundDevice); f == nil || f.Kind != "dali-dt6" {
				t.Errorf("gear %s: %+v", address, f)
			}
		}
	})
}

// TestAnAnswerThatIsMissingOnceIsNotSilence: of two gears that answer at once a gateway
// now and then hears nothing. While somebody talks it is the garbled one that means
// nothing.
func TestAnAnswerThatIsMissingOnceIsNotSilence(t *testing.T) {
	t.Parallel()
	for _, noisy := range []bool{false, true} {
		asked := 0
		r := &resident{short: 1, noisy: noisy, send: func(...Send) ([]Answer, error) {
			asked++
			if asked == 2 {
				return []Answer{{}}, nil
			}
			return []Answer{{Kind: AnswerGarbled}}, nil
		}}
		if _, ok := r.ask(OpQueryStatus); ok || (r.stubborn == 1) == noisy {
			t.Errorf("while somebody talks (%t): a value %t, %d questions garbled", noisy, ok, r.stubborn)
		}
	}
}

// TestScanOfALineWithoutGear says that nobody answered, if all addresses were asked.
func TestScanOfALineWithoutGear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "luba"})
		bus := r.bus("luba", nil)
		ctl := r.run(appliance.Site{Buses: []appliance.Bus{bus}})
		waitFor(t, "the bus is up", func() bool { return ctl.Snapshot().Buses[0].Up })
		for last, want := range map[int]int{0: 1, 5: 0} {
			var list []appliance.Found
			err := ctl.Scan(t.Context(), bus.Name, appliance.ScanOptions{Last: last}, func(string) {}, func(f appliance.Found) { list = append(list, f) })
			if err != nil || len(list) != want || want > 0 && (list[0].Finding != appliance.FoundHindered || !strings.Contains(list[0].Detail, "NOBODY ANSWERED")) {
				t.Errorf("up to address %d: told %+v; %v", last, list, err)
			}
		}
	})
}
