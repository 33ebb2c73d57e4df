package voice

import (
	"maps"
	"sync"
	"time"
)

// correctsWithin is how long after an order "no, forty" corrects it.
const correctsWithin = 20 * time.Second

// runsWithin is how long after an order that moves shades a bare "stop" is meant for them.
const runsWithin = 2 * time.Minute

// order is what was said last at a device.
type order struct {
	text  string // empty if that was not one thing to do
	at    time.Time
	moved bool // shades run since
}

// said are the last orders by device, none older than [runsWithin] when another is put.
type said struct {
	mu sync.Mutex
	of map[string]order
}

// take is the last order at a device, which whatever is said after it ends.
func (s *said) take(device string) order {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.of[device]
	delete(s.of, device)
	return o
}

func (s *said) put(device string, o order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.of, func(_ string, old order) bool { return o.at.Sub(old.at) > runsWithin })
	s.of[device] = o
}
