package modbus

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// together runs a controller with one Modbus bus.
func together(t *testing.T, end *wire, options map[string]string, nodes []appliance.Node, shades []appliance.Shade) *control.Controller {
	t.Helper()
	bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "test", Driver: "modbus", Port: end.port, Options: maps.Clone(options)}
	s := appliance.Site{Buses: []appliance.Bus{bus}, Nodes: nodes, Shades: shades, Clusters: []appliance.Cluster{{ID: 1, Name: "all"}}}
	for i := range s.Nodes {
		s.Nodes[i].Bus, s.Nodes[i].UUID = bus.UUID, appliance.UUID{2, byte(i)}
		s.Clusters[0].Nodes = append(s.Clusters[0].Nodes, s.Nodes[i].ID)
	}
	for i := range s.Shades {
		s.Shades[i].UUID = appliance.UUID{3, byte(i)}
		s.Clusters[0].Shades = append(s.Clusters[0].Shades, s.Shades[i].ID)
	}
	ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"modbus": openWire}})
	ctl.Apply(s, nil)
	for _, f := range ctl.Snapshot().Faults {
		t.Fatalf("fault: %+v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ctl.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return ctl
}

func TestLateAnswerToSettingUpOneShadeTakenForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		b.set(5, point{holdings, 1280}, 1) // pair 1 is in shade mode
		b.set(5, point{holdings, 1281}, 0) // pair 2 is two relays
		var slow atomic.Int32
		var mu sync.Mutex
		var frames [][]byte
		end.play(t, false, func(q []byte) []piece {
			pdu := b.answer(q[0], q[1:len(q)-2])
			mu.Lock()
			frames = append(frames, slices.Clone(q))
			mu.Unlock()
			after := time.Duration(0)
			if q[1] == 3 && q[2] == 5 && slow.Add(1) <= 2 {
				after = 260 * time.Millisecond // twice slower than the time-out of 200 ms
			}
			return []piece{{after: after, bytes: rtuFrame(q[0], pdu)}}
		})
		ctl := together(t, end, nil, []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{
			{ID: 5001, Node: 1, Output: 1, TravelUp: 10 * time.Second, TravelDown: 10 * time.Second},
			{ID: 5002, Node: 1, Output: 2, TravelUp: 10 * time.Second, TravelDown: 10 * time.Second}})
		until(t, "the node is online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		<-time.After(2 * time.Second) // the silence after opening and the first polls are over
		e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeOpen, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for _, f := range frames[max(0, len(frames)-12):] {
			t.Logf("% X", f)
		}
		mu.Unlock()
		t.Logf("ok %v err %q members %+v", e.OK(), e.Err, e.Members)
		if e.OK() && b.get(5, point{holdings, 1281}) != 1 {
			t.Errorf("status 1, but pair 2 was never put into shade mode: its shade cannot have moved")
		}
	})
}

func TestScanHoldsTheBusForSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		for c := range uint16(8) {
			b.set(5, point{coils, c}, 0)
		}
		var asked9 atomic.Int32
		waiting := make(chan struct{}, 8)
		end.play(t, false, func(q []byte) []piece {
			if q[0] == 9 {
				if asked9.Add(1) == 1 {
					return []piece{{after: 300 * time.Millisecond, bytes: rtuFrame(9, []byte{0x83, 2})}}
				}
				waiting <- struct{}{}
				return nil
			}
			pdu := b.answer(q[0], q[1:len(q)-2])
			if pdu == nil {
				return nil
			}
			return []piece{{bytes: rtuFrame(q[0], pdu)}}
		})
		ctl := together(t, end, nil, []appliance.Node{node(1, "5", "waveshare-relay-8ch")}, nil)
		until(t, "the node is online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		go ctl.Scan(context.Background(), "test", appliance.ScanOptions{First: 9, Last: 9}, func(string) {}, func(f appliance.Found) { t.Logf("%+v", f) })
		select {
		case <-waiting:
		case <-time.After(20 * time.Second):
			t.Fatal("unit 9 was not asked again")
		}
		start := time.Now()
		e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.One, ID: 1}})
		took := time.Since(start)
		bound := ctl.Snapshot().Buses[0].Bound
		t.Logf("took %v, ok %v, err %q %v, published bound %v, members %+v", took, e.OK(), e.Err, err, bound, e.Members)
		if !e.OK() || took > bound+500*time.Millisecond {
			t.Errorf("a command waited %v behind one probe of a scan (published bound %v): ok %v, %s", took, bound, e.OK(), e.Err)
		}
	})
}

func TestStopWaitsBehindAScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		b.set(5, point{holdings, 1280}, 1)
		var asked9 atomic.Int32
		waiting := make(chan struct{}, 8)
		var stopped atomic.Int64
		end.play(t, false, func(q []byte) []piece {
			if q[0] == 9 {
				if asked9.Add(1) == 1 {
					return []piece{{after: 300 * time.Millisecond, bytes: rtuFrame(9, []byte{0x83, 2})}}
				}
				waiting <- struct{}{}
				return nil
			}
			pdu := b.answer(q[0], q[1:len(q)-2])
			if pdu == nil {
				return nil
			}
			if q[1] == 0x0F && q[7] == 0 {
				stopped.CompareAndSwap(0, time.Now().UnixNano())
			}
			return []piece{{bytes: rtuFrame(q[0], pdu)}}
		})
		ctl := together(t, end, nil, []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{
			{ID: 5001, Node: 1, Output: 1, TravelUp: 60 * time.Second, TravelDown: 60 * time.Second}})
		until(t, "the node is online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		shade := appliance.Target{Scope: appliance.One, ID: 5001}
		if e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeOpen, Target: shade}); !e.OK() {
			t.Fatalf("%+v", e)
		}
		stopped.Store(0)
		go ctl.Scan(context.Background(), "test", appliance.ScanOptions{First: 9, Last: 9}, func(string) {}, func(f appliance.Found) {})
		select {
		case <-waiting:
		case <-time.After(20 * time.Second):
			t.Fatal("unit 9 was not asked again")
		}
		start := time.Now()
		e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeStop, Target: shade})
		took := time.Since(start)
		<-time.After(2 * time.Second)
		t.Logf("took %v ok %v %s %+v; shade %+v", took, e.OK(), e.Err, e.Members, ctl.Snapshot().Shade(5001))
		if stopped.Load() == 0 {
			t.Fatalf("STOP never reached the wire: answered after %v with ok %v: %s", took, e.OK(), e.Err)
		}
		onWire := time.Unix(0, stopped.Load()).Sub(start)
		if !e.OK() || onWire > time.Second {
			t.Errorf("STOP was on the wire after %v, answered after %v: ok %v %s", onWire, took, e.OK(), e.Err)
		}
	})
}

func TestLateAnswerToAScanTakenForAPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		b.set(5, point{coils, 9}, 1)
		b.set(5, point{coils, 3}, 1)
		b.set(5, point{holdings, 0}, 77)
		b.set(5, point{holdings, 2003}, 0) // white is dark
		end.play(t, false, func(q []byte) []piece {
			pdu := b.answer(q[0], q[1:len(q)-2])
			after := time.Duration(0)
			if q[0] == 5 && q[1] == 3 && q[2] == 0 && q[3] == 0 {
				after = 300 * time.Millisecond // slower than the time-out of 200 ms
			}
			if pdu == nil {
				return nil
			}
			return []piece{{after: after, bytes: rtuFrame(q[0], pdu)}}
		})
		bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "test", Driver: "modbus", Port: end.port}
		n := node(1, "5", "wirenboard-wb-led-rgbw")
		n.Bus = bus.UUID
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"modbus": openWire}})
		ctl.Apply(appliance.Site{Buses: []appliance.Bus{bus}, Nodes: []appliance.Node{n}, Settings: appliance.Settings{Freshness: appliance.Freshness{Light: 100 * time.Millisecond}}}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- ctl.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
		until(t, "the node is online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		over := make(chan struct{})
		go func() {
			defer close(over)
			for range 4 {
				sctx, stop := context.WithTimeout(ctx, 4*time.Second)
				ctl.Scan(sctx, "test", appliance.ScanOptions{First: 5, Last: 5}, func(string) {}, func(appliance.Found) {})
				stop()
			}
		}()
		for {
			select {
			case <-over:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if v := ctl.Snapshot().Node(1).Channels[0]; v.RGBW.Value.W != 0 {
				t.Fatalf("white is dark, and shown as %+v: register 0 was taken for register 2003", v.RGBW)
			}
		}
	})
}

// A timed shade is stopped at its goal, whatever a scan does.
func TestScanLetsATimedShadeOvershoot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := socketWire(t, "rtu+tcp")
		b := newBank()
		b.set(5, point{holdings, 1280}, 1)
		var asked9 atomic.Int32
		first := make(chan struct{})
		var mu sync.Mutex
		var started, stopped time.Time
		end.play(t, false, func(q []byte) []piece {
			if q[0] == 9 {
				if asked9.Add(1) == 1 {
					close(first)
					return []piece{{after: 300 * time.Millisecond, bytes: rtuFrame(9, []byte{0x83, 2})}}
				}
				return nil
			}
			pdu := b.answer(q[0], q[1:len(q)-2])
			if pdu == nil {
				return nil
			}
			mu.Lock()
			if q[1] == 5 && q[3] == 17 && q[4] == 0xFF {
				started = time.Now()
			}
			if q[1] == 0x0F && q[7] == 0 && !started.IsZero() && stopped.IsZero() {
				stopped = time.Now()
			}
			mu.Unlock()
			return []piece{{bytes: rtuFrame(q[0], pdu)}}
		})
		ctl := together(t, end, nil, []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{
			{ID: 5001, Node: 1, Output: 1, TravelUp: 2 * time.Second, TravelDown: 8 * time.Second}})
		until(t, "the node is online", func() bool { n := ctl.Snapshot().Node(1); return n != nil && n.Online })
		shade := appliance.Target{Scope: appliance.One, ID: 5001}
		if e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeOpen, Target: shade}); !e.OK() {
			t.Fatalf("%+v", e)
		}
		until(t, "the shade is up", func() bool {
			s := ctl.Snapshot().Shade(5001)
			return s.Position.Value == 100 && s.Motion == appliance.Stopped
		})
		go ctl.Scan(context.Background(), "test", appliance.ScanOptions{First: 9, Last: 9}, func(string) {}, func(f appliance.Found) {})
		<-first
		<-time.After(300 * time.Millisecond)
		if e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeMoveTo, Target: shade, Position: 50}); !e.OK() {
			t.Fatalf("%+v", e)
		}
		until(t, "the shade is stopped", func() bool { mu.Lock(); defer mu.Unlock(); return !stopped.IsZero() })
		mu.Lock()
		defer mu.Unlock()
		if ran := stopped.Sub(started); ran > 4800*time.Millisecond {
			t.Errorf("half way takes 4s and the 0.5s that the device waits before it turns round; the shade ran for %v", ran)
		}
	})
}
