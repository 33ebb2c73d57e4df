package sdnsim

import (
	"fmt"
	"slices"
	"time"
)

// babbler is somebody who talks now and then, and listens to nobody.
type babbler struct {
	motor *motor  // it repeats where it is; nil: bytes that make no frame
	rate  float64 // part of the time that it talks, below 1
	next  time.Time
}

// Chatter lets somebody talk for a part of the time, above 0 and below 1, whether
// the line is free or not: the motor with that address repeats its position report to
// another master; without an address it is bytes that make no frame. Rate 0 ends it.
func (b *Bus) Chatter(address string, rate float64) error {
	if rate < 0 || rate >= 1 {
		return fmt.Errorf("rate %v: want 0, or less than 1", rate)
	}
	if rate == 0 {
		b.mu.Lock()
		b.babbler = nil
		b.mu.Unlock()
		return nil
	}
	c := &babbler{rate: rate, next: time.Now()}
	if address != "" {
		if err := b.each(address, func(m *motor, _ time.Time) { c.motor = m }); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.babbler = c
	b.poking()
	return nil
}

// Lengths of a burst that makes no frame, in characters.
const burstLeast, burstMost = 4, 20

// otherMaster is whom a babbling motor talks to.
const otherMaster = 0x7F7F7F

// babbleOn begins the next burst when it is due. Called with mu held.
func (b *Bus) babbleOn(now time.Time) {
	c := b.babbler
	if c == nil || now.Before(c.next) {
		return
	}
	bytes := make([]byte, burstLeast+b.rng.IntN(burstMost-burstLeast+1))
	b.spoil(bytes)
	if m := c.motor; m != nil {
		m.advance(now)
		id, data := m.tell(Message{ID: 0x0C})
		bytes = Message{ID: id, From: m.Type, Src: m.address, Dst: otherMaster, Data: data}.Pack()
	}
	b.wire.enqueue(&sending{bytes: bytes, begin: c.next, babble: true})
	lasts := time.Duration(len(bytes)) * b.char
	// The pauses are drawn from 0 to twice their mean, so that it talks for its part of
	// the time.
	pause := time.Duration(2 * b.rng.Float64() * (1/c.rate - 1) * float64(lasts))
	c.next = c.next.Add(lasts + pause)
	if c.next.Before(now) { // nobody was served for a while
		c.next = now.Add(pause)
	}
}

// Duplicate puts a second motor with the address of another one on the bus, which
// stands open, or takes it off. It hears, obeys and answers by itself, so the answers
// of the two collide or come one after the other. [Bus.Devices] tells of the first.
func (b *Bus) Duplicate(address string, on bool) error {
	var first *motor
	if err := b.each(address, func(m *motor, _ time.Time) { first = m }); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.twins, func(m *motor) bool { return m.address == first.address })
	switch {
	case on && i < 0:
		like := first.Motor
		like.Open = 100
		twin, err := newMotor(like)
		if err != nil {
			return err
		}
		b.twins = append(b.twins, twin)
	case !on && i >= 0:
		b.twins = slices.Delete(b.twins, i, i+1)
	}
	return nil
}
