package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"svc.internal/controller/appliance"
	"svc.internal/controller/platform"
	"svc.internal/controller/wire"
)

// levels are those that a light was set to after a write, in truth; writes that change nothing are left out.
func (e *estate) levels(node appliance.ID, since uint64) (levels []int) {
	e.t.Helper()
	all, err := e.building.Writes("tcp", since, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, w := range all {
		for _, c := range w.Changes {
			if c.NodeID == node && c.Level != nil {
				levels = append(levels, *c.Level)
			}
		}
	}
	return levels
}

// Notifications that come three times, out of order and late, before, during and after an outage of the broker: the light
// changes once for each that counts. The outage lasts 2 s, with SOAK=1 60 s.
func TestCampaignNotificationsActOnceOverAnOutage(t *testing.T) {
	away := 2 * time.Second
	if os.Getenv("SOAK") != "" {
		away = time.Minute
	} else {
		t.Parallel()
	}
	eachBroker(t, plan{settings: map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret}}, func(t *testing.T, e *estate, broker outage) {
		e.room("lobby", "Lobby", "[1]")
		// once sends a tap three times, then one that it overtook, and one that is late, and waits for the light.
		once := func(percent int) {
			since, at := e.lastWrite(), time.Now()
			tap := gesture("lobby", "light_brightness", "released", fmt.Sprint(wire.SliderOf(percent)), at)
			e.notify(`[`+tap+`,`+tap+`]`).want(t, 204, "twice in a batch")
			e.notify(`[`+tap+`]`).want(t, 204, "once more")
			e.notify(`[`+gesture("lobby", "light_brightness", "released", "255", at.Add(-time.Second))+`]`).want(t, 204, "overtaken")
			e.notify(`[`+gesture("lobby", "light_brightness", "released", "0", at.Add(-time.Minute))+`]`).want(t, 204, "late")
			eventually(t, fmt.Sprintf("the light is at %d", percent), func() bool { return e.level(1) == percent && e.level(2) == percent })
			if got := e.levels(1, since); !slices.Equal(got, []int{percent}) {
				t.Errorf("a tap for %d %% set the light to %v", percent, got)
			}
		}
		for _, percent := range []int{40, 20, 60} {
			once(percent)
		}
		if broker.away == nil {
			return
		}
		broker.away()
		gone := time.Now()
		eventually(t, "the platform has noticed", func() bool { return !e.daemon.cloud.link.Connected() })
		since := e.lastWrite()
		for time.Since(gone) < away {
			e.notify(`[`+gesture("lobby", "light_power", "changed", "off", time.Now())+`]`).want(t, 204, "during the outage")
			if a := e.say("lobby", "lights off"); a.member("success") != false || a.str("message") != platform.ControllerOffline {
				t.Errorf("during the outage: %s", a.text)
			}
			time.Sleep(away / 10)
		}
		broker.back()
		eventually(t, "taps act again", func() bool { return e.say("lobby", "lights to 80 percent").member("success") == true })
		eventually(t, "the light is at 80", func() bool { return e.level(1) == 80 && e.level(2) == 80 })
		// A tap that waits behind one whose answer the outage took counts while it is young (wire.Lifetime), once, and before the sentence.
		if got := e.levels(1, since); !slices.Equal(got, []int{80}) && !slices.Equal(got, []int{0, 80}) {
			t.Errorf("over the outage the light was set to %v", got)
		}
		once(50)
	})
}

// manyRooms is a building of as many rooms as there are panels, each with one light, on four buses.
func manyRooms(n int) string {
	var b strings.Builder
	b.WriteString("site:\n  name: Rooms\n  floors: [{name: Ground}]\nbuses:\n")
	for i := range 4 {
		fmt.Fprintf(&b, "  - {name: tcp%d, driver: modbus, port: \"tcp://127.0.0.1:0\"}\n", i)
	}
	b.WriteString("nodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: %d, name: Light %d, bus: tcp%d, address: %d, profile: wirenboard-wb-mdm3, outputs: [%d]}\n", i+1, i+1, i%4, 1+i/12, 1+i/4%3)
	}
	b.WriteString("clusters:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: %d, name: Room %d, nodes: [%d]}\n", i+1, i+1, i+1)
	}
	return b.String()
}

