package dmxsim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Node is a fixture to be played: start slot and the name of its profile.
type Node struct {
	Name    string
	Address string // start slot, "1" to "512"
	Profile string
	// Options of the site's node that change what slots mean: order, kelvinMin,
	// kelvinMax. Others are ignored.
	Options map[string]string
}

// Config of a simulated widget. The zero value is a Pro with RDM firmware and
// nothing on the line.
type Config struct {
	Serial       uint32 // eight decimal digits as BCD; zero: 12345678
	FirmwareHigh byte   // 1 DMX, 2 RDM; zero: 2
	FirmwareLow  byte   // zero: 4
	Rate         int    // packets a second; zero: 40
	// QuietAfterDiscovery: no label 12 follows a discovery answer, as with firmware
	// from 4.15 on.
	QuietAfterDiscovery bool
	// HoldFor is how long fixtures keep their light without a signal; zero: 1 s.
	HoldFor    time.Duration
	Nodes      []Node
	Responders []Responder
	Seed       uint64
}

// Widget is the interface and the line behind it. Safe for concurrent use.
type Widget struct {
	config   Config
	fixtures []*fixture

	mu         sync.Mutex
	random     *rand.Rand
	universe   [512]byte // on the wire
	changed    [512]time.Time
	used       int       // slots of the last label 6
	taken      [512]byte // as the host said last
	packets    []packet  // with something new, not on the wire yet; in order
	phase      time.Time // beginning of some packet
	stoppedAt  time.Time // when the output was stopped; zero: it runs
	everSent   bool
	responders []*responder
	faults     Faults
	faulty     map[int]FixtureFault // as the responders have it
	counters   Counters
	log        []Event
	host       io.Writer // nil: not plugged in
}

// packet is a universe that waits for the widget's next packet.
type packet struct {
	slots []byte
	from  time.Time
}

// Counters of frames since the beginning.
type Counters struct {
	Received int         `json:"received"`
	ByLabel  map[int]int `json:"byLabel"`
	Answered int         `json:"answered"`
	Noise    int         `json:"noise"` // bytes that belonged to no frame
	Stopped  int         `json:"stopped"`
}

// Event is one frame that came from the host.
type Event struct {
	Number int // of those that were received, from 1
	At     time.Time
	Label  byte
	Data   []byte
	// Changed slots, of label 6; OnWire is when the first of them was.
	Changed int
	OnWire  time.Time
}

const maxEvents = 4096

// New makes a widget. It refuses fixtures that it does not know.
func New(cfg Config) (*Widget, error) {
	if cfg.Serial == 0 {
		cfg.Serial = 0x12345678
	}
	if cfg.FirmwareHigh == 0 {
		cfg.FirmwareHigh = 2
	}
	if cfg.FirmwareLow == 0 {
		cfg.FirmwareLow = 4
	}
	if cfg.Rate == 0 {
		cfg.Rate = 40
	}
	if cfg.HoldFor == 0 {
		cfg.HoldFor = time.Second
	}
	w := &Widget{config: cfg, random: rand.New(rand.NewPCG(cfg.Seed, 7)), counters: Counters{ByLabel: map[int]int{}}}
	for _, n := range cfg.Nodes {
		f, err := newFixture(n)
		if err != nil {
			return nil, fmt.Errorf("fixture %q at %s: %w", n.Name, n.Address, err)
		}
		w.fixtures = append(w.fixtures, f)
	}
	for _, r := range cfg.Responders {
		w.responders = append(w.responders, newResponder(r))
	}
	return w, nil
}

// Serve talks to a host over rw until ctx ends or rw does. It may be called again,
// after a replug for instance; the widget then starts without output, as real ones
// do when they get power.
func (w *Widget) Serve(ctx context.Context, rw io.ReadWriteCloser) error {
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	defer stop()
	w.power(rw)
	defer w.power(nil)
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := rw.Read(buf)
		if n > 0 {
			pending = append(pending, buf[:n]...)
			var writeErr error
			pending, writeErr = w.eat(ctx, pending, rw)
			err = errors.Join(err, writeErr)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("simulated DMX widget: %w", err)
		}
	}
}

// Say writes bytes to the host that it did not ask for: babble, half frames, or
// what a widget reports of another sender on the line.
func (w *Widget) Say(b []byte) error {
	w.mu.Lock()
	host := w.host
	w.mu.Unlock()
	if host == nil {
		return errors.New("the simulated widget is not plugged in")
	}
	_, err := host.Write(b)
	return err
}

// power is what happens when the adapter is plugged in or pulled.
func (w *Widget) power(host io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host = host
	w.settle(time.Now())
	w.packets = nil
	w.stoppedAt = time.Now()
}

// eat takes whole frames from the front of b and returns the rest.
func (w *Widget) eat(ctx context.Context, b []byte, out io.Writer) ([]byte, error) {
	for {
		size, bad := measure(b)
		if bad {
			w.mu.Lock()
			w.counters.Noise++
			w.mu.Unlock()
			b = b[1:]
			continue
		}
		if size == 0 {
			return b, nil
		}
		answers := w.take(time.Now(), b[1], append([]byte(nil), b[4:size-1]...))
		b = b[size:]
		for _, a := range answers {
			if err := w.send(ctx, out, a); err != nil {
				return b, err
			}
		}
	}
}

