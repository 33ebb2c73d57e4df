package link_test

import (
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/store"
)

// A broker that is away for an hour, in short: the controller has an hour's worth to say, works on in bounded memory, and
// nothing that was asked for meanwhile is done afterwards.
func TestABrokerThatIsAwayForAnHour(t *testing.T) {
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		h := move(t, db, at, "house")
		user, password := integration(t, db, at, "house")
		o := openOffice(t, db, at)
		o.there(t, db, "house")
		if err := o.SetPanels(t.Context(), "house", []wire.Panel{{DeviceID: "room", PanelID: wire.ControlsPanel, Clusters: []int64{1}}}); err != nil {
			t.Fatal(err)
		}
		at.away()
		eventually(t, "the controller notices", func() bool { return !h.cloud.Status().Connected })
		before := heapInUse()
		const anHour = 3600 * 30 // what 30 lights that are switched every second make
		for n := range anHour {
			h.cloud.Answer(fmt.Sprint("event-", n), wire.Ack{Status: wire.Applied})
			if n%3600 == 0 { // somebody at the wall
				if _, err := h.Do(t.Context(), appliance.Command{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		status := h.cloud.Status()
		if grown := int64(heapInUse()) - int64(before); grown > 16<<20 || status.Waiting > 2000 || status.Lost < anHour-2000 {
			t.Errorf("an hour took %d MB; %d wait, %d gave way", grown>>20, status.Waiting, status.Lost)
		} else {
			t.Logf("an hour took %d kB; %d messages wait, %d gave way", grown>>10, status.Waiting, status.Lost)
		}
		worked := len(h.commands())
		if worked != 30 {
			t.Errorf("%d commands worked while the broker was away, want 30", worked)
		}
		level := 42
		if _, err := o.Act(t.Context(), "house", 1, platform.Action{Level: &level}); err == nil {
			t.Error("a command was taken while the broker was away")
		}
		at.back()
		eventually(t, "the link is back", func() bool { return o.Connected() && h.cloud.Status().Connected })
		peer := mustDial(t, at.url, "test-peer", user, password, nil)
		for n := range 60 { // what somebody tapped every minute of it and a broker kept
			peer.say(wire.Topic("house", wire.DownWidget), string(toggle(t, 1+n, time.Now().Add(time.Duration(n-61)*time.Minute))), false)
		}
		eventually(t, "a new command acts", func() bool {
			out, err := o.act(t, "house", 77)
			return err == nil && out.Done
		})
		for _, c := range h.commands()[worked:] {
			if c.Level != 77 {
				t.Errorf("done late: %+v", c)
			}
		}
		eventually(t, "everything that waits is said", func() bool { return h.cloud.Status().Waiting == 0 })
	})
}
