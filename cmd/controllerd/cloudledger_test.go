package main

import (
	"slices"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/sim"
)

// The platform hears who commanded what, also of the time before it was enrolled at, and when something changed at the wall, which
// is in no ledger.
func TestThePlatformHearsOfCommandsAndChanges(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, patient(mixedSite)) // each command is given once, and counted
	dim := func(level string) {
		t.Helper()
		if status, message := h.control("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":`+level+`}`); status != 1 {
			t.Fatalf("status %d: %s", status, message)
		}
	}
	dim("35")
	p := h.enrol()
	ledger := func() platform.Ledger {
		t.Helper()
		l, err := p.reader.Ledger(t.Context(), houseID, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), 100)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	h.await(time.Minute, "the platform to know a command of before", func() bool { return len(ledger().Commands) == 1 })
	dim("0")
	h.await(time.Minute, "the platform to know the next", func() bool { return len(ledger().Commands) == 2 })
	l := ledger()
	for i, want := range []string{"light-off", "light-level"} { // newest first
		if c := l.Commands[i]; c.Do != want || (c.Value != nil) != (i == 1) || c.Value != nil && *c.Value != 35 || c.Kind != "node" || c.Thing != 1 || c.Via != "public-api" || c.Who == "" || c.Things != 1 || c.Failed || len(c.Not) > 0 {
			t.Errorf("command %d: %+v", i, c)
		}
	}
	if l.Since.IsZero() || l.Since.After(l.Commands[0].At) {
		t.Errorf("it is whole from %v on", l.Since)
	}
	changesTo := func(now string) func() bool { // newest first
		return func() bool {
			changes, err := p.reader.Changes(t.Context(), houseID, "node", platform.Doing)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(changes, func(c platform.Change) bool { return c.ID == 1 })
			return i >= 0 && changes[i].Is == now
		}
	}
	h.await(time.Minute, "the platform to know that it is off", changesTo("off")) // states go another way than the ledger
	level := 12
	if err := h.building.PressChannel("tcp", "1", 1, sim.Press{Level: &level}); err != nil {
		t.Fatal(err)
	}
	h.await(time.Minute, "the platform to know that it was switched on at the wall", changesTo("on"))
	if n := len(ledger().Commands); n != 2 {
		t.Errorf("%d commands, and at the wall nobody gave one", n)
	}
	h.restart()
	dim("50")
	h.await(60*time.Second, "the platform to know a command of after the restart", func() bool { return len(ledger().Commands) == 3 })
	if again := ledger(); again.Since.After(l.Since) {
		t.Errorf("it was whole from %v on, and after the restart from %v", l.Since, again.Since)
	}
}
