package modbus

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// A device with a watchdog is asked before it runs out, whatever freshness the site asks for.
func TestWatchdogIsFed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fresh appliance.Freshness
	}{{"watchdog 2 s, usual freshness", appliance.Freshness{}}, {"relaxed freshness", appliance.Freshness{Light: 20 * time.Second}}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				os.MkdirAll(filepath.Join(dir, "profiles"), 0o755)
				text := "name: dog\ntitle: a relay with a watchdog\nsource: test\nwatchdog: 2s\noutputs:\n  - kind: light\n    switches: [{table: coil, address: 0}]\n"
				os.WriteFile(filepath.Join(dir, "profiles", "dog.yaml"), []byte(text), 0o644)
				end := socketWire(t, "tcp")
				b := newBank()
				b.set(5, point{coils, 0}, 1)
				var mu sync.Mutex
				var last time.Time
				var longest time.Duration
				b.mute = func(byte) bool {
					mu.Lock()
					defer mu.Unlock()
					if !last.IsZero() {
						longest = max(longest, time.Since(last))
					}
					last = time.Now()
					return false
				}
				b.serve(t, end)
				bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "test", Driver: "modbus", Port: end.port}
				n := node(1, "5", "dog")
				n.Bus = bus.UUID
				ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"modbus": openWire}, DataDir: dir})
				ctl.Apply(appliance.Site{Buses: []appliance.Bus{bus}, Nodes: []appliance.Node{n}, Settings: appliance.Settings{Freshness: tc.fresh}}, nil)
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- ctl.Run(ctx) }()
				t.Cleanup(func() { cancel(); <-done })
				until(t, "online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
				<-time.After(11 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				if gap := max(longest, time.Since(last)); gap > 2*time.Second {
					t.Errorf("the device was left alone for %v, its watchdog runs out after 2s", gap)
				}
			})
		})
	}
}
