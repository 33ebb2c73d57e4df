package panel

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"svc.internal/controller/cloud/wire"
)

// Of taps that wait for those before, the newest of each widget counts, and of too many the oldest goes.
func TestTheNewestTapsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var done []string
		held := make(chan struct{})
		q := queue{deliver: func(_ string, tap Tap) {
			<-held
			mu.Lock()
			defer mu.Unlock()
			done = append(done, tap.Widget+" "+tap.Value)
		}}
		q.push("lobby", Tap{Widget: "first", Type: wire.Clicked})
		synctest.Wait()
		for i := range 20 {
			q.push("lobby", Tap{Widget: wire.LightPower, Type: wire.Changed, Value: []string{"off", "on"}[i%2]})
			q.push("lobby", Tap{Widget: wire.ShadeStop, Type: wire.Clicked})
		}
		q.push("lobby", Tap{Widget: wire.LightPower, Type: wire.Changed, Value: "off"})
		for i := range waitingMost - 1 {
			q.push("lobby", Tap{Widget: fmt.Sprint("w", i), Type: wire.Clicked})
		}
		close(held)
		synctest.Wait()
		q.end()
		if want := []string{"first ", "light_power off", "w0 "}; len(done) != waitingMost+1 || !slices.Equal(done[:3], want) {
			t.Errorf("%d were done, the first %v, want %d and %v", len(done), done[:3], waitingMost+1, want)
		}
		if q.push("lobby", Tap{Widget: wire.ShadeStop}) {
			t.Error("a queue that has ended takes a tap")
		}
	})
}
