package modbus

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

const floatTwo = `name: float-two
title: two dimmers with floating point registers
source: test
outputs:
  - kind: light
    level:
      at: {table: holding, address: 0, type: float32}
      map: percent
  - kind: light
    level:
      at: {table: holding, address: 2, type: float32}
      map: percent
`

// One channel has nothing to tell (no ballast there: NaN); the other is well.
func TestOneChannelWithoutANumberTakesTheDeviceDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		os.MkdirAll(filepath.Join(dir, "profiles"), 0o755)
		os.WriteFile(filepath.Join(dir, "profiles", "float-two.yaml"), []byte(floatTwo), 0o644)
		end := socketWire(t, "tcp")
		b := newBank()
		set := func(at uint16, x float32) {
			bits := math.Float32bits(x)
			b.set(5, point{holdings, at}, uint16(bits>>16))
			b.set(5, point{holdings, at + 1}, uint16(bits))
		}
		set(0, 40)
		set(2, 50)
		b.serve(t, end)
		bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "test", Driver: "modbus", Port: end.port}
		n := node(1, "5", "float-two")
		n.Bus = bus.UUID
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"modbus": openWire}, DataDir: dir})
		ctl.Apply(appliance.Site{Buses: []appliance.Bus{bus}, Nodes: []appliance.Node{n}, Settings: appliance.Settings{Freshness: appliance.Freshness{Light: time.Second}}}, nil)
		for _, f := range ctl.Snapshot().Faults {
			t.Fatalf("fault: %+v", f)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- ctl.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
		until(t, "online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		set(2, float32(math.NaN()))
		for end := time.Now().Add(8 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
			if n := ctl.Snapshot().Node(1); !n.Online {
				t.Fatal("the node is offline, though its first channel tells 40 %")
			}
		}
		e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.LightLevel, Level: 70, Target: appliance.Target{Scope: appliance.One, ID: 1}, Channel: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("dim channel 1: ok %v %q; register %x", e.OK(), e.Err, b.get(5, point{holdings, 0}))
		if !e.OK() {
			t.Errorf("channel 1 obeys, and the command failed: %s", e.Err)
		}
	})
}
