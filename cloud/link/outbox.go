package link

import (
	"slices"
	"sync"

	"svc.internal/controller/cloud/wire"
)

// Bounds of what waits for the broker. The oldest of a kind gives way.
const (
	answersMost = 512
	eventsMost  = 1000
	samplesMost = 8000
	panelsMost  = 500
	// samplesInOne and seenInOne keep a message well below [wire.MaxMessage].
	samplesInOne = 400
	seenInOne    = 400
	panelsInOne  = 50
	scenesInOne  = 100 // of panels
)

// parcel is one message under way.
type parcel struct {
	below  string // topic
	qos    byte
	keep   bool // retained
	bytes  []byte
	urgent bool // an answer: to be sent again if it is lost
	event  bool // likewise, but not while the platform is away
	key    key  // of a state
}

// outbox holds what is to be said. States are kept by thing, the newest only.
type outbox struct {
	wake chan struct{}

	mu      sync.Mutex
	answers []parcel
	events  []parcel
	panels  map[[2]string]wire.PanelValue
	states  map[key]*wire.State // nil: it is gone
	order   []key               // of states, oldest first
	samples []wire.Sample
	seen    []wire.Seen
	lost    int // answers, events and samples that gave way
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), panels: map[[2]string]wire.PanelValue{}, states: map[key]*wire.State{}}
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// push appends to a bounded queue.
func push[T any](o *outbox, queue *[]T, most int, items ...T) {
	*queue = append(*queue, items...)
	if over := len(*queue) - most; over > 0 {
		clear((*queue)[:over])
		*queue = (*queue)[over:] // not moved down: that would cost the whole queue for each that gives way
		o.lost += over
	}
	o.poke()
}

func (o *outbox) answer(p parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	push(o, &o.answers, answersMost, p)
}

func (o *outbox) event(p parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	push(o, &o.events, eventsMost, p)
}

func (o *outbox) measure(s []wire.Sample) {
	o.mu.Lock()
	defer o.mu.Unlock()
	push(o, &o.samples, samplesMost, s...)
}

// confirm replaces what was read again and found unchanged.
func (o *outbox) confirm(s []wire.Seen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = s
	o.poke()
}

func (o *outbox) panel(values []wire.PanelValue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range values {
		k := [2]string{v.DeviceID, v.PanelID}
		if _, ok := o.panels[k]; !ok && len(o.panels) >= panelsMost {
			continue // more panels than any building has
		}
		o.panels[k] = v
	}
	o.poke()
}

// state puts the newest state of a thing in line; nil says that the thing is gone.
func (o *outbox) state(k key, s *wire.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.states[k]; !ok {
		o.order = append(o.order, k)
	}
	o.states[k] = s
	o.poke()
}

// forgetStates drops states that wait: the whole state is about to be sent.
func (o *outbox) forgetStates() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.states)
	o.order = nil
}

// back puts a parcel that was not acknowledged in line again, before all others.
func (o *outbox) back(p parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case p.urgent:
		o.answers = append([]parcel{p}, o.answers...)
	case p.event:
		o.events = append([]parcel{p}, o.events...)
	default:
		return // the whole state follows the next birth, and what is lost of telemetry is lost
	}
	o.poke()
}

// take removes the first of a queue.
func take[T any](queue *[]T) T {
	first := (*queue)[0]
	*queue = slices.Delete(*queue, 0, 1)
	return first
}

// next takes the message that is to be sent now; ok is false if there is none. While the platform is away, only states
// are sent, which the broker keeps for it.
func (o *outbox) next(platform bool, seal func(wire.Type, any) ([]byte, error)) (p parcel, ok bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if platform && len(o.answers) > 0 {
		return take(&o.answers), true, nil
	}
	if platform && len(o.panels) > 0 {
		var values wire.PanelValues
		scenes := 0
		for k, v := range o.panels {
			if scenes += len(v.Scenes); len(values.Panels) == panelsInOne || scenes > scenesInOne {
				break
			}
			values.Panels = append(values.Panels, v)
			delete(o.panels, k)
		}
		p = parcel{below: wire.UpPanel, qos: 1}
		p.bytes, err = seal(wire.TypePanel, values)
		return p, true, err
	}
	if platform && len(o.events) > 0 {
		return take(&o.events), true, nil
	}
	if len(o.order) > 0 {
		k := take(&o.order)
		s := o.states[k]
		delete(o.states, k)
		p = parcel{qos: 1, keep: true, key: k}
		if s != nil {
			p.bytes, err = seal(wire.TypeState, s)
		}
		return p, true, err
	}
	if platform && len(o.samples)+len(o.seen) > 0 {
		n, m := min(len(o.samples), samplesInOne), min(len(o.seen), seenInOne)
		t := wire.Telemetry{Samples: slices.Clone(o.samples[:n]), Seen: o.seen[:m]}
		o.samples, o.seen = slices.Delete(o.samples, 0, n), o.seen[m:]
		p = parcel{below: wire.UpTele}
		p.bytes, err = seal(wire.TypeTele, t)
		return p, true, err
	}
	return p, false, nil
}

// size is what waits, for the status.
func (o *outbox) size() (waiting, lost int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.answers) + len(o.events) + len(o.order) + len(o.panels) + len(o.samples), o.lost
}
