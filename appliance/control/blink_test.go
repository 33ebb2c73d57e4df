package control_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// identified has a device show itself, and returns the job when it is over.
func identified(t *testing.T, ctl *control.Controller, address string, node appliance.ID) appliance.Job {
	t.Helper()
	j, err := ctl.StartIdentify(control.Showing{Bus: "test", Address: address, Node: node}, appliance.Origin{Who: "ada", Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return over(ctl, j.ID)
}

// over waits for the end of a job.
func over(ctl *control.Controller, id string) appliance.Job {
	for {
		fresh := ctl.Jobs().Fresh()
		if j, ok := ctl.Jobs().Get(id); !ok || j.State.Over() {
			return j
		}
		<-fresh
	}
}

func TestALightThatCannotShowItselfBlinksAndIsAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("dimmer", "triple", "dimmer", "shade")
		site.Nodes[2].Address = "1" // two nodes share a device
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(6 * time.Second)
		do(t, ctl, level(one(1), 40))
		do(t, ctl, level(one(2), 0))
		do(t, ctl, appliance.Command{Kind: appliance.LightLevel, Target: one(2), Channel: 3, Level: 7})
		do(t, ctl, level(one(3), 0))
		levels := func() (out []appliance.Level) {
			s := ctl.Snapshot()
			for id := appliance.ID(1); id <= 3; id++ {
				for _, ch := range s.Node(id).Channels {
					out = append(out, ch.Level.Value)
				}
			}
			return out
		}
		before := levels()
		writes := func() (n int) {
			for _, e := range ctl.RecentEntries() {
				if e.Command.Origin.Why == "identify" && e.Command.Origin.Who == "ada" {
					n++
				}
			}
			return n
		}
		// A dimmer at 40, and with it the one that shares its address and is off; a lamp of
		// three channels, of which one shines faintly; only one of the two.
		for i, c := range []struct {
			address string
			node    appliance.ID
			least   int
		}{{"1", 0, 12}, {"2", 0, 6}, {"1", 3, 6}} {
			from := writes()
			if j := identified(t, ctl, c.address, c.node); j.State != appliance.JobDone {
				t.Fatalf("%d: %s %s", i, j.State, j.Err)
			}
			if n := writes() - from; n < c.least {
				t.Errorf("%d: it blinked by %d commands, want %d", i, n, c.least)
			}
			if after := levels(); !slices.Equal(after, before) {
				t.Errorf("%d: levels are %v and were %v", i, after, before)
			}
		}
		// Given up in the middle it is as before, too.
		j, err := ctl.StartIdentify(control.Showing{Bus: "test", Address: "1"}, appliance.Origin{Who: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if levels()[0] != 0 {
			t.Fatal("it does not blink")
		}
		ctl.Jobs().Cancel(j.ID, appliance.Origin{Who: "ada"})
		over(ctl, j.ID)
		if after := levels(); !slices.Equal(after, before) {
			t.Errorf("given up: levels are %v and were %v", after, before)
		}
		// Somebody who switches it on meanwhile has it as they want.
		j, _ = ctl.StartIdentify(control.Showing{Bus: "test", Address: "1", Node: 1}, appliance.Origin{Who: "ada"})
		time.Sleep(300 * time.Millisecond)
		do(t, ctl, level(one(1), 90))
		ctl.Jobs().Cancel(j.ID, appliance.Origin{Who: "ada"})
		over(ctl, j.ID)
		if now := levels()[0]; now != 90 {
			t.Errorf("somebody set it to 90, and it is at %d", now)
		}
		// Nothing there that shines, or nobody knows.
		if j := identified(t, ctl, "4", 0); j.State != appliance.JobFailed || !strings.Contains(j.Err, "none there") {
			t.Errorf("a motor: %s %s", j.State, j.Err)
		}
		c.set(func() { c.silent[2] = true })
		time.Sleep(20 * time.Second)
		if j := identified(t, ctl, "2", 0); j.State != appliance.JobFailed || !strings.Contains(j.Err, "nobody knows how bright") {
			t.Errorf("one that does not answer: %s %s", j.State, j.Err)
		}
	})
}
