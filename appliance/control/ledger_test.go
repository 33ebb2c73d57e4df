package control

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

func TestFailedEntryNamesHowManyAndTheFirst(t *testing.T) {
	name := func(r appliance.Ref) string { return fmt.Sprintf("node %d", r.Node) }
	for want, c := range map[string]struct{ well, offline, failed, late int }{
		"":                  {well: 2, offline: 1},
		"node 1: no answer": {failed: 1, offline: 1},
		"1 of 2 did not confirm: node 1: no answer":                                                   {failed: 1, well: 1, offline: 1},
		"3 of 3 did not confirm: node 1: no answer; node 2: no answer; node 3: no answer":             {failed: 3},
		"5 of 7 did not confirm: node 1: no answer; node 2: no answer; node 3: no answer; and 2 more": {failed: 5, well: 2},
		"1 of 2 did not confirm: node 1: no confirmation before the deadline":                         {late: 1, well: 1},
		"node 1 is offline":         {offline: 1},
		"all 4 members are offline": {offline: 4},
	} {
		targets := make([]appliance.Want, c.failed+c.late+c.well+c.offline)
		for i := range targets {
			targets[i].Ref = appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}
		}
		now := time.Now()
		run := newRecord(1, appliance.Command{}, targets, now)
		for i := range targets {
			m := engine.Member{Command: 1, Place: i}
			switch {
			case i < c.failed:
				run.ended(engine.Ended{Member: m, Outcome: engine.Failed, Why: errors.New("no answer")})
			case i < c.failed+c.late:
				run.staged(engine.Staged{Member: m, Stage: appliance.StageSent, At: now})
			case i < c.failed+c.late+c.well:
				run.ended(engine.Ended{Member: m, Outcome: engine.Confirmed, At: now})
			default:
				run.ended(engine.Ended{Member: m, Outcome: engine.LeftOut})
			}
		}
		if e := run.finish(now, name); e.Err != want || e.OK() != (want == "") {
			t.Errorf("%+v: %q, OK %v\nwant %q", c, e.Err, e.OK(), want)
		}
	}
}

// What the journal cannot keep up with is lost from its oldest end, a quarter at a time, and never fills memory.
func TestWhatIsUnsavedIsBounded(t *testing.T) {
	l := &ledger{}
	for i := range 3 * unsavedMost {
		l.putLocked(appliance.Entry{ID: fmt.Sprint(i)})
		if n := len(l.unsaved); n > unsavedMost {
			t.Fatalf("%d entries wait", n)
		}
	}
	if newest := l.unsaved[len(l.unsaved)-1].ID; newest != fmt.Sprint(3*unsavedMost-1) || len(l.unsaved) < unsavedMost*3/4-1 {
		t.Errorf("%d wait, the newest is %s", len(l.unsaved), newest)
	}
}
