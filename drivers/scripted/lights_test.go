package scripted_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// logbook keeps what the controller logs.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// An adapter that returns what is sent, option echo not set, nothing connected: all nodes
// were online, and every command confirmed.
func TestEchoIsNoLamp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(0)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenRTU(t, true)}, 3, "lamp")), 0)
		for i := range 6 {
			if e := h.dim(appliance.ID(1+i%3), 40); e.OK() {
				t.Errorf("confirmed by an echo: %+v", e.Members[0])
			}
		}
		for _, n := range h.Snapshot().Nodes {
			if n.Online || n.Level.OK() {
				t.Errorf("node %d: online %v, shown %+v", n.Node.ID, n.Online, n.Level)
			}
		}
		if n := strings.Count(h.log.String(), "returns what is sent"); n != 1 {
			t.Errorf("told %d times that the adapter echoes, want once", n)
		}
	})
}

// The same adapter with lamps works.
func TestEchoIsCopedWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(3)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenRTU(t, true)}, 3, "lamp")), 3)
		for i := range 9 {
			n, l := byte(1+i%3), appliance.Level(10*i+5)
			if e := h.dim(appliance.ID(n), l); !e.OK() || u.holds(n, 3) != uint16(l) {
				t.Errorf("%q: has %d, want %d", e.Err, u.holds(n, 3), l)
			}
		}
	})
}

// A value that was acknowledged, not taken, and cannot be read back.
func TestAcknowledgedNotTakenAndUnread(t *testing.T) {
	t.Parallel()
	for _, tcp := range []bool{true, false} {
		t.Run(fmt.Sprint("tcp ", tcp), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(1)
				port := ""
				if tcp {
					port = u.listenTCP(t)
				} else {
					port = u.listenRTU(t, false)
				}
				h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: port}, 1, "lamp"), 1)
				u.set(func(of map[byte]*unit) { of[1].deaf, of[1].mute = true, true })
				e := h.dim(1, 70)
				if e.OK() || !strings.Contains(e.Err, "acknowledged, but could not be read back") {
					t.Errorf("%q", e.Err)
				}
				if l := h.Snapshot().Node(1).Level; l.Value == 70 {
					t.Errorf("shown %+v, which nobody read", l)
				}
			})
		})
	}
}

// Registers that show late what was written.
func TestLaggingRegister(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(lag.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(1)
				h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 1, "lamp"), 1)
				u.set(func(of map[byte]*unit) { of[1].lag = lag })
				for _, l := range []appliance.Level{10, 90, 40} {
					if e := h.dim(1, l); !e.OK() {
						t.Errorf("to %d: %s", l, e.Err)
					}
				}
				writes := 0
				u.set(func(map[byte]*unit) {
					for _, r := range u.requests {
						if r.fn == 6 || r.fn == 16 {
							writes++
						}
					}
				})
				if writes != 3 {
					t.Errorf("told %d times, want once each: it only showed it late", writes)
				}
			})
		})
	}
}

// One unit behind a gateway falls silent, and a cluster is commanded meanwhile: the
// healthy members never fail, and who is dead is known within 10 s.
func TestOneSilentUnitBehindAGateway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(4)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t), Options: map[string]string{"responseTimeout": "1s"}}, 4, "lamp")), 4)
		u.set(func(of map[byte]*unit) { of[1].silent = true })
		died := time.Now()
		for i := 0; h.online() == 4; i++ {
			e := h.dim(0, appliance.Level(10+i%80))
			for _, m := range e.Members {
				if dead := m.Ref.Node == 1; !dead && m.Stage != appliance.StageObserved {
					t.Fatalf("command %d, healthy node %d: stage %v, %s", i, m.Ref.Node, m.Stage, m.Err)
				}
			}
			if time.Since(died) > 15*time.Second {
				t.Fatal("not known to be dead after 15 s")
			}
		}
		t.Logf("known after %v", time.Since(died).Round(time.Millisecond))
		if e := h.dim(0, 55); !e.OK() || !e.Members[0].Offline {
			t.Errorf("with the dead one known: %q, %+v", e.Err, e.Members[0])
		}
		u.set(func(of map[byte]*unit) { of[1].silent = false })
		for range 5 {
			h.dim(1, 20) // in vain or not: it must not keep it away for longer
		}
		if took := h.wait(20*time.Second, "it to be back", func() bool { return h.online() == 4 }); took > 15*time.Second {
			t.Errorf("back after %v, want 15 s at most", took)
		}
	})
}

