package sdnsim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Device is the truth about one motor.
type Device struct {
	Address string   `json:"address"`
	Type    byte     `json:"type"`
	Label   string   `json:"label"`
	Groups  []string `json:"groups"` // those it holds
	// Position is 0 closed … 100 open; negative: the limits are not set.
	Position float64 `json:"position"`
	Pulses   int     `json:"pulses"`
	Moving   bool    `json:"moving"`
	Opening  bool    `json:"opening"` // while moving
	Blocked  bool    `json:"blocked"`
	Locked   bool    `json:"locked"`
	Winks    int     `json:"winks"`
	Frames   uint64  `json:"framesReceived"`
	Orders   uint64  `json:"writesReceived"` // CTRL and SET carried out or refused
}

// Devices returns the truth about all motors, in the order of the configuration.
func (b *Bus) Devices() []Device {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	list := make([]Device, 0, len(b.motors))
	for _, m := range b.motors {
		m.advance(now)
		d := Device{
			Address: name(m.address), Type: m.Type, Label: strings.TrimRight(string(m.label[:]), " "),
			Position: -1, Pulses: int(m.pulses), Moving: m.dir != 0, Opening: m.dir < 0,
			Blocked: m.state == blocked, Locked: m.lockedBy, Winks: m.winks, Frames: m.frames, Orders: m.orders,
		}
		for _, g := range m.groups {
			if g != nobody {
				d.Groups = append(d.Groups, name(g))
			}
		}
		if m.hasLimits() {
			d.Position = 100 - 100*m.pulses/float64(m.Limit)
		}
		list = append(list, d)
	}
	return list
}

// Counts returns what was counted so far.
func (b *Bus) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts
}

// Heard returns the messages of masters from the nth on, as far as they are kept:
// the last few thousand are.
func (b *Bus) Heard(n int) []Heard {
	b.mu.Lock()
	defer b.mu.Unlock()
	forgotten := b.heard - len(b.log)
	return slices.Clone(b.log[min(max(0, n-forgotten), len(b.log)):])
}

// each calls f for the motors with an address.
func (b *Bus) each(address string, f func(*motor, time.Time)) error {
	n, err := number(address)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found := false
	for _, m := range b.motors {
		if m.address == n {
			now := time.Now()
			m.advance(now)
			f(m, now)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no motor %s on this bus", address)
	}
	return nil
}

// Trouble is a fault of a motor. Zero values are none.
type Trouble struct {
	Deaf     time.Duration // hears nothing for so long
	Miss     float64       // part of the frames that it does not hear
	Dumb     float64       // part of its answers that are not given
	Garble   float64       // part of its answers that are damaged
	Late     time.Duration // answers so much later than it should
	Refuse   byte          // NACK reason for every movement
	Busy     int           // that many commands are answered with busy
	Labelled bool          // acknowledges another label, and keeps its own
	Hot      bool          // thermal protection
	Stuck    bool          // turns and does not move
	Locked   bool
	Obstacle int // percent closed, 1 to 100, beyond which it cannot go down
}

// SetTrouble gives a motor a fault in place of what it had.
func (b *Bus) SetTrouble(address string, t Trouble) error {
	return b.each(address, func(m *motor, now time.Time) {
		m.deafUntil = now.Add(t.Deaf)
		m.miss, m.dumb, m.garble, m.slow = t.Miss, t.Dumb, t.Garble, t.Late
		m.refuse, m.busyFor, m.labelled, m.stuck = t.Refuse, t.Busy, t.Labelled, t.Stuck
		m.obstacleAt = t.Obstacle
		if t.Obstacle <= 0 {
			m.obstacleAt = -1
		}
		m.hot = t.Hot
		if t.Hot {
			m.halt(blocked, byItself, hot)
		}
		m.lockedBy = t.Locked
		if t.Locked {
			m.halt(locked, byItself, explicit)
		}
		if !t.Hot && !t.Locked && m.dir == 0 && m.state != running {
			m.state = stopped
		}
	})
}

// Press moves a motor by its wall switch: "up", "down" or "stop".
func (b *Bus) Press(address, button string) error {
	var bad error
	err := b.each(address, func(m *motor, now time.Time) {
		switch {
		case button == "stop":
			m.stop(now, bySwitch)
		case !m.hasLimits():
			bad = fmt.Errorf("motor %s: its limits are not set", address)
		case button == "up":
			m.send(now, 0, bySwitch)
		case button == "down":
			m.send(now, float64(m.Limit), bySwitch)
		default:
			bad = fmt.Errorf("button %q: want up, down or stop", button)
		}
	})
	if err != nil {
		return err
	}
	return bad
}

// Say lets a second master send a message as soon as the line is silent and no answer
// is due, and again if it collided all the same.
func (b *Bus) Say(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wire.enqueue(&sending{bytes: m.Pack(), begin: time.Now(), foreign: true, again: repeats, message: m})
	b.poking()
}

// repeats of a frame that collides, by a second master.
const repeats = 3

// Noise puts bytes on the line that nobody meant.
func (b *Bus) Noise(bytes []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wire.enqueue(&sending{bytes: slices.Clone(bytes), begin: time.Now()})
	b.poking()
}

// Babble lets somebody send noise without pause for d.
func (b *Bus) Babble(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.babbleUntil = time.Now().Add(d)
	b.poking()
}

// Echo lets the adapter return what the client sends.
func (b *Bus) Echo(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.echo = on
}
