package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// Addresses of shadeSite.
const (
	motors     = 24
	firstShade = 501
)

// shadeSite has 24 motors on one bus, all in one native group, and a cluster of
// that name. A motor that belongs to no cluster keeps the group apart from "all".
func shadeSite() string {
	var nodes, shades, members strings.Builder
	for i := range motors {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc, groups: [01.01.05]}\n", i+1, i+1, motorAddress(i))
		fmt.Fprintf(&shades, "  - {id: %d, name: Shade %d, node: %d, output: 1, travelUp: 12s, travelDown: 12s}\n", firstShade+i, i+1, i+1)
		fmt.Fprintf(&members, "%d, ", firstShade+i)
	}
	return fmt.Sprintf(`
site: {name: Shades}
buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
nodes:
%s  - {id: 99, name: Motor apart, bus: shades, address: 06.00.99, profile: somfy-sdn-30dc}
shades:
%s  - {id: 599, name: Shade apart, node: 99, output: 1}
clusters:
  - {id: 7, name: Facade, shades: [%s]}
`, nodes.String(), shades.String(), strings.TrimSuffix(members.String(), ", "))
}

func motorAddress(i int) string { return fmt.Sprintf("06.00.%02X", i+1) }

// busState is what a simulated bus counted.
func (h *house) busState(name string) sim.BusState {
	h.t.Helper()
	for _, b := range h.building.Buses() {
		if b.Name == name {
			return b
		}
	}
	h.t.Fatalf("no bus %s", name)
	return sim.BusState{}
}

// orders are the frames of a bus that were to change something, from a number on.
func (h *house) orders(bus string, since uint64) []sim.Write {
	h.t.Helper()
	list, err := h.building.Writes(bus, since, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

// lastOrder is the number of the last of them.
func (h *house) lastOrder(bus string) (n uint64) {
	for _, w := range h.orders(bus, 0) {
		n = w.Seq
	}
	return n
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	most = atMost(most)
	for deadline := time.Now().Add(most); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", most, what)
		}
	}
}

// standing counts shades that really stand at a position.
func (h *house) standing(position int) (n int) {
	for _, d := range h.building.Devices() {
		for _, s := range d.Shades {
			if s.Position == position && !s.Moving && d.NodeID != 99 {
				n++
			}
		}
	}
	return n
}

// shown counts shades that the public API shows at rest at a position.
func (h *house) shown(position int) (n int) {
	h.t.Helper()
	for _, s := range h.daemon.core.Snapshot().Shades {
		if s.Shade.ID != 599 && s.Motion == appliance.Stopped && int(s.Position.Value) == position {
			n++
		}
	}
	return n
}

// groupsAndSingles tells the frames to several from those to one.
func groupsAndSingles(list []sim.Write) (groups, singles int) {
	for _, w := range list {
		if w.Source == "broadcast" {
			groups++
		} else {
			singles++
		}
	}
	return groups, singles
}

// TestShades shares one house, since 25 motors on 4800 baud take their time to be
// asked for the first time.
func TestShades(t *testing.T) {
	t.Parallel()
	virtualBuilding(t, shadeSite(), func(t *testing.T, h *house) {
		h.rememberGroups("shades") // 25 tables take minutes to read
		h.serve()
		h.awaitOnline()
		for _, part := range []struct {
			name string
			test func(*testing.T, *house)
		}{
			{"of one group move by one frame", shadesMoveByOneFrame},
			{"that miss the group frame are repaired", shadesAreRepaired},
			{"that wait are overtaken by STOP", stopOvertakesShades},
			{"moved at the wall are shown", wallSwitchIsNoticed},
			{"that stay deaf are named", deafShadesAreNamed},
		} {
			h.part(part.name, func() { part.test(t, h) })
		}
	})
}

func shadesMoveByOneFrame(t *testing.T, h *house) {
	before := h.lastOrder("shades")
	from := time.Now()
	status, message := h.control("shadeControl", `{"targetType":2,"targetId":7,"command":"POS","posValue":100}`)
	answered := time.Since(from)
	if status != 1 {
		t.Fatalf("status %d: %s", status, message)
	}
	list := h.orders("shades", before)
	groups, singles := groupsAndSingles(list)
	onWire := list[0].At.Sub(from)
	if groups != 1 || singles != 0 {
		t.Errorf("%d group frames and %d to single motors, want exactly one group frame: %+v", groups, singles, list)
	}
	waitFor(t, 30*time.Second, "24 shades open", func() bool { return h.standing(100) == motors })
	arrived := time.Since(from)
	waitFor(t, 40*time.Second, "24 positions shown as read", func() bool { return h.shown(100) == motors })
	t.Logf("24 shades of one group: %d group frame on the wire after %v, all 24 verified and answered after %v, arrived after %v (12 s for a full travel), all positions read at rest after %v",
		groups, ms(onWire), ms(answered), ms(arrived), ms(time.Since(from)))
	if s := h.device(99).Shades[0]; s.Position != 50 {
		t.Errorf("the motor apart went to %d", s.Position)
	}
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// deaf are the motors that hear nothing in some tests.
var deaf = []int{3, 11, 20}

func shadesAreRepaired(t *testing.T, h *house) {
	for _, i := range deaf {
		h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "shades", Address: motorAddress(i), DurationMs: 2000})
	}
	before := h.lastOrder("shades")
	from := time.Now()
	status, message := h.control("shadeControl", `{"targetType":2,"targetId":7,"command":"POS","posValue":0}`)
	took := time.Since(from)
	groups, singles := groupsAndSingles(h.orders("shades", before))
	t.Logf("3 of 24 deaf for 2 s: status %d after %v, %d group frame, %d repaired by unicast frames %s", status, ms(took), groups, singles, message)
	if status != 1 || groups != 1 || singles < len(deaf) {
		t.Errorf("status %d (%s), %d group frames, %d unicast", status, message, groups, singles)
	}
	waitFor(t, 30*time.Second, "24 shades closed", func() bool { return h.standing(0) == motors })
}