// Idle, one of sixteen dies.
func TestDeadUnitOnAnIdleBusIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(16)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t), Options: map[string]string{"responseTimeout": "1s"}}, 16, "lamp")), 16)
		u.set(func(of map[byte]*unit) { of[7].silent = true })
		took := h.wait(20*time.Second, "it to be known", func() bool { return h.online() == 15 })
		t.Logf("known after %v", took.Round(time.Millisecond))
		if took > 11*time.Second { // half a second until it is asked first
			t.Errorf("known after %v, want 10 s at most from its first silence", took)
		}
	})
}

// An answer to somebody who had the gateway before comes when we have just connected.
func TestNothingThatAPredecessorAskedIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(1)
		u.of[1].registers[3] = 20
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenRTU(t, false)}, 1, "lamp")), 1)
		h.wait(5*time.Second, "20 to be shown", func() bool { return h.Snapshot().Node(1).Level.Value == 20 })
		first := slices.IndexFunc(strings.Split(h.log.String(), "\n"), func(l string) bool { return strings.Contains(l, "port open") })
		u.mu.Lock()
		defer u.mu.Unlock()
		if first < 0 || len(u.requests) == 0 {
			t.Fatal("this test shows nothing")
		}
		if len(u.requests) > 0 && u.requests[0].fn != 3 {
			t.Errorf("the first question is function %d, want a read", u.requests[0].fn)
		}
	})
}

// Nodes that are added to a device that is well, or moved to an address where nobody is.
func TestSiteChangeIsAFreshLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(2)
		site := oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 2, "pair")
		h := start(t, site, 2)
		more := oneBus(site.Buses[0], 3, "pair")
		more.Nodes[2].Address = "1" // the installer splits a device
		more.Nodes[0].Outputs, more.Nodes[2].Outputs = []int{1}, []int{2}
		h.Apply(more, nil)
		h.wait(3*time.Second, "the added node to be online", func() bool { return h.Snapshot().Node(3).Online })
		moved := oneBus(site.Buses[0], 2, "pair")
		moved.Nodes[0].Address = "77"
		h.Apply(moved, nil)
		h.wait(time.Second, "the moved node to be offline", func() bool { return !h.Snapshot().Node(1).Online })
		if !h.Snapshot().Node(2).Online {
			t.Error("its neighbour is offline as well")
		}
		h.wait(15*time.Second, "a line in the log", func() bool { return strings.Contains(h.log.String(), `device does not answer" bus=bus device=77`) })
	})
}

// Gear that does not exist behind a gateway that knows it.
func TestGatewayKnowsWhoDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(1)
		for short := range uint16(64) { // ECOdim: level of gear d at 3004+5d, 255 if it does not answer
			u.of[1].registers[3004+5*short] = 255
		}
		u.of[1].registers[3004], u.of[1].registers[3324] = 100, 3000
		port := u.listenRTU(t, false)
		site := oneBus(appliance.Bus{Driver: "modbus", Port: port}, 2, "ecodim-dali-gw2")
		site.Nodes[0].Address, site.Nodes[1].Address = "1/0", "1/27"
		h := start(t, fast(site), 1)
		e := h.dim(2, 60)
		if n := h.Snapshot().Node(2); e.OK() || n.Online || n.Level.OK() {
			t.Errorf("%q, online %v, shown %+v", e.Err, n.Online, n.Level)
		}
	})
}
