package sdn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// scan has the bus scanned, and returns what was told last of each address, in all, and how
// often each motor was asked for what.
func (h *house) scan(opts appliance.ScanOptions, progress func(what string)) (found map[string]appliance.Found, told int, asked map[string]int) {
	h.t.Helper()
	n := h.mark()
	found, asked = map[string]appliance.Found{}, map[string]int{}
	if err := h.ctl.Scan(h.t.Context(), "shades", opts, progress, func(f appliance.Found) {
		found[f.Address] = f
		told++
	}); err != nil {
		h.t.Fatal(err)
	}
	for _, m := range h.sim.Heard(n) {
		if m.Babble == nil {
			asked[fmt.Sprintf("%06X %02X", m.Message.Dst, m.Message.ID)]++
		}
	}
	return found, told, asked
}

// Motors with one thing wrong each are found, told of as what they are, and asked no more
// than it takes.
func TestScanOfMotorsWithSomethingWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const silent, otherType, garbled, late, mute, untold, full = 0, 1, 2, 3, 4, 5, 6
		list := motors(7)
		list[otherType].Type, list[garbled].Type, list[late].Type = 9, 7, 6
		for i := range 16 {
			list[full].Groups = append(list[full].Groups, fmt.Sprintf("01.01.%02X", i+1))
		}
		sim := quick(list)
		sim.AnswerMax, sim.Seed = 200*time.Millisecond, 3
		h := build(t, plan{sim: sim, strange: 4, options: map[string]string{"groups": "off"}, nodes: func(list []appliance.Node) { list[garbled].Profile = "somfy-sdn-50ac" }})
		h.wait(10*time.Second, "the bus is up", func() bool { return h.shade(silent).Online })
		h.sim.SetTrouble(address(silent), sdnsim.Trouble{Deaf: time.Hour})
		h.sim.SetTrouble(address(garbled), sdnsim.Trouble{Garble: 1})
		h.sim.SetTrouble(address(late), sdnsim.Trouble{Late: 600 * time.Millisecond})
		steps := map[string]int{}
		found, _, asked := h.scan(appliance.ScanOptions{}, func(what string) {
			switch steps[what]++; {
			case what == address(mute):
				h.sim.SetTrouble(what, sdnsim.Trouble{Dumb: 1})
			case what == address(untold) && steps[what] == 3: // after its label
				h.sim.SetTrouble(what, sdnsim.Trouble{Dumb: 1})
			}
		})
		for i, want := range []appliance.Found{
			silent:    {Finding: appliance.FoundSilent, Detail: "does not answer", Advice: "check its mains"},
			otherType: {Finding: appliance.FoundProfile, Detail: "and not the somfy-sdn-30dc that the site says", Advice: "change the profile"},
			garbled:   {Finding: appliance.FoundCollision, Detail: "a motor; ", Advice: "unplug it"},
			late:      {Finding: appliance.FoundLate, Detail: "answers after ", Advice: "responseTimeout to 1."},
			mute:      {Finding: appliance.FoundSilent, Detail: "told its address and then answered nothing", Advice: "scan again"},
			untold:    {Finding: appliance.FoundDamaged, Detail: "its table of groups could not be read", Advice: "check its bus plug"},
			full:      {Finding: appliance.FoundDevice, Detail: "in groups " + strings.Join(list[full].Groups, " ")},
		} {
			got := found[address(i)]
			if got.Finding != want.Finding || !strings.Contains(got.Detail, want.Detail) || !strings.Contains(got.Advice, want.Advice) {
				t.Errorf("motor %d: %+v, want %+v", i, got, want)
			}
		}
		for _, what := range []string{"listening", "everybody, round 1", "Glydea, round 1", "unknown (0F), round 1", "everybody, round 2"} {
			if steps[what] == 0 {
				t.Errorf("nothing is shown of %q", what)
			}
		}
		if f := found[""]; len(found) != len(list)+1 || f.Finding != appliance.FoundHindered || !strings.Contains(f.Detail, "MORE MOTORS (50 mm AC motor) MAY BE THERE than the 0") {
			t.Errorf("%d addresses, want those of %d motors, and that more may be there: %v", len(found), len(list), found)
		}
		for what, times := range map[string]int{
			"061A00 40": 3,  // who is silent is asked by itself
			"061A02 40": 6,  // whose answers are garbled may be heard yet
			"061A01 45": 1,  // who ignores what we ask is asked nothing more
			"061A03 45": 0,  // nobody waits for who is late
			"061A03 40": 1,  // but it is measured
			"061A04 45": 1,  // for its label once
			"061A04 74": 4,  // for the rest a few times
			"061A05 41": 4,  // for the first entry of the table a few times
			"061A06 41": 16, // there are no more entries
		} {
			if asked[what] != times {
				t.Errorf("asked %d times for %s, want %d", asked[what], what, times)
			}
		}
	})
}