func deafShadesAreNamed(t *testing.T, h *house) {
	for _, i := range deaf {
		h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "shades", Address: motorAddress(i)})
	}
	from := time.Now()
	status, message := h.control("shadeControl", `{"targetType":2,"targetId":7,"command":"POS","posValue":100}`)
	t.Logf("3 of 24 stay deaf: status %d after %v: %s", status, ms(time.Since(from)), message)
	if status != 0 {
		t.Error("told 1 although three motors hear nothing")
	}
	for _, i := range deaf {
		if !strings.Contains(message, fmt.Sprintf("Shade %d", i+1)) && !strings.Contains(message, fmt.Sprint(firstShade+i)) {
			t.Errorf("shade %d is not named in %q", firstShade+i, message)
		}
	}
	waitFor(t, 30*time.Second, "21 shades open", func() bool { return h.standing(100) == motors-len(deaf) })
}

// stopOvertakesShades queues a move for each of 24 motors, one by one so that no
// group frame can take them together, and then stops them all.
func stopOvertakesShades(t *testing.T, h *house) {
	rounds := 1
	if soak() {
		rounds = 20
	}
	var worst time.Duration
	for round := range rounds {
		worst = max(worst, stopOvertakes(t, h, 20+40*(round+1)%80))
	}
	t.Logf("%d times: STOP on the wire after %v at worst", rounds, ms(worst))
}

func stopOvertakes(t *testing.T, h *house, position int) (wait time.Duration) {
	token := h.login(account.RoleAPIService)
	var bound, typical time.Duration
	for _, b := range h.daemon.core.Snapshot().Buses {
		bound, typical = b.Bound, b.Typical
	}
	var wg sync.WaitGroup
	before := h.lastOrder("shades")
	for i := range motors {
		wg.Go(func() {
			h.send("POST", "/svc/api/shadeControl", token, fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`, firstShade+i, position+i/2))
		})
	}
	waitFor(t, 10*time.Second, "two moves on the wire", func() bool { return len(h.orders("shades", before)) >= 2 })
	stopped := time.Now()
	status, message := h.control("shadeControl", `{"targetType":2,"targetId":7,"command":"STOP"}`)
	answered := time.Since(stopped)
	wg.Wait()
	list := h.orders("shades", before)
	first := slices.IndexFunc(list, func(w sim.Write) bool { return w.Source == "broadcast" && !w.At.Before(stopped) })
	if first < 0 {
		t.Fatalf("no group STOP on the wire; status %d %s; %+v", status, message, list)
	}
	between, late := 0, 0
	for i, w := range list {
		switch {
		case w.Source == "broadcast":
		case i < first && w.At.After(stopped):
			between++
		case i > first && len(w.Changes) == 1 && w.Changes[0].Motion != "stopped":
			late++
		}
	}
	t.Logf("24 moves asked for, %d on the wire before STOP; STOP on the wire after %v (published bound %v, typical %v), %d moves between; answered %d after %v %s",
		first-between, ms(list[first].At.Sub(stopped)), ms(bound), ms(typical), between, status, ms(answered), message)
	if between > 1 {
		t.Errorf("%d moves went out between STOP and its frame, want one at most", between)
	}
	if late > 0 {
		t.Errorf("%d moves went out after STOP", late)
	}
	// Its own frame has 12 characters of 11 bits at 4800 baud, after 25 ms of silence.
	own := 25*time.Millisecond + 12*11*time.Second/4800
	if wait = list[first].At.Sub(stopped); wait > bound+own {
		t.Errorf("STOP took %v, bound %v and its own frame %v", wait, bound, own)
	}
	return wait
}

func wallSwitchIsNoticed(t *testing.T, h *house) {
	if err := h.building.PressShade("shades", motorAddress(4), 1, "open"); err != nil {
		t.Fatal(err)
	}
	pressed := time.Now()
	state := func() *appliance.ShadeState {
		for _, s := range h.daemon.core.Snapshot().Shades {
			if s.Shade.ID == firstShade+4 {
				return s
			}
		}
		return nil
	}
	waitFor(t, 30*time.Second, "the shade shown as opening", func() bool { return state().Motion == appliance.Opening })
	noticed := time.Since(pressed)
	waitFor(t, 40*time.Second, "the shade shown open", func() bool { s := state(); return s.Motion == appliance.Stopped && s.Position.Value == 100 })
	t.Logf("moved at the wall: noticed after %v, shown at rest and open after %v", ms(noticed), ms(time.Since(pressed)))
}
