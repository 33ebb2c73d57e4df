package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// dmxSite fills a universe: 512 slots of dimmers, RGB and RGBW fixtures, tunable
// whites and dimmer packs.
func dmxSite() (site string, fixtures int) {
	kinds := []struct {
		profile string
		slots   int
	}{{"dmx-rgbw", 4}, {"dmx-dimmer", 1}, {"dmx-tunable", 2}, {"dmx-rgb", 3}, {"dmx-dimmer-16bit", 2}, {"dmx-dimmer-pack-12", 12}}
	var nodes strings.Builder
	slot := 1
	for slot <= 512 {
		k := kinds[fixtures%len(kinds)]
		if slot+k.slots > 513 {
			k = kinds[1]
		}
		fixtures++
		fmt.Fprintf(&nodes, "  - {id: %d, name: Fixture %d, bus: stage, address: %d, profile: %s}\n", fixtures, fixtures, slot, k.profile)
		slot += k.slots
	}
	return fmt.Sprintf(`
site: {name: DMX}
buses:
  - {name: stage, driver: dmx, port: "@DIR@/stage", options: {interface: enttec-pro}}
nodes:
%s`, nodes.String()), fixtures
}

func TestDMXUniverse(t *testing.T) {
	t.Parallel()
	site, fixtures := dmxSite()
	virtually(t, site, func(t *testing.T, h *house) {
		h.part("goes dark by one frame", func() {
			for range 3 {
				h.allTo(t, "stage", 60)
				h.settleDMX(t)
				before := h.lastOrder("stage")
				from, answered, _, _ := h.allTo(t, "stage", 0)
				h.settleDMX(t)
				frames := len(h.orders("stage", before))
				first, last := h.changes(t, 0)
				t.Logf("512 slots, %d fixtures: last lamp dark %v after the HTTP request, first to last %v; %d frames; answered after %v",
					fixtures, last.Sub(from).Round(100*time.Microsecond), last.Sub(first).Round(10*time.Microsecond), frames, answered.Round(100*time.Microsecond))
				if frames != 1 {
					t.Errorf("%d frames changed something, want one", frames)
				}
			}
			if s := h.busState("stage"); s.Units != fixtures || !s.Up {
				t.Errorf("bus %+v", s)
			}
		})
		h.part("blinks one fixture and leaves it as it was", func() {
			h.allTo(t, "stage", 20)
			h.settleDMX(t)
			level := func() int { return h.device(1).Channels[0].Level }
			was := level()
			if err := h.daemon.core.Identify(t.Context(), "stage", "1"); err != nil {
				t.Fatal(err)
			}
			for blink := range 3 {
				waitFor(t, 5*time.Second, fmt.Sprintf("lamp bright, time %d", blink+1), func() bool { return level() == 100 })
				waitFor(t, 5*time.Second, fmt.Sprintf("lamp as before, time %d", blink+1), func() bool { return level() == was })
			}
			if got := h.device(2).Channels[0].Level; got != 20 {
				t.Errorf("another fixture is at %d", got)
			}
			if err := h.daemon.core.Identify(t.Context(), "stage", "600"); err == nil {
				t.Error("slot 600 was accepted")
			}
		})
	})
}

// TestDMXScanFindsFixtures looks for RDM devices while a command is given.
func TestDMXScanFindsFixtures(t *testing.T) {
	t.Parallel()
	virtually(t, fieldSite, func(t *testing.T, h *house) {
		d := h.desk()
		h.allTo(t, "stage", 40)
		found := d.must("bus", "scan", "stage")
		for _, want := range []string{"7ff0:00000015", "7ff0:00000016", "7ff0:00000017"} {
			if !strings.Contains(found, want) {
				t.Errorf("%s is missing in\n%s", want, found)
			}
		}
		if s := d.run("bus", "identify", "stage", "7ff0:00000016"); s.code != 0 {
			t.Errorf("bus identify: %d %s%s", s.code, s.out, s.err)
		}
	})
}

// settleDMX waits for the end of a packet: a universe that the widget has taken is
// on the line within 25 ms, and lasts 23 ms.
func (h *house) settleDMX(t *testing.T) {
	t.Helper()
	from := time.Now()
	waitFor(t, time.Second, "end of a packet", func() bool { return time.Since(from) > 60*time.Millisecond })
}
