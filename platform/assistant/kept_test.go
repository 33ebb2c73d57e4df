package assistant

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

type sited = sitetest.Building

// counted counts how often all devices are read.
type counted struct {
	*sited
	read atomic.Int64
}

func (c *counted) Devices(ctx context.Context, controller string) ([]platform.Device, error) {
	c.read.Add(1)
	return c.sited.Devices(ctx, controller)
}

func TestABuildingIsReadOnceBetweenTwoReports(t *testing.T) {
	b := &counted{sited: sitetest.New()}
	e := New(Config{Sites: b, History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }})
	const question = "how many lights are on in the lobby?"
	says(t, ask(t, e, platform.Inquiry{Message: question}), "All 4 lights in Lobby are on")
	ask(t, e, platform.Inquiry{Message: question})
	if n := b.read.Load(); n != 2 {
		t.Errorf("a building whose reports nobody counts was read %d times for two questions", n)
	}
	b.Controller.Revision = 1
	b.read.Store(0)
	for range 3 {
		says(t, ask(t, e, platform.Inquiry{Message: question}), "All 4 lights in Lobby are on")
		if _, err := e.Look(t.Context(), platform.Lookup{What: platform.LookLights}); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.read.Load(); n != 1 {
		t.Errorf("read %d times between two reports", n)
	}
	b.Light("Lobby 1", func(d *platform.Device) { d.Level.Value = 0 })
	b.Controller.Revision = 2
	says(t, ask(t, e, platform.Inquiry{Message: question}), "3 of 4 lights in Lobby are on")
	// What is known without a report counts at once: the controller is gone, and time passes.
	b.Controller.Online = false
	says(t, ask(t, e, platform.Inquiry{Message: question}), "The controller is offline")
	b.Controller.Online = true
	e.Now = func() time.Time { return sitetest.Now.Add(time.Hour) }
	says(t, ask(t, e, platform.Inquiry{Message: question}), "none has a current level")
	if n := b.read.Load(); n != 2 {
		t.Errorf("read %d times for two reports", n)
	}
}

// Answers share what is kept; none of them changes it.
func TestAnswersBesideEachOtherShareABuilding(t *testing.T) {
	b := sitetest.New()
	b.Controller.Revision = 1
	e := New(Config{Sites: b, History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }})
	alone := New(Config{Sites: sitetest.New(), History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }})
	questions := []string{"which lights are on except in the lobby", "energy yesterday by zone", "which rooms have lights but no shades", "any faults?", "the brightest room", "summary of the building", "which devices are offline",
		"how could we save energy?", "what is installed by floor?", "welche Jalousien sind offen"}
	want := map[string]string{}
	for _, q := range questions {
		want[q] = ask(t, alone, platform.Inquiry{Message: q}).Text
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range questions {
				q := questions[(k+3*i)%len(questions)]
				r, err := e.Ask(t.Context(), platform.Inquiry{Owner: fmt.Sprint(i), Message: q}, nil)
				if err != nil || r.Text != want[q] {
					t.Errorf("%q: %s %v\nwant %s", q, r.Text, err, want[q])
				}
			}
		})
	}
	wg.Wait()
}

func TestWhatIsKeptOfBuildingsIsBounded(t *testing.T) {
	k := kept{of: map[string]*keptOne{}, devices: map[string]int{}}
	for i := range 30 {
		id := fmt.Sprint(i)
		k.of[id] = &keptOne{}
		k.count(id, keptDevices/10)
		k.count(id, keptDevices/10) // read again it takes no more
		all := 0
		for _, n := range k.devices {
			all += n
		}
		if all > keptDevices || k.of[id] == nil || len(k.of) != len(k.devices) {
			t.Fatalf("%d devices of %d buildings are kept", all, len(k.of))
		}
	}
	k.count("tower", 2*keptDevices)
	if len(k.devices) != 1 {
		t.Errorf("a building larger than the bound is kept beside %d others", len(k.devices)-1)
	}
}
