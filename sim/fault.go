package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	FaultDrop        FaultKind = "drop"        // request or answer is lost, one as likely as the other
	FaultDropRequest FaultKind = "dropRequest" // the device never hears the request
	FaultDropAnswer  FaultKind = "dropAnswer"  // the device obeys and its answer is lost
	FaultDelay       FaultKind = "delay"       // the answer comes DelayMs later
	FaultCorrupt     FaultKind = "corrupt"     // a bit of request or answer is flipped; on Modbus TCP a field of the answer
	FaultRefuse      FaultKind = "refuse"      // exception Exception instead of obeying
	FaultBusy        FaultKind = "busy"        // exception 06 instead of obeying
	FaultSilent      FaultKind = "silent"      // the device is dead
	FaultNoise       FaultKind = "noise"       // one to three stray bytes before the answer
	FaultEcho        FaultKind = "echo"        // the adapter echoes what it sends
	FaultForeign     FaultKind = "foreign"     // another unit's frame comes before the answer
	FaultPower       FaultKind = "power"       // the device has no power: its motors stop where they are; when it is back, none runs. Modbus only
	FaultStuck       FaultKind = "stuck"       // acknowledges and does not move or change
	FaultLamp        FaultKind = "lampFailure" // the lamp is broken; not on Modbus
	FaultDuplicate   FaultKind = "duplicate"   // a second device has the same address
	FaultBabble      FaultKind = "babble"      // a device talks without being asked and listens to nobody
	FaultSettings    FaultKind = "settings"    // the device has another bit rate or parity than its Modbus line
	FaultUnplug      FaultKind = "unplug"      // the adapter is pulled, the gateway switched off, until the fault ends
	FaultHang        FaultKind = "hang"        // the gateway takes what it is sent and does nothing until the fault ends; then all of it
	FaultClose       FaultKind = "close"       // connections are cut once, or the adapter comes back at once
)

var faultKinds = []FaultKind{FaultDrop, FaultDropRequest, FaultDropAnswer, FaultDelay, FaultCorrupt, FaultRefuse,
	FaultBusy, FaultSilent, FaultPower, FaultNoise, FaultEcho, FaultForeign, FaultStuck, FaultLamp, FaultDuplicate, FaultBabble, FaultSettings, FaultUnplug, FaultHang, FaultClose}

// Fault is something that goes wrong on demand. Faults of different kinds are
// drawn one by one for every exchange.
type Fault struct {
	ID      int    `json:"id"`
	Bus     string `json:"bus,omitempty"`     // empty: every bus
	Address string `json:"address,omitempty"` // unit, as "5", or a node's address, of which the unit counts; empty: all
	// Kind is required.
	Kind FaultKind `json:"kind"`
	// Rate is how often, 0 to 1; 0 means always.
	Rate float64 `json:"rate,omitempty"`
	// DelayMs is for delay: 1 to 60000 ms.
	DelayMs int `json:"delayMs,omitempty"`
	// Exception is for refuse: a code from 1 to 11, 0 means 4, device failure; for a
	// shade motor its reason from 1 to 255, 0 means 39, that it protects itself.
	Exception int `json:"exception,omitempty"`
	// BaudRate and Parity (none, even, odd) are for settings: what the device has
	// instead; zero and empty: as the line.
	BaudRate int    `json:"baudRate,omitempty"`
	Parity   string `json:"parity,omitempty"`
	// DurationMs ends the fault by itself; 0 means it stays until deleted.
	DurationMs int `json:"durationMs,omitempty"`
	// Count ends the fault after so many hits; 0 means no limit.
	Count int `json:"count,omitempty"`
	// Hits counts the exchanges it struck.
	Hits int64 `json:"hits"`
}

// Bounds of a fault's fields.
const (
	maxFaultDelay    = 60_000
	maxFaultDuration = 24 * 3600 * 1000
	maxFaults        = 1000
	maxException     = 11 // of Modbus
	maxBaud          = 4_000_000
	// leastRate keeps the pauses that are reckoned from it within what a duration holds.
	leastRate = 1e-6
)

// check validates f and completes it.
func (f *Fault) check() error {
	switch {
	case !slices.Contains(faultKinds, f.Kind):
		return fmt.Errorf("kind %q: want one of %s", f.Kind, joinKinds())
	case f.Rate != 0 && !(f.Rate >= leastRate && f.Rate <= 1): // NaN, too
		return fmt.Errorf("rate %v: want %v to 1", f.Rate, leastRate)
	case f.Kind == FaultDelay && (f.DelayMs < 1 || f.DelayMs > maxFaultDelay):
		return fmt.Errorf("delayMs %d: want 1 to %d", f.DelayMs, maxFaultDelay)
	case f.Kind != FaultDelay && f.DelayMs != 0:
		return fmt.Errorf("delayMs: only for kind delay")
	case f.Kind != FaultSettings && (f.BaudRate != 0 || f.Parity != ""):
		return fmt.Errorf("baudRate and parity: only for kind settings")
	case f.Kind == FaultSettings && f.BaudRate == 0 && f.Parity == "":
		return fmt.Errorf("kind settings: want baudRate, parity or both")
	case f.BaudRate < 0 || f.BaudRate > maxBaud:
		return fmt.Errorf("baudRate %d: want 1 to %d", f.BaudRate, maxBaud)
	case f.Parity != "" && !slices.Contains([]string{"none", "even", "odd"}, f.Parity):
		return fmt.Errorf("parity %q: want none, even or odd", f.Parity)
	case f.Exception < 0 || f.Exception > 255:
		return fmt.Errorf("exception %d: want 1 to %d, of a shade motor 1 to 255", f.Exception, maxException)
	case f.Exception != 0 && f.Kind != FaultRefuse:
		return fmt.Errorf("exception: only for kind refuse")
	case f.DurationMs < 0 || f.DurationMs > maxFaultDuration:
		return fmt.Errorf("durationMs %d: want 0 to %d", f.DurationMs, maxFaultDuration)
	case f.Count < 0:
		return fmt.Errorf("count %d: want 0 or more", f.Count)
	}
	if f.Address != "" && f.Kind.ofPort() {
		return fmt.Errorf("address: %s strikes a whole bus", f.Kind)
	}
	if f.Rate == 0 {
		f.Rate = 1
	}
	f.ID, f.Hits = 0, 0
	return nil
}

