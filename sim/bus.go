package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
)

type busKind string

// The kinds of buses.
const (
	kindTCP    busKind = "tcp"     // Modbus TCP gateway
	kindRTUTCP busKind = "rtu+tcp" // serial server: RTU frames in a stream
	kindSerial busKind = "serial"  // pseudo-terminal
)

// bus is one port and the devices on it.
type bus struct {
	name    string
	kind    busKind
	port    string // as in the site: path, or host:port
	line    lineSpeed
	slog    *slog.Logger
	missing bool // a gateway answers for units that do not exist
	base    float64
	cables  *cable.Net // nil: the machine's own ports
	player  player     // not nil: the devices are not Modbus units, but played by this

	// turn is held by whoever talks to the devices: one request at a time.
	turn chan struct{}
	// wake tells the port's goroutine that pulled or cuts changed.
	wake chan struct{}

	mu        sync.Mutex
	units     map[byte]*unit
	rng       *rand.Rand
	faults    []*running
	faultHits map[FaultKind]uint64
	pulled    int           // unplug faults in force
	cuts      uint64        // close faults so far
	hanging   int           // hang faults in force
	awake     chan struct{} // closed when it hangs no more
	up        bool
	where     string // port as clients open it, once it is up
	began     time.Time
	counts    counters
	frameLog  ring[frameEntry]
	writeLog  ring[writeEntry]
	// groupFrames that addressed several devices, of a Modbus line broadcasts.
	groupFrames uint64

	energy   float64 // kWh since began
	energyAt time.Time
	watts    float64 // at energyAt
}

// counters of a bus.
type counters struct {
	requests, answers       uint64
	bytesIn, bytesOut       uint64
	garbled, collisions     uint64
	silenceViolations       uint64
	busy                    time.Duration // wire time used
	connections, rejections uint64
}

func newBus(site appliance.Bus, opts Options, log *slog.Logger) (*bus, error) {
	if site.Driver != "modbus" && players[site.Driver] == nil {
		return nil, fmt.Errorf("bus %s: driver %q cannot be simulated; modbus, sdn, dali and dmx can", site.Name, site.Driver)
	}
	h := fnv.New64a()
	h.Write([]byte(site.Name))
	b := &bus{name: site.Name, slog: log.With("bus", site.Name), base: opts.BaseLoad, cables: opts.Cables,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		units: map[byte]*unit{}, rng: rand.New(rand.NewPCG(uint64(opts.Seed), h.Sum64())),
		faultHits: map[FaultKind]uint64{}, frameLog: ring[frameEntry]{bound: frameRing},
		writeLog: ring[writeEntry]{bound: writeRing}}
	var err error
	switch scheme, rest, ok := strings.Cut(site.Port, "://"); {
	case !ok:
		b.kind, b.port = kindSerial, site.Port
		if b.cables == nil {
			err = checkPath(site.Port)
		}
		if err == nil {
			b.line, err = speedOf(site.Line)
		}
	case scheme == string(kindTCP), scheme == string(kindRTUTCP):
		b.kind = busKind(scheme)
		b.missing = b.kind == kindTCP && !opts.SilentGateways
		b.port, err = loopback(rest)
	default:
		err = fmt.Errorf("want a path, tcp://127.0.0.1:port or rtu+tcp://127.0.0.1:port")
	}
	if err != nil {
		return nil, fmt.Errorf("bus %s: port %s: %w", site.Name, site.Port, err)
	}
	return b, nil
}

// loopback completes host:port and refuses what others could reach.
func loopback(hostport string) (string, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = hostport, "502"
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%s is not a loopback address; a simulated building serves its own machine only", host)
	}
	return net.JoinHostPort(host, port), nil
}

// reply is what goes back on the wire after a request.
type reply struct {
	bytes []byte        // nil: nobody answers
	delay time.Duration // besides t3.5: the device's latency and faults
}

// handle carries out a request that was complete at moment at. raw is the whole
// frame as it came; pack makes a frame of an answer.
func (b *bus) handle(at time.Time, raw []byte, number byte, pdu []byte, pack func(unit byte, pdu []byte) []byte) reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.requests++
	t := b.draw(number)
	u := b.units[number]
	if t.loseRequest || t.corruptRequest {
		b.log(at, Request, raw, t.note(), nil)
		return b.echoOnly(t, raw)
	}
	if number == 0 {
		b.groupFrames++
		b.log(at, Request, raw, joinNotes("broadcast", t.note()), b.broadcast(at, pdu, t))
		return b.echoOnly(t, raw)
	}
	var answer []byte
	var changes []Change
	var latency time.Duration
	switch {
	case u == nil && b.missing:
		answer = []byte{pdu[0] | exceptionBit, byte(targetNoResponse)}
	case u == nil:
		b.log(at, Request, raw, joinNotes("no such unit", t.note()), nil)
		return b.echoOnly(t, raw)
	default:
		latency = u.latency
		answer, changes = b.obey(at, u, pdu, t)
	}
	b.log(at, Request, raw, t.note(), changes)
	if t.loseAnswer || answer == nil {
		return b.echoOnly(t, raw)
	}
	frame := pack(number, answer)
	if t.corruptAnswer {
		b.spoil(frame)
	}
	b.counts.answers++
	return reply{bytes: b.decorate(t, raw, frame, pack), delay: latency + t.delay}
}