// A hundred panels slide at five events a second on one controller, for 4 s, with SOAK=1 for 60 s: every light ends where its finger
// left, and nothing piles up. Like the page and the macro, a panel has one event under way; what a newer one overtakes is not sent.
func TestCampaignAHundredPanelsSlide(t *testing.T) {
	const panels, every = 100, 200 * time.Millisecond
	lasts := 4 * time.Second
	if os.Getenv("SOAK") != "" {
		lasts = time.Minute
	} else {
		t.Parallel()
	}
	e := newEstateOf(t, plan{site: manyRooms(panels)})
	var list []wire.Panel
	for i := range panels {
		list = append(list, wire.Panel{DeviceID: fmt.Sprint("panel-", i), WorkspaceName: fmt.Sprint("Room ", i), PanelID: wire.ControlsPanel, Clusters: []int64{int64(i + 1)}})
	}
	if err := e.daemon.cloud.link.SetPanels(t.Context(), "rooms", list); err != nil {
		t.Fatal(err)
	}
	// slide sends one value and waits for what became of it, as long as a panel does.
	slide := func(panel int, kind wire.Gesture, percent int) (wire.AckStatus, time.Duration) {
		asked := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		ack, err := e.daemon.cloud.link.SendAs(ctx, "rooms", uuid.Must(uuid.NewV7()).String(), asked, wire.WidgetAction{
			DeviceID: list[panel].DeviceID, PanelID: wire.ControlsPanel, WidgetID: wire.LightBrightness, Action: kind, Value: fmt.Sprint(wire.SliderOf(percent)), Origin: wire.OriginPanel,
		})
		if err != nil {
			ack.Status = "not answered"
		}
		return ack.Status, time.Since(asked)
	}
	eventually(t, "the controller has its panels", func() bool {
		status, _ := slide(panels-1, wire.Released, 1)
		return status == wire.Applied
	})
	var mu sync.Mutex
	var thirds [3][]time.Duration
	counts := map[wire.AckStatus]int{}
	began := time.Now()
	var fingers sync.WaitGroup
	for i := range panels {
		fingers.Go(func() {
			tick := time.NewTicker(every) // a value that falls due while another one is under way is overtaken
			defer tick.Stop()
			for step := 0; time.Since(began) < lasts; step++ {
				<-tick.C
				third := min(2, int(3*time.Since(began)/lasts))
				status, took := slide(i, wire.Changed, 1+(step*7+i)%100)
				mu.Lock()
				thirds[third] = append(thirds[third], took)
				counts[status]++
				mu.Unlock()
			}
			slide(i, wire.Released, 1+i%100)
		})
	}
	fingers.Wait()
	for i := range panels {
		id := list[i].Clusters[0]
		eventually(t, fmt.Sprintf("light %d ends at %d", id, 1+i%100), func() bool {
			for _, d := range e.building.Devices() {
				if int64(d.NodeID) == id {
					return d.Channels[0].TargetLevel == 1+i%100
				}
			}
			return false
		})
	}
	for i, third := range thirds {
		t.Logf("third %d of %v: %d events answered, p50 %v, p95 %v", i+1, lasts, len(third), quantile(third, 0.5).Round(time.Millisecond), quantile(third, 0.95).Round(time.Millisecond))
	}
	t.Logf("outcomes: %v", counts)
	if first, last := quantile(thirds[0], 0.5), quantile(thirds[2], 0.5); last > 3*first+every {
		t.Errorf("half of the last third take over %v, of the first %v: they pile up", last, first)
	}
}