// ofPort reports whether a kind strikes a whole port, and not exchanges on it.
func (k FaultKind) ofPort() bool { return k == FaultUnplug || k == FaultHang || k == FaultClose }

func joinKinds() string {
	var words []string
	for _, k := range faultKinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}

// running is a fault in force, shared by the buses it concerns.
type running struct {
	Fault
	unit int // 0: every unit
	hits atomic.Int64
	stop func() // ends its timer; may be nil
}

// strikes draws whether the fault hits an exchange with unit.
func (r *running) strikes(rng *rand.Rand, unit byte) bool {
	if r.unit != 0 && r.unit != int(unit) {
		return false
	}
	if r.Rate < 1 && rng.Float64() >= r.Rate {
		return false
	}
	n := r.hits.Add(1)
	if r.Count > 0 && n > int64(r.Count) {
		r.hits.Add(-1)
		return false
	}
	return true
}

// trouble is what faults do to one exchange.
type trouble struct {
	kinds          []FaultKind
	loseRequest    bool
	loseAnswer     bool
	corruptRequest bool
	corruptAnswer  bool
	delay          time.Duration
	exception      exception
	noise          bool
	echo           bool
	foreign        bool
	stuck          bool
	duplicate      bool
}

// draw lets every fault of the bus have its try at an exchange with unit.
func (b *bus) draw(unit byte) trouble {
	return b.drawOf(unit, func(*running) bool { return true })
}

// drawOwn does so with the faults of that unit alone: those of all units have had
// their try at the broadcast that it hears.
func (b *bus) drawOwn(unit byte) trouble {
	return b.drawOf(unit, func(r *running) bool { return r.unit != 0 })
}

func (b *bus) drawOf(unit byte, of func(*running) bool) trouble {
	var t trouble
	for _, r := range b.faults {
		if !of(r) || r.Kind.ofPort() || r.Kind == FaultSettings || r.Kind == FaultBabble || !r.strikes(b.rng, unit) {
			continue
		}
		t.kinds = append(t.kinds, r.Kind)
		b.faultHits[r.Kind]++
		switch r.Kind {
		case FaultDrop:
			if b.rng.IntN(2) == 0 {
				t.loseRequest = true
			} else {
				t.loseAnswer = true
			}
		case FaultDropRequest, FaultSilent, FaultPower:
			t.loseRequest = true
		case FaultDropAnswer:
			t.loseAnswer = true
		case FaultDelay:
			t.delay += time.Duration(r.DelayMs) * time.Millisecond
		case FaultCorrupt:
			if b.kind != kindTCP && b.rng.IntN(2) == 0 {
				t.corruptRequest = true
			} else {
				t.corruptAnswer = true
			}
		case FaultRefuse:
			t.exception = exception(cmp.Or(r.Exception, int(deviceFailure)))
		case FaultBusy:
			t.exception = deviceBusy
		case FaultNoise:
			t.noise = true
		case FaultEcho:
			t.echo = true
		case FaultForeign:
			t.foreign = true
		case FaultStuck:
			t.stuck = true
		case FaultDuplicate:
			t.duplicate = true
		}
	}
	return t
}

// note says in words what faults did, for the log.
func (t trouble) note() string {
	if len(t.kinds) == 0 {
		return ""
	}
	words := make([]string, len(t.kinds))
	for i, k := range t.kinds {
		words[i] = string(k)
	}
	return "fault: " + strings.Join(words, ", ")
}

// spoil damages an answer so that a careful client can tell: on RTU by one
// flipped bit, which the checksum always shows; on Modbus TCP, which has no
// checksum, in a field that a client checks.
func (b *bus) spoil(frame []byte) {
	if b.kind != kindTCP {
		frame[b.rng.IntN(len(frame))] ^= 1 << b.rng.IntN(8)
		return
	}
	switch b.rng.IntN(4) {
	case 0:
		frame[3] ^= 1 << b.rng.IntN(8) // protocol id
	case 1:
		frame[4] = 0xFF // length out of range
	case 2:
		frame[6] ^= 0x40 // unit
	default:
		frame[7] ^= 0x20 // function
	}
}
