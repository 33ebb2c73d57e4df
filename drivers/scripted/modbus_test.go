// Package scripted_test tries the whole core and its drivers on devices that were written
// from the protocols' documents alone, a few lines each. They share nothing with the
// drivers nor with the simulator, so that nothing can be wrong the same way in both.
package scripted_test

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// unit is a Modbus server with one number in each register, and how it misbehaves.
type unit struct {
	registers map[uint16]uint16
	coils     map[uint16]bool
	sticks    bool // a coil that is on stays on
	clash     bool // coils 0 and 1 were on at once, ever
	silent    bool
	deaf      bool          // acknowledges what is written, and does not take it
	mute      bool          // does not answer what reads
	refuses   bool          // does not do what it is asked, and says so
	lag       time.Duration // a register read shows so late what was written
	pending   []write
	// script, if not nil, answers instead, unless its second result is false; nil: silence.
	script func(pdu []byte) ([]byte, bool)
}

type write struct {
	at      time.Time
	address uint16
	value   uint16
}

// units are those on one bus.
type units struct {
	mu       sync.Mutex
	of       map[byte]*unit
	requests []request
	wrote    time.Time // when the last value came
	// raw, if not nil, is all that is heard on a serial line after a question; nil: the answer.
	raw func(unit byte, pdu []byte) []byte

	twin  uint16        // what a second lamp with the address of unit 1 says to a read; 0: there is none
	apart time.Duration // it answers so much later than the first; negative: at once, and they collide

	hung bool // the gateway keeps what it is asked, and goes on with it later
}

type request struct {
	at   time.Time
	unit byte
	fn   byte
}

func newUnits(n int) *units {
	u := &units{of: map[byte]*unit{}}
	for i := range n {
		u.of[byte(i+1)] = &unit{registers: map[uint16]uint16{}, coils: map[uint16]bool{}}
	}
	return u
}

// set changes units under their lock.
func (u *units) set(change func(of map[byte]*unit)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(u.of)
}

// holds is what a register of a unit really has.
func (u *units) holds(n byte, address uint16) uint16 {
	u.mu.Lock()
	defer u.mu.Unlock()
	unit := u.of[n]
	if i := len(unit.pending) - 1; i >= 0 {
		return unit.pending[i].value
	}
	return unit.registers[address]
}

// answer is what a unit says to a PDU (MODBUS Application Protocol V1.1b3, §6); nil:
// nothing. It takes its time, so that something can come between.
func (u *units) answer(n byte, pdu []byte) []byte {
	time.Sleep(2 * time.Millisecond)
	for u.isHung() {
		time.Sleep(time.Millisecond)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, request{time.Now(), n, pdu[0]})
	if n == 0 { // to all, and nobody answers
		for _, unit := range u.of {
			if !unit.silent {
				unit.take(pdu)
			}
		}
		return nil
	}
	unit := u.of[n]
	if unit == nil || unit.silent {
		return nil
	}
	if pdu[0] >= 5 {
		u.wrote = time.Now()
	}
	return unit.take(pdu)
}

// take carries a PDU out and gives the answer.
func (u *unit) take(pdu []byte) []byte {
	u.pending = slices.DeleteFunc(u.pending, func(w write) bool {
		due := time.Since(w.at) >= u.lag
		if due {
			u.registers[w.address] = w.value
		}
		return due
	})
	address, count := binary.BigEndian.Uint16(pdu[1:]), binary.BigEndian.Uint16(pdu[3:])
	if u.script != nil {
		if out, is := u.script(pdu); is {
			return out
		}
	}
	if u.refuses {
		return []byte{pdu[0] | 0x80, 4}
	}
	switch pdu[0] {
	case 1:
		out := []byte{1, byte((count + 7) / 8)}
		out = append(out, make([]byte, out[1])...)
		for i := range count {
			if u.coils[address+i] {
				out[2+i/8] |= 1 << (i % 8)
			}
		}
		return out
	case 5:
		u.turn(address, count == 0xFF00)
		return pdu
	case 15:
		for i := range count {
			u.turn(address+i, pdu[6+i/8]>>(i%8)&1 == 1)
		}
		return pdu[:5]
	case 3, 4:
		if u.mute {
			return nil
		}
		out := []byte{pdu[0], byte(2 * count)}
		for i := range count {
			out = binary.BigEndian.AppendUint16(out, u.registers[address+i])
		}
		return out
	case 6:
		u.write(address, count)
		return pdu
	case 16:
		for i := range count {
			u.write(address+i, binary.BigEndian.Uint16(pdu[6+2*i:]))
		}
		return pdu[:5]
	}
	return []byte{pdu[0] | 0x80, 1}
}

