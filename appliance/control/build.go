package control

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// builder turns a site into buses and the first state of everything, setting aside
// what cannot work.
type builder struct {
	c      *Controller
	site   *appliance.Site
	faults []appliance.Fault
	nodes  map[appliance.ID]*appliance.NodeState
	shades map[appliance.ID]*appliance.ShadeState
}

func newBuilder(c *Controller, site *appliance.Site, faults []appliance.Fault) *builder {
	b := &builder{c: c, site: site, faults: faults, nodes: map[appliance.ID]*appliance.NodeState{}, shades: map[appliance.ID]*appliance.ShadeState{}}
	busKnown := map[appliance.UUID]bool{}
	for i := range site.Buses {
		busKnown[site.Buses[i].UUID] = true
	}
	for i := range site.Nodes {
		n := &site.Nodes[i]
		b.nodes[n.ID] = &appliance.NodeState{Node: n, Tag: n.Tag}
		if !n.Bound() {
			b.nodes[n.ID].Waits = true
			if n.Tag == "" {
				b.nodes[n.ID].Tag = appliance.TagNode
			}
			continue
		}
		if !busKnown[n.Bus] {
			b.breakNode(n.ID, fmt.Errorf("its bus does not exist; give it one"))
		}
	}
	for i := range site.Shades {
		s := &site.Shades[i]
		b.shades[s.ID] = &appliance.ShadeState{Shade: s}
		if n := b.nodes[s.Node]; s.Node == 0 || n != nil && n.Waits {
			b.shades[s.ID].Waits = true
			continue
		}
		if b.nodes[s.Node] == nil {
			b.breakShade(s.ID, fmt.Errorf("its node %d does not exist; give it one", s.Node))
		}
	}
	return b
}

func (b *builder) breakNode(id appliance.ID, err error) {
	n := b.nodes[id]
	if n == nil || n.Fault != "" {
		return
	}
	n.Fault = err.Error()
	b.faults = append(b.faults, appliance.Fault{Where: fmt.Sprintf("node %d (%s)", id, n.Node.Name), What: err.Error()})
}

func (b *builder) breakShade(id appliance.ID, err error) {
	s := b.shades[id]
	if s == nil || s.Fault != "" {
		return
	}
	s.Fault = err.Error()
	b.faults = append(b.faults, appliance.Fault{Where: fmt.Sprintf("shade %d (%s)", id, s.Shade.Name), What: err.Error()})
}

// breakBus sets a bus aside with all that hangs off it.
func (b *builder) breakBus(bus *appliance.Bus, err error) {
	b.faults = append(b.faults, appliance.Fault{Where: "bus " + bus.Name, What: err.Error()})
	for i := range b.site.Nodes {
		if n := &b.site.Nodes[i]; n.Bus == bus.UUID {
			b.nodes[n.ID].Fault = fmt.Sprintf("its bus %s is quarantined", bus.Name)
		}
	}
	for i := range b.site.Shades {
		s := &b.site.Shades[i]
		if n := b.nodes[s.Node]; n != nil && n.Node.Bus == bus.UUID {
			b.shades[s.ID].Fault = fmt.Sprintf("its bus %s is quarantined", bus.Name)
		}
	}
}

// busConfig collects what bus i is opened with; ok is false if it is not to be
// opened.
func (b *builder) busConfig(i int) (appliance.BusConfig, bool) {
	bus := b.site.Buses[i]
	cfg := appliance.BusConfig{Bus: bus, Freshness: b.site.Settings.Freshness, Last: b.last, DataDir: b.c.opts.DataDir, Log: b.c.opts.Log}
	on := map[appliance.ID]bool{}
	for _, n := range b.site.Nodes {
		if n.Bus == bus.UUID && b.nodes[n.ID].Fault == "" && n.Bound() {
			cfg.Nodes = append(cfg.Nodes, n)
			on[n.ID] = true
		}
	}
	for _, s := range b.site.Shades {
		if on[s.Node] && b.shades[s.ID].Fault == "" {
			cfg.Shades = append(cfg.Shades, s)
		}
	}
	if bus.Disabled {
		b.tagLights(b.rehearse(cfg))
		b.breakBus(&b.site.Buses[i], fmt.Errorf("it is disabled in the site"))
		return appliance.BusConfig{}, false
	}
	return cfg, true
}

// tagLights tags what a bus would drive that is not opened: its lamps stay lights.
func (b *builder) tagLights(w *engine.Wiring) {
	if w == nil {
		return
	}
	for id, channels := range w.Opened.Channels {
		if n := b.nodes[id]; n.Tag == "" && slices.ContainsFunc(channels, func(c appliance.Channel) bool { return c.Abilities&appliance.GivesLight != 0 }) {
			n.Tag = appliance.TagNode
		}
	}
}

