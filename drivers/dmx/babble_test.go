package dmx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

func TestBabblingWidgetIsStillObeyedAndUnderstood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			// Noise, half frames, and DMX of another sender, every 2 ms.
			foreign := widgetFrame{labelReceived, append([]byte{0, 0}, make([]byte, 64)...)}.encode(nil)
			pieces := [][]byte{{0x00, 0xE7, 0x55}, foreign, {0x7E, 0xFF, 0xFF, 0xFF}, {0x7E, 3, 1, 0, 9, 0xE7}}
			for i := 0; ; i++ {
				if err := p.widget.Say(pieces[i%len(pieces)]); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
				}
			}
		})
		var took []time.Duration
		for i := range 40 {
			begun := time.Now()
			if out := b.do(level(one(1), appliance.Level(i+1))); !out.OK() {
				t.Fatal(out.Err)
			}
			took = append(took, time.Since(begun))
		}
		close(stop)
		wg.Wait()
		slices.Sort(took)
		t.Logf("40 commands to a babbling widget: median %v, slowest %v", took[20].Round(time.Millisecond), took[39].Round(time.Millisecond))
	})
}

func TestCommandWaitsForOneFrameAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := []appliance.Node{{Address: "1", Profile: "dmx-dimmer"}, {Address: "512", Profile: "dmx-dimmer"}}
		p := newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)}))
		p.put()
		b := startBuilding(t, p.path, map[string]string{"refresh": "50ms"}, nodes, nil) // as busy as it gets
		b.up()
		var worst time.Duration
		for i := range 60 {
			seen := len(outputs(p.widget))
			begun := time.Now()
			if out := b.do(level(one(2), appliance.Level(1+i))); !out.OK() {
				t.Fatal(out.Err)
			}
			want := byte((255*(1+i) + 50) / 100)
			for _, e := range outputs(p.widget)[seen:] {
				if v := e.Data[512]; v == want || v == want+1 || v == want-1 {
					worst = max(worst, e.At.Sub(begun))
					break
				}
			}
		}
		bound := b.core.Snapshot().Buses[0].Bound
		if worst == 0 || worst > bound {
			t.Errorf("a command waited %v, the published bound is %v", worst, bound)
		}
		t.Logf("slowest of 60 commands reached the widget after %v; published bound %v", worst.Round(100*time.Microsecond), bound)
	})
}

func TestBlinkShowsAFixtureAndLeavesItAsItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := []appliance.Node{{ID: 1, Address: "1", Profile: "dmx-dimmer", Options: map[string]string{"startLevel": "80"}}, {ID: 2, Address: "2", Profile: "dmx-dimmer"}}
		p := newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)}))
		p.put()
		d := openDriver(t, p, nil, nodes...)
		if err := d.Blink(t.Context(), 3, 1); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("a node that is not there: %v", err)
		}
		for node, want := range map[appliance.ID][]byte{1: {204, 0, 204, 0, 204}, 2: {0, 255, 0, 255, 0}} {
			seen := len(outputs(p.widget))
			if err := d.Blink(t.Context(), node, 2); err != nil {
				t.Fatal(err)
			}
			got := []byte{want[0]}
			for _, e := range outputs(p.widget)[seen:] {
				if v := e.Data[node]; v != got[len(got)-1] {
					got = append(got, v)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("node %d went through %d, want %d", node, got, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := d.Blink(ctx, 2, 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a blink that was broken off: %v", err)
		}
		eventually(t, "the lamp is out again", func() bool { v, _ := p.widget.Slot(2); return v == 0 })
	})
}

func TestWidgetBehindASocket(t *testing.T) {
	t.Parallel()
	nodes := mixedNodes()
	w := mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := w.Serve(ctx, conn); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				t.Log(err)
			}
		}
	}()
	t.Cleanup(func() { cancel(); l.Close(); <-done })
	b := startBuilding(t, fmt.Sprintf("tcp://%s", l.Addr()), nil, nodes, nil)
	b.up()
	if out := b.do(level(one(1), 40)); !out.OK() {
		t.Fatal(out.Err)
	}
	eventually(t, "40 %", func() bool { return showing1(w, 0).Level == 40 })
	repeated(t, w, 2)
}
