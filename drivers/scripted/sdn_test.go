package scripted_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// motor is a Somfy SDN motor: 10000 pulses from its upper to its lower limit, in 10 s.
type motor struct {
	address [3]byte // as printed
	stuck   bool    // acknowledges, and does not move
	silent  bool    // is not there
	mute    bool    // hears, and is not heard
	from    float64 // percent closed, when it began to go
	goal    float64
	since   time.Time
}

const percentPerSecond = 10

func (m *motor) at(now time.Time) (percent float64, running bool) {
	way := now.Sub(m.since).Seconds() * percentPerSecond
	switch {
	case m.goal > m.from && m.from+way < m.goal:
		return m.from + way, true
	case m.goal < m.from && m.from-way > m.goal:
		return m.from - way, true
	}
	return m.goal, false
}

// motors on one bus.
type motors struct {
	mu     sync.Mutex
	all    []*motor
	orders []order // that came, oldest first
	wrote  time.Time
}

type order struct {
	id    byte
	alone bool
}

// sdnFrame packs a message (Somfy SDN, §4.1): every byte but the sum inverted.
func sdnFrame(id byte, source, destination [3]byte, data ...byte) []byte {
	b := []byte{id, byte(11 + len(data)), 0x20, source[2], source[1], source[0], destination[2], destination[1], destination[0]}
	b = append(b, data...)
	sum := uint16(0)
	for i := range b {
		b[i] = ^b[i]
		sum += uint16(b[i])
	}
	return binary.BigEndian.AppendUint16(b, sum)
}

func (ms *motors) listen(t *testing.T) (port string) {
	return plug(t, func(port io.ReadWriter) { ms.serve(port) })
}

func (ms *motors) serve(port io.ReadWriter) {
	var buf []byte
	chunk := make([]byte, 256)
	for {
		n, err := port.Read(chunk)
		if err != nil {
			return
		}
		for buf = append(buf, chunk[:n]...); len(buf) > 1; {
			size := int(^buf[1] & 0x7F)
			if size < 11 || size > 32 {
				buf = buf[1:]
				continue
			}
			if len(buf) < size {
				break
			}
			frame := slices.Clone(buf[:size])
			buf = buf[size:]
			for i := range frame[:size-2] {
				frame[i] = ^frame[i]
			}
			time.Sleep(5 * time.Millisecond)
			port.Write(ms.take(frame[:size-2]))
		}
	}
}

// take carries a frame out and returns the answer, if there is one.
func (ms *motors) take(f []byte) []byte {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	host, to := [3]byte{f[5], f[4], f[3]}, [3]byte{f[8], f[7], f[6]}
	everybody := to == [3]byte{0xFF, 0xFF, 0xFF}
	if f[0] == 2 || f[0] == 3 {
		ms.orders, ms.wrote = append(ms.orders, order{f[0], !everybody}), time.Now()
	}
	var answer []byte
	for _, m := range ms.all {
		if m.silent || m.address != to && !everybody {
			continue
		}
		if a := m.take(f, host); !everybody && !m.mute {
			answer = a
		}
	}
	return answer
}

func (m *motor) take(f []byte, host [3]byte) []byte {
	now := time.Now()
	at, running := m.at(now)
	switch f[0] {
	case 0x02: // stop
		m.from, m.goal, m.since = at, at, now
	case 0x03: // move to
		goal := at
		switch f[9] {
		case 0:
			goal = 100
		case 1:
			goal = 0
		case 4:
			goal = float64(f[10])
		}
		if !m.stuck {
			m.from, m.goal, m.since = at, goal, now
		}
	case 0x0C: // where
		pulses := uint16(at * 100)
		return sdnFrame(0x0D, m.address, host, byte(pulses), byte(pulses>>8), byte(at+0.5), 0xFF, 0xFF)
	case 0x0E: // what
		state, direction := byte(0), byte(0)
		if running {
			state = 1
		}
		if m.goal < m.from {
			direction = 1
		}
		return sdnFrame(0x0F, m.address, host, state, direction, 1, 0)
	case 0x41: // group of an index: none
		return sdnFrame(0x61, m.address, host, f[9], 0, 0, 0)
	}
	if f[1]&0x80 != 0 {
		return sdnFrame(0x7F, m.address, host)
	}
	return nil
}

// motorHouse is a controller on n motors, which stand at their upper limits.
func motorHouse(t *testing.T, n int) (*house, *motors) {
	ms := &motors{}
	site := oneBus(appliance.Bus{Driver: "sdn"}, n, "somfy-sdn-30dc")
	for i := range n {
		m := &motor{address: [3]byte{6, 0x1A, byte(i)}}
		ms.all = append(ms.all, m)
		site.Nodes[i].Address = fmt.Sprintf("06.1A.%02X", i)
		site.Shades = append(site.Shades, appliance.Shade{ID: appliance.ID(5001 + i), Node: appliance.ID(i + 1), Output: 1})
	}
	site.Buses[0].Port = ms.listen(t)
	site.Settings.Freshness = appliance.Freshness{MovingShade: time.Second, IdleShade: 2 * time.Second, Power: 2 * time.Second}
	h := start(t, site, n)
	h.wait(20*time.Second, "all shades seen", func() bool { return h.standing() == n })
	return h, ms
}

func (h *house) standing() (n int) {
	for _, s := range h.Snapshot().Shades {
		if s.Motion == appliance.Stopped && s.Position.OK() {
			n++
		}
	}
	return n
}

// A motor that acknowledges and stands has not been moved, alone or in a group.
func TestMotorThatAcknowledgesAndStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ms := motorHouse(t, 3)
		ms.mu.Lock()
		ms.all[1].stuck = true
		ms.mu.Unlock()
		e := h.shade(5002, appliance.ShadeMoveTo, 40)
		if e.OK() || !strings.Contains(e.Err, "stopped at 100 % instead of go to 40 %") {
			t.Errorf("alone: %q, %+v", e.Err, e.Members[0])
		}
		e = h.shade(0, appliance.ShadeMoveTo, 40)
		for i, m := range e.Members {
			if ok := m.Stage == appliance.StageObserved; ok != (i != 1) {
				t.Errorf("in a group: member %d: %v %s", i, m.Stage, m.Err)
			}
		}
	})
}

// Motors that are shown as standing are moved by one frame, whatever they did before.
func TestStandingMotorsAreMovedByOneFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ms := motorHouse(t, 8)
		rest := func() { h.wait(20*time.Second, "all to stand", func() bool { return h.standing() == 8 }) }
		for _, before := range []func(){
			func() { h.shade(0, appliance.ShadeMoveTo, 80); h.shade(0, appliance.ShadeStop, 0) },
			func() { h.shade(0, appliance.ShadeMoveTo, 70) },
			func() {},
		} {
			before()
			rest()
			ms.mu.Lock()
			ms.orders = nil
			ms.mu.Unlock()
			if e := h.shade(0, appliance.ShadeMoveTo, 60); !e.OK() {
				t.Error(e.Err)
			}
			ms.mu.Lock()
			if len(ms.orders) != 1 || ms.orders[0].alone {
				t.Errorf("sent %+v, want one frame to all", ms.orders)
			}
			ms.mu.Unlock()
			h.shade(0, appliance.ShadeOpen, 0)
			rest()
		}
	})
}
