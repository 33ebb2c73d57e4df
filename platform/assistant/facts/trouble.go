package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
)

// Fault is something that is wrong, or was.
type Fault struct {
	Kind     string    `json:"kind"` // "node", "shade", "bus"
	ID       int64     `json:"id"`
	Name     string    `json:"name"`
	Code     string    `json:"code,omitempty"`
	Severity string    `json:"severity"`
	Message  string    `json:"message"`
	Since    time.Time `json:"since,omitzero"`
	Until    time.Time `json:"until,omitzero"` // zero: it goes on
}

// Faults of a scope.
type Faults struct {
	Scope   Scope     `json:"scope"`
	Present []Fault   `json:"present"` // that go on now
	Past    []Fault   `json:"past"`    // that began or ended in the period, newest first
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Basis   Basis     `json:"basis"`
}

// eventLimit bounds what one answer looks through; lookBack is how long an event without an end counts as going on.
const (
	eventLimit = 2000
	lookBack   = 30 * 24 * time.Hour
)

// FaultsOf reads what is wrong in a scope, and what was within [from, to); both zero: nothing of the past. Kind is that of devices, as
// [Kind] says, or "bus"; "" is every kind, and then what a node and the shades that it moves both tell is one fault. What is merely out
// of reach is in [Site.ReachOf].
func (s *Site) FaultsOf(ctx context.Context, c Scope, kind string, from, to time.Time) (Faults, error) {
	f := Faults{Scope: c, From: from, To: to, Basis: s.basis()}
	for _, d := range s.Devices {
		if !s.holds(c, d) {
			continue
		}
		f.Basis.Add(d.ReportedAt, "reported by the controller")
		if d.Trouble == "" || kind == "" && s.again(d, func(o platform.Device) bool { return s.holds(c, o) && o.Trouble == d.Trouble }) {
			continue
		}
		thing := "node"
		if d.Kind == platform.KindShade {
			thing = "shade"
		}
		f.Present = append(f.Present, Fault{Kind: thing, ID: d.ID, Name: d.Name, Severity: "fault", Message: d.Trouble})
	}
	events, err := s.events(ctx, c, s.Now.Add(-lookBack), s.Now.Add(time.Second))
	if err != nil {
		return f, err
	}
	for _, one := range pair(events) {
		if one.Until.IsZero() && !isReach(one.Code) && one.Severity != "info" {
			f.Present = s.merge(f.Present, one)
		}
	}
	if !to.IsZero() {
		if events, err = s.events(ctx, c, from, to); err != nil {
			return f, err
		}
		f.Past = slices.DeleteFunc(pair(events), func(one Fault) bool { return isReach(one.Code) || one.Severity == "info" })
	}
	if kind != "" {
		other := func(one Fault) bool {
			carries := one.Kind == "bus" && !c.Whole() && slices.ContainsFunc(s.In(c, kind), func(d platform.Device) bool { return d.Bus == one.Name && !d.Online })
			return s.kindOf(one) != kind && !carries
		}
		f.Present, f.Past = slices.DeleteFunc(f.Present, other), slices.DeleteFunc(f.Past, other)
	}
	return f, nil
}

// kindOf is the kind of what has a fault, as [Kind] says, or that of the fault.
func (s *Site) kindOf(f Fault) string {
	if i := slices.IndexFunc(s.Devices, func(d platform.Device) bool {
		return d.ID == f.ID && f.Kind != "bus" && (d.Kind == platform.KindShade) == (f.Kind == "shade")
	}); i >= 0 {
		return Kind(s.Devices[i])
	}
	return f.Kind
}

// moved are the shades that a node moves.
func (s *Site) moved(node int64) (shades []platform.Device) {
	for _, d := range s.Devices {
		if d.Kind == platform.KindShade && d.Node == node && node > 0 {
			shades = append(shades, d)
		}
	}
	return shades
}

// holds reports whether a device is within a scope; what moves shades and is in no zone is where they are.
func (s *Site) holds(c Scope, d platform.Device) bool {
	if d.Kind != platform.KindShade && len(d.Zones) == 0 && !slices.Contains(c.Devices, d.ID) && c.Bus == "" {
		if shades := s.moved(d.ID); len(shades) > 0 {
			return slices.ContainsFunc(shades, c.Holds)
		}
	}
	return c.Holds(d)
}

