package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/drivers/line/pty"
)

// wire is the far end of a serial line: Modbus RTU units that answer whatever
// they are asked, at the pace of the line. A request is on the wire for its
// characters from the moment it is written, the answer begins a silence later,
// and its last byte comes when it would on copper. It runs in a thread of its
// own, before everybody else if the kernel allows: copper does not wait for a
// processor.
type wire struct {
	pty           *pty.Pty
	char, silence time.Duration

	mu     sync.Mutex
	silent map[byte]bool   // units that never answer
	drops  map[byte]uint64 // units that leave every so many requests unanswered
	seen   []frame
	late   sample // what the answers came late by: not the daemon's doing
	closed bool
	apart  bool // each byte of an answer comes by itself, when it would on copper
	over   chan struct{}
	news   chan struct{} // holds a token when a frame was seen
}

// frame is a request as it was seen on the wire.
type frame struct {
	at       moment        // when its first bit was
	end      moment        // when its last bit was
	gap      time.Duration // silence before it
	first    bool          // nothing was before it
	unit, fn byte
	addr     uint16
	value    uint16 // or count
	answered bool
}

// writes reports whether it changes something.
func (f frame) writes() bool { return f.fn == 5 || f.fn == 6 || f.fn == 15 || f.fn == 16 }

// newWire makes a line with characters of 11 bits.
func newWire(baud int) (*wire, error) {
	p, err := pty.Open()
	if err != nil {
		return nil, err
	}
	w := &wire{
		pty: p, char: 11 * time.Second / time.Duration(baud), silence: time.Duration(38.5 * float64(time.Second) / float64(baud)),
		silent: map[byte]bool{}, drops: map[byte]uint64{}, over: make(chan struct{}), news: make(chan struct{}, 1),
	}
	go w.serve()
	return w, nil
}

// close ends the line. The daemon should be stopped before.
func (w *wire) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	<-w.over
	w.pty.Close()
}

func (w *wire) serve() {
	runtime.LockOSThread() // and let it end with the goroutine
	defer close(w.over)
	// Refused to whoever is not root; then the answers come a little later.
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 10}, 0)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	fd := int(w.pty.Master().Fd()) // blocking from here on
	d := device{wire: w, fd: fd, bits: map[key]uint16{}, asked: map[byte]uint64{}}
	for {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		w.mu.Lock()
		closed := w.closed
		w.mu.Unlock()
		switch {
		case closed || err != nil && err != unix.EINTR:
			return
		case ready <= 0:
			continue
		}
		if err := d.once(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: serial device: "+err.Error())
			return
		}
	}
}

// key of a coil or register.
type key struct {
	unit byte
	coil bool
	addr uint16
}

// device is what only the thread of the line touches.
type device struct {
	*wire
	fd    int
	in    []byte
	bits  map[key]uint16
	asked map[byte]uint64
	ended moment // when the line was last busy
}

// once takes in what has come and answers it.
func (d *device) once() error {
	var buf [256]byte
	n, err := unix.Read(d.fd, buf[:])
	at := now()
	if err == unix.EINTR || err == unix.EAGAIN {
		return nil
	}
	if err != nil {
		return err
	}
	begun := len(d.in) == 0
	d.in = append(d.in, buf[:n]...)
	length := requestLength(d.in)
	if len(d.in) < length {
		return nil
	}
	q := d.in[:length]
	d.in = nil
	if !begun || crc(q) != 0 {
		return fmt.Errorf("the request % X came in pieces or damaged", q)
	}
	f := frame{
		at: at, end: at.add(time.Duration(length) * d.char), gap: at.sub(d.ended), first: d.ended == 0,
		unit: q[0], fn: q[1], addr: binary.BigEndian.Uint16(q[2:]), value: binary.BigEndian.Uint16(q[4:]),
	}
	answer := d.answer(q)
	d.mu.Lock()
	d.asked[f.unit]++
	every := d.drops[f.unit]
	f.answered = answer != nil && !d.silent[f.unit] && (every == 0 || d.asked[f.unit]%every != 0)
	d.mu.Unlock()
	d.ended = f.end
	if f.answered {
		due := f.end.add(d.silence + time.Duration(len(answer))*d.char)
		if err := d.say(answer, due); err != nil {
			return err
		}
		d.mu.Lock()
		d.late = append(d.late, d.ended.sub(due))
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.seen = append(d.seen, f)
	d.mu.Unlock()
	select {
	case d.news <- struct{}{}:
	default:
	}
	return nil
}

// say answers so that the last byte comes when it is due.
func (d *device) say(answer []byte, due moment) error {
	each := len(answer)
	if d.apart {
		each = 1
	}
	for len(answer) > 0 {
		sleepUntil(due.add(-time.Duration(len(answer)-each) * d.char))
		d.ended = now()
		if _, err := unix.Write(d.fd, answer[:each]); err != nil {
			return err
		}
		answer = answer[each:]
	}
	return nil
}

// requestLength of an RTU frame; more than there is if that cannot be told yet.
func requestLength(b []byte) int {
	switch {
	case len(b) < 8:
		return 8
	case b[1] == 15 || b[1] == 16:
		return 9 + int(b[6])
	}
	return 8
}

// answer carries a request out; nil for what nobody answers.
func (d *device) answer(q []byte) []byte {
	unit, fn := q[0], q[1]
	addr, n := binary.BigEndian.Uint16(q[2:]), binary.BigEndian.Uint16(q[4:])
	a := []byte{unit, fn}
	switch fn {
	case 1, 2:
		packed := make([]byte, (n+7)/8)
		for i := range n {
			packed[i/8] |= byte(d.bits[key{unit, true, addr + i}]&1) << (i % 8)
		}
		a = append(append(a, byte(len(packed))), packed...)
	case 3, 4:
		a = append(a, byte(2*n))
		for i := range n {
			a = binary.BigEndian.AppendUint16(a, d.bits[key{unit, false, addr + i}])
		}
	case 5:
		d.bits[key{unit, true, addr}] = n >> 15
		a = append(a, q[2:6]...)
	case 6:
		d.bits[key{unit, false, addr}] = n
		a = append(a, q[2:6]...)
	case 15:
		for i := range n {
			d.bits[key{unit, true, addr + i}] = uint16(q[7+i/8]>>(i%8)) & 1
		}
		a = append(a, q[2:6]...)
	case 16:
		for i := range n {
			d.bits[key{unit, false, addr + i}] = binary.BigEndian.Uint16(q[7+2*i:])
		}
		a = append(a, q[2:6]...)
	default:
		a = append(a[:1], fn|0x80, 1)
	}
	if unit == 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint16(a, crc(a))
}

// crc is that of Modbus over Serial Line V1.02, 6.2.2; 0 over a whole frame.
func crc(b []byte) uint16 {
	c := uint16(0xFFFF)
	for _, x := range b {
		c ^= uint16(x)
		for range 8 {
			odd := c & 1
			if c >>= 1; odd != 0 {
				c ^= 0xA001
			}
		}
	}
	return c
}

// frames returns what was seen from index from on.
func (w *wire) frames(from int) []frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]frame(nil), w.seen[min(from, len(w.seen)):]...)
}

// find waits for a frame from index from on.
func (w *wire) find(from int, limit time.Duration, want func(frame) bool) (frame, int, error) {
	deadline := time.After(limit)
	for i := from; ; {
		for _, f := range w.frames(i) {
			if want(f) {
				return f, i, nil
			}
			i++
		}
		select {
		case <-w.news:
		case <-deadline:
			return frame{}, i, fmt.Errorf("the frame waited for was not on the wire within %v", limit)
		}
	}
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}
