package modbus

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/line/pty"
)

// deadline bounds every wait of the tests.
const deadline = 3 * time.Minute

// wire is the far end of a bus.
type wire struct {
	port string // as the bus entry names it
	conn chan io.ReadWriteCloser
	end  io.Closer
}

// copper is what the buses of tests in a bubble are plugged into, each at a port of its own.
var (
	copper  cable.Net
	plugged atomic.Int64
)

// The names of ports in memory: no port of this machine has such.
const (
	memoryDir  = "/memory/"
	memoryHost = "192.0.2.1"
)

// openWire opens a bus where its port is.
func openWire(cfg appliance.BusConfig) (appliance.Opened, error) {
	if strings.Contains(cfg.Bus.Port, memoryDir) || strings.Contains(cfg.Bus.Port, memoryHost) {
		return OpenOn(cfg, copper.Ports())
	}
	return Open(cfg)
}

// serialWire makes a serial line in memory.
func serialWire(t testing.TB) *wire {
	t.Helper()
	path := fmt.Sprint(memoryDir, plugged.Add(1))
	end, err := copper.Plug(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	return serialEnd(path, end, end)
}

// ptyWire makes a pseudo-terminal, for real time.
func ptyWire(t testing.TB) *wire {
	t.Helper()
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return serialEnd(p.SlavePath(), p, p.Master())
}

func serialEnd(port string, pull io.Closer, end io.ReadWriteCloser) *wire {
	w := &wire{port: port, end: pull, conn: make(chan io.ReadWriteCloser, 1)}
	w.conn <- end
	return w
}

// socketWire listens in memory; every connection is offered in turn.
func socketWire(t testing.TB, scheme string) *wire {
	t.Helper()
	l, err := copper.Listen(memoryHost + ":0")
	return socketEnd(t, scheme, l, err)
}

// loopbackWire listens on the loopback, for real time.
func loopbackWire(t testing.TB, scheme string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return socketEnd(t, scheme, l, err)
}

func socketEnd(t testing.TB, scheme string, l net.Listener, err error) *wire {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{port: scheme + "://" + l.Addr().String(), end: l, conn: make(chan io.ReadWriteCloser, 8)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(w.conn)
				return
			}
			w.conn <- c
		}
	}()
	return w
}

// play answers every request with what respond returns, piece by piece; pauses
// lie between pieces. It ends with the wire.
func (w *wire) play(t testing.TB, tcp bool, respond func(request []byte) []piece) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var now io.Closer // the connection being served
	over := false
	t.Cleanup(func() {
		w.end.Close()
		mu.Lock()
		over = true
		if now != nil {
			now.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Add(1)
	go func() {
		defer wg.Done()
		for c := range w.conn {
			mu.Lock()
			if now = c; over {
				c.Close()
			}
			mu.Unlock()
			serve(c, tcp, respond)
			if !strings.Contains(w.port, "://") {
				return
			}
		}
	}()
}

type piece struct {
	after time.Duration
	bytes []byte
}

func serve(c io.ReadWriteCloser, tcp bool, respond func([]byte) []piece) {
	defer c.Close()
	var buf []byte
	chunk := make([]byte, 512)
	for {
		n, err := c.Read(chunk)
		if err != nil {
			return
		}
		buf = append(buf, chunk[:n]...)
		for {
			size := requestSize(buf, tcp)
			if size == 0 || len(buf) < size {
				break
			}
			for _, p := range respond(slices.Clone(buf[:size])) {
				if p.after > 0 {
					<-time.After(p.after)
				}
				if _, err := c.Write(p.bytes); err != nil {
					return
				}
			}
			buf = buf[size:]
		}
	}
}

// requestSize is the length of the request that buf begins; 0: not known yet.
func requestSize(buf []byte, tcp bool) int {
	if tcp {
		if len(buf) < 6 {
			return 0
		}
		return 6 + int(binary.BigEndian.Uint16(buf[4:]))
	}
	if len(buf) >= 7 && buf[1] == 0x2B {
		return 7
	}
	if len(buf) < 8 {
		return 0
	}
	switch buf[1] {
	case 0x0F, 0x10:
		return 9 + int(buf[6])
	case 0x16:
		return 10
	case 0x17:
		if len(buf) < 11 {
			return 0
		}
		return 13 + int(buf[10])
	}
	return 8
}

// bank is a slave with plain tables: what is written can be read.
type bank struct {
	mu     sync.Mutex
	words  map[byte]map[point]uint16
	frames [][]byte // received, in order
	// alias tells where writes to a point show up besides.
	alias func(unit byte, p point, w uint16)
	deny  func(unit byte, fn byte, p point, n int) byte // exception code, or 0
	mute  func(unit byte) bool
}

func newBank() *bank { return &bank{words: make(map[byte]map[point]uint16)} }

func (b *bank) set(unit byte, p point, w uint16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(unit, p, w)
}

func (b *bank) put(unit byte, p point, w uint16) {
	if b.words[unit] == nil {
		b.words[unit] = make(map[point]uint16)
	}
	b.words[unit][p] = w
}

func (b *bank) get(unit byte, p point) uint16 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.words[unit][p]
}

// written returns the frames received that change something, as hex without
// checksum, and forgets all frames.
func (b *bank) written() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, f := range b.frames {
		if f[1] == 5 || f[1] == 6 || f[1] == 0x0F || f[1] == 0x10 {
			list = append(list, hex.EncodeToString(f))
		}
	}
	b.frames = nil
	return list
}

