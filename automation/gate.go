package automation

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/cloud/wire"
)

// Bounds of what the gate remembers.
const (
	idsMost  = 1024
	idsLast  = 10 * time.Minute
	seqsMost = 4096
)

// skewMost is how wrong the clock may be before messages are timed by when they came.
const skewMost = 5 * time.Second

// Message is a widget event as it came from the broker.
type Message struct {
	Payload  []byte
	Retained bool      // the broker had kept it for whoever comes
	At       time.Time // when it came
}

// event is a message that can be read.
type event struct {
	wire.Envelope
	wire.WidgetAction
	deadline time.Time // by our own clock
}

// gate lets every event pass once, in order and in time. It is not safe for several goroutines.
type gate struct {
	start time.Time // what was made before is not for us

	skew time.Duration // how much the platform's clock is ahead; 0 while that is within skewMost
	ids  map[string]*known
	ring []string // ids, oldest first
	seqs map[place]seq
}

// known is an ID that was here.
type known struct {
	at    time.Time
	first wire.AckStatus // what became of it; empty while it is under way
}

// place is what sequence numbers are compared within.
type place struct {
	device, panel, widget, epoch string
	cluster                      int64
}

type seq struct {
	number int64
	at     time.Time
}

func newGate(start time.Time) *gate {
	return &gate{start: start, ids: map[string]*known{}, seqs: map[place]seq{}}
}

// clock takes the time of a message that the platform sent just now.
func (g *gate) clock(ts, at time.Time) {
	g.skew = 0
	if d := ts.Sub(at); d.Abs() > skewMost {
		g.skew = d
	}
}

// verdict is why an event does not pass; the zero verdict says that it does.
type verdict struct {
	status wire.AckStatus
	first  wire.AckStatus
	detail string
	// silent tells that nothing is answered: what was made before the start may have been done by then, and nobody knows.
	silent bool
}

func refuse(status wire.AckStatus, format string, args ...any) verdict {
	return verdict{status: status, detail: fmt.Sprintf(format, args...)}
}

// open reads a message. The ID is returned even of one that cannot be read otherwise, so that it can be answered; it is
// empty if there is none.
func open(m Message) (event, string, error) {
	env, err := wire.Open(m.Payload)
	if err != nil {
		var only struct {
			ID string `json:"id"`
		}
		if len(m.Payload) > wire.MaxMessage || json.Unmarshal(m.Payload, &only) != nil || len(only.ID) > 64 {
			only.ID = ""
		}
		return event{}, only.ID, err
	}
	ev := event{Envelope: env}
	if env.Type != wire.TypeWidget {
		return event{}, env.ID, fmt.Errorf("type %q: want %s", clip(string(env.Type)), wire.TypeWidget)
	}
	return ev, env.ID, env.Read(&ev.WidgetAction)
}

// admit judges an event and, if it may pass, remembers it and sets its deadline.
func (g *gate) admit(ev *event, m Message) verdict {
	if m.Retained {
		return refuse(wire.Rejected, "a retained message never acts")
	}
	if k := g.ids[ev.ID]; k != nil && m.At.Sub(k.at) <= idsLast {
		return verdict{status: wire.Duplicate, first: k.first}
	}
	g.forget(m.At)
	v := g.judge(ev, m.At)
	if v.silent {
		return v
	}
	k := &known{at: m.At, first: v.status}
	g.ids[ev.ID] = k
	g.ring = append(g.ring, ev.ID)
	return v
}

func (g *gate) judge(ev *event, at time.Time) verdict {
	if v := g.inTime(ev, at); v.status != "" {
		return v
	}
	if ev.Seq == 0 {
		return verdict{}
	}
	p := place{ev.DeviceID, ev.PanelID, ev.WidgetID, ev.Epoch, 0}
	if ev.Origin == wire.OriginAPI {
		p.cluster = ev.Cluster
	}
	if last, ok := g.seqs[p]; ok && ev.Seq <= last.number {
		return refuse(wire.Stale, "number %d came after number %d", ev.Seq, last.number)
	}
	g.makeRoom()
	g.seqs[p] = seq{ev.Seq, at}
	return verdict{}
}

func (g *gate) inTime(ev *event, at time.Time) verdict {
	if ev.Exp == nil {
		return refuse(wire.Rejected, "there is no exp")
	}
	life := ev.Exp.Sub(ev.TS)
	if life > wire.MaxLifetime {
		return refuse(wire.Rejected, "exp is %v after ts, at most %v", life.Round(time.Second), wire.MaxLifetime)
	}
	ev.deadline = ev.Exp.Add(-g.skew)
	if ev.deadline.Sub(at) > wire.MaxLifetime {
		return refuse(wire.Rejected, "exp is %v away, at most %v", ev.deadline.Sub(at).Round(time.Second), wire.MaxLifetime)
	}
	switch {
	case ev.TS.Add(-g.skew).Before(g.start):
		v := refuse(wire.Expired, "it was made before this controller started")
		v.silent = true
		return v
	case !at.Before(ev.deadline):
		return refuse(wire.Expired, "it came %v too late", at.Sub(ev.deadline).Round(time.Millisecond))
	}
	return verdict{}
}

// done notes what became of an event that passed.
func (g *gate) done(id string, status wire.AckStatus) {
	if k := g.ids[id]; k != nil {
		k.first = status
	}
}

// forget drops what is too old or too much.
func (g *gate) forget(now time.Time) {
	n := 0
	for n < len(g.ring) && (len(g.ring)-n >= idsMost || now.Sub(g.ids[g.ring[n]].at) > idsLast) {
		delete(g.ids, g.ring[n])
		n++
	}
	g.ring = slices.Delete(g.ring, 0, n)
}

// makeRoom drops the half that was not used for longest once there are too many.
func (g *gate) makeRoom() {
	if len(g.seqs) < seqsMost {
		return
	}
	ages := make([]time.Time, 0, len(g.seqs))
	for _, s := range g.seqs {
		ages = append(ages, s.at)
	}
	slices.SortFunc(ages, time.Time.Compare)
	limit := ages[len(ages)/2]
	for p, s := range g.seqs {
		if !s.at.After(limit) {
			delete(g.seqs, p)
		}
	}
}