// A motor of the site that answers no call, but is asked by itself, is told of as what it says that it is.
func TestScanOfOneThatAnswersNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(1)
		list[0].Type = 9
		h := build(t, plan{sim: quick(list)})
		h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
		found, _, _ := h.scan(appliance.ScanOptions{}, func(what string) {
			h.sim.SetTrouble(address(0), sdnsim.Trouble{Dumb: map[bool]float64{true: 1}[what != address(0)]})
		})
		if f := found[address(0)]; f.Finding != appliance.FoundProfile || !strings.Contains(f.Detail, "and not the somfy-sdn-30dc") {
			t.Errorf("%+v, want one of another type", found)
		}
	})
}

// Twins answer a call of their address twice, whatever their types are.
func TestScanOfTwins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, other := range []byte{2, 9} {
			list := motors(2)
			list[1].Address, list[1].Type = list[0].Address, other
			sim := quick(list)
			sim.AnswerMax, sim.Seed = 200*time.Millisecond, 3
			h := build(t, plan{sim: sim, strange: 2})
			h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
			found, _, _ := h.scan(appliance.ScanOptions{}, func(string) {})
			f := found[address(0)]
			if len(found) != 1 || f.Finding != appliance.FoundCollision || strings.Contains(f.Detail, "of different types") != (other == 9) {
				t.Errorf("types 2 and %d: %+v, want twins", other, found)
			}
		}
	})
}

// A motor whose answers come late once and then in time, as on a machine that is busy, answers two calls at once, and is one motor.
func TestScanOfOneThatCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const last = "unknown (0F), round 1" // everybody is called next
		list := motors(1)
		list[0].Type = 0xF
		h := build(t, plan{sim: quick(list), strange: 1})
		h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
		called := 0
		found, _, asked := h.scan(appliance.ScanOptions{}, func(what string) {
			late := what == last
			switch called++; {
			case strings.Contains(what, "round"):
				called = 0
			case what == address(0):
				late = called == 1
			}
			h.sim.SetTrouble(address(0), sdnsim.Trouble{Late: map[bool]time.Duration{true: 350 * time.Millisecond}[late]})
		})
		if f := found[address(0)]; f.Finding != appliance.FoundDevice || len(found) != 1 {
			t.Errorf("%+v, want one motor", found)
		}
		if asked["061A00 40"] < 3 {
			t.Errorf("asked %v: it is called by its address when it seems to answer twice", asked)
		}
	})
}

// To find out what a port is, everybody is called until one answers, and asked nothing else.
func TestScanThatFindsOutWhatAPortIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			motors, calls int
			garble        float64 // part of the answers that cannot be read
			found         int
		}{{0, 4, 0, 0}, {1, 1, 0, 1}, {1, 40, 1, 0}} {
			h := build(t, plan{sim: quick(motors(tc.motors)), strange: tc.motors})
			h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
			for i := range tc.motors {
				h.sim.SetTrouble(address(i), sdnsim.Trouble{Garble: tc.garble})
			}
			found, told, asked := h.scan(appliance.ScanOptions{FindOut: []appliance.LineSettings{}}, func(string) {})
			if told != tc.found || len(found) != tc.found || asked["FFFFFF 40"] != tc.calls || len(asked) != 1 {
				t.Errorf("%+v: told %v, asked %v", tc, found, asked)
			}
		}
	})
}

// Other line settings are not tried, and the installer is told why.
func TestScanOfAllSettingsSaysThatThereAreNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(motors(0))})
		h.wait(10*time.Second, "the bus is up", func() bool { return h.ctl.Snapshot().Buses[0].Up })
		var told []appliance.Finding
		if err := h.ctl.Scan(t.Context(), "shades", appliance.ScanOptions{AllSettings: true}, func(string) {}, func(f appliance.Found) { told = append(told, f.Finding) }); err != nil {
			t.Fatal(err)
		}
		if want := []appliance.Finding{appliance.FoundNote, appliance.FoundHindered}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
