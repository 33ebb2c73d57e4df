package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// TestAnUpdateIsHealthyWhenWhoAnsweredAnswers goes through what the appliance asks before and after an update: the same
// system started again is healthy, one that no longer reaches a device is not, and says which.
func TestAnUpdateIsHealthyWhenWhoAnsweredAnswers(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, recordedSite)
	d := h.desk()
	before := filepath.Join(t.TempDir(), "answering.json")
	// What each device did is published a moment after its nodes are online.
	deadline := time.Now().Add(uitest.Patience)
	for got := ""; strings.Count(got, `"device"`) != 4; got = d.must("update", "record", "-") {
		if time.Now().After(deadline) {
			t.Fatalf("of 4 devices that answer are written down: %s", got)
		}
	}
	// Asked in the first moment after a start, it waits for those that have not been heard yet. Devices of a machine that is busy
	// with other things may be late for all of it.
	written := func() string { b, _ := os.ReadFile(before); return string(b) }
	for n := 0; n == 0 || strings.Count(written(), `"device"`) != 4; n++ {
		if n == 10 {
			t.Fatalf("after %d starts not all are written down: %s", n, written())
		}
		h.restart()
		d.must("update", "record", before)
	}
	check := func(within string) said { return d.run("update", "check", "--url", h.url, "--within", within, before) }

	h.restart()
	if s := check("60s"); s.code != 0 || !strings.Contains(s.out, "4 of 4") {
		t.Errorf("the same system is not healthy: exit code %d: %s%s", s.code, s.out, s.err)
	}

	// Right after the start the device is still online by what was known before; that is no answer.
	mend := h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "rtu", Address: "7"})
	h.restart()
	if s := check("3s"); s.code != 1 || !strings.Contains(s.err, "2 More lamps") {
		t.Errorf("a device that went silent: exit code %d: %s%s", s.code, s.out, s.err)
	}
	mend()
	if s := check("60s"); s.code != 0 {
		t.Errorf("a device that came back in time: exit code %d: %s", s.code, s.err)
	}

	h.stop()
	if s := check("1s"); s.code != 1 || !strings.Contains(s.err, "the API does not serve") {
		t.Errorf("a daemon that is gone: exit code %d: %s", s.code, s.err)
	}
	if s := d.run("update", "record", "-"); s.code != 1 {
		t.Errorf("nothing to record: exit code %d: %s", s.code, s.err)
	}
}
