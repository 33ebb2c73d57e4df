package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
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
		since, tapped := e.lastWrite(), gone
		for time.Since(gone) < away {
			tapped = time.Now()
			e.notify(`[`+gesture("lobby", "light_power", "changed", "off", time.Now())+`]`).want(t, 204, "during the outage")
			if a := e.say("lobby", "lights off"); a.member("success") != false || a.str("message") != platform.ControllerOffline {
				t.Errorf("during the outage: %s", a.text)
			}
			time.Sleep(away / 10)
		}
		broker.back()
		// A tap that waits behind one whose answer the outage took counts while it is young: it comes before the sentence, or not at all.
		eventually(t, "the last tap is too old", func() bool { return time.Since(tapped) > wire.Lifetime })
		e.sayUntilObeyed("lobby", "lights to 80 percent")
		eventually(t, "the light is at 80", func() bool { return e.level(1) == 80 && e.level(2) == 80 })
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

// slide is what one panel told, and when.
type slide struct {
	at      time.Time
	percent int
}

// obeyed is a slide that a light followed: when, and how long after the finger.
type obeyed struct {
	at   time.Time
	late time.Duration
}

// obeyed finds the slides that a light followed; bus is the number of its bus in [manyRooms].
func (e *estate) obeyed(slides []slide, bus int, light appliance.ID) (out []obeyed) {
	e.t.Helper()
	writes, err := e.building.Writes(fmt.Sprint("tcp", bus), 0, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, w := range writes {
		for _, c := range w.Changes {
			if c.NodeID != light || c.Level == nil {
				continue
			}
			for _, s := range slices.Backward(slides) {
				if s.percent == *c.Level && s.at.Before(w.At) {
					out = append(out, obeyed{w.At, w.At.Sub(s.at)})
					break
				}
			}
		}
	}
	return out
}

// told sends one notification, from any goroutine, and reports whether it was taken.
func (e *estate) told(notification string) bool {
	body := `[` + notification + `]`
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url+panel.WebhookPath, strings.NewReader(body))
	if err != nil {
		e.t.Error(err)
		return false
	}
	req.Header.Set("X-Spark-Signature", signature(body))
	res, err := e.client.Do(req)
	if err != nil {
		e.t.Error(err)
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusNoContent
}

// A hundred panels slide at five events a second on one controller, for 4 s, with SOAK=1 for 60 s: the webhook takes every event, every
// light ends where its finger left, and nothing piles up. What a newer event overtakes on its way is not done.
func TestCampaignAHundredPanelsSlide(t *testing.T) {
	drivertest.Long(t)
	const panels, every = 100, 200 * time.Millisecond
	lasts := 4 * time.Second
	if os.Getenv("SOAK") != "" {
		lasts = time.Minute
	} else {
		t.Parallel()
	}
	e := newEstateOf(t, plan{site: manyRooms(panels), settings: map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret}})
	var list []wire.Panel
	for i := range panels {
		d := platform.RoomDevice{ID: fmt.Sprint("panel-", i), Workspace: fmt.Sprint("Room ", i), Controller: "rooms", Clusters: []int64{int64(i + 1)}}
		d.Deploy(true)
		if err := e.db.AddRoomDevice(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		list = append(list, wire.Panel{DeviceID: d.ID, WorkspaceName: d.Workspace, PanelID: wire.ControlsPanel, Clusters: d.Clusters})
	}
	if err := e.daemon.cloud.link.SetPanels(t.Context(), "rooms", list); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the controller has its panels", func() bool {
		return e.told(gesture(list[panels-1].DeviceID, "light_brightness", "released", "3", time.Now())) && e.level(panels) == 1
	})

	steps := int(lasts / every)
	slides := make([][]slide, panels)
	var refused atomic.Int64
	began := time.Now()
	var fingers sync.WaitGroup
	for i := range panels {
		fingers.Go(func() {
			for step := range steps {
				time.Sleep(time.Until(began.Add(time.Duration(step)*every + every*time.Duration(i)/panels)))
				kind, percent := "changed", 1+(step*7+i)%100 // none comes again for 20 s
				if step == steps-1 {
					kind = "released"
				}
				now := slide{time.Now(), percent}
				slides[i] = append(slides[i], now)
				if !e.told(gesture(list[i].DeviceID, "light_brightness", kind, fmt.Sprint(wire.SliderOf(percent)), now.at)) {
					refused.Add(1)
				}
			}
		})
	}
	fingers.Wait()
	took := time.Since(began)
	again := 0
	var late [panels]bool
	for i := range panels {
		want := slides[i][steps-1].percent
		n := e.insist(fmt.Sprintf("light %d ends at %d", i+1, want), func() bool { return e.level(appliance.ID(i+1)) == want },
			list[i].DeviceID, "light_brightness", "released", fmt.Sprint(wire.SliderOf(want)))
		again, late[i] = again+n, n > 0
	}
	if again > 0 {
		t.Logf("%d last values were told again: this machine was too busy for hardware to confirm them in time", again)
	}
	if again > 0 && os.Getenv("SOAK") != "" {
		t.Error("a last value was lost")
	}
	t.Logf("%d events of %d panels sent within %v, %d refused; every light right %v after the last one", steps*panels, panels, took.Round(10*time.Millisecond), refused.Load(), (time.Since(began) - took).Round(time.Millisecond))
	if refused.Load() > 0 {
		t.Errorf("%d of %d events were refused", refused.Load(), steps*panels)
	}
	var thirds [3][]time.Duration
	for i := range slides {
		if late[i] {
			continue // when it obeyed tells when it was told again
		}
		for _, w := range e.obeyed(slides[i], i%4, appliance.ID(i+1)) {
			third := min(2, int(3*w.at.Sub(began)/max(took, lasts)))
			thirds[third] = append(thirds[third], w.late)
		}
	}
	for i, third := range thirds {
		if len(third) == 0 && again > 0 {
			t.Logf("in third %d no light moved in time, on a machine that was late with all: whether they pile up is not told", i+1)
			return
		}
		if len(third) == 0 {
			t.Fatalf("in third %d no light moved", i+1)
		}
		t.Logf("third %d of %v: lights set %d times, from finger to light p50 %v, p95 %v, most %v", i+1, lasts, len(third),
			quantile(third, 0.5).Round(time.Millisecond), quantile(third, 0.95).Round(time.Millisecond), quantile(third, 1).Round(time.Millisecond))
	}
	// A value waits for the answer to the one before, and then for its own: at most 1.5 s each. What piles up takes longer to the very
	// end; a machine that gets to nothing in time is as late with the last third as with the second.
	first, second, last := quantile(thirds[0], 0.5), quantile(thirds[1], 0.5), quantile(thirds[2], 0.5)
	if last > 3*first+every && last > second*4/3 && last > 3*time.Second {
		t.Errorf("half of the last third take over %v, of the second %v, of the first %v: they pile up", last, second, first)
	}
}
