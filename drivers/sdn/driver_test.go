package sdn_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// fast motors cross the window in two seconds.
func fast(list []sdnsim.Motor) []sdnsim.Motor {
	for i := range list {
		list[i].Up, list[i].Down = 2*time.Second, 2*time.Second
	}
	return list
}

func TestShadeGoesWhereItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(1)))})
		h.awake()
		if p := h.shade(0).Position; p.Value != 100 || p.Source != appliance.Measured {
			t.Errorf("at first %+v, want 100 measured", p)
		}
		e := h.must(moveTo(one(0), 30))
		if e.Members[0].AcknowledgedAt.IsZero() {
			t.Errorf("%+v: not acknowledged", e.Members[0])
		}
		if d := h.sim.Devices()[0]; !d.Moving || d.Opening {
			t.Errorf("acknowledged, and the motor does %+v", d)
		}
		h.wait(time.Second, "seen closing", func() bool { return h.shade(0).Motion == appliance.Closing })
		h.wait(6*time.Second, "stopped at 30", func() bool {
			sh := h.shade(0)
			return sh.Motion == appliance.Stopped && sh.Position.Value == 30
		})
		if d := h.sim.Devices()[0]; d.Moving || d.Position != 30 {
			t.Errorf("shown as stopped at 30, and the motor does %+v", d)
		}
		h.must(kind(appliance.ShadeOpen, one(0)))
		h.wait(time.Second, "seen opening", func() bool { return h.shade(0).Motion == appliance.Opening })
		h.must(kind(appliance.ShadeStop, one(0)))
		if d := h.sim.Devices()[0]; d.Moving {
			t.Errorf("stop was acknowledged, and the motor does %+v", d)
		}
		h.wait(time.Second, "seen stopped", func() bool {
			sh := h.shade(0)
			d := h.sim.Devices()[0].Position - float64(sh.Position.Value)
			return sh.Motion == appliance.Stopped && d < 1 && d > -1
		})
		h.must(kind(appliance.ShadeClose, one(0)))
		h.wait(6*time.Second, "closed", func() bool {
			return h.shade(0).Motion == appliance.Stopped && h.shade(0).Position.Value == 0
		})
		if n := h.sim.Counts(); n.ShortQuiet != 0 || n.Garbled != 0 || n.Collisions != 0 {
			t.Errorf("on the wire: %+v", n)
		}
	})
}

func TestPositionIsFollowedFromALimitOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(1)
		list[0].Down = 8 * time.Second
		h := build(t, plan{sim: quick(list)})
		h.awake()
		h.must(kind(appliance.ShadeClose, one(0)))
		for _, p := range []appliance.Position{85, 60, 35} {
			h.wait(4*time.Second, "followed on its way", func() bool {
				sh := h.shade(0)
				return sh.Motion == appliance.Closing && sh.Position.Value < p && sh.Position.Source == appliance.Measured
			})
			if d := h.sim.Devices()[0]; d.Position < 1 {
				t.Fatalf("below %d only when it had arrived: %+v", p, d)
			}
		}
	})
}

// A shade that is told to turn round is never shown as going on. The order comes
// just before the next read is due, so that the motor is still beyond where it was
// read last.
func TestShadeThatTurnsRoundIsNotShownAsGoingOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(1)
		list[0].Up, list[0].Down = 20*time.Second, 20*time.Second
		list[0].Open = 50
		h := build(t, plan{sim: quick(list)})
		h.awake()
		h.must(kind(appliance.ShadeClose, one(0)))
		for _, turn := range []struct {
			order         appliance.Kind
			before, after appliance.Motion
		}{
			{appliance.ShadeOpen, appliance.Closing, appliance.Opening},
			{appliance.ShadeClose, appliance.Opening, appliance.Closing},
			{appliance.ShadeOpen, appliance.Closing, appliance.Opening},
		} {
			reads := 0
			var last time.Time
			h.wait(8*time.Second, "the read before is a while ago", func() bool {
				p := h.shade(0).Position
				if !p.At.Equal(last) {
					reads, last = reads+1, p.At
				}
				return reads > 2 && h.shade(0).Motion == turn.before && time.Since(last) > 700*time.Millisecond
			})
			h.must(kind(turn.order, one(0)))
			reads, last = 0, h.shade(0).Position.At
			h.wait(8*time.Second, "three reads later", func() bool {
				sh := h.shade(0)
				if sh.Motion != turn.after {
					t.Fatalf("shown as %v after %d reads, want %v%s", sh.Motion, reads, turn.after, h)
				}
				if !sh.Position.At.Equal(last) {
					reads, last = reads+1, sh.Position.At
				}
				return reads == 3
			})
		}
	})
}

func TestInvertedShadeRunsTheOtherWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(1))), shades: func(s []appliance.Shade) { s[0].Inverted = true }})
		h.awake()
		if p := h.shade(0).Position.Value; p != 0 {
			t.Errorf("at the upper limit an inverted shade is at %d, want 0", p)
		}
		h.must(moveTo(one(0), 80))
		h.wait(time.Second, "seen opening", func() bool { return h.shade(0).Motion == appliance.Opening })
		h.wait(6*time.Second, "stopped at 80", func() bool {
			return h.shade(0).Motion == appliance.Stopped && h.shade(0).Position.Value == 80
		})
		if p := h.sim.Devices()[0].Position; p != 20 {
			t.Errorf("the motor is at %v, want 20", p)
		}
		h.must(kind(appliance.ShadeOpen, one(0)))
		if d := h.sim.Devices()[0]; !d.Moving || d.Opening {
			t.Errorf("opening an inverted shade: %+v, want the motor to go down", d)
		}
	})
}

func TestRefusalsComeInWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(2))
		list[1].Limit = -1
		h := build(t, plan{sim: quick(list)})
		h.wait(10*time.Second, "both online", func() bool { return h.shade(0).Online && h.shade(1).Online && h.shade(0).Position.OK() })
		if h.shade(1).Position.OK() {
			t.Errorf("position %+v of a motor without limits", h.shade(1).Position)
		}
		if e := h.do(moveTo(one(1), 50)); e.OK() || !strings.Contains(e.Err, "limits are not set") {
			t.Errorf("without limits: %q", e.Err)
		}
		for trouble, words := range map[sdnsim.Trouble]string{
			{Locked: true}: "locked", {Hot: true}: "protects itself", {Refuse: 0x7E}: "7E",
		} {
			if err := h.sim.SetTrouble(address(0), trouble); err != nil {
				t.Fatal(err)
			}
			if e := h.do(moveTo(one(0), 50)); e.OK() || !strings.Contains(e.Err, words) {
				t.Errorf("%+v: %q, want %q in it", trouble, e.Err, words)
			}
		}
		if err := h.sim.SetTrouble(address(0), sdnsim.Trouble{Busy: 3}); err != nil {
			t.Fatal(err)
		}
		h.must(moveTo(one(0), 50))
	})
}

func TestBlockedMotorIsNotReportedAsMoving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(1)))})
		h.awake()
		if err := h.sim.SetTrouble(address(0), sdnsim.Trouble{Obstacle: 50}); err != nil {
			t.Fatal(err)
		}
		h.must(kind(appliance.ShadeClose, one(0)))
		h.wait(8*time.Second, "stopped at the obstacle", func() bool {
			return h.shade(0).Motion == appliance.Stopped && h.shade(0).Position.Value == 50
		})
	})
}

func TestWallSwitchIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(fast(motors(1))), fresh: appliance.Freshness{IdleShade: 2 * time.Second}})
		h.awake()
		if err := h.sim.Press(address(0), "down"); err != nil {
			t.Fatal(err)
		}
		h.wait(10*time.Second, "seen at the other end", func() bool {
			return h.shade(0).Motion == appliance.Stopped && h.shade(0).Position.Value == 0
		})
	})
}

func TestOtherMastersAreOverheard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(2))
		for i := range list {
			list[i].Groups = []string{"01.01.09"}
		}
		h := build(t, plan{sim: quick(list)})
		h.awake()
		// One motor by its address, polled rarely while it rests: the frame tells.
		say(h, sdnsim.Message{ID: 3, Ack: true, Src: 0x7F7F7F, Dst: 0x061A00, Data: []byte{4, 40, 0, 0}}, "seen moving", func() bool { return h.shade(0).Motion == appliance.Closing || h.shade(0).Motion == appliance.Moving })
		h.wait(8*time.Second, "at 60", func() bool { return h.shade(0).Motion == appliance.Stopped && h.shade(0).Position.Value == 60 })
		// Both by their group.
		say(h, sdnsim.Message{ID: 3, Src: 0x010109, Dst: 0, Data: []byte{0, 0xFF, 0xFF, 0}}, "both on their way", func() bool {
			return h.shade(0).Motion != appliance.Stopped && h.shade(1).Motion != appliance.Stopped
		})
		for i := range 2 {
			h.wait(10*time.Second, "closed", func() bool { return h.shade(i).Motion == appliance.Stopped && h.shade(i).Position.Value == 0 })
		}
		// What a motor tells another master is news for us.
		before := h.shade(1).Position.At
		say(h, sdnsim.Message{ID: 0x0C, Src: 0x7F7F7F, Dst: 0x061A01}, "a fresher position", func() bool { return h.shade(1).Position.At.After(before) })
	})
}