// open makes the driver of a bus; false: the bus had to be quarantined.
func (b *builder) open(cfg appliance.BusConfig) (*engine.Wiring, bool) {
	open := b.c.opts.Drivers[cfg.Bus.Driver]
	if open == nil {
		b.breakBus(b.busOf(cfg), fmt.Errorf("there is no driver %q, want one of %s", cfg.Bus.Driver, strings.Join(slices.Sorted(maps.Keys(b.c.opts.Drivers)), ", ")))
		return nil, false
	}
	opened, err := open(cfg)
	if err != nil {
		b.breakBus(b.busOf(cfg), err)
		return nil, false
	}
	return &engine.Wiring{Config: cfg, Opened: opened}, true
}

// newBus makes a bus that was not there; nil if it had to be quarantined.
func (b *builder) newBus(cfg appliance.BusConfig) *bus {
	var target *bus
	cfg.Report = func(r []appliance.Reading) {
		if target != nil {
			target.mail.report(r)
		}
	}
	w, ok := b.open(cfg)
	if !ok {
		return nil
	}
	target = newBus(w, b.c)
	b.adopt(target)
	return target
}

// rehearse makes the driver of a bus to see what it would drive. That opens no port.
func (b *builder) rehearse(cfg appliance.BusConfig) *engine.Wiring {
	open := b.c.opts.Drivers[cfg.Bus.Driver]
	if open == nil {
		return nil
	}
	cfg.Report, cfg.Log = func([]appliance.Reading) {}, slog.New(slog.DiscardHandler)
	opened, err := open(cfg)
	if err != nil {
		return nil
	}
	for id := range opened.BrokenShades {
		delete(opened.Shades, id)
	}
	return &engine.Wiring{Config: cfg, Opened: opened}
}

// last is what was last known of a thing, in the words of the site to come: the
// position of a shade that was turned round counts from the other end, and that of one
// that hangs off another output is not known.
func (b *builder) last(r appliance.Ref) (appliance.Values, bool) {
	v, ok := b.c.state.last(r)
	if now := b.shades[r.Shade]; ok && now != nil && v.Has.Has(appliance.CanPosition) {
		switch old := b.c.Snapshot().Shade(r.Shade); {
		case old == nil:
		case !old.Shade.SameMotor(now.Shade, b.c.Snapshot().Site.Nodes, b.site.Nodes):
			return appliance.Values{}, false
		case old.Shade.Inverted != now.Shade.Inverted:
			v.Position = 100 - v.Position
		}
	}
	return v, ok
}

func (b *builder) busOf(cfg appliance.BusConfig) *appliance.Bus {
	for i := range b.site.Buses {
		if b.site.Buses[i].UUID == cfg.Bus.UUID {
			return &b.site.Buses[i]
		}
	}
	return nil
}

// adopt takes what a bus's driver made of the entries.
func (b *builder) adopt(bus *bus) {
	bus.mail.put(mail{event: engine.Clusters{List: b.site.Clusters}})
	opened := &bus.present.Load().Opened
	for id, err := range opened.BrokenNodes {
		b.breakNode(id, err)
	}
	for id, err := range opened.BrokenShades {
		b.breakShade(id, err)
	}
	for id, chs := range opened.Channels {
		n := b.nodes[id]
		if n == nil || n.Fault != "" {
			continue
		}
		n.Channels = make([]appliance.ChannelState, len(chs))
		for i, ch := range chs {
			n.Channels[i].Channel = ch
		}
	}
	for id, ch := range opened.Shades {
		if s := b.shades[id]; s != nil && s.Fault == "" {
			s.Channel = ch
			if !ch.PositionMeasured && s.Shade.TravelUp > 0 && s.Shade.TravelDown > 0 {
				s.Channel.Abilities |= appliance.CanPosition
			}
		}
	}
}

// finish hands the result to the state.
func (b *builder) finish() {
	nodes := make([]*appliance.NodeState, len(b.site.Nodes))
	for i := range b.site.Nodes {
		n := b.nodes[b.site.Nodes[i].ID]
		summarise(n)
		if n.Tag == "" {
			n.Tag = appliance.TagPeripheral
			if n.Abilities&appliance.GivesLight != 0 {
				n.Tag = appliance.TagNode
			}
		}
		nodes[i] = n
	}
	shades := make([]*appliance.ShadeState, len(b.site.Shades))
	for i := range b.site.Shades {
		shades[i] = b.shades[b.site.Shades[i].ID]
	}
	for _, f := range b.faults {
		b.c.opts.Log.Warn("quarantined", "what", f.Where, "why", f.What)
	}
	b.c.state.replace(b.site, nodes, shades, b.faults)
}
