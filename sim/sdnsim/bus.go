package sdnsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Config of a bus.
type Config struct {
	Motors []Motor
	// BaudRate of the line; 0: 4800. A character has 11 bits (8O1).
	BaudRate int
	// Motors answer between AnswerMin and AnswerMax after a request, at random; both
	// 0: 5 to 255 ms.
	AnswerMin, AnswerMax time.Duration
	// Quiet is what a master owes the line before it begins a frame; 0: 10 ms.
	// Frames that came sooner are counted.
	Quiet time.Duration
	Seed  uint64
	// Virtual: it waits with package time alone, for virtual time (testing/synctest).
	Virtual bool
}

// Bus is a bus with its motors.
type Bus struct {
	char              time.Duration
	quiet             time.Duration
	virtual           bool // see Config.Virtual
	answerMin, spread time.Duration
	poke              chan struct{}
	mu                sync.Mutex
	rng               *rand.Rand
	motors            []*motor
	twins             []*motor // with the address of one of them, see Duplicate
	counts            Counts
	log               []Heard // the last of them
	heard             int     // messages so far
	echo              bool
	babbleUntil       time.Time
	babbler           *babbler // nil: nobody babbles now and then
	wire              line
}

// Counts of a bus since it was made.
type Counts struct {
	FramesIn, FramesOut uint64 // from masters, from motors
	BytesIn, BytesOut   uint64
	GroupFrames         uint64 // from masters, to groups and to everybody
	Busy                time.Duration
	ShortQuiet          uint64 // frames of the client that began too soon after others
	Collisions          uint64
	Garbled             uint64 // bytes of the client that made no frame
	AckAskedOfMany      uint64 // a mistake of a master
}

// Heard is a message that a master sent, or what a babbling device did.
type Heard struct {
	N       int       // messages before it
	At      time.Time // when its last character was over
	Message Message
	Foreign bool // by the second master
	// Babble is what came from a babbling device; Message is zero then. It took a
	// character's time a byte until At.
	Babble []byte
}

// heardMost bounds the record: of more messages only the last are kept.
const heardMost = 1 << 14

// note adds to the record.
func (b *Bus) note(h Heard) {
	if len(b.log) == heardMost {
		b.log = b.log[:copy(b.log, b.log[heardMost/4:])]
	}
	h.N = b.heard
	b.heard++
	b.log = append(b.log, h)
}

// New makes a bus at rest.
func New(cfg Config) (*Bus, error) {
	if cfg.BaudRate == 0 {
		cfg.BaudRate = 4800
	}
	if cfg.AnswerMin == 0 && cfg.AnswerMax == 0 {
		cfg.AnswerMin, cfg.AnswerMax = 5*time.Millisecond, 255*time.Millisecond
	}
	if cfg.Quiet == 0 {
		cfg.Quiet = 10 * time.Millisecond
	}
	if cfg.BaudRate < 0 || cfg.AnswerMin < 0 || cfg.AnswerMax < cfg.AnswerMin {
		return nil, fmt.Errorf("sdnsim: baud rate %d, answers after %v to %v: impossible", cfg.BaudRate, cfg.AnswerMin, cfg.AnswerMax)
	}
	b := &Bus{
		char: 11 * time.Second / time.Duration(cfg.BaudRate), quiet: cfg.Quiet, virtual: cfg.Virtual,
		answerMin: cfg.AnswerMin, spread: cfg.AnswerMax - cfg.AnswerMin,
		poke: make(chan struct{}, 1), rng: rand.New(rand.NewPCG(cfg.Seed, 1)),
	}
	for _, m := range cfg.Motors {
		made, err := newMotor(m)
		if err != nil {
			return nil, err
		}
		b.motors = append(b.motors, made)
	}
	return b, nil
}

func newMotor(m Motor) (*motor, error) {
	address, err := number(m.Address)
	if err != nil {
		return nil, fmt.Errorf("sdnsim: %w", err)
	}
	if len(m.Groups) > 16 || m.Open < 0 || m.Open > 100 || m.Limit > 0xFFFE {
		return nil, fmt.Errorf("sdnsim: motor %s: %d groups, %v %% open, %d pulses: impossible", m.Address, len(m.Groups), m.Open, m.Limit)
	}
	if m.Limit == 0 {
		m.Limit = 10000
	}
	if m.Up == 0 {
		m.Up = 20 * time.Second
	}
	if m.Down == 0 {
		m.Down = 20 * time.Second
	}
	made := &motor{Motor: m, address: address, obstacleAt: -1, last: unknown, cause: powerCycle}
	for i := range made.ips {
		made.ips[i] = -1
	}
	for i := range made.label {
		made.label[i] = ' '
	}
	copy(made.label[:], m.Label)
	if made.hasLimits() {
		made.pulses = (100 - m.Open) / 100 * float64(m.Limit)
	} else {
		made.cause = noLimits
	}
	for i, g := range m.Groups {
		if made.groups[i], err = number(g); err != nil {
			return nil, fmt.Errorf("sdnsim: motor %s: group: %w", m.Address, err)
		}
	}
	return made, nil
}

// receive gives a message to the motors once its last character is over, and
// queues what they answer.
func (b *Bus) receive(at time.Time, f Message, foreign bool) {
	b.counts.FramesIn++
	if f.Dst == everybody || f.Dst == nobody {
		b.counts.GroupFrames++
		if f.Ack {
			b.counts.AckAskedOfMany++
		}
	}
	b.note(Heard{At: at, Message: f, Foreign: foreign})
	for _, m := range slices.Concat(b.motors, b.twins) {
		if !m.isFor(f) || m.deafUntil.After(at) || m.miss > 0 && b.rng.Float64() < m.miss {
			continue
		}
		m.frames++
		id, data := m.obey(at, f)
		if id == 0 || b.rng.Float64() < m.dumb {
			continue
		}
		raw := Message{ID: id, From: m.Type, Src: m.address, Dst: f.Src, Data: data}.Pack()
		if b.rng.Float64() < m.garble {
			raw[b.rng.IntN(len(raw))] ^= byte(1 + b.rng.IntN(255))
		}
		delay := b.answerMin + m.slow
		if b.spread > 0 {
			delay += time.Duration(b.rng.Int64N(int64(b.spread) + 1))
		}
		b.counts.FramesOut++
		b.wire.enqueue(&sending{bytes: raw, begin: at.Add(delay)})
	}
}
