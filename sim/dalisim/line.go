package dalisim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// GearConfig is one gear.
type GearConfig struct {
	// Short address 0 to 63, or -1: none yet.
	Short int
	// Type is the device type: 6 LED (the default), 7 switching, 8 colour.
	Type byte
	// Colour of type 8: "tc" or "rgbw".
	Colour string
	// Min and Max level; 0 means 1 and 254. PhysicalMin bounds Min; 0 means Min.
	Min, Max, PhysicalMin byte
	// FadeTime is the code of the fade time, 0 (none) to 15 (90 s).
	FadeTime byte
	Groups   uint16 // bit n: group n
	Level    byte   // at the start
	// Coolest and Warmest colour temperature in mirek; 0 means 153 and 370.
	Coolest, Warmest uint16
}

// Config of a line.
type Config struct {
	// Gateway is "atx", "luba" or "sci".
	Gateway string
	Gears   []GearConfig
	// Speed of time: 1 is real (the default), 50 fifty times as fast. At 1 the
	// serial port and the line take as long as they do in a building.
	Speed float64
	// BaudRate of the serial port; 0 means the gateway's own.
	BaudRate int
	// Seed of everything random.
	Seed uint64
	// Virtual: it waits with package time alone, for virtual time (testing/synctest).
	Virtual bool
}

// Device is the truth about one gear.
type Device struct {
	Index   int       `json:"index"`
	Short   int       `json:"short"` // -1: none
	Type    int       `json:"type"`
	Level   int       `json:"level"`   // arc power, 0 to 254
	Target  int       `json:"target"`  // where a fade ends
	Changed time.Time `json:"changed"` // when Target was, or will be, reached
	Mirek   int       `json:"mirek,omitempty"`
	RGBW    [4]int    `json:"rgbw,omitempty"`
	Groups  []int     `json:"groups,omitempty"`
	Random  uint32    `json:"random"`
	Failed  bool      `json:"lampFailure"`
	Min     int       `json:"min"`
	Max     int       `json:"max"`
}

// Sent is one forward frame that was on the line.
type Sent struct {
	At      time.Time // when it was over
	Frame   uint16
	Foreign bool // another master's
	// Lost: it was a babbling device's, and collided with another frame.
	Lost bool
}

// Counters of a line since it was made.
type Counters struct {
	Forward, Backward, Garbled, Conflicts, Nonsense uint64
}

// Line is a DALI line with its gateway. Make one with New.
type Line struct {
	cfg   Config
	model gatewayModel
	clock clock

	mu       sync.Mutex
	rng      *rand.Rand
	gears    []*gear
	twins    []*gear // with the short address of one of them, see Duplicate
	babbler  *babbler
	busyTill moment
	faults   []*Fault
	log      []Sent // the last of them
	counts   Counters
	nextID   byte
	foreign  []uint16
	poke     chan struct{}
}

// logged frames are kept at most.
const logged = 8192

// New makes a line. It serves nobody yet.
func New(cfg Config) (*Line, error) {
	m, ok := models[cfg.Gateway]
	if !ok {
		return nil, fmt.Errorf("gateway %q: want atx, luba or sci", cfg.Gateway)
	}
	if cfg.Speed < 0 {
		return nil, fmt.Errorf("speed %v: want 0 (real) or above", cfg.Speed)
	}
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	if cfg.BaudRate == 0 {
		cfg.BaudRate = m.baud()
	}
	l := &Line{cfg: cfg, model: m, clock: newClock(cfg.Speed, cfg.Virtual), rng: rand.New(rand.NewPCG(cfg.Seed, 62386)), poke: make(chan struct{}, 1)}
	for i, c := range cfg.Gears {
		if err := c.complete(); err != nil {
			return nil, fmt.Errorf("gear %d: %w", i, err)
		}
		l.gears = append(l.gears, newGear(c, rand.New(rand.NewPCG(cfg.Seed, uint64(i)))))
	}
	return l, nil
}

func (c *GearConfig) complete() error {
	if c.Short < -1 || c.Short > 63 {
		return fmt.Errorf("short address %d: want 0 to 63, or -1", c.Short)
	}
	def := func(v *byte, d byte) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Type, 6)
	def(&c.Min, 1)
	def(&c.Max, 254)
	def(&c.PhysicalMin, c.Min)
	if c.Coolest == 0 {
		c.Coolest = 153
	}
	if c.Warmest == 0 {
		c.Warmest = 370
	}
	if c.Type == 8 && c.Colour != "tc" && c.Colour != "rgbw" {
		return fmt.Errorf("colour %q: want tc or rgbw", c.Colour)
	}
	return nil
}

