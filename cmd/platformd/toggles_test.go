package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
)

// Somebody taps a switch twenty times, faster than anything answers, and leaves it off: it is off soon after the last tap, whatever
// became of those before. With SOAK=1 that is within 300 ms in fifty of fifty rounds, on a machine that does nothing else.
func TestCampaignTwentyTogglesEndOff(t *testing.T) {
	drivertest.Long(t)
	rounds, soak := 2, os.Getenv("SOAK") != ""
	if soak {
		rounds = 50
	} else {
		t.Parallel()
	}
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	seq := 0
	slow, slowest := 0, time.Duration(0)
	for round := range rounds {
		if round > 0 {
			time.Sleep(2 * time.Second) // a panel may send 600 requests a minute
		}
		since := e.lastWrite()
		var all sync.WaitGroup
		var last time.Time
		tap := func(value string) {
			seq++
			last = time.Now()
			body := fmt.Sprintf(`{"widgetId":"light_power","type":"changed","value":%q,"source":"s","seq":%d,"at":%q}`, value, seq, last.UTC().Format(time.RFC3339Nano))
			all.Go(func() {
				e.ask("POST", "/api/conferencing/panels/lobby/widget", body, "Authorization: Bearer "+code).want(t, 200, body)
			})
			time.Sleep(25 * time.Millisecond) // as a finger taps
		}
		for i := range 20 {
			tap([]string{"on", "off"}[i%2])
		}
		all.Wait()
		eventually(t, "both lights are off", func() bool {
			if !soak && time.Since(last) > 6*time.Second {
				tap("off") // a busy machine did not take the last one within three seconds: it is not done, and a person taps again
				all.Wait()
			}
			return e.level(1) == 0 && e.level(2) == 0
		})
		writes, err := e.building.Writes("tcp", since, 0)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Duration(0)
		for _, w := range writes {
			took = max(took, w.At.Sub(last))
		}
		if slowest = max(slowest, took); took > 300*time.Millisecond {
			slow++
			t.Logf("round %d: off %v after the last tap", round, took.Round(time.Millisecond))
		}
	}
	if t.Logf("%d of %d rounds were off within 300 ms of the last tap, the slowest %v", rounds-slow, rounds, slowest.Round(time.Millisecond)); soak && slow > 0 {
		t.Errorf("%d of %d rounds took longer", slow, rounds)
	}
}