func (u *units) isHung() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hung
}

func (u *units) wroteAt() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.wrote
}

func (u *unit) turn(coil uint16, on bool) {
	if on || !u.sticks {
		u.coils[coil] = on
	}
	u.clash = u.clash || u.coils[0] && u.coils[1]
}

func (u *unit) write(address, value uint16) {
	switch {
	case u.deaf:
	case u.lag > 0:
		u.pending = append(u.pending, write{time.Now(), address, value})
	default:
		u.registers[address] = value
	}
}

// asked is a request that a gateway has taken, and where its answer goes.
type asked struct {
	unit   byte
	pdu    []byte
	answer chan []byte
}

// listenTCP serves units on Modbus TCP, one request after the other and in the order they
// came, as a gateway does.
func (u *units) listenTCP(t *testing.T) (port string) {
	l, err := copper.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg, gateway sync.WaitGroup
	var conns sync.Map
	line := make(chan asked, 64)
	gateway.Go(func() {
		for q := range line {
			q.answer <- u.answer(q.unit, q.pdu)
		}
	})
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			wg.Go(func() { serveTCP(c, line) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		wg.Wait()
		close(line)
		gateway.Wait()
	})
	return "tcp://" + l.Addr().String()
}

func serveTCP(c net.Conn, line chan<- asked) {
	defer c.Close()
	answer := make(chan []byte)
	head := make([]byte, 7) // transaction, protocol, length, unit
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		pdu := make([]byte, binary.BigEndian.Uint16(head[4:])-1)
		if _, err := io.ReadFull(c, pdu); err != nil {
			return
		}
		line <- asked{head[6], pdu, answer}
		out := <-answer
		if out == nil {
			continue
		}
		binary.BigEndian.PutUint16(head[4:], uint16(len(out)+1))
		if _, err := c.Write(append(slices.Clone(head), out...)); err != nil {
			return
		}
	}
}

// crc of an RTU frame (MODBUS over Serial Line V1.02, appendix B).
func crc(b []byte) uint16 {
	sum := uint16(0xFFFF)
	for _, x := range b {
		sum ^= uint16(x)
		for range 8 {
			odd := sum&1 != 0
			if sum >>= 1; odd {
				sum ^= 0xA001
			}
		}
	}
	return sum
}

// rtu frames a PDU for a serial line.
func rtu(unit byte, pdu []byte) []byte {
	out := append([]byte{unit}, pdu...)
	return binary.LittleEndian.AppendUint16(out, crc(out))
}

// listenRTU serves units on a serial port; echo: the adapter returns what is sent.
func (u *units) listenRTU(t *testing.T, echo bool) (port string) {
	return plug(t, func(port io.ReadWriter) { u.serveRTU(port, echo) })
}

func (u *units) serveRTU(port io.ReadWriter, echo bool) {
	var buf []byte
	chunk := make([]byte, 256)
	for {
		n, err := port.Read(chunk)
		if err != nil {
			return
		}
		if echo {
			port.Write(chunk[:n])
		}
		for buf = append(buf, chunk[:n]...); len(buf) >= 8; {
			size := 8
			if buf[1] == 15 || buf[1] == 16 {
				size = 9 + int(buf[6])
			}
			if len(buf) < size {
				break
			}
			frame := buf[:size]
			buf = buf[size:]
			if crc(frame[:size-2]) != binary.LittleEndian.Uint16(frame[size-2:]) {
				buf = nil
				break
			}
			out := u.answer(frame[0], frame[1:size-2])
			if out != nil {
				out = rtu(frame[0], out)
			}
			u.mu.Lock()
			if u.raw != nil {
				if heard := u.raw(frame[0], frame[1:size-2]); heard != nil {
					out = heard
				}
			}
			u.mu.Unlock()
			twin, apart := u.twin, u.apart
			if out != nil && frame[0] == 1 && frame[1] == 3 && twin > 0 && apart < 0 {
				for i, b := range rtu(1, []byte{3, 2, byte(twin >> 8), byte(twin)}) {
					out[i] &= b
				}
			}
			if out != nil {
				port.Write(out)
			}
			if frame[0] == 1 && frame[1] == 3 && twin > 0 && apart >= 0 {
				say := func() { port.Write(rtu(1, []byte{3, 2, byte(twin >> 8), byte(twin)})) }
				if apart > 0 {
					time.AfterFunc(apart, say)
				} else {
					say()
				}
			}
		}
	}
}
