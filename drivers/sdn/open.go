package sdn

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/option"
)

// maxGroups is how many groups a motor can be in.
const maxGroups = 16

// Open makes a driver for one bus. The port is a serial device, or the socket of a
// transparent serial server (tcp://host:port or rtu+tcp://host:port, which are the
// same here). An error is one of the bus's own settings; wrong nodes and shades are
// listed as broken.
func Open(cfg appliance.BusConfig) (appliance.Opened, error) { return OpenOn(cfg, nil) }

// OpenOn does so on other ports than those of this machine; nil: on these.
func OpenOn(cfg appliance.BusConfig, ports *line.Ports) (appliance.Opened, error) {
	options, err := readBusOptions(cfg.Bus.Options)
	if err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	settings, err := completeLine(cfg.Bus.Line)
	if err != nil {
		return appliance.Opened{}, fmt.Errorf("bus %s: %w", cfg.Bus.Name, err)
	}
	d := &Driver{
		name: cfg.Bus.Name, options: options, log: cfg.Log, report: cfg.Report,
		site:      site{motors: make(map[Address]*motor), shades: make(map[appliance.ID]*motor), spoilt: make(map[Address]bool)},
		strangers: strangers{found: make(map[Address]*sighting), groups: make(map[Address]strangeGroup)},
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.report == nil {
		d.report = func([]appliance.Reading) {}
	}
	d.line, err = line.New(line.Config{
		Name: cfg.Bus.Name, Port: cfg.Bus.Port, Serial: settings, Silence: options.quiet,
		// A motor's answer does not tell to which question: one to this program before
		// it was started anew would be taken for a second motor's with the same address.
		OpenSilence: options.responseTimeout, Echo: options.echo,
		Overheard: d.overhear, Log: d.log, Ports: ports,
	})
	if err != nil {
		return appliance.Opened{}, err
	}
	d.char = characterTime(settings)
	d.socket = d.line.Airtime(1) == 0
	o := appliance.Opened{
		Driver: d, Device: make(map[appliance.ID]string),
		Channels: make(map[appliance.ID][]appliance.Channel), Shades: make(map[appliance.ID]appliance.Channel),
		BrokenNodes: make(map[appliance.ID]error), BrokenShades: make(map[appliance.ID]error),
	}
	d.placeNodes(cfg.Nodes, &o)
	d.placeShades(cfg.Shades, &o)
	return o, nil
}

func (d *Driver) placeNodes(nodes []appliance.Node, o *appliance.Opened) {
	for _, n := range nodes {
		m, err := d.newMotor(n)
		if err != nil {
			o.BrokenNodes[n.ID] = fmt.Errorf("node %d (%s) on bus %s: %w", n.ID, n.Name, d.name, err)
			d.spoilGroups(n)
			continue
		}
		d.site.motors[m.address] = m
		d.site.all = append(d.site.all, m)
		o.Device[n.ID] = m.key
	}
}

func (d *Driver) newMotor(n appliance.Node) (*motor, error) {
	address, err := ParseAddress(n.Address)
	if err != nil {
		return nil, err
	}
	kind, known := profiles[n.Profile]
	switch {
	case address == Nobody || address == Everybody || address.IsGroup():
		return nil, fmt.Errorf("address %v is not that of a single motor", address)
	case address == d.options.host:
		return nil, fmt.Errorf("address %v is that of this controller on the bus (option hostAddress)", address)
	case d.site.motors[address] != nil:
		return nil, fmt.Errorf("address %v is that of node %d already", address, d.site.motors[address].node)
	case !known:
		return nil, fmt.Errorf("profile %q is unknown, known: %s", n.Profile, strings.Join(slices.Sorted(maps.Keys(profiles)), ", "))
	case len(n.Outputs) > 1 || len(n.Outputs) == 1 && n.Outputs[0] != 1:
		return nil, fmt.Errorf("outputs %v: a motor has output 1 only", n.Outputs)
	}
	if err := option.Read(n.Options, nil); err != nil {
		return nil, err
	}
	groups, err := parseGroups(n.Groups)
	if err != nil {
		return nil, err
	}
	return &motor{driver: d, node: n.ID, address: address, key: address.String(), kind: kind, groups: groups, course: course{goal: -1}}, nil
}

func parseGroups(texts []string) ([]Address, error) {
	if len(texts) > maxGroups {
		return nil, fmt.Errorf("%d groups: a motor holds %d", len(texts), maxGroups)
	}
	var groups []Address
	for _, text := range texts {
		g, err := ParseAddress(text)
		switch {
		case err != nil || !g.IsGroup() || g[2] == 0xFF:
			return nil, fmt.Errorf("group %q: want 01.01.00 to 01.01.FE", text)
		case slices.Contains(groups, g):
			return nil, fmt.Errorf("group %v is named twice", g)
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// spoilGroups keeps groups from being used that a motor is in which cannot be
// commanded: it would move along unasked.
func (d *Driver) spoilGroups(n appliance.Node) {
	d.site.broken = true
	for _, text := range n.Groups {
		if g, err := ParseAddress(text); err == nil {
			d.site.spoilt[g] = true
		}
	}
}

func (d *Driver) placeShades(shades []appliance.Shade, o *appliance.Opened) {
	byNode := make(map[appliance.ID]*motor)
	for _, m := range d.site.all {
		byNode[m.node] = m
	}
	for _, s := range shades {
		m := byNode[s.Node]
		switch {
		case m == nil:
			o.BrokenShades[s.ID] = fmt.Errorf("shade %d (%s): its node %d on bus %s cannot be used", s.ID, s.Name, s.Node, d.name)
			continue
		case s.Output != 1:
			o.BrokenShades[s.ID] = fmt.Errorf("shade %d (%s): output %d of node %d: a motor has output 1 only", s.ID, s.Name, s.Output, s.Node)
			continue
		case m.shade != 0:
			o.BrokenShades[s.ID] = fmt.Errorf("shade %d (%s): motor %v moves shade %d already", s.ID, s.Name, m.address, m.shade)
			continue
		}
		m.shade, m.inverted = s.ID, s.Inverted
		d.site.shades[s.ID] = m
		o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove | appliance.CanPosition, PositionMeasured: true, Lag: startLimit}
	}
}