// say has another master say m until it shows: a frame or its answer that collides
// with one of ours is lost, and a master that wants something asks again.
func say(h *house, m sdnsim.Message, what string, shows func() bool) {
	h.t.Helper()
	var last time.Time
	h.wait(8*time.Second, what, func() bool {
		if time.Since(last) > time.Second {
			h.sim.Say(m)
			last = time.Now()
		}
		return shows()
	})
}

func TestGroupMovesByOneFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(6))
		for i := range 4 {
			list[i].Groups = []string{"01.01.05"}
		}
		h := build(t, plan{sim: quick(list)})
		h.awake()
		n := h.mark()
		h.must(moveTo(firstFour, 40))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("%d frames to several and %d to one, want one group frame", many, alone)
		}
		for i, d := range h.sim.Devices() {
			if want := i < 4; d.Moving != want {
				t.Errorf("motor %s moves: %v, want %v", d.Address, d.Moving, want)
			}
		}
		h.wait(10*time.Second, "all four at 40", func() bool {
			for i := range 4 {
				if h.shade(i).Motion != appliance.Stopped || h.shade(i).Position.Value != 40 {
					return false
				}
			}
			return true
		})
		// Everything on the bus: to everybody.
		n = h.mark()
		h.must(kind(appliance.ShadeClose, everything))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("all: %d frames to several and %d to one, want one to everybody", many, alone)
		}
		n = h.mark()
		h.must(kind(appliance.ShadeStop, everything))
		if alone, many := h.orders(n); many != 1 || alone != 0 {
			t.Errorf("stop: %d frames to several and %d to one, want one to everybody", many, alone)
		}
		for _, d := range h.sim.Devices() {
			if d.Moving {
				t.Errorf("still moving: %+v", d)
			}
		}
		if c := h.sim.Counts(); c.AckAskedOfMany != 0 {
			t.Errorf("%d frames asked many for an ACK", c.AckAskedOfMany)
		}
	})
}

func TestGroupIsNotUsedWhenItMovesOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := fast(motors(5))
		for i := range list {
			list[i].Groups = []string{"01.01.05"}
		}
		h := build(t, plan{sim: quick(list)})
		h.awake()
		n := h.mark()
		h.must(moveTo(firstFour, 40))
		if alone, many := h.orders(n); many != 0 || alone != 4 {
			t.Errorf("%d frames to several and %d to one, want four to one: the group has a fifth member", many, alone)
		}
		if d := h.sim.Devices()[4]; d.Moving {
			t.Errorf("the fifth moves: %+v", d)
		}
	})
}

func TestMotorThatMovesAlreadyProvesNothingByMovingOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := motors(4)
		for i := range list {
			list[i].Groups = []string{"01.01.05"}
			list[i].Up, list[i].Down = 4*time.Second, 4*time.Second
		}
		h := build(t, plan{sim: quick(list), options: map[string]string{"broadcast": "false"}})
		h.awake()
		h.must(moveTo(firstFour, 70))
		if err := h.sim.SetTrouble(address(2), sdnsim.Trouble{Deaf: 300 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		h.must(moveTo(firstFour, 20))
		h.wait(20*time.Second, "all at 20, the one that missed the frame too", func() bool {
			for _, d := range h.sim.Devices() {
				if d.Moving || d.Position != 20 {
					return false
				}
			}
			return true
		})
	})
}

func TestStopOvertakesQueuedMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plan{sim: quick(motors(12)), options: map[string]string{"broadcast": "false"}})
		h.awake()
		moves := make(chan appliance.Entry, 12)
		n := h.mark()
		for i := 1; i < 12; i++ {
			go func() { moves <- h.do(moveTo(one(i), 10)) }()
		}
		h.wait(5*time.Second, "the moves begin", func() bool { alone, _ := h.orders(n); return alone > 0 })
		mark := h.mark()
		began := time.Now()
		h.must(kind(appliance.ShadeStop, one(0)))
		for _, m := range h.sim.Heard(mark) {
			if m.Message.ID == 2 {
				t.Logf("STOP on the wire %v after it was asked for", m.At.Sub(began).Round(time.Millisecond))
				break
			}
			if m.At.After(began.Add(200 * time.Millisecond)) {
				t.Errorf("%+v before the STOP", m)
			}
		}
		var frames int
		for _, m := range h.sim.Heard(mark) {
			if m.Message.ID == 2 {
				break
			}
			frames++
		}
		if frames > 1 {
			t.Errorf("%d frames went before the STOP, want one at most: that in flight", frames)
		}
		for range 11 {
			if e := <-moves; !e.OK() {
				t.Error(e.Err)
			}
		}
	})
}
