package link

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// settles is how long after the start a thing may be offline without anybody being told: nothing was read of it yet.
const settles = 30 * time.Second

// watch finds out what went wrong, and what is over, from one snapshot to the next.
type watch struct {
	start time.Time
	open  map[complaint]wire.Event
}

// complaint is one thing that is wrong with one thing.
type complaint struct {
	code string
	key
}

func newWatch(start time.Time) *watch {
	return &watch{start: start, open: map[complaint]wire.Event{}}
}

// look returns what began or ended since the last look.
func (w *watch) look(p *picture, now time.Time) []wire.Event {
	wrong := map[complaint]wire.Event{}
	note := func(code, severity string, kind wire.Kind, id int64, name, message string) {
		wrong[complaint{code, key{kind, id}}] = wire.Event{Code: code, Severity: severity, Kind: kind, Thing: id, Name: name, Message: message, At: now.UTC()}
	}
	early := now.Sub(w.start) < settles
	down := map[appliance.UUID]bool{}
	for i, b := range p.snap.Buses {
		if b.Bus.Disabled || b.Up {
			continue
		}
		down[b.Bus.UUID] = true
		if b.Fault != "" || !early {
			note("bus.down", "fault", wire.KindBus, int64(i+1), b.Bus.Name, reason("bus "+b.Bus.Name+" is down", b.Fault))
		}
	}
	for _, n := range p.snap.Nodes {
		id, name := int64(n.Node.ID), n.Node.Name
		bus, known := p.buses[n.Node.Bus]
		switch {
		case n.Fault != "":
			note("node.quarantined", "fault", wire.KindNode, id, name, fmt.Sprintf("%s cannot be used: %s", name, n.Fault))
		case known && !n.Online && !down[n.Node.Bus] && !early && !p.disabled(n.Node.Bus):
			note("node.offline", "warning", wire.KindNode, id, name, fmt.Sprintf("%s on bus %s does not answer", name, bus))
		}
		if t := p.trouble[n.Node.ID]; t != "" {
			note("node.trouble", "fault", wire.KindNode, id, name, fmt.Sprintf("%s reports: %s", name, t))
		}
	}
	var out []wire.Event
	for c, e := range wrong {
		if old, ok := w.open[c]; !ok || old.Message != e.Message {
			out = append(out, e)
			w.open[c] = e
		}
	}
	for c, e := range w.open {
		if _, still := wrong[c]; !still {
			delete(w.open, c)
			e.Cleared, e.At, e.Severity = true, now.UTC(), "info"
			out = append(out, e)
		}
	}
	return out
}

func (p *picture) disabled(bus appliance.UUID) bool {
	for _, b := range p.snap.Buses {
		if b.Bus.UUID == bus {
			return b.Bus.Disabled
		}
	}
	return false
}

func reason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