// obey has a unit execute a request, faults considered.
func (b *bus) obey(at time.Time, u *unit, pdu []byte, t trouble) ([]byte, []Change) {
	u.seen(at)
	if t.exception != noException {
		return []byte{pdu[0] | exceptionBit, byte(t.exception)}, nil
	}
	if !isWrite(pdu[0]) {
		return u.execute(at, pdu), nil
	}
	if t.stuck && !u.hasShades() && len(pdu) >= 5 && pdu[0] != fnReadWrite {
		if pdu[0] == fnWriteCoils || pdu[0] == fnWriteRegisters {
			return pdu[:5], nil
		}
		return pdu, nil
	}
	return b.write(at, u, pdu, "wire")
}

// write executes a writing request and records it if the unit did not refuse.
func (b *bus) write(at time.Time, u *unit, pdu []byte, source string) ([]byte, []Change) {
	b.account(at)
	before := u.aims(at)
	answer := u.execute(at, pdu)
	if len(answer) == 0 || answer[0]&exceptionBit != 0 {
		return answer, nil
	}
	changes := describe(before, u.aims(at))
	b.account(at)
	u.writes++
	b.writeLog.add(writeEntry{at, u.number, source, append([]byte(nil), pdu...), changes})
	return answer, changes
}

// broadcast has every unit execute a writing request that hears it and is not stuck;
// nobody answers. t is what faults of all units do to it.
func (b *bus) broadcast(at time.Time, pdu []byte, t trouble) []Change {
	if len(pdu) == 0 || !isWrite(pdu[0]) {
		return nil
	}
	var all []Change
	for n := range 256 {
		u := b.units[byte(n)]
		if u == nil {
			continue
		}
		own := b.drawOwn(byte(n))
		if own.loseRequest || own.corruptRequest {
			continue
		}
		u.seen(at)
		if t.exception != noException || own.exception != noException || (t.stuck || own.stuck) && !u.hasShades() {
			continue
		}
		_, changes := b.write(at, u, pdu, "broadcast")
		all = append(all, changes...)
	}
	return all
}

// echoOnly is the reply when no device answers: nothing, or the adapter's echo.
func (b *bus) echoOnly(t trouble, raw []byte) reply {
	if !t.echo {
		return reply{}
	}
	return reply{bytes: append([]byte(nil), raw...)}
}

// decorate puts before an answer what faults put there.
func (b *bus) decorate(t trouble, raw, frame []byte, pack func(byte, []byte) []byte) []byte {
	var out []byte
	if t.echo {
		out = append(out, raw...)
	}
	if t.noise {
		for range 1 + b.rng.IntN(3) {
			out = append(out, byte(b.rng.IntN(256)))
		}
	}
	if t.foreign {
		out = append(out, pack(byte(1+b.rng.IntN(247)), []byte{fnReadHolding, 2, 0x12, 0x34})...)
	}
	if t.duplicate {
		frame = b.twinAnswer(frame)
	}
	return append(out, frame...)
}

func joinNotes(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// account integrates the energy of the bus up to now.
func (b *bus) account(now time.Time) {
	watts := b.base
	for _, u := range b.units {
		watts += u.power(now)
	}
	if !b.energyAt.IsZero() && now.After(b.energyAt) {
		b.energy += (b.watts + watts) / 2 * now.Sub(b.energyAt).Hours() / 1000
	}
	b.watts, b.energyAt = watts, now
}

// load is what the meters of the bus see.
func (b *bus) load(now time.Time) busMeter {
	b.account(now)
	return busMeter{watts: b.watts, kWh: b.energy}
}

// readdress moves a unit to another address.
func (b *bus) readdress(u *unit, to byte) bool {
	if b.units[to] != nil {
		return false
	}
	delete(b.units, u.number)
	u.number = to
	b.units[to] = u
	return true
}

// take waits for the turn to talk to the devices.
func (b *bus) take(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bus) giveBack() { <-b.turn }

// awaken returns when the gateway does not hang, or ctx ended.
func (b *bus) awaken(ctx context.Context) error {
	for {
		b.mu.Lock()
		hanging, awake := b.hanging > 0, b.awake
		b.mu.Unlock()
		if !hanging {
			return nil
		}
		select {
		case <-awake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *bus) nudge() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
