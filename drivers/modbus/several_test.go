package modbus

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// crossroads is a gateway that takes transactions at once and answers each when its unit
// has: in no order. Every unit takes its time, one never answers.
type crossroads struct {
	*bank
	address string
	delay   time.Duration
	silent  atomic.Int32
	out     atomic.Int32
	most    atomic.Int32
	twice   atomic.Bool // a unit was asked while it was being asked
}

func openCrossroads(t *testing.T, ln net.Listener, units int) (c *crossroads, port string) {
	c = &crossroads{bank: newBank(), address: ln.Addr().String(), delay: 15 * time.Millisecond}
	for u := 1; u <= units; u++ {
		for i := range uint16(8) {
			c.set(byte(u), point{coils, i}, 0)
		}
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c, "tcp://" + c.address
}

func (c *crossroads) serve(conn net.Conn) {
	defer conn.Close()
	var mu sync.Mutex
	var asked [256]atomic.Bool
	for {
		head := make([]byte, 6)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		rest := make([]byte, binary.BigEndian.Uint16(head[4:]))
		if _, err := io.ReadFull(conn, rest); err != nil {
			return
		}
		unit := rest[0]
		if int32(unit) == c.silent.Load() {
			continue
		}
		if asked[unit].Swap(true) {
			c.twice.Store(true)
		}
		for n := c.out.Add(1); ; {
			if old := c.most.Load(); n <= old || c.most.CompareAndSwap(old, n) {
				break
			}
		}
		time.AfterFunc(c.delay+time.Duration(unit%3)*time.Millisecond, func() {
			pdu := c.answer(unit, rest[1:])
			mu.Lock()
			defer mu.Unlock()
			asked[unit].Store(false)
			c.out.Add(-1)
			frame := append(head[:4:4], 0, byte(len(pdu)+1), unit)
			_, _ = conn.Write(append(frame, pdu...))
		})
	}
}

// callers have one after the other of their lamps switched, all at once, for a while.
func callers(t *testing.T, ctl *control.Controller, ids []appliance.ID, each int) (perSecond float64, worst time.Duration) {
	t.Helper()
	var all sync.WaitGroup
	var longest atomic.Int64
	begun := time.Now()
	for _, id := range ids {
		all.Go(func() {
			for i := range each {
				kind := []appliance.Kind{appliance.LightOn, appliance.LightOff}[i%2]
				asked := time.Now()
				e, err := ctl.Do(context.Background(), appliance.Command{Kind: kind, Target: appliance.Target{Scope: appliance.One, ID: id}})
				if err != nil || !e.OK() {
					t.Errorf("node %d: %v %s", id, err, e.Err)
				}
				longest.Store(max(longest.Load(), int64(time.Since(asked))))
			}
		})
	}
	all.Wait()
	return float64(len(ids)*each) / time.Since(begun).Seconds(), time.Duration(longest.Load())
}

// crossroad runs a controller with 16 units behind one.
func crossroad(t *testing.T, ln net.Listener, err error) (*crossroads, *control.Controller, []appliance.ID) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	const units = 16
	c, port := openCrossroads(t, ln, units)
	var nodes []appliance.Node
	var ids []appliance.ID
	for u := 1; u <= units; u++ {
		nodes = append(nodes, node(appliance.ID(u), strconv.Itoa(u), "waveshare-relay-8ch"))
		ids = append(ids, appliance.ID(u))
	}
	ctl := together(t, &wire{port: port}, map[string]string{"inFlight": "4", "responseTimeout": "3s"}, nodes, nil)
	until(t, "all are online", func() bool {
		for _, id := range ids {
			if n := ctl.Snapshot().Node(id); n == nil || !n.Online {
				return false
			}
		}
		return true
	})
	return c, ctl, ids
}

// With four transactions at once, sixteen callers are served faster than by a program that
// writes over the same connection one after the other, and reads nothing back; and never
// does a unit have two questions, or the gateway five.
func TestSeveralInFlight(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	c, ctl, ids := crossroad(t, ln, err)
	ratio := 0.0
	for begun := time.Now(); ratio < 0.9 && time.Since(begun) < 3*time.Minute; { // others may have had the processor
		ours, _ := callers(t, ctl, ids, 10)
		least := c.minimal(t, 50)
		ratio = ours / least
		t.Logf("%.0f commands a second, %.0f writes of a minimal program: %.2f", ours, least, ratio)
	}
	if most := c.most.Load(); most > 4 || most < 3 || c.twice.Load() {
		t.Errorf("%d transactions at once (want up to 4), two for one unit: %v", most, c.twice.Load())
	}
	if ratio < 0.9 {
		t.Errorf("commands a second are %.2f of what a minimal program does; want 0.9", ratio)
	}
}

// minimal writes one after the other, over a connection of its own.
func (c *crossroads) minimal(t *testing.T, n int) float64 {
	here, err := net.Dial("tcp", c.address)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	begun := time.Now()
	for i := range n {
		frame := []byte{0, byte(i), 0, 0, 0, 6, byte(1 + i%16), 5, 0, 0, 0xFF, 0}
		if _, err := here.Write(frame); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(here, make([]byte, len(frame))); err != nil {
			t.Fatal(err)
		}
	}
	return float64(n) / time.Since(begun).Seconds()
}

// A unit that falls silent behind such a gateway costs the others nothing.
func TestSilentUnitAmongSeveralInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln, err := copper.Listen(memoryHost + ":0")
		c, ctl, ids := crossroad(t, ln, err)
		whole, usual := callers(t, ctl, ids[1:], 10)
		c.silent.Store(int32(ids[0]))
		over := make(chan struct{})
		go func() {
			defer close(over)
			e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.One, ID: ids[0]}})
			if err == nil && e.OK() {
				t.Error("a command to a silent unit succeeded")
			}
		}()
		ill, worst := callers(t, ctl, ids[1:], 10)
		<-over
		t.Logf("%.0f commands a second, %.0f with one silent: %.2f; worst %v instead of %v", whole, ill, ill/whole, worst, usual)
		if worst > time.Second {
			t.Errorf("a command took %v: it waited for the silent unit's time-out", worst)
		}
	})
}

func TestSeveralInFlightOnlyWhereAnswersAreNumbered(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"/dev/ttyUSB0", "rtu+tcp://gateway:4001"} {
		_, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "test", Port: port, Options: map[string]string{"inFlight": "4"}}})
		if err == nil {
			t.Errorf("%s: taken", port)
		}
	}
}