// Devices tells the truth about all gear, in the order of the configuration.
func (l *Line) Devices() []Device {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.now()
	out := make([]Device, len(l.gears))
	for i, g := range l.gears {
		d := Device{Index: i, Short: -1, Type: int(g.cfg.Type), Level: int(g.level(now)), Target: int(g.to), Changed: l.clock.world(g.changed),
			Random: g.randomAt(now), Failed: g.lampFailure, Min: int(g.min), Max: int(g.max)}
		if g.short != mask {
			d.Short = int(g.short)
		}
		if g.cfg.Colour == "tc" {
			d.Mirek = int(g.tc)
		}
		for k := range d.RGBW {
			d.RGBW[k] = int(g.rgbwaf[k])
		}
		for n := range 16 {
			if g.groups>>n&1 != 0 {
				d.Groups = append(d.Groups, n)
			}
		}
		out[i] = d
	}
	return out
}

// SetLampFailure breaks or mends the lamp of a gear.
func (l *Line) SetLampFailure(index int, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gears[index].lampFailure = failed
}

// Counters of the frames so far.
func (l *Line) Counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Frames returns the forward frames from the one numbered from on; Counters tells
// how many there were. Only the last 8192 are kept.
func (l *Line) Frames(from uint64) []Sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.counts.Forward - uint64(len(l.log))
	if from < first {
		from = first
	}
	if from > l.counts.Forward {
		return nil
	}
	return slices.Clone(l.log[from-first:])
}

// Inject lets another master send a frame as soon as the line is free.
func (l *Line) Inject(frame uint16) {
	l.mu.Lock()
	l.foreign = append(l.foreign, frame)
	l.mu.Unlock()
	select {
	case l.poke <- struct{}{}:
	default:
	}
}

func (l *Line) takeForeign() (order, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.foreign) == 0 {
		return order{}, false
	}
	f := l.foreign[0]
	l.foreign = l.foreign[1:]
	return order{kind: orderForeign, frame: f, level: true}, true
}

// between draws a time.
func (l *Line) between(low, high time.Duration) time.Duration {
	return low + time.Duration(l.rng.Int64N(int64(high-low)+1))
}

// Times on the line.
const (
	forward      = 15830 * time.Microsecond
	backward     = 9170 * time.Microsecond
	answerFirst  = 5500 * time.Microsecond
	answerLast   = 10500 * time.Microsecond
	answerWindow = answerLast + backward
)

// note keeps a frame; called with mu held.
func (l *Line) note(s Sent) {
	l.counts.Forward++
	if len(l.log) == logged {
		l.log = l.log[:copy(l.log, l.log[logged/2:])]
	}
	l.log = append(l.log, s)
}

// twin stands for the index of gear that Duplicate put there: only faults of all gear
// strike it.
const twin = -2

// apart draws when a second gear answers, and tells whether that is too far from the
// first, which was through after so long, for two equal answers to be taken for one:
// a quarter of a bit. Where all gear may answer, the model is kind and lets equal
// answers fit.
func (l *Line) apart(through time.Duration) bool {
	off := through - backward - l.between(answerFirst, answerLast)
	return off < -quarterBit || off > quarterBit
}

const quarterBit = 208 * time.Microsecond

// lights reports whether a frame is to change light or colour.
func lights(frame uint16) bool {
	address, data := byte(frame>>8), byte(frame)
	return !isSpecial(address) && (address&1 == 0 || data < 0x20 || data == 0xE2)
}

// hear lets all gear take a frame that was over at t, and adds up their answers.
// late is set when an answer comes after the window.
func (l *Line) hear(frame uint16, t moment, foreign bool) (r result, value byte, at moment, late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(Sent{At: l.clock.world(t), Frame: frame, Foreign: foreign})
	at = t + answerWindow
	for i, g := range slices.Concat(l.gears, l.twins) {
		if i >= len(l.gears) {
			i = twin
		}
		if l.strikes(FaultDeaf, i) || t < g.deafUntil || lights(frame) && l.strikes(FaultStuck, i) {
			continue
		}
		v, ok := g.hear(frame, t)
		if !ok || l.strikes(FaultSilent, i) {
			continue
		}
		late = late || l.strikes(FaultLate, i)
		switch {
		case l.strikes(FaultGarble, i):
			r = resultGarbled
		case r == resultNone:
			r, value = resultValue, v
			at = t + l.between(answerFirst, answerLast) + backward
		case r == resultValue && (v != value || frame>>8 < 0x80 && l.apart(at-t)):
			r = resultGarbled
		}
	}
	switch r {
	case resultValue:
		l.counts.Backward++
	case resultGarbled:
		l.counts.Garbled++
	}
	return r, value, at, late
}