// answer is the PDU that answers one, or nil.
func (b *bank) answer(unit byte, pdu []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frames = append(b.frames, append([]byte{unit}, pdu...))
	if unit == 0 {
		for u := range maps.Clone(b.words) {
			b.execute(u, pdu)
		}
		return nil
	}
	if b.words[unit] == nil || b.mute != nil && b.mute(unit) {
		return nil
	}
	return b.execute(unit, pdu)
}

func (b *bank) execute(unit byte, pdu []byte) []byte {
	be := binary.BigEndian
	fn := pdu[0]
	if fn == 0x2B {
		return []byte{fn | 0x80, 1}
	}
	addr, n := be.Uint16(pdu[1:]), int(be.Uint16(pdu[3:]))
	table := map[byte]table{1: coils, 5: coils, 0x0F: coils, 2: discretes, 4: inputs}[fn]
	if table == "" {
		table = holdings
	}
	count := n
	if fn == 5 || fn == 6 {
		count = 1
	}
	if b.deny != nil {
		if code := b.deny(unit, fn, point{table, addr}, count); code != 0 {
			return []byte{fn | 0x80, code}
		}
	}
	write := func(i int, w uint16) {
		p := point{table, addr + uint16(i)}
		b.put(unit, p, w)
		if b.alias != nil {
			b.alias(unit, p, w)
		}
	}
	read := func(i int) uint16 { return b.words[unit][point{table, addr + uint16(i)}] }
	switch fn {
	case 1, 2:
		bits := make([]bool, n)
		for i := range bits {
			bits[i] = read(i) != 0
		}
		packed := packBits(bits)
		return append([]byte{fn, byte(len(packed))}, packed...)
	case 3, 4:
		out := []byte{fn, byte(2 * n)}
		for i := range n {
			out = be.AppendUint16(out, read(i))
		}
		return out
	case 5:
		write(0, uint16(n>>15))
		return pdu
	case 6:
		write(0, uint16(n))
		return pdu
	case 0x0F:
		for i, on := range unpackBits(pdu[6:], n) {
			w := uint16(0)
			if on {
				w = 1
			}
			write(i, w)
		}
		return pdu[:5]
	case 0x10:
		for i, w := range words(pdu[6:]) {
			write(i, w)
		}
		return pdu[:5]
	}
	return []byte{fn | 0x80, 1}
}

// rtu makes frames of a PDU.
func rtuFrame(unit byte, pdu []byte) []byte {
	f := append([]byte{unit}, pdu...)
	return binary.LittleEndian.AppendUint16(f, crc16(f))
}

