package scripted_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// blindHouse is a controller on one shade with two relays, that takes 20 s from end to end.
func blindHouse(t *testing.T) (*house, *units) { return travelHouse(t, 20*time.Second) }

// travelHouse is the same, with another travel time.
func travelHouse(t *testing.T, travel time.Duration) (*house, *units) {
	u := newUnits(1)
	site := oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 1, "blind")
	site.Shades = []appliance.Shade{{ID: 5001, Node: 1, Output: 1, TravelUp: travel, TravelDown: travel}}
	h := start(t, site, 1)
	h.wait(10*time.Second, "the shade to be seen", func() bool { return h.Snapshot().Shade(5001).Motion == appliance.Stopped })
	return h, u
}

// A relay that sticks: the other one is not switched on against it, and no success is told.
func TestOppositeOfARelayThatSticks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, u := blindHouse(t)
		if e := h.shade(5001, appliance.ShadeOpen, 0); !e.OK() {
			t.Fatal(e.Err)
		}
		u.set(func(of map[byte]*unit) { of[1].sticks = true })
		for _, kind := range []appliance.Kind{appliance.ShadeClose, appliance.ShadeMoveTo, appliance.ShadeStop} {
			if e := h.shade(5001, kind, 50); e.OK() {
				t.Errorf("command %d succeeded, and the relay sticks", kind)
			}
		}
		u.set(func(of map[byte]*unit) {
			if of[1].clash || !of[1].coils[0] {
				t.Errorf("both relays were on, or this test shows nothing: %+v", of[1].coils)
			}
			of[1].sticks = false
		})
		if e := h.shade(5001, appliance.ShadeClose, 0); !e.OK() {
			t.Errorf("well again: %s", e.Err)
		}
	})
}

// Of a STOP and a move that come within 20 ms of each other the STOP wins, whichever comes
// first.
func TestStopAndMoveAtOnce(t *testing.T) {
	t.Parallel()
	stands := map[string]func(*testing.T) (*house, func() bool){
		"modbus": func(t *testing.T) (*house, func() bool) {
			h, u := blindHouse(t)
			return h, func() (off bool) {
				u.set(func(of map[byte]*unit) { off = !of[1].coils[0] && !of[1].coils[1] })
				return off
			}
		},
		"sdn": func(t *testing.T) (*house, func() bool) {
			h, ms := motorHouse(t, 1)
			return h, func() bool {
				ms.mu.Lock()
				defer ms.mu.Unlock()
				_, running := ms.all[0].at(time.Now())
				return !running
			}
		},
	}
	for bus, open := range stands {
		for _, stopFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, stop first %v", bus, stopFirst), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h, stands := open(t)
					shown := 0
					for range 40 { // the two have to be within 20 ms, which a busy machine need not manage
						var stop, move appliance.Entry
						var both sync.WaitGroup
						gave := func(e *appliance.Entry, k appliance.Kind) {
							both.Go(func() { *e = h.shade(5001, k, 0) })
							time.Sleep(5 * time.Millisecond)
						}
						if stopFirst {
							gave(&stop, appliance.ShadeStop)
							gave(&move, appliance.ShadeClose)
						} else {
							gave(&move, appliance.ShadeClose)
							gave(&stop, appliance.ShadeStop)
						}
						both.Wait()
						if apart := move.AcceptedAt.Sub(stop.AcceptedAt); apart > 20*time.Millisecond {
							h.shade(5001, appliance.ShadeStop, 0)
							continue
						}
						if !stands() || !stop.OK() {
							t.Fatalf("stands %v; stop %q, move %q", stands(), stop.Err, move.Err)
						}
						if stopFirst && !strings.Contains(move.Err, "superseded") {
							t.Fatalf("the move: %q", move.Err)
						}
						if shown++; shown == 5 {
							return
						}
					}
					if shown == 0 {
						t.Error("the two were never within 20 ms: this test shows nothing")
					}
				})
			})
		}
	}
}

// A gateway that hung carries out late what a program asked that is gone by now, and answers
// it to the next one: that reads first, and shows nothing but what is so.
func TestNothingOfBeforeAHungGatewayIsShown(t *testing.T) {
	t.Parallel()
	for _, tcp := range []bool{true, false} {
		t.Run(fmt.Sprint("tcp ", tcp), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(1)
				bus := appliance.Bus{Driver: "modbus"}
				if bus.Port = u.listenRTU(t, false); tcp {
					bus.Port = u.listenTCP(t)
				}
				u.of[1].registers[3] = 20
				before := start(t, oneBus(bus, 1, "lamp"), 1)
				before.wait(5*time.Second, "20 to be shown", func() bool { return before.Snapshot().Node(1).Level.Value == 20 })
				u.mu.Lock()
				u.hung = true
				u.mu.Unlock()
				if e := before.dim(1, 77); e.OK() {
					t.Error("confirmed by a gateway that hangs")
				}
				before.stop()
				h := start(t, fast(oneBus(bus, 1, "lamp")), 0)
				time.AfterFunc(300*time.Millisecond, func() {
					u.mu.Lock()
					defer u.mu.Unlock()
					u.hung = false
				})
				h.wait(20*time.Second, "what the lamp has to be shown", func() bool {
					has, l := appliance.Level(u.holds(1, 3)), h.Snapshot().Node(1).Level
					if l.OK() && l.Value != has && l.At.After(u.wroteAt()) {
						t.Fatalf("shown %+v, and the lamp has %d", l, has)
					}
					return l.OK() && l.Value == has && has == 77
				})
			})
		})
	}
}

// Acknowledged by the gateway, taken by none of a group, and not to be read: no success, and
// nothing is shown that nobody read; neither by the group's frame nor by those that repair.
func TestGroupThatTakesNothingAndIsNotRead(t *testing.T) {
	t.Parallel()
	three := oneBus(appliance.Bus{Driver: "modbus"}, 3, "shout")
	for _, tcp := range []bool{true, false} {
		t.Run(fmt.Sprint("tcp ", tcp), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(3)
				site := three
				site.Buses = []appliance.Bus{three.Buses[0]}
				if site.Buses[0].Port = u.listenRTU(t, false); tcp {
					site.Buses[0].Port = u.listenTCP(t)
				}
				h := start(t, site, 3)
				if e := h.dim(0, 30); !e.OK() {
					t.Fatal(e.Err)
				}
				u.set(func(of map[byte]*unit) {
					for _, unit := range of {
						unit.deaf = true
					}
					of[2].mute = true
				})
				e := h.dim(0, 70)
				for _, m := range e.Members {
					if m.Err == "" {
						t.Errorf("node %d: %+v", m.Ref.Node, m)
					}
					if l := h.Snapshot().Node(m.Ref.Node).Level; l.Value == 70 {
						t.Errorf("node %d is shown %+v", m.Ref.Node, l)
					}
				}
				broadcast, alone := 0, 0
				u.set(func(map[byte]*unit) {
					for _, r := range u.requests {
						switch {
						case r.fn < 5:
						case r.unit == 0:
							broadcast++
						default:
							alone++
						}
					}
				})
				if !tcp && broadcast == 0 || alone == 0 {
					t.Errorf("%d broadcast and %d single writes: this test shows nothing", broadcast, alone)
				}
			})
		})
	}
}

func init() {
	profiles["shout"] = strings.Replace(strings.Replace(profiles["lamp"], "name: lamp", "name: shout", 1), "outputs:", "broadcast: true\noutputs:", 1)
}