// send writes one answer, with the faults of the day.
func (w *Widget) send(ctx context.Context, out io.Writer, a []byte) error {
	w.mu.Lock()
	delay := w.faults.Late
	if w.faults.Damage > 0 && w.random.Float64() < w.faults.Damage {
		a = append([]byte(nil), a...)
		a[w.random.IntN(len(a))] ^= byte(1 + w.random.IntN(255))
	}
	if n := w.faults.Noise; n > 0 {
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(w.random.IntN(256)) &^ 0x02 // never 7E
		}
		a = append(noise, a...)
	}
	w.counters.Answered++
	w.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	_, err := out.Write(a)
	return err
}

// measure tells how long the frame at the front of b is: 0 while not known, bad
// when its first byte can begin none.
func measure(b []byte) (size int, bad bool) {
	if len(b) == 0 {
		return 0, false
	}
	if b[0] != 0x7e {
		return 0, true
	}
	if len(b) < 4 {
		return 0, false
	}
	payload := int(b[3])*256 + int(b[2])
	if payload > 600 {
		return 0, true
	}
	if len(b) < payload+5 {
		return 0, false
	}
	return payload + 5, b[payload+4] != 0xe7
}

// wrap frames an answer.
func wrap(label byte, payload ...byte) []byte {
	out := append([]byte{0x7e, label, byte(len(payload) % 256), byte(len(payload) / 256)}, payload...)
	return append(out, 0xe7)
}

// take handles one frame and returns what the widget says to it.
func (w *Widget) take(now time.Time, label byte, data []byte) [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(now)
	w.counters.Received++
	w.counters.ByLabel[int(label)]++
	e := Event{Number: w.counters.Received, At: now, Label: label, Data: data}
	if w.faults.deaf(now) {
		return nil
	}
	var answers [][]byte
	switch label {
	case 6:
		e.Changed, e.OnWire = w.output(now, data)
	case 3:
		if !w.faults.NoParameters {
			answers = append(answers, wrap(3, w.config.FirmwareLow, w.config.FirmwareHigh, 9, 1, byte(w.config.Rate)))
		}
	default:
		w.halt(now)
		answers = w.other(label, data)
	}
	w.log = append(w.log, e)
	if len(w.log) > maxEvents {
		w.log = append(w.log[:0], w.log[maxEvents/4:]...)
	}
	return answers
}

// other are the labels that stop the output.
func (w *Widget) other(label byte, data []byte) [][]byte {
	s := w.config.Serial
	switch label {
	case 10:
		return [][]byte{wrap(10, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))}
	case 7, 11:
		if w.config.FirmwareHigh == 2 {
			return w.rdm(data)
		}
	}
	return nil
}

func (w *Widget) halt(now time.Time) {
	if w.stoppedAt.IsZero() {
		w.stoppedAt = now
		w.counters.Stopped++
	}
}

// period of the widget's packets: its rate, or their length if that is more.
func (w *Widget) period() time.Duration {
	length := 200*time.Microsecond + time.Duration(w.used+1)*44*time.Microsecond
	return max(time.Second/time.Duration(w.config.Rate), length)
}

// output takes a universe; it is on the wire from the next packet on.
func (w *Widget) output(now time.Time, data []byte) (changed int, onWire time.Time) {
	if len(data) < 1 || data[0] != 0 || len(data) > 513 {
		return 0, time.Time{} // not a universe
	}
	from := now
	if w.stoppedAt.IsZero() && w.everSent {
		p := w.period()
		from = w.phase.Add((now.Sub(w.phase) + p - 1) / p * p)
	}
	slots := data[1:]
	first := -1
	for i, v := range slots {
		if w.taken[i] != v {
			changed++
			if first < 0 {
				first = i
			}
		}
	}
	copy(w.taken[:], slots)
	if n := len(w.packets); n > 0 && w.packets[n-1].from.After(now) {
		w.packets = w.packets[:n-1] // it has not begun: this one goes out in its place
	}
	w.packets = append(w.packets, packet{slots: slots, from: from})
	w.phase, w.stoppedAt, w.everSent = from, time.Time{}, true
	w.used = len(slots)
	if first >= 0 {
		onWire = slotAt(from, first)
	}
	w.settle(now)
	return changed, onWire
}

// slotAt is when a slot (from 0) of a packet is complete.
func slotAt(from time.Time, slot int) time.Time {
	return from.Add(110*time.Microsecond + time.Duration(slot+2)*44*time.Microsecond)
}

// settle puts on the wire what is due by now.
func (w *Widget) settle(now time.Time) {
	for len(w.packets) > 0 {
		p := w.packets[0]
		for i, v := range p.slots {
			at := slotAt(p.from, i)
			if at.After(now) {
				return
			}
			if w.universe[i] != v {
				w.universe[i], w.changed[i] = v, at
			}
		}
		w.packets = w.packets[1:]
	}
}