func (b *bank) serve(t testing.TB, w *wire) {
	tcp := strings.HasPrefix(w.port, "tcp://")
	w.play(t, tcp, func(q []byte) []piece {
		if tcp {
			pdu := b.answer(q[6], q[7:])
			if pdu == nil {
				return nil
			}
			out := append(slices.Clone(q[:4]), 0, byte(len(pdu)+1), q[6])
			return []piece{{bytes: append(out, pdu...)}}
		}
		pdu := b.answer(q[0], q[1:len(q)-2])
		if pdu == nil {
			return nil
		}
		return []piece{{bytes: rtuFrame(q[0], pdu)}}
	})
}

// busOf makes a bus entry for a wire. Time-outs are long enough for a loaded
// machine.
func busOf(w *wire, options map[string]string) appliance.BusConfig {
	all := map[string]string{"responseTimeout": "2s", "turnaround": "5ms"}
	maps.Copy(all, options)
	cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "test", Driver: "modbus", Port: w.port, Options: all}}
	if !strings.Contains(w.port, "://") {
		cfg.Bus.Line = appliance.LineSettings{BaudRate: 115200}
	}
	return cfg
}

// open opens a bus and runs it until the test ends.
func open(t testing.TB, cfg appliance.BusConfig) (*Driver, appliance.Opened) {
	t.Helper()
	opened, err := openWire(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- opened.Driver.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the driver ended with %v", err)
		}
	})
	return opened.Driver.(*Driver), opened
}

// do performs an exchange with a deadline.
func do(t testing.TB, e appliance.Exchange) (appliance.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return e.Do(ctx, appliance.Yield{})
}

// perform runs a chain and returns what verification read.
func perform(t testing.TB, c appliance.Chain) map[appliance.Ref]appliance.Values {
	t.Helper()
	for i, step := range c.Steps {
		res, err := do(t, step)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if last := i == len(c.Steps)-1; last && res.Sent.IsZero() {
			t.Fatalf("the last step, %d, sent nothing", i)
		}
	}
	return observe(t, c.Verify)
}

func observe(t testing.TB, reads []appliance.Exchange) map[appliance.Ref]appliance.Values {
	t.Helper()
	got := make(map[appliance.Ref]appliance.Values)
	for i, e := range reads {
		res, err := do(t, e)
		if err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
		for _, r := range res.Readings {
			v := got[r.Ref]
			if r.Has&(appliance.CanDim|appliance.CanSwitch) != 0 {
				v.Level = r.Level
			}
			if r.Has.Has(appliance.CanTune) {
				v.Kelvin = r.Kelvin
			}
			if r.Has.Has(appliance.CanColour) {
				v.RGBW = r.RGBW
			}
			if r.Has.Has(appliance.CanMove) {
				v.Motion = r.Motion
			}
			if r.Has.Has(appliance.CanMeasure) {
				v.Power = r.Power
			}
			v.Has |= r.Has
			got[r.Ref] = v
		}
	}
	return got
}

func pollAll(t testing.TB, d *Driver) map[appliance.Ref]appliance.Values {
	t.Helper()
	var reads []appliance.Exchange
	for _, p := range d.Polls() {
		reads = append(reads, p.Exchange)
	}
	return observe(t, reads)
}

func node(id appliance.ID, address, profile string) appliance.Node {
	return appliance.Node{ID: id, Name: "node " + address, Address: address, Profile: profile}
}

func channel(n appliance.ID, c int) appliance.Ref { return appliance.Ref{Node: n, Channel: c} }

func level(ref appliance.Ref, p appliance.Level) appliance.Want {
	return appliance.Want{Ref: ref, Values: appliance.Values{Has: appliance.CanDim, Level: p}}
}

// lineRequest is a request without the driver around it.
func lineRequest(frame []byte, scan func([]byte) (int, line.Verdict)) line.Request {
	return line.Request{Frame: frame, Scan: scan, Timeout: 20 * time.Second}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", deadline, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
