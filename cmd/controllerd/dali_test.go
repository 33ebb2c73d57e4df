package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/sim"
)

const gears = 40

// daliSite is one line of 40 gears of three kinds behind a HAT; its second half is
// group 3.
func daliSite() string {
	var nodes, members strings.Builder
	for i := range gears {
		profile := []string{"dali-dt6", "dali-dt6", "dali-dt8-tc", "dali-dt8-rgbw"}[i%4]
		groups := ""
		if i >= gears/2 {
			groups = ", groups: [3]"
			fmt.Fprintf(&members, "%d, ", i+1)
		}
		fmt.Fprintf(&nodes, "  - {id: %d, name: Gear %d, bus: line, address: %d, profile: %s%s}\n", i+1, i+1, i, profile, groups)
	}
	return fmt.Sprintf(`
site: {name: DALI}
buses:
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
nodes:
%sclusters:
  - {id: 3, name: Half, nodes: [%s]}
`, nodes.String(), strings.TrimSuffix(members.String(), ", "))
}

// changes tells when the first and the last lamp of the site got to where it is.
func (h *house) changes(t *testing.T, level int) (first, last time.Time) {
	t.Helper()
	for _, d := range h.building.Devices() {
		for _, c := range d.Channels {
			if c.TargetLevel != level {
				t.Fatalf("%s is at %d, want %d", d.Name, c.TargetLevel, level)
			}
			if first.IsZero() || c.ChangedAt.Before(first) {
				first = c.ChangedAt
			}
			if c.ChangedAt.After(last) {
				last = c.ChangedAt
			}
		}
	}
	return first, last
}

// allTo sends every light of the house to a level and tells how many frames changed
// something, of them how many addressed several devices.
func (h *house) allTo(t *testing.T, bus string, level int) (from time.Time, answered time.Duration, groups, singles int) {
	t.Helper()
	before := h.lastOrder(bus)
	from = time.Now()
	status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":1,"command":"DIM","dimLevel":%d}`, level))
	answered = time.Since(from)
	if status != 1 {
		t.Fatalf("all to %d: status %d: %s", level, status, message)
	}
	groups, singles = groupsAndSingles(h.orders(bus, before))
	return from, answered, groups, singles
}

func TestDALILine(t *testing.T) {
	t.Parallel()
	virtually(t, daliSite(), func(t *testing.T, h *house) {
		// Broadcast and groups are used once the groups of all gear have been compared.
		h.part("goes dark by one frame", func() {
			h.allTo(t, "line", 70)
			for round := range 3 {
				if round > 0 {
					h.allTo(t, "line", 70)
				}
				from, answered, groups, singles := h.allTo(t, "line", 0)
				first, last := h.changes(t, 0)
				t.Logf("40 gears, polled all the time: last lamp dark %v after the HTTP request, first to last %v; %d broadcast frame, %d to single gear; answered, all 40 read back, after %v",
					ms(last.Sub(from)), last.Sub(first), groups, singles, ms(answered))
				if groups != 1 || singles != 0 {
					t.Errorf("%d frames to several and %d to single gear, want one broadcast frame", groups, singles)
				}
			}
		})
		h.part("names a lamp that failed", func() {
			end := h.fault(sim.Fault{Kind: sim.FaultLamp, Bus: "line", Address: "7"})
			status, message := h.control("channelControl", `{"targetType":1,"command":"DIM","dimLevel":50}`)
			t.Logf("one lamp of 40 broken: status %d: %s", status, message)
			if status != 0 || !strings.Contains(message, "Gear 8") {
				t.Errorf("status %d %q, want gear 8 named", status, message)
			}
			end()
		})
		h.part("is driven from the wall too", func() {
			level := 33
			if err := h.building.PressChannel("line", "5", 1, sim.Press{Level: &level}); err != nil {
				t.Fatal(err)
			}
			pressed := time.Now()
			waitFor(t, 30*time.Second, "the level from the wall shown", func() bool {
				for _, n := range h.daemon.core.Snapshot().Nodes {
					if n.Node.ID == 6 {
						return int(n.Channels[0].Level.Value) == level
					}
				}
				return false
			})
			t.Logf("a push-button's level is shown after %v", ms(time.Since(pressed)))
		})
		h.part("shows one gear", func() {
			if err := h.daemon.core.Identify(t.Context(), "line", "9"); err != nil {
				t.Fatal(err)
			}
			identify := 0
			frames, err := h.building.Log("line", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				if f.Hex == "1325" { // IDENTIFY DEVICE to short address 9
					identify++
				}
			}
			if identify < 2 {
				t.Errorf("IDENTIFY DEVICE was on the line %d times, want it twice", identify)
			}
			if err := h.daemon.core.Identify(t.Context(), "line", "77"); err == nil {
				t.Error("address 77 was accepted")
			}
		})
		h.part("shows who was told last, and no other", func() {
			for gear := range 8 { // faster than any of them has shown itself
				if err := h.daemon.core.Identify(t.Context(), "line", fmt.Sprint(gear)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(15 * time.Second)
			frames, err := h.building.Log("line", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			last, others := 0, 0
			for _, f := range frames {
				switch {
				case f.Hex == "0f25": // IDENTIFY DEVICE to short address 7
					last++
				case last > 0 && strings.HasSuffix(f.Hex, "25"):
					others++
				}
			}
			if last < 10 || others > 2 {
				t.Errorf("after gear 7 was told to show itself it was told so %d times, others %d times", last, others)
			}
		})
	})
}

// TestDALIGroupIsUsed waits until the driver has compared the groups that the gear
// holds with those of the site.
func TestDALIGroupIsUsed(t *testing.T) {
	t.Parallel()
	virtually(t, daliSite(), func(t *testing.T, h *house) {
		level := 20
		waitFor(t, 3*time.Minute, "a command for a cluster by one group frame", func() bool {
			level = 20 + (level+10)%60
			before := h.lastOrder("line")
			status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":2,"targetId":3,"command":"DIM","dimLevel":%d}`, level))
			if status != 1 {
				t.Fatalf("status %d: %s", status, message)
			}
			groups, singles := groupsAndSingles(h.orders("line", before))
			if groups == 1 && singles == 0 {
				return true
			}
			<-time.After(2 * time.Second)
			return false
		})
		for _, d := range h.building.Devices() {
			if c := d.Channels[0]; d.NodeID > gears/2 && (c.TargetLevel < level-1 || c.TargetLevel > level+1) || d.NodeID <= gears/2 && c.On {
				t.Errorf("%s is at %d", d.Name, c.TargetLevel)
			}
		}
	})
}
