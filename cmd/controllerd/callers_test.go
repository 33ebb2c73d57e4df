package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// Sixteen callers at once, each with an output of its own of two devices on a line, are served nearly as fast as a program would
// serve them that writes and reads nothing back: those who wait for outputs of one device have one read together.
func TestSixteenCallersShareTheirReads(t *testing.T) {
	t.Parallel()
	const callers, length = 16, 30 * time.Second
	var nodes strings.Builder
	for i := range callers {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Lamp %d, bus: line, address: %d, profile: waveshare-relay-8ch, outputs: [%d]}\n", i+1, i+1, i/8+1, i%8+1)
	}
	site := "site: {name: Callers}\nbuses:\n  - {name: line, driver: modbus, port: \"@DIR@/line\", line: {baudRate: 19200, parity: even, stopBits: 1}}\nnodes:\n" + nodes.String()
	virtually(t, site, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		rec, err := h.daemon.core.Recorder("line")
		if err != nil {
			t.Fatal(err)
		}
		var done atomic.Int64
		var all sync.WaitGroup
		began := time.Now()
		for i := range callers {
			all.Go(func() {
				for n := 0; time.Since(began) < length; n++ {
					command := []string{"ON", "OFF"}[n%2]
					if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":%q}`, i+1, command)); status != 1 {
						t.Errorf("lamp %d %s: %s", i+1, command, message)
					}
					done.Add(1)
				}
			})
		}
		all.Wait()
		// A program that only writes: each as soon after the one before as writes follow one another here.
		floor := time.Duration(1 << 62)
		var before appliance.Frame
		for _, f := range rec.Recent() {
			if f.Direction != appliance.FrameSent {
				continue
			}
			if len(f.Bytes) > 1 && f.Bytes[1] == 5 && len(before.Bytes) > 1 && before.Bytes[1] == 5 {
				floor = min(floor, f.At.Sub(before.At))
			}
			before = f
		}
		ours := time.Since(began) / time.Duration(done.Load())
		t.Logf("%d commands, one in %v; a write takes %v: %.2f of a program that only writes", done.Load(), ours.Round(time.Microsecond), floor, floor.Seconds()/ours.Seconds())
		if floor > time.Second || ours.Seconds() > floor.Seconds()/0.85 {
			t.Errorf("a command takes %v, a write %v", ours, floor)
		}
	})
}