// again reports whether what a device tells is what another one tells already, of those that tell the same: a node that moves one shade is
// that shade, and of shades that one node moves it is the node.
func (s *Site) again(d platform.Device, tells func(platform.Device) bool) bool {
	if d.Kind != platform.KindShade {
		shades := s.moved(d.ID)
		return len(shades) == 1 && tells(shades[0])
	}
	return len(s.moved(d.Node)) > 1 && slices.ContainsFunc(s.Devices, func(o platform.Device) bool {
		return o.Kind != platform.KindShade && o.ID == d.Node && tells(o)
	})
}

// isReach reports whether a code is about being out of reach.
func isReach(code string) bool {
	return strings.HasSuffix(code, ".offline") || strings.HasSuffix(code, ".unreachable")
}

// merge adds a fault unless the device itself told it, or what it moves; then it only gives its beginning.
func (s *Site) merge(list []Fault, one Fault) []Fault {
	told := false
	for i := range list {
		moved := one.Kind == "node" && list[i].Kind == "shade" && s.device(list[i].ID, platform.KindShade).Node == one.ID
		if (moved || list[i].Kind == one.Kind && list[i].ID == one.ID) && list[i].Code == "" {
			list[i].Code, list[i].Since, list[i].Severity = one.Code, one.Since, one.Severity
			told = true
		}
	}
	if told {
		return list
	}
	return append(list, one)
}

// events of a scope, newest first.
func (s *Site) events(ctx context.Context, c Scope, from, to time.Time) ([]platform.Event, error) {
	events, err := s.reader.Events(ctx, s.Controller.ID, from, to, eventLimit)
	if err != nil {
		return nil, fmt.Errorf("read events of controller %s: %w", s.Controller.ID, err)
	}
	for i := range events { // what the broker says for a controller that went away has no name
		if e := &events[i]; e.Kind == "controller" {
			e.Name = s.Name()
		}
	}
	if c.Whole() {
		return events, nil
	}
	return slices.DeleteFunc(events, func(e platform.Event) bool {
		if e.Kind == "bus" {
			return !c.all() && e.Name != c.Bus && !slices.ContainsFunc(s.Devices, func(d platform.Device) bool { return d.Bus == e.Name && c.Bus == "" && c.Holds(d) })
		}
		return !slices.ContainsFunc(s.Devices, func(d platform.Device) bool {
			return d.ID == e.Thing && (d.Kind == platform.KindShade) == (e.Kind == "shade") && s.holds(c, d)
		})
	}), nil
}

// pair joins beginnings and ends of the same trouble; events come newest first, and so do the faults.
func pair(events []platform.Event) []Fault {
	type key struct {
		code, kind string
		thing      int64
		name       string // buses have no number
	}
	ends := map[key]time.Time{}
	var out []Fault
	for _, e := range events {
		k := key{e.Code, e.Kind, e.Thing, e.Name}
		if e.Cleared {
			ends[k] = e.At
			continue
		}
		out = append(out, Fault{e.Kind, e.Thing, e.Name, e.Code, e.Severity, e.Message, e.At, ends[k]})
		delete(ends, k)
	}
	for k, end := range ends { // it began before the first event
		for _, e := range events {
			if e.Cleared && e.At.Equal(end) && k == (key{e.Code, e.Kind, e.Thing, e.Name}) {
				out = append(out, Fault{e.Kind, e.Thing, e.Name, e.Code, e.Severity, e.Message, time.Time{}, end})
				break
			}
		}
	}
	return out
}

// Reach tells what answers and what does not.
type Reach struct {
	Scope   Scope   `json:"scope"`
	Total   int     `json:"total"`
	Away    []Thing `json:"away"`
	Outages []Fault `json:"outages,omitempty"` // in the period, newest first
	Basis   Basis   `json:"basis"`
}

// ReachOf reads what is out of reach in a scope; kind "" is every kind. Outages are those of [from, to).
func (s *Site) ReachOf(ctx context.Context, c Scope, kind string, from, to time.Time) (Reach, error) {
	r := Reach{Scope: c, Basis: s.basis()}
	for _, d := range s.Devices {
		if !c.Holds(d) || kind != "" && Kind(d) != kind {
			continue
		}
		r.Total++
		r.Basis.Add(d.ReportedAt, "reported by the controller")
		if !d.Online {
			one := s.thing(d)
			one.Condition = Away
			r.Away = append(r.Away, one)
		}
	}
	if to.IsZero() {
		return r, nil
	}
	events, err := s.events(ctx, c, from, to)
	if err != nil {
		return r, err
	}
	r.Outages = slices.DeleteFunc(pair(events), func(f Fault) bool { return !isReach(f.Code) })
	return r, nil
}
