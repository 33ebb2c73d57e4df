package dmx

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/profile"
)

// Open makes a driver for one bus; it is an [appliance.OpenFunc]. It opens no port
// and sends nothing.
func Open(cfg appliance.BusConfig) (appliance.Opened, error) { return OpenOn(cfg, nil) }

// OpenOn does so on other ports than those of this machine; nil: on these.
func OpenOn(cfg appliance.BusConfig, ports *line.Ports) (appliance.Opened, error) {
	fail := func(err error) (appliance.Opened, error) {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	options, err := readBusOptions(cfg.Bus.Options)
	if err != nil {
		return fail(err)
	}
	settings, err := completeLine(cfg.Bus.Line, options.kind)
	if err != nil {
		return fail(err)
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := newDriver(cfg, options, log)
	o := &opening{
		driver:  d,
		library: known().ReadOwn(cfg.DataDir, func(err error) { log.Warn("a profile cannot be used", "error", err) }),
		out: appliance.Opened{
			Driver: d,
			Device: make(map[appliance.ID]string), Channels: make(map[appliance.ID][]appliance.Channel),
			Shades:      make(map[appliance.ID]appliance.Channel),
			BrokenNodes: make(map[appliance.ID]error), BrokenShades: make(map[appliance.ID]error),
		},
	}
	d.library = o.library
	for _, node := range cfg.Nodes {
		if err := o.place(node); err != nil {
			o.out.BrokenNodes[node.ID] = err
		}
	}
	for _, shade := range cfg.Shades {
		o.out.BrokenShades[shade.ID] = fmt.Errorf("its node %d is a DMX fixture, which moves no shades", shade.Node)
	}
	if strings.HasPrefix(cfg.Bus.Port, "rtu+tcp://") || options.kind == interfaceOpen && strings.Contains(cfg.Bus.Port, "://") {
		return fail(fmt.Errorf("port %q: want a device path such as /dev/serial/by-id/…", cfg.Bus.Port))
	}
	if options.kind == interfaceOpen {
		d.out, err = newOpenPort(d, cfg.Bus, ports, log)
	} else {
		d.out, err = newPro(d, line.Config{Name: cfg.Bus.Name, Port: cfg.Bus.Port, Serial: settings, Log: log, Ports: ports})
	}
	if err != nil {
		return fail(err)
	}
	return o.out, nil
}

// opening is a bus while it is being opened.
type opening struct {
	driver  *Driver
	library *profile.Library[*Profile]
	out     appliance.Opened
	owner   [UniverseSlots + 1]*claim // by slot, from 1
}

// claim is what a slot was given to.
type claim struct {
	node    appliance.Node
	profile *Profile
	fixed   bool
}

// place gives a node's outputs their slots.
func (o *opening) place(node appliance.Node) error {
	p, err := o.library.Find(node.Profile)
	if err != nil {
		return err
	}
	options, err := readNodeOptions(node.Options)
	if err != nil {
		return err
	}
	if len(node.Groups) > 0 {
		return fmt.Errorf("groups %s: DMX fixtures have no groups; every command is one frame anyway", strings.Join(node.Groups, ", "))
	}
	start, err := parseAddress(node.Address, p)
	if err != nil {
		return err
	}
	chosen, err := choose(node, p)
	if err != nil {
		return err
	}
	lamps := make([]*lamp, 0, len(chosen))
	for i, out := range chosen {
		if out, err = options.adapt(out, p); err != nil {
			return err
		}
		lamps = append(lamps, &lamp{
			ref: appliance.Ref{Node: node.ID, Channel: i + 1}, out: out.at(start),
			minLevel: appliance.Level(options.minLevel), startLevel: appliance.Level(options.startLevel),
		})
	}
	if err := o.claim(node, p, start, lamps); err != nil {
		return err
	}
	for _, l := range lamps {
		l.state = l.fresh()
		o.driver.lamps[l.ref] = l
		o.driver.order = append(o.driver.order, l)
		o.out.Channels[node.ID] = append(o.out.Channels[node.ID], l.channel())
	}
	for _, f := range p.Fixed {
		o.driver.fixed[start+f.Slot-2] = byte(f.Value)
	}
	o.driver.length = max(o.driver.length, start+p.Slots-1)
	o.driver.starts[start] = p
	o.out.Device[node.ID] = o.driver.device
	return nil
}

// at moves an output to a start slot.
func (o outputSpec) at(start int) outputSpec {
	o.Stride = 1
	return o.moved(start - 1)
}

// parseAddress reads a start slot and checks that the fixture ends in the
// universe.
func parseAddress(text string, p *Profile) (int, error) {
	start, err := strconv.Atoi(text)
	if err != nil || start < 1 || start > UniverseSlots || strconv.Itoa(start) != text {
		return 0, fmt.Errorf(`address %q: want the start slot, "1" to "512"`, text)
	}
	if end := start + p.Slots - 1; end > UniverseSlots {
		return 0, fmt.Errorf("address %q: a %s takes %d slots and would end at slot %d, a universe at 512", text, p.Title, p.Slots, end)
	}
	return start, nil
}

// choose picks the outputs that are the node's channels.
func choose(node appliance.Node, p *Profile) ([]outputSpec, error) {
	if len(node.Outputs) == 0 {
		return p.lights, nil
	}
	var list []outputSpec
	for i, n := range node.Outputs {
		switch {
		case n < 1 || n > len(p.lights):
			return nil, fmt.Errorf("output %d: a %s has outputs 1 to %d", n, p.Title, len(p.lights))
		case slices.Contains(node.Outputs[:i], n):
			return nil, fmt.Errorf("output %d is named twice", n)
		}
		list = append(list, p.lights[n-1])
	}
	return list, nil
}

// claim takes the slots of a node, or says with whom it overlaps. Nodes that share
// a fixture, each with outputs of its own, share its fixed slots.
func (o *opening) claim(node appliance.Node, p *Profile, start int, lamps []*lamp) error {
	mine := make(map[int]*claim)
	for _, l := range lamps {
		for _, slot := range l.out.slots() {
			mine[slot] = &claim{node: node, profile: p}
		}
	}
	for _, f := range p.Fixed {
		mine[start+f.Slot-1] = &claim{node: node, profile: p, fixed: true}
	}
	for slot := 1; slot <= UniverseSlots; slot++ {
		my, his := mine[slot], o.owner[slot]
		if my == nil || his == nil {
			continue
		}
		sameFixture := his.node.Address == node.Address && his.profile == p
		if sameFixture && my.fixed && his.fixed {
			continue
		}
		return fmt.Errorf("slot %d: node %d (%s, from slot %s) overlaps with node %d (%s, from slot %s): give one of them another start slot",
			slot, node.ID, node.Name, node.Address, his.node.ID, his.node.Name, his.node.Address)
	}
	for slot, c := range mine {
		o.owner[slot] = c
	}
	return nil
}
